"""A note to read: its text, what it says of itself, and what stands around it; a session as a conversation.

The address says which passage is meant (``at=120-480``, offsets in the note; ``heading=...``), so that a hit leads to
the very place without a script. While the page is open it asks now and then whether the note is still the same.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response

from ...errors import BrainError, NotFound
from ...parsing.frontmatter import read_frontmatter
from .conversation import Exchange, exchanges
from .files import picture_of, picture_url, raw_url
from .links import Lead, Leads
from .opening import ways
from .page import Page, Visit, note_url, policy
from .parts import beginnings, part_at
from .properties import properties
from .rendering import Heading, Rendered, Style, plain, rendered
from .surroundings import around, similar
from .templating import Markup, inert

if TYPE_CHECKING:
    from ...records import Note

MOST_HEADINGS = 200
EMBEDDED = 4_000
"""Characters that are shown of a note within another."""

_SPAN = re.compile(r"(\d{1,9})-(\d{1,9})")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$", re.MULTILINE)
_HOST = re.compile(r"[A-Za-z0-9.-]+")


@dataclass(frozen=True, slots=True)
class Said:
    """A turn of a conversation as it is shown. ``unfolded``: what is folded else is pointed out."""

    who: str
    html: Markup
    count: int
    unfolded: bool


@dataclass(frozen=True, slots=True)
class Talk:
    """An exchange as it is shown."""

    exchange: Exchange
    said: list[Said]


class _Reader:
    """One note for one visitor: renders spans of it and collects what was in them."""

    def __init__(self, visit: Visit, note: Note, here: tuple[int, int] | None) -> None:
        self.note = note
        self.outline: list[Heading] = []
        self.hosts: set[str] = set()
        self.problems: list[str] = []
        self._visit = visit
        self._leads = _leads(visit, note)
        proof = visit.house.visitors.proof(visit.key, f"images {note.document.uri}")
        self.images = proof
        self.remote = visit.argument("images") == proof
        self._style = Style(here, note.document.title, self.remote, embed=partial(_embedded, visit, note))

    def read(self, start: int, end: int) -> Markup:
        """The span as HTML."""
        return self._kept(rendered(self.note.text, start, end, self._leads, self._visit.t, self._style))

    def read_plain(self, start: int, end: int, language: str = "") -> Markup:
        """The span as it is."""
        return self._kept(plain(self.note.text[start:end], start, language=language, here=self._style.here))

    def _kept(self, made: Rendered) -> Markup:
        self.outline += made.outline
        self.hosts |= set(made.hosts)
        if made.problem:
            self.problems.append(made.problem)
        return inert(made.html)


def show_note(visit: Visit) -> Response:
    """The page of a note: ``/note/<uri>?at=<span>&heading=<words>&part=<number>``."""
    name = visit.request.path_params["name"]
    note = visit.brain.get(name)
    if note.document.uri != name:
        return visit.go(note_url(note.document.uri, **dict(visit.request.query_params)))
    text = note.text
    start = read_frontmatter(text).body_start if note.document.kind == "markdown" else 0
    here = _here(visit, text)
    talks = exchanges(text) if note.document.kind == "session" else []
    begins = beginnings(text, start, [talk.start for talk in talks])
    part = _part(visit, begins, here)
    first, last = begins[part], begins[part + 1] if part + 1 < len(begins) else len(text)
    reader = _Reader(visit, note, here)
    conversation = [_talk(reader, talk, here) for talk in talks if first <= talk.start < last]
    if conversation:
        body = Markup("")
    elif note.document.kind == "code":
        body = reader.read_plain(first, last, note.document.language)
    else:
        body = reader.read(first, last)
    line = text.count("\n", 0, here[0] if here else start) + 1
    response = visit.show(
        "note.html",
        note=note,
        document=note.document,
        body=body,
        talks=conversation,
        outline=reader.outline[:MOST_HEADINGS],
        problems=reader.problems,
        hosts=sorted(reader.hosts) if not reader.remote else [],
        load_images=note_url(note.document.uri, part=visit.argument("part"), images=reader.images),
        properties=properties(note.document),
        around=around(visit.brain, note),
        ways=ways(visit, note, line),
        raw=raw_url(note.document.uri),
        part=part,
        parts=len(begins),
        version=_version(note),
    )
    if reader.remote:
        origins = [host for host in sorted(reader.hosts) if _HOST.fullmatch(host)]
        allowed = " ".join(f"{scheme}://{host}" for host in origins for scheme in ("https", "http"))
        response.headers["Content-Security-Policy"] = policy(images=allowed)
    return response


def show_similar(visit: Visit) -> Response:
    """The notes that are near in meaning, for the side of a note's page."""
    note = visit.brain.get(visit.request.path_params["name"])
    return HTMLResponse(visit.filled("similar.html", similar=similar(visit.brain, note)))


def show_fresh(visit: Visit) -> Response:
    """What has happened to a note since its page was made: nothing (204), or words that say what."""
    try:
        note = visit.brain.get(visit.request.path_params["name"])
    except NotFound:
        return HTMLResponse(visit.filled("fresh.html", gone=True, changed=False, notes=()))
    changed = visit.argument("was") != _version(note)
    if not changed and not note.notes:
        return Response(status_code=204)
    return HTMLResponse(visit.filled("fresh.html", gone=False, changed=changed, notes=note.notes))


def _talk(reader: _Reader, exchange: Exchange, here: tuple[int, int] | None) -> Talk:
    said = []
    for turn in exchange.turns:
        html = reader.read_plain(turn.start, turn.end) if turn.who == "deeds" else reader.read(turn.start, turn.end)
        pointed = here is not None and turn.start < here[1] and turn.end > here[0]
        said.append(Said(turn.who, html, turn.count, pointed))
    return Talk(exchange, said)


def _leads(visit: Visit, note: Note) -> Leads:
    def file_of(written: str) -> str:
        return picture_url(note, written) if picture_of(visit.brain, note, written) else ""

    return Leads(note, file_of)


def _embedded(visit: Visit, outer: Note, lead: Lead) -> str:
    """A note within another: the section that the link names, else its beginning."""
    if lead.uri == outer.document.uri:
        return ""
    try:
        note = visit.brain.get(lead.uri)
    except BrainError:
        return ""
    start, end = read_frontmatter(note.text).body_start, len(note.text)
    if lead.anchor and (section := _section(note.text, lead.anchor)):
        start, end = section
    end = min(end, start + EMBEDDED)
    style = Style(title=note.document.title, anchors=False)
    return rendered(note.text, start, end, _leads(visit, note), visit.t, style).html


def _here(visit: Visit, text: str) -> tuple[int, int] | None:
    """The span that the address points out."""
    if found := _SPAN.fullmatch(visit.argument("at")):
        start, end = int(found[1]), int(found[2])
        return (start, min(end, len(text))) if start < min(end, len(text)) else None
    if heading := visit.argument("heading"):
        section = _section(text, heading)
        return (section[0], section[0] + 1) if section else None
    return None


def _section(text: str, heading: str) -> tuple[int, int] | None:
    """Where the section with a heading lies; of a path of headings (``A#B``) the last counts."""
    wanted = _folded(heading.rpartition("#")[2])
    begun: tuple[int, int] | None = None
    for found in _HEADING.finditer(text):
        if begun and len(found[1]) <= begun[1]:
            return begun[0], found.start()
        if begun is None and _folded(found[2]) == wanted:
            begun = found.start(), len(found[1])
    return (begun[0], len(text)) if begun else None


def _folded(text: str) -> str:
    """A heading as it is compared: letters and digits only, as Obsidian does."""
    return "".join(char for char in text.casefold() if char.isalnum())


def _part(visit: Visit, begins: list[int], here: tuple[int, int] | None) -> int:
    asked = visit.argument("part")
    if asked.isascii() and asked.isdigit():
        return min(max(int(asked[:9]) - 1, 0), len(begins) - 1)
    return part_at(begins, here[0]) if here else 0


def _version(note: Note) -> str:
    """The same as long as the text is."""
    return hashlib.blake2b(note.text.encode("utf-8", "replace"), digest_size=8).hexdigest()


PAGES = (
    Page("/note/{name:path}", show_note),
    Page("/similar/{name:path}", show_similar, part=True),
    Page("/fresh/{name:path}", show_fresh, part=True),
)
