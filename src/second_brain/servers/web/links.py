"""Where the links of a note lead, as far as a page may follow them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

from ...records import Note, StoredLink
from .page import note_url
from .visible import encoded

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_OUTSIDE = ("http", "https", "mailto")
_LONGEST = 4000


@dataclass(frozen=True, slots=True)
class Lead:
    """Where a link leads: to a ``note``, a ``file`` of the vault, ``out``; nowhere yet (``missing``), or it may not
    be followed (``dead``). ``href`` is '' for the last two; ``title`` says what was written.
    """

    kind: Literal["note", "file", "out", "missing", "dead"]
    href: str
    title: str
    uri: str = ""
    anchor: str = ""


class Leads:
    """The links of one note. ``file_of`` yields the address of a file beside it, '' for none that may be shown."""

    def __init__(self, note: Note, file_of: Callable[[str], str]) -> None:
        self._uri = note.document.uri
        self._file_of = file_of
        self._known: dict[int, StoredLink] = {link.start: link for link in note.links if link.start >= 0}

    def at(self, start: int, address: str, *, wiki: bool) -> Lead:
        """The link that begins at an offset of the note and is written so."""
        found = self._known.get(start)
        if found is not None:
            if found.target is not None:
                return _to_note(found.target, found.anchor, found.written)
            return self._file(found.written) or Lead("missing", "", found.written)
        return self._within(address) if wiki else self.by_address(address)

    def by_address(self, address: str) -> Lead:
        """A link by what is written alone."""
        address = address.strip()
        shown = unquote(address)[:_LONGEST]
        if _SCHEME.match(address):
            try:
                parts = urlsplit(f"https:{address}" if address.startswith("//") else address)
            except ValueError:
                return Lead("dead", "", shown)
            outside = parts.scheme.lower() in _OUTSIDE and len(address) <= _LONGEST
            return Lead("out", encoded(parts.geturl()), shown) if outside else Lead("dead", "", shown)
        return self._within(address)

    def _within(self, address: str) -> Lead:
        target, _, anchor = address.partition("#")
        if not target.strip():
            return _to_note(self._uri, unquote(anchor), "") if anchor else Lead("dead", "", "")
        written = unquote(target)[:_LONGEST]
        return self._file(written) or Lead("missing", "", written)

    def _file(self, written: str) -> Lead | None:
        href = self._file_of(written)
        return Lead("file", href, written) if href else None


def _to_note(uri: str, anchor: str, written: str) -> Lead:
    href = note_url(uri, heading=anchor) + ("#at-here" if anchor else "")
    return Lead("note", href, written or uri, uri, anchor)
