"""The block between ``---`` lines at the top of a note: where it ends, and what it says.

YAML first. A block that is not YAML (a bare colon in a title, a tab as indent, an unquoted ``@`` or
``{{date}}``) is read entry by entry: what YAML can read alone is read by YAML, the rest is kept as its bare
text. One bad line must cost neither the note nor its other properties, least of all ``privacy``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..types import Json
from ..yaml_nodes import YamlError, load_yaml
from .privacy import joined, labels_in_lines, labels_in_values

SIZE_LIMIT = 262_144
"""Characters. A longer block is somebody's text between two rules."""

_OPENING = re.compile(r"---[ \t]*(?:\n|\Z)")
_LATE_OPENING = re.compile(r"\s*---+[ \t]*\n")
"""Not on line 1, indented or too long: no frontmatter, but perhaps meant to be."""
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_KEY = re.compile(
    r"""(?P<indent>[ \t]*)
        (?:"(?P<double>[^"\n]+)"|'(?P<single>[^'\n]+)'|(?P<bare>\w(?:[^:\n]{0,98}[^:\s])?))
        [ \t]*:(?:[ \t]+(?P<value>.*))?$""",
    re.VERBOSE,
)
_ITEM = re.compile(r"[ \t]*-(?:[ \t]+(.*))?$")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """Properties by key, scalars as written; ``body_start`` is where the text goes on.

    ``lines`` holds the line in the file for each key. ``privacy`` is the label that the block names anywhere, in
    lower case; several different ones are joined by ``+``, see ``privacy``.
    """

    values: Mapping[str, Json] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    body_start: int = 0
    warnings: tuple[str, ...] = ()
    privacy: str = ""


def read_frontmatter(text: str) -> Frontmatter:
    """What a note says of itself.

    The block opens with ``---`` on line 1 and closes with ``---`` or ``...``, blanks allowed behind; it may
    hold YAML or a JSON object. A block that is no mapping is body: silently when it is prose between two
    rules, with a warning when it looks like an attempt at properties. A block that is never closed stays
    body too, but the lines that look like properties count. ``privacy`` counts in all of these.
    """
    opening = _OPENING.match(text)
    begun = opening or _LATE_OPENING.match(text)
    if begun is None:
        return Frontmatter()
    start = begun.end()
    closing = _CLOSING.search(text, start)
    block = text[start : closing.start() if closing else None]
    if opening is None:
        front = Frontmatter()
    elif closing is None or len(block) > SIZE_LIMIT:
        front = _unclosed(block)
    else:
        front = _closed(block, closing.end())
    return _labelled(front, block, first_line=text.count("\n", 0, start) + 1)


def _labelled(front: Frontmatter, block: str, first_line: int) -> Frontmatter:
    """With the privacy label of the block, and a warning when it is not one plain property."""
    written = list(labels_in_lines(block, first_line))
    properties = list(labels_in_values(dict(front.values)))
    label = joined([*properties, *(text for _, text in written)])
    first = joined([*properties, *(text for _, text in written)][:1])
    if label != first:
        line = next((line for line, text in written if joined([text]) != first), first_line)
        problem = f"privacy is {label[:60]!r}; expected one label. The note is taken as most private"
    elif label and not properties:
        line = written[0][0]
        problem = f"privacy is {label[:60]!r}, in a block that is read as text; it counts all the same"
    else:
        return replace(front, privacy=label)
    return replace(front, privacy=label, warnings=(*front.warnings, f"line {line}: {problem}"))


def _closed(block: str, body_start: int) -> Frontmatter:
    """The properties of a block between two fences."""
    try:
        result = load_yaml(block, first_line=2)
    except YamlError as error:
        return _lenient(block, body_start, error)
    if result.value is None:
        return Frontmatter(body_start=body_start)
    if isinstance(result.value, dict):
        values = {key: _linked(value) for key, value in result.value.items()}
        lines = {str(path[0]): line for path, line in result.lines.items() if len(path) == 1}
        return Frontmatter(values, lines, body_start, result.warnings)
    if isinstance(result.value, list):
        problem = "the block between the '---' lines is a list; expected 'key: value'. It is read as text"
        return Frontmatter(warnings=(f"line 1: {problem}",))
    return Frontmatter()


def _unclosed(block: str) -> Frontmatter:
    """Lines right below an opening ``---`` that look like properties, up to the first that does not."""
    lines: list[str] = []
    for line in block[:SIZE_LIMIT].split("\n"):
        if not (_KEY.match(line) or (lines and _ITEM.match(line))):
            break
        lines.append(line)
    if not lines:
        return Frontmatter()
    values, places = _by_entry(lines)
    problem = "properties begin here but no '---' closes them; add it below the last one. They stay in the text"
    return Frontmatter(values, places, 0, (f"line 1: {problem}",))


def _lenient(block: str, body_start: int, error: YamlError) -> Frontmatter:
    lines = block.split("\n")
    if not _KEY.match(next((line for line in lines if line.strip() and line[0] != "#"), "")):
        return Frontmatter()
    understood = sum(bool(_KEY.match(line) or _ITEM.match(line) or line[:1] in " \t#") for line in lines if line)
    if 2 * understood < sum(bool(line) for line in lines):
        problem = f"{error.problem}; most lines are no 'key: value', so the block is read as text"
        return Frontmatter(warnings=(f"line {error.line}: {problem}",))
    values, places = _by_entry(lines)
    warning = f"line {error.line}: the frontmatter is not YAML ({error.problem}); it was read entry by entry"
    return Frontmatter(values, places, body_start, (warning,))


def _by_entry(lines: list[str]) -> tuple[dict[str, Json], dict[str, int]]:
    values: dict[str, Json] = {}
    places: dict[str, int] = {}
    for number, entry in _entries(lines):
        try:
            read = load_yaml("\n".join(entry)).value
        except YamlError:
            read = None
        for key, value in (read if isinstance(read, dict) else dict([_bare(entry)])).items():
            values[key] = _linked(value)
            places[key] = number
    return values, places


def _entries(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Each property's line in the file and its lines: its indent taken off, tabs as blanks."""
    entry: list[str] = []
    number = indent = 0
    for at, line in enumerate(lines, start=2):
        key = _KEY.match(line)
        if key and (not entry or len(key["indent"]) <= indent):
            if entry:
                yield number, entry
            entry, number, indent = [], at, len(key["indent"])
        elif not entry:
            continue
        inner = line[indent:] if line[:indent].isspace() else line
        entry.append(inner.replace("\t", "  "))
    if entry:
        yield number, entry


def _bare(entry: list[str]) -> tuple[str, Json]:
    """Key and value of an entry that is no YAML: the text behind the colon, or the items below it."""
    key = _KEY.match(entry[0])
    assert key is not None, "an entry begins with its key"
    name = key["double"] or key["single"] or key["bare"]
    value = (key["value"] or "").strip()
    if not value:
        items = [_unquoted(item[1] or "") for line in entry[1:] if (item := _ITEM.match(line))]
        return name, [*items] if items else None
    if value[0] == "[" and value[-1] == "]" and value[1] != "[":
        return name, [_unquoted(part) for part in value[1:-1].split(",") if part.strip()]
    return name, _unquoted(value)


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _linked(value: Json) -> Json:
    """The value with ``[[Note]]``, which YAML reads as a list in a list, as the link that was meant."""
    if isinstance(value, dict):
        return {key: _linked(inner) for key, inner in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) == 1 and isinstance(value[0], list):
        words = [word for word in value[0] if isinstance(word, str)]
        if words and len(words) == len(value[0]):
            return f"[[{', '.join(words)}]]"
    return [_linked(item) for item in value]
