"""A Markdown note as a document: what it says of itself, and how it is built."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ..types import Blob, Document, Json
from .commonmark import Structure, read_structure
from .dates import day_of_name, is_day_name, parse_time
from .frontmatter import Frontmatter, read_frontmatter
from .links import property_links
from .tags import distinct, inline_tags, property_tags
from .text import decode
from .titles import stem_of

DATE_KEYS = ("date", "created", "generated.at", "timestamp")
"""Where a note's own date is looked for, in this order; then in its file name.

``generated.at`` is Open Knowledge Format 0.2, ``timestamp`` is its 0.1.
"""

RESERVED = {"index.md": "map", "log.md": "history"}
"""Files of Open Knowledge Format that are no concepts, in this spelling, and what they are read as."""

_FIELDS = frozenset(("title", "type", "description", "status", "privacy", "tags", "tag", "aliases", "alias"))
"""Properties that become fields of the document; all others stay in its metadata, as written."""


class MarkdownParser:
    """Reads Obsidian notes and any other Markdown, one document a file.

    - Title: ``title``, else the only heading of level 1 with no text before it, else the file name.
    - Type: ``type`` as written, else ``daily`` for a file named by a day, ``map`` for ``index.md`` and ``history`` for
      ``log.md`` (reserved names of Open Knowledge Format), else ``note``.
    - Dates: see ``DATE_KEYS``; ``created`` is the same without ``date`` and the file name.
    - Tags and aliases: plural and singular properties, lists or text; for tags also those in the text.
    - ``status`` and ``privacy`` in lower case. A list in a place for one text counts by its first item, except
      in ``privacy``: see there.
    - ``metadata``: every other property, scalars as text; ``verified`` always as a list.
    - Property names in any letter case.
    - Links: relative ones only, wikilinks, embeds and Markdown, also in properties; none to the note itself.

    Cost: some 0.15 ms for 2 kB.
    """

    def parse(self, blob: Blob) -> Iterator[Document]:
        """Yield the one document of a file. Any bytes can be read: what is odd becomes a warning."""
        text, warnings = decode(blob.data)
        front = read_frontmatter(text)
        structure = read_structure(text, front.body_start)
        properties = {key.casefold(): value for key, value in front.values.items()}
        stem = stem_of(blob.item.uri)
        date, created, date_warnings = _dates(front, properties, stem)
        tags = distinct(
            (
                *property_tags(properties.get("tags")),
                *property_tags(properties.get("tag")),
                *inline_tags(text, front.body_start, structure.opaque),
            )
        )
        yield Document(
            uri=blob.item.uri,
            source=blob.item.source,
            kind="markdown",
            type=_text(properties.get("type")) or _type_by_name(blob.item.uri, stem),
            title=_text(properties.get("title")) or _heading_on_top(structure) or stem,
            text=text,
            modified=blob.item.modified,
            body_start=front.body_start,
            sections=structure.sections,
            blocks=structure.blocks,
            date=date or day_of_name(stem),
            created=created,
            description=_text(properties.get("description")),
            status=_text(properties.get("status")).lower(),
            tags=tags,
            aliases=distinct((*_names(properties.get("aliases")), *_names(properties.get("alias")))),
            links=(*property_links(front.values), *structure.links),
            privacy=front.privacy,
            metadata={key: _kept(key, value) for key, value in front.values.items() if key.casefold() not in _FIELDS},
            warnings=(*warnings, *front.warnings, *date_warnings, *structure.warnings),
        )


def _type_by_name(uri: str, stem: str) -> str:
    return RESERVED.get(uri.rpartition("/")[2]) or ("daily" if is_day_name(stem) else "note")


def _text(value: Json) -> str:
    """A property that is one line of text: blanks squeezed; of a list the first item; else ''."""
    if isinstance(value, list):
        value = value[0] if value else None
    return " ".join(value.split()) if isinstance(value, str) else ""


def _names(value: Json) -> list[str]:
    """A property that lists names: a list, or one text with commas between."""
    if isinstance(value, str):
        return value.split(",")
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _kept(key: str, value: Json) -> Json:
    return [value] if key == "verified" and isinstance(value, dict) else value


def _heading_on_top(structure: Structure) -> str:
    """The first heading, if it is of level 1, nothing stands before it, and it is the only one of its level.

    Several of them are chapters: the note is then called by its file name.
    """
    first = structure.sections[0] if structure.sections else None
    alone = sum(section.level == 1 for section in structure.sections) == 1
    return first.path[0] if first and first.level == 1 and alone else ""


def _dates(
    front: Frontmatter, properties: dict[str, Json], stem: str
) -> tuple[datetime | None, datetime | None, list[str]]:
    """The note's own date and when it was created, as its properties say; and what could not be read."""
    found: dict[str, datetime] = {}
    warnings: list[str] = []
    for name in DATE_KEYS:
        key, _, inner = name.partition(".")
        value = properties.get(key)
        if inner:
            value = value.get(inner) if isinstance(value, dict) else None
        if not isinstance(value, str) or not value.strip():
            continue
        if moment := parse_time(value):
            found[name] = moment
        elif "{{" not in value:
            line = next((line for written, line in front.lines.items() if written.casefold() == key), 1)
            warnings.append(f"line {line}: {name} is {value[:40]!r}; expected a day such as 2031-04-05")
    date = next(iter(found.values()), None)
    found.pop("date", None)
    return date, next(iter(found.values()), None), warnings
