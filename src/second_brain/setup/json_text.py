"""Sets or removes one member of an object, or one item of a list, in a JSON text; all other bytes stay as they are.

Comments and trailing commas are allowed.

A program's settings file belongs to its user: reading it into values and writing it anew would lose comments, order of
duplicate keys, number spellings and layout.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..types import Json

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<mark>[{}\[\]:,])
      | (?P<word>[^\s{}\[\]:,"/]+)""",
    re.VERBOSE | re.DOTALL,
)


class NotJson(ValueError):
    """The text is no JSON object, or what should be an object in it is none; the message says where."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A member of an object, or an item of a list (then ``key`` is '')."""

    key: str
    start: int
    value: _Value
    end: int


@dataclass(frozen=True, slots=True)
class _Value:
    """A value's span. ``opening`` is ``{`` or ``[`` where it has parts; ``trailing_comma`` is where one ends, or -1."""

    start: int
    end: int
    opening: str = ""
    parts: tuple[_Part, ...] = ()
    trailing_comma: int = -1


def with_member(text: str, path: Sequence[str], key: str, value: Json) -> str:
    """The text with ``value`` as member ``key`` of the object at ``path``; objects on the way are made where missing.

    Raises NotJson. An empty text is an empty object.
    """
    if not text.strip():
        text = "{}\n"
    root = _parsed(text)
    indent = _indent(text, root)
    parent, missing = root, list(path)
    depth = 0
    while missing:
        found = _member(parent, missing[0])
        if found is None:
            break
        if found.value.opening != "{":
            raise NotJson(f"'{missing[0]}' is no object, line {_line(text, found.start)}")
        parent, depth = found.value, depth + 1
        missing.pop(0)
    for name in reversed(missing):
        value = {key: value}
        key = name
    known = _member(parent, key)
    written = _written(value, indent, depth + 1, _newline(text))
    if known is not None:
        return text[: known.value.start] + written + text[known.value.end :]
    return _inserted(text, parent, f"{json.dumps(key, ensure_ascii=False)}: {written}", indent, depth)


def without_member(text: str, path: Sequence[str], key: str) -> str:
    """The text without the member; as it is where there is none. Raises NotJson."""
    parent = _at(_parsed(text), path)
    known = _member(parent, key) if parent else None
    return text if parent is None or known is None else _removed(text, parent, known)


def with_item(text: str, path: Sequence[str], item: Json) -> str:
    """The text with ``item`` at the end of the list at ``path``, unless it is there. Raises NotJson."""
    *above, name = path
    place = _at(_parsed(text), path) if text.strip() else None
    if place is None:
        return with_member(text, above, name, [item])
    if place.opening != "[":
        raise NotJson(f"'{name}' is no list, line {_line(text, place.start)}")
    if _item(text, place, item) is not None:
        return text
    indent = _indent(text, _parsed(text))
    written = _written(item, indent, len(path) + 1, _newline(text))
    return _inserted(text, place, written, indent, len(path))


def without_item(text: str, path: Sequence[str], item: Json) -> str:
    """The text without the item; as it is where there is none. Raises NotJson."""
    place = _at(_parsed(text), path) if text.strip() else None
    known = _item(text, place, item) if place and place.opening == "[" else None
    return text if place is None or known is None else _removed(text, place, known)


# -- layout --------------------------------------------------------------------------------------------------


def _inserted(text: str, parent: _Value, part: str, indent: str, depth: int) -> str:
    newline = _newline(text)
    if parent.parts:
        last = parent.parts[-1]
        comma = "" if parent.trailing_comma > 0 else ","
        at = max(last.end, parent.trailing_comma)
        if "\n" not in text[parent.start : last.start]:
            return text[:at] + f"{comma} {part}" + text[at:]
        return text[:at] + comma + newline + indent * (depth + 1) + part + text[at:]
    inner = newline + indent * (depth + 1) + part + newline + indent * depth
    return text[: parent.start + 1] + text[parent.start + 1 : parent.end - 1].rstrip() + inner + text[parent.end - 1 :]


def _removed(text: str, parent: _Value, known: _Part) -> str:
    position = parent.parts.index(known)
    if position + 1 < len(parent.parts):
        return text[: known.start] + text[parent.parts[position + 1].start :]
    start = parent.parts[position - 1].end if position else parent.start + 1
    end = parent.trailing_comma if parent.trailing_comma > 0 and not position else known.end
    return text[:start] + text[end:]


def _written(value: Json, indent: str, depth: int, newline: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=indent).split("\n")
    return newline.join([lines[0], *(indent * depth + line for line in lines[1:])])


def _indent(text: str, root: _Value) -> str:
    """The indent of the first member that stands on a line of its own, else two blanks."""
    for member in root.parts:
        line = text[text.rfind("\n", 0, member.start) + 1 : member.start]
        if line and not line.strip():
            return line
    return "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line(text: str, offset: int) -> int:
    return 1 + text.count("\n", 0, offset)


# -- reading -------------------------------------------------------------------------------------------------


def _member(parent: _Value, key: str) -> _Part | None:
    """The last member of that name: the one that counts."""
    if parent.opening != "{":
        return None
    return next((member for member in reversed(parent.parts) if member.key == key), None)


def _item(text: str, parent: _Value, item: Json) -> _Part | None:
    """The item of a list that has this value, however it is written."""
    for part in parent.parts:
        try:
            value = json.loads(text[part.start : part.end])
        except ValueError:  # a comment stands in it: it is not one that we wrote
            continue
        if value == item:
            return part
    return None


def _at(root: _Value, path: Sequence[str]) -> _Value | None:
    place: _Value | None = root
    for name in path:
        found = _member(place, name) if place else None
        place = found.value if found else None
    return place


class _Reader:
    """The tokens of a text that tell something, one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.kind, self.token, self.start = "", "", 0
        self.advance()

    def advance(self) -> None:
        while True:
            match = _TOKEN.match(self.text, self.position)
            if match is None:
                if self.position >= len(self.text):
                    self.kind, self.token, self.start = "end", "", len(self.text)
                    return
                raise self.error("a character that is no JSON")
            self.position = match.end()
            if match.lastgroup != "space":
                self.kind, self.token, self.start = match.lastgroup or "", match.group(), match.start()
                return

    def error(self, problem: str) -> NotJson:
        return NotJson(f"{problem}, line {_line(self.text, self.start if self.kind else self.position)}")

    def take(self, mark: str) -> int:
        """Where the expected mark ends."""
        if self.token != mark or self.kind != "mark":
            raise self.error(f"expected '{mark}', found {self.token or 'the end'}")
        end = self.start + 1
        self.advance()
        return end


def _parsed(text: str) -> _Value:
    reader = _Reader(text)
    if reader.token != "{":
        raise reader.error("expected an object")
    value = _value(reader)
    if reader.kind != "end":
        raise reader.error("something stands behind the object")
    return value


def _value(reader: _Reader) -> _Value:
    start = reader.start
    if reader.kind == "mark" and reader.token in "{[":
        opening = reader.token
        closing = {"{": "}", "[": "]"}[opening]
        reader.advance()
        parts: list[_Part] = []
        comma = -1
        while not (reader.kind == "mark" and reader.token == closing):
            parts.append(_read_part(reader, named=opening == "{"))
            comma = -1
            if reader.kind == "mark" and reader.token == ",":
                comma = reader.take(",")
            elif not (reader.kind == "mark" and reader.token == closing):
                raise reader.error(f"expected ',' or '{closing}', found {reader.token or 'the end'}")
        return _Value(start, reader.take(closing), opening, tuple(parts), comma)
    if reader.kind not in ("string", "word"):
        raise reader.error(f"expected a value, found {reader.token or 'the end'}")
    end = start + len(reader.token)
    try:
        json.loads(reader.token)
    except ValueError as error:
        raise reader.error(f"{reader.token[:20]} is no JSON value") from error
    reader.advance()
    return _Value(start, end)


def _read_part(reader: _Reader, *, named: bool) -> _Part:
    start, key = reader.start, ""
    if named:
        if reader.kind != "string":
            raise reader.error(f"expected a name in quotes, found {reader.token or 'the end'}")
        try:
            key = str(json.loads(reader.token))
        except ValueError as error:
            raise reader.error("a name that is no JSON text") from error
        reader.advance()
        reader.take(":")
    value = _value(reader)
    return _Part(key, start, value, value.end)
