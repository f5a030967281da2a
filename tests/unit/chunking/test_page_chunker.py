"""Passages of pages and slides keep the place that is cited."""

from __future__ import annotations

import pytest

from second_brain.chunking.pages import PageChunker
from second_brain.parsing.pages import PageWriter
from second_brain.testing.chunker_contract import ChunkerContract
from second_brain.testing.parser_contract import make_blob
from second_brain.types import Document


def document(type: str, *pages: str) -> Document:
    writer = PageWriter()
    for number, page in enumerate(pages, start=1):
        writer.heading(1, f"Page {number}")
        writer.block("paragraph", page)
    return writer.document(make_blob("", "files/manual.pdf"), type)


class TestPageChunker(ChunkerContract):
    def chunker(self) -> PageChunker:
        return PageChunker()

    def documents(self) -> list[Document]:
        return [document("pdf"), document("pdf", "one", "two " * 900), document("html", "one", "two")]


def test_small_pages_stay_apart():
    """A passage of two pages could not be cited."""
    found = PageChunker().chunk(document("pdf", "Valve torque.", "Spare parts."))
    assert [(chunk.text, chunk.heading_path) for chunk in found] == [
        ("# Page 1\n\nValve torque.", ("Page 1",)),
        ("# Page 2\n\nSpare parts.", ("Page 2",)),
    ]


@pytest.mark.parametrize("type", ["html", "docx", "epub"])
def test_small_sections_of_a_text_that_flows_are_joined(type: str):
    """As in Markdown."""
    assert len(PageChunker().chunk(document(type, "Valve torque.", "Spare parts."))) == 1
