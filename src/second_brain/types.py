"""The values that flow through second-brain, from a file to a hit.

    Source --scan--> Item --read--> Blob --parse--> Document --chunk--> Chunk --> index
    Query --retrievers--> Ranking, ... --fuse, adjust, group--> Hit

All are frozen. Every time is aware and in UTC. Every offset counts code points of ``Document.text``,
half open. Privacy labels are plain strings; their order is a setting.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

Mode: TypeAlias = Literal["lexical", "dense", "hybrid", "agentic"]
RETRIEVED: tuple[Mode, ...] = ("lexical", "dense", "hybrid")
"""The modes of one retrieval; agentic makes several hybrid ones."""

MODES: tuple[Mode, ...] = (*RETRIEVED, "agentic")

LinkKind: TypeAlias = Literal["wikilink", "embed", "markdown", "frontmatter"]


@dataclass(frozen=True, slots=True)
class Item:
    """The unit of change: one file (or one record) that a source lists.

    ``uri`` is ``<source name>/<path below the root>`` with ``/`` and NFC, the identity of the item.
    ``path`` is where its bytes are, as the disk spells it.
    ``fingerprint`` changes whenever the item may have changed; it costs no reading (mtime, size, ctime).
    """

    uri: str
    source: str
    path: str
    media_type: str
    fingerprint: str
    modified: datetime
    size: int

    @property
    def relative(self) -> str:
        """The part of the uri below the source: ``notes/a.md``."""
        return self.uri.partition("/")[2]


@dataclass(frozen=True, slots=True)
class Blob:
    """An item's bytes, not interpreted. ``hash`` is BLAKE2b-128 of them, in hex."""

    item: Item
    data: bytes

    @property
    def hash(self) -> str:
        """Same hash, same bytes."""
        return hashlib.blake2b(self.data, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands below it, up to the next heading of any level.

    ``level`` is 1-6, or 0 for text before the first heading. ``path`` holds the headings from the
    outermost down to this one. ``start`` is where the heading's own line begins.
    """

    level: int
    path: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a section that should stay whole if it fits: a paragraph, list item, fence, table, quote."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written: ``target`` without anchor, percent-decoded; ``text`` is what the reader sees.

    ``start`` is its offset in the document's text (-1 when it stands in the frontmatter's values).
    """

    target: str
    anchor: str
    text: str
    kind: LinkKind
    start: int


@dataclass(frozen=True, slots=True)
class Document:
    """The unit of meaning: one note, page or session. One item may hold many.

    ``text`` is the item's text as read: newlines are line feeds, no byte-order mark, inline base64 blobs
    replaced by a placeholder. ``body_start`` is where the frontmatter ends. Sections are in order, do
    not overlap and cover ``text[body_start:]``; so do blocks, within sections, except for blank lines.
    ``date`` is what the note says of itself (frontmatter or file name), or None; ``modified`` is the file's.
    ``language`` is an ISO 639-1 code or ''. ``project`` names the repository or folder that it belongs to, or ''.
    ``origins``, where given, has for each section an identity that stays the same wherever that section is repeated
    (a turn that a resumed session brings along); '' for none.
    ``warnings`` name what could not be understood, with line numbers.
    """

    uri: str
    source: str
    kind: str
    type: str
    title: str
    text: str
    modified: datetime
    body_start: int = 0
    sections: tuple[Section, ...] = ()
    blocks: tuple[Block, ...] = ()
    date: datetime | None = None
    created: datetime | None = None
    description: str = ""
    status: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    privacy: str = ""
    language: str = ""
    project: str = ""
    origins: tuple[str, ...] = ()
    metadata: Mapping[str, Json] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit of retrieval: ``text == document.text[start:end]``.

    ``context`` (title, heading path, date) is searched and embedded together with the text, never quoted.
    ``id`` is a hash of document uri, text and occurrence, so that writing twice is writing once.
    ``origin`` is the same for what is the same passage in another document of the source: the index keeps one of them.
    """

    id: str
    document: str
    ordinal: int
    start: int
    end: int
    text: str
    heading_path: tuple[str, ...]
    context: str
    origin: str = ""

    @property
    def embedding_text(self) -> str:
        """What the embedder reads."""
        return embedding_text(self.context, self.text)


def embedding_text(context: str, text: str) -> str:
    """Context and passage as the embedder reads them together."""
    return f"{context}\n{text}" if context else text


def chunk_id(document: str, text: str, occurrence: int = 0) -> str:
    """16 hex digits from document uri, text and how many equal texts came before in the document."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(document.encode("utf-8"))
    digest.update(b"\x00%d\x00" % occurrence)
    digest.update(text.encode("utf-8"))
    return digest.hexdigest()


def embedding_hash(text: str) -> bytes:
    """16 bytes that name a text in the embedding cache."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search may return. Empty tuples and None mean no restriction.

    ``tags`` match themselves and their descendants (``a`` finds ``a/b``), letter case ignored; all must match.
    ``since`` is inclusive, ``until`` exclusive, both aware and compared with the document's date (its own, else its
    modification time); a bare day of a note is compared in their time zone. ``titles`` are parts of the title, letter
    case ignored; all must be in it. ``path_prefix`` is compared with the
    path below the source's root, and with the absolute path. ``privacy`` lists the labels that the asker may see;
    None means all; ``labels`` are the only ones that count of those. ``uris`` are the only documents that count;
    ``without_status`` leaves out those whose status begins with such a word, letter case ignored.
    """

    sources: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    path_prefix: str = ""
    privacy: tuple[str, ...] | None = None
    uris: tuple[str, ...] = ()
    without_status: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A question. ``now`` is given, so that decay can be repeated; ``limit`` counts hits.

    ``per_document`` caps the hits of one document; None lifts the cap. ``condensed`` asks for an answer to read, not to
    measure: neighbouring passages of a document are one hit, near-identical ones are folded into the best.
    """

    text: str
    now: datetime
    limit: int = 10
    mode: Mode = "hybrid"
    filter: Filter = Filter()
    per_document: int | None = 2
    condensed: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates of one retriever, best first, as (chunk key, score); higher is better.

    A key is the index's own integer for a chunk. Equal scores are ordered by chunk id.
    ``bound`` is the highest score that the query could get, where the retriever knows one.
    ``shifts``: what was added to the scores of passages in another script than the query's, by script.
    """

    name: str
    entries: tuple[tuple[int, float], ...]
    bound: float | None = None
    shifts: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Signal:
    """One step of a score: ``operation`` is 'add' or 'multiply', applied in order from 0."""

    name: str
    operation: Literal["add", "multiply"]
    value: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a score came to be. Replaying the signals yields it."""

    signals: tuple[Signal, ...]

    def replay(self) -> float:
        """The score, recomputed from the signals."""
        score = 0.0
        for signal in self.signals:
            score = score + signal.value if signal.operation == "add" else score * signal.value
        return score


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer. ``rank`` starts at 1, ``score`` is higher for better, ``text`` is an exact quote.

    ``folded`` are the ids of near-identical passages that this one stands for, ``also_in`` the uris of their documents.
    ``via`` is the uri of the hub note whose
    link brought it, '' for what was found itself.
    """

    rank: int
    score: float
    id: str
    uri: str
    path: str
    title: str
    heading_path: tuple[str, ...]
    source: str
    kind: str
    type: str
    date: datetime
    status: str
    tags: tuple[str, ...]
    privacy: str
    start: int
    end: int
    line: int
    text: str
    notes: tuple[str, ...]
    explanation: Explanation
    project: str = ""
    language: str = ""
    folded: tuple[str, ...] = ()
    also_in: tuple[str, ...] = ()
    via: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits in rank order and ``notices``: what the reader must know about them (stale, partial, degraded).

    ``mode`` is the one that answered, which is not the one asked for when vectors are missing.
    ``timings_ms`` by stage. ``understood`` says in words how the query was read (dates, fields, parts).
    ``confidence`` is how probable it is that one of the hits answers, 0 to 1, None where that is not known.
    ``rolled_up`` are notes that hubs among the hits link to, after them in rank. ``cursor`` asks for more; '' at the
    end. ``cursors`` are what would ask for more after each of the hits, had the reader not seen the rest.
    ``generation`` is the one of the index that answered.
    """

    query: str
    mode: Mode
    hits: tuple[Hit, ...]
    notices: tuple[str, ...]
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    understood: tuple[str, ...] = ()
    confidence: float | None = None
    rolled_up: tuple[Hit, ...] = ()
    cursor: str = ""
    cursors: tuple[str, ...] = ()
    generation: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """One item that was skipped, and why. ``kind`` groups failures for the summary."""

    uri: str
    kind: Literal["unreadable", "binary", "too-large", "unparsable", "special", "walk", "embedding"]
    message: str


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What one sync of one source did. ``unavailable`` is why nothing was compared, or ''.

    ``skipped`` counts what was passed over on purpose, by reason (``link``, ``ignored``, ``repository``, ...).
    """

    source: str
    added: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    deleted: int = 0
    kept: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    warnings: tuple[str, ...] = ()
    unavailable: str = ""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one sync did, source by source. ``notices``: what another backend could not be told."""

    sources: tuple[SourceReport, ...]
    seconds: float
    notices: tuple[str, ...] = ()

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Every item that was skipped with a reason."""
        return tuple(failure for report in self.sources for failure in report.failures)


@dataclass(frozen=True, slots=True)
class EmbedReport:
    """What one embedding run did; ``waiting`` chunks still lack a vector. ``notices`` as in ``SyncReport``."""

    embedded: int
    waiting: int
    seconds: float
    failures: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()
