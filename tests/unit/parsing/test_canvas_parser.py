"""Canvases and bases of Obsidian are documents of the texts that people wrote into them."""

from __future__ import annotations

import json

import pytest
from making_documents import blob

from second_brain.errors import ParseError
from second_brain.parsing.canvas import BaseParser, CanvasParser
from second_brain.protocols import Parser
from second_brain.testing.parser_contract import ParserContract, check_document
from second_brain.types import Document

CANVAS = json.dumps(
    {
        "nodes": [
            {"id": "g", "type": "group", "label": "Dry dock", "x": 0, "y": 100, "width": 400, "height": 300},
            {"id": "b", "type": "text", "text": "Below: see [[Pump A|the pump]]  \n\n\n\nand more", "x": 10, "y": 120},
            {"id": "a", "type": "text", "text": "On top\n```\nopen fence", "x": 0, "y": 0, "width": 10, "height": 10},
            {"id": "f", "type": "file", "file": "notes/plan.md", "subpath": "#Costs", "x": 20, "y": 150},
            {"id": "l", "type": "link", "url": "https://example.com/x", "x": 500, "y": 0},
            {"id": "n", "type": "group", "x": 0, "y": 0, "width": 1, "height": 1},
        ],
        "edges": [{"id": "e", "fromNode": "a", "toNode": "b", "label": "leads to"}],
    }
)
BASE = """filters: 'file.hasTag("boat")'
properties:
  note.torque: {displayName: Torque in Nm}
  status: {}
views:
  - {type: table, name: Valves, order: [file.name, note.torque]}
  - {type: cards}
"""


def read(parser: Parser, text: str, name: str) -> Document:
    file = blob(text, name)
    (document,) = parser.parse(file)
    check_document(document, file)
    return document


class TestCanvasParser(ParserContract):
    def parser(self) -> CanvasParser:
        return CanvasParser()

    def samples(self) -> list[bytes]:
        return [b"", b"{}", CANVAS.encode(), b'{"nodes": [3, {"type": "text"}, {"type": "text", "text": "\\ud83d x"}]}']


class TestBaseParser(ParserContract):
    def parser(self) -> BaseParser:
        return BaseParser()

    def samples(self) -> list[bytes]:
        return [b"", BASE.encode(), b"- a list", b"views: {a: b}\n"]


def test_a_canvas_is_read_from_top_to_bottom_and_group_by_group():
    """Texts, files, addresses, labels; an open fence ends with its own text."""
    document = read(CanvasParser(), CANVAS, "Refit.canvas")
    assert document.text == (
        "On top\n```\nopen fence\n\nhttps://example.com/x\n\n"
        "# Dry dock\n\nBelow: see [[Pump A|the pump]]\n\nand more\n\n"
        "![[notes/plan.md#Costs]]\n\nleads to"
    )
    assert [section.path for section in document.sections] == [(), ("Dry dock",)]
    assert (document.kind, document.type, document.title) == ("page", "canvas", "Refit")


def test_links_in_texts_and_files_on_the_canvas_are_links():
    """Each with its place in the document's text."""
    document = read(CanvasParser(), CANVAS, "Refit.canvas")
    assert [(link.target, link.anchor, link.text, link.kind) for link in document.links] == [
        ("Pump A", "", "the pump", "wikilink"),
        ("notes/plan.md", "Costs", "notes/plan.md", "embed"),
    ]
    assert [document.text[link.start :][:9] for link in document.links] == ["[[Pump A|", "![[notes/"]


def test_a_base_is_the_names_of_its_views_and_properties():
    """As they are displayed; filters are no text."""
    document = read(BaseParser(), BASE, "Valves.base")
    assert document.text == "Valves: name, Torque in Nm\n\ncards\n\nTorque in Nm, status"
    assert (document.kind, document.type) == ("page", "base")


@pytest.mark.parametrize(("parser", "text"), [(CanvasParser(), "{"), (CanvasParser(), "[]"), (BaseParser(), "a: [")])
def test_what_is_neither_is_refused(parser: Parser, text: str):
    """With a message that says what was expected."""
    with pytest.raises(ParseError, match="it is no"):
        list(parser.parse(blob(text, "x.canvas")))
