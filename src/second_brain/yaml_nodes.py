"""YAML as it was written: text stays text, and every key knows its line.

``2031-04-05``, ``1.10``, ``no`` and ``true`` are read as these very characters, because a note's title may
look like a date and a version like a number. Only an unquoted nothing, ``~`` or ``null`` becomes None.
Frontmatter and the settings files are both read here; PyYAML is imported nowhere else.

We stop at the node graph (``yaml.compose``), so tags such as ``!!python/object`` construct nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

import yaml

from .types import Json

try:
    from yaml import CBaseLoader as _Loader  # libyaml: some 20 times faster
except ImportError:  # a build of PyYAML without libyaml
    from yaml import BaseLoader as _Loader  # type: ignore[assignment]  # same methods

YamlPath: TypeAlias = "tuple[str | int, ...]"
"""Keys and positions from the root to a value: ``("sources", 0, "path")``."""

MAX_DEPTH = 100
"""More levels than people write; also what stops an anchor that contains itself."""

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_ANCHOR = "a value that begins with * or & is the name of an anchor; put the value in quotes"
_PLAIN_WORDS = {
    "mapping values are not allowed": (
        "a second ':' in a value, or a line indented too far; put a value that holds ': ' in quotes"
    ),
    "cannot start any token": (
        "a tab as indent, or a value that begins with @, ` or %; indent with spaces, quote the value"
    ),
    "alphabetic or numeric character": _ANCHOR,
    "undefined alias": _ANCHOR,
    "maximum nesting depth": f"nested deeper than {MAX_DEPTH} levels",
    "found another document": "a second document begins; expected one",
}
"""What PyYAML says of the errors that people make (in part: its two readers differ), and what we say."""


class YamlError(ValueError):
    """The text cannot be read. ``line`` counts from ``first_line``; ``problem`` says what is wrong there."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


@dataclass(frozen=True, slots=True)
class YamlResult:
    """What was read: mappings as dict, sequences as list, scalars as written.

    ``lines`` holds the line of every key and of every item of a sequence, by path. ``warnings`` name the
    keys that were written twice: the last one counts.
    """

    value: Json
    lines: dict[YamlPath, int]
    warnings: tuple[str, ...]


def load_yaml(text: str, *, first_line: int = 1) -> YamlResult:
    """Read one YAML document (a JSON object is one too); an empty text is None.

    ``first_line`` is the number of the text's first line in its file. Merge keys (``<<``) are keys like
    any other. Cost: some 25 microseconds for ten lines of frontmatter.

    Raises YamlError for what is no YAML, a key that is not text, nesting beyond ``MAX_DEPTH``, and aliases
    that blow the document up to ten times its length.
    """
    try:
        root = yaml.compose(text, Loader=_Loader)
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise _translated(error, text, first_line) from error
    except RecursionError as error:  # only without libyaml, which stops by itself
        raise YamlError(first_line, f"nested deeper than {MAX_DEPTH} levels") from error
    reading = _Reading(first_line, size_limit=10 * len(text) + 1000)
    value = None if root is None else reading.value(root, ())
    return YamlResult(value, reading.lines, tuple(reading.warnings))


class _Reading:
    """One walk over a node graph."""

    def __init__(self, first_line: int, size_limit: int) -> None:
        self.lines: dict[YamlPath, int] = {}
        self.warnings: list[str] = []
        self._first_line = first_line
        self._room = size_limit

    def value(self, node: yaml.Node, path: YamlPath) -> Json:
        if isinstance(node, yaml.ScalarNode):
            text: str = node.value
            self._spend(len(text) + 1, node)
            return None if not node.style and text in _NULLS else text
        self._spend(1, node)
        if len(path) >= MAX_DEPTH:
            problem = f"nested deeper than {MAX_DEPTH} levels, or an anchor that contains itself"
            raise YamlError(self._line(node), problem)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        items: list[Json] = []
        for position, child in enumerate(node.value):
            place = (*path, position)
            self.lines[place] = self._line(child)
            items.append(self.value(child, place))
        return items

    def _mapping(self, node: yaml.MappingNode, path: YamlPath) -> dict[str, Json]:
        pairs: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key_node, child in node.value:
            line = self._line(key_node)
            if not isinstance(key_node, yaml.ScalarNode):
                raise YamlError(line, "a key is a list or a mapping; expected text (quote '{{...}}')")
            key: str = key_node.value
            self._spend(len(key) + 1, key_node)
            if key in pairs:
                self.warnings.append(f"line {line}: the key {key!r} is written twice; the last one counts")
            pairs[key] = (key_node, child)
        mapping: dict[str, Json] = {}
        for key, (key_node, child) in pairs.items():
            place = (*path, key)
            self.lines[place] = self._line(key_node)
            mapping[key] = self.value(child, place)
        return mapping

    def _spend(self, size: int, node: yaml.Node) -> None:
        self._room -= size
        if self._room < 0:
            raise YamlError(self._line(node), "aliases repeat so much text that the document is not read")

    def _line(self, node: yaml.Node) -> int:
        return self._first_line + int(node.start_mark.line)


def _translated(error: yaml.YAMLError | UnicodeEncodeError, text: str, first_line: int) -> YamlError:
    """PyYAML's error in plain words, with the line in the file."""
    if not isinstance(error, yaml.MarkedYAMLError):
        found = _UNPRINTABLE.search(text)
        at = found.start() if found else 0
        problem = f"the control character U+{ord(text[at]):04X} is not allowed" if found else str(error)
        return YamlError(first_line + text.count("\n", 0, at), problem)
    problem = error.problem or str(error)
    mark = error.problem_mark or error.context_mark
    if error.context == "while scanning a quoted scalar" and error.context_mark:
        problem, mark = "a quotation mark is not closed", error.context_mark
    problem = next((plain for words, plain in _PLAIN_WORDS.items() if words in problem), problem)
    return YamlError(first_line + (int(mark.line) if mark else 0), problem)
