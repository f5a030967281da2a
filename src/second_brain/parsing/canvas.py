"""Obsidian's canvases (JSON Canvas 1.0) and bases: the texts that people wrote into them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from ..errors import ParseError
from ..types import Blob, Document, Json, Link
from ..yaml_nodes import YamlError, load_yaml
from .commonmark import read_structure
from .links import wikilink
from .pages import PageWriter, cleaned
from .text import decode

Node: TypeAlias = "dict[str, Json]"


class CanvasParser:
    """Reads a canvas: its texts from top to bottom, those in a group below the group's label.

    Links in a text are links of the document, and so is each file on the canvas. A file and a web address are shown as
    a line each, and so are the labels of the arrows, at the end.
    """

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Raises ParseError."""
        text, _ = decode(blob.data)
        try:
            canvas = json.loads(text) if text.strip() else {}
        except (ValueError, RecursionError) as error:
            raise ParseError(f"{blob.item.path}: it is no canvas: {error}") from error
        if not isinstance(canvas, dict):
            raise ParseError(f"{blob.item.path}: it is no canvas: expected an object with nodes and edges")
        nodes = sorted(_objects(canvas, "nodes"), key=lambda node: (_number(node, "y"), _number(node, "x")))
        groups = [node for node in nodes if node.get("type") == "group" and _text(node, "label")]
        inside: dict[int, list[Node]] = {}
        for node in nodes:
            if node.get("type") != "group":
                around = next((place for place, group in enumerate(groups) if _holds(group, node)), -1)
                inside.setdefault(around, []).append(node)
        writer = PageWriter()
        for node in inside.get(-1, []):
            _write(node, writer)
        for place, group in enumerate(groups):
            writer.heading(1, _text(group, "label"))
            for node in inside.get(place, []):
                _write(node, writer)
        for edge in _objects(canvas, "edges"):
            writer.block("item", _text(edge, "label"), apart=True)
        yield writer.document(blob, "canvas")


class BaseParser:
    """Reads a base: the names of its views and of the properties that it shows. Filters and formulas are no text."""

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the document. Raises ParseError."""
        text, _ = decode(blob.data)
        try:
            base = load_yaml(text).value
        except YamlError as error:
            raise ParseError(f"{blob.item.path}: it is no base: {error}") from error
        if not isinstance(base, dict):
            base = {}
        writer = PageWriter()
        for view in _objects(base, "views"):
            shown = view.get("order")
            names = [_displayed(base, key) for key in shown if isinstance(key, str)] if isinstance(shown, list) else []
            title = _text(view, "name") or _text(view, "type")
            writer.block("paragraph", f"{title}: {', '.join(names)}" if names else title)
        properties = base.get("properties")
        if isinstance(properties, dict):
            writer.block("paragraph", ", ".join(_displayed(base, key) for key in properties))
        yield writer.document(blob, "base")


def _write(node: Node, writer: PageWriter) -> None:
    kind = node.get("type")
    if kind == "text":
        _write_markdown(_text(node, "text"), writer)
    elif kind == "file":
        name = _text(node, "file")
        start = writer.block("embed", f"![[{name}{_text(node, 'subpath')}]]")
        link = wikilink(name + _text(node, "subpath"), name, start, embed=True)
        if link and start >= 0:
            writer.links.append(link)
    elif kind == "link":
        writer.block("paragraph", _text(node, "url"))


def _write_markdown(text: str, writer: PageWriter) -> None:
    """A text whole, so that what is in it cannot reach beyond it; its links at their new places."""
    text = cleaned(text)
    start = writer.block("paragraph", text)
    if start >= 0:
        writer.links.extend(_shifted(read_structure(text).links, start))


def _shifted(links: tuple[Link, ...], by: int) -> Iterator[Link]:
    return (replace(link, start=link.start + by) for link in links)


def _displayed(base: Node, key: str) -> str:
    properties = base.get("properties")
    entry = properties.get(key) if isinstance(properties, dict) else None
    return (_text(entry, "displayName") if isinstance(entry, dict) else "") or key.partition(".")[2] or key


def _objects(value: Node, key: str) -> list[Node]:
    items = value.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _text(node: Node, key: str) -> str:
    value = node.get(key)
    return value if isinstance(value, str) else ""


def _number(node: Node, key: str) -> float:
    value = node.get(key)
    return float(value) if isinstance(value, (int, float)) else 0.0


def _holds(group: Node, node: Node) -> bool:
    """Whether the middle of a node is in a group."""
    x, y = _number(node, "x") + _number(node, "width") / 2, _number(node, "y") + _number(node, "height") / 2
    left, top = _number(group, "x"), _number(group, "y")
    return left <= x <= left + _number(group, "width") and top <= y <= top + _number(group, "height")
