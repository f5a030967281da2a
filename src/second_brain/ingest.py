"""Brings the index in step with the sources, item by item, so that it can stop anywhere.

What changed is found by fingerprint, then by hash; it is read, parsed and chunked, and written with its hash
in one transaction. One bad item never stops the rest: it is counted, named and skipped. What a source does
not list any more is removed, unless the source could not be seen, lists nothing, or lists far fewer items than
before: then it is kept and the report says so. Vectors follow later (``embed``), newest documents first.
"""

from __future__ import annotations

import errno
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, get_args

from .chunking import CHUNKER_VERSION
from .errors import BrainError, ModelError, ParseError, SourceError
from .graph.links import LinkResolver
from .index.sqlite.store import SqliteIndex
from .protocols import Chunker, Codes, Embedder, Parser, Progress, Source, TokenEmbedder, Vectors
from .records import Change, ItemState, Removal, Replacement, Touch, Unread
from .sources.fingerprints import folder_states
from .types import (
    Blob,
    Chunk,
    Document,
    EmbedReport,
    Failure,
    Item,
    SourceReport,
    SyncReport,
)

BATCH_ITEMS = 256
BATCH_BYTES = 4 << 20
"""A transaction holds so much at most: short enough that others never wait long."""

BATCH_S = 2.0
"""What was read is written after so many seconds at the latest: little is lost, a removed source is noticed."""

EMBED_BATCH = 64
"""Texts embedded between two transactions."""

EMBED_WINDOW = 2_048
"""Texts that are looked up at once."""

MASS_REMOVAL = 50
"""If more items than this and more than half of a source are lost at once, they are kept until asked.

What only moved, within the source or into another one, is not lost.
"""

PLAIN_TEXT = "A plain text."
"""An embedder that fails on this as well is broken; one that does not, refused a text."""

FailureKind = Literal["unreadable", "binary", "too-large", "unparsable"]


@dataclass(slots=True)
class _Tally:
    """The counts of one source, while it is read."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    vanished: int = 0
    failures: list[Failure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    added_hashes: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Reading:
    """How items become documents and chunks: chosen by the caller for each item and document."""

    parser: Callable[[Item], Parser]
    chunker: Callable[[Document], Chunker]
    privacy: Callable[[str, str], str]
    """``privacy(source name, label in the document)``: the label that holds."""
    cleaned: Callable[[Document], Document] = lambda document: document
    """The document as it may be kept: offsets stay, so that it is chunked afterwards."""


def sync(
    index: SqliteIndex,
    sources: Sequence[Source],
    reading: Reading,
    *,
    now: Callable[[], datetime],
    progress: Progress,
    prune: bool = False,
    only: Callable[[str], bool] | None = None,
    claimed: Callable[[str], bool] = lambda path: False,
) -> SyncReport:
    """Compare each source with the index and write what differs.

    Args:
        index: where it is written.
        sources: compared one after the other.
        reading: how items become documents and chunks.
        now: asked when a source is begun.
        progress: told ``(source name, items done, items in all)``.
        prune: remove what is missing even if that is most of a source.
        only: compare only items with these uris; nothing else is read or removed.
        claimed: whether a path now belongs to another source, so that it is no loss here.

    Raises:
        SourceRemoved: a source was taken out of the index meanwhile.
        StorageError: the index cannot be written; what was written before stays.
    """
    started = time.perf_counter()
    index.expect_chunks(CHUNKER_VERSION)
    reports = [_sync_source(index, source, reading, now, progress, prune, only, claimed) for source in sources]
    index.vectors.prune()
    index.vectors.refresh()
    return SyncReport(tuple(reports), time.perf_counter() - started)


def _sync_source(
    index: SqliteIndex,
    source: Source,
    reading: Reading,
    now: Callable[[], datetime],
    progress: Progress,
    prune: bool,
    only: Callable[[str], bool] | None,
    claimed: Callable[[str], bool],
) -> SourceReport:
    began = now()
    try:
        scan = source.scan()
    except SourceError as error:
        index.mark_synced(source.name, began, unavailable=str(error))
        kept = len(index.items(source.name))
        return SourceReport(source.name, kept=kept, unavailable=str(error))
    known = index.items(source.name)
    listed = {item.uri for item in scan.items}
    unlisted = [uri for uri in known if uri not in listed and (only is None or only(uri))]
    missing = [uri for uri in unlisted if not uri.startswith(scan.unlisted)] if source.exhaustive else []
    items = [item for item in scan.items if only is None or only(item.uri)]

    tally = _Tally(failures=list(scan.failures))
    fresh: list[Item] = []
    for item in items:
        state = known.get(item.uri)
        same = state and (state.path, state.fingerprint) == (item.path, item.fingerprint)
        if state and same and (state.hash or state.failure):
            tally.unchanged += 1
            if state.failure:
                tally.failures.append(_recorded(item.uri, state.failure))
        else:
            fresh.append(item)
    fresh.sort(key=lambda item: item.modified)  # what several items repeat stays with the one that had it first
    batch: list[Change] = []
    size, written = 0, time.monotonic()
    progress(source.name, 0, len(fresh))
    for done, item in enumerate(fresh, start=1):
        change = _read(source, item, known.get(item.uri), reading, tally)
        if change is not None:
            batch.append(change)
            size += item.size
        if len(batch) >= BATCH_ITEMS or size >= BATCH_BYTES or time.monotonic() > written + BATCH_S:
            index.write(source.name, batch)
            batch, size, written = [], 0, time.monotonic()
        progress(source.name, done, len(fresh))
    moved = sum((Counter(known[uri].hash for uri in missing) & tally.added_hashes).values())
    lost = sum(not claimed(known[uri].path) for uri in missing) - moved
    suspicious = _suspicious(len(scan.items), len(known), lost) if missing and not prune else ""
    if suspicious:
        missing, moved = [], 0
    batch.extend(map(Removal, missing))
    if batch:
        index.write(source.name, batch)
    if index.needs_relinking(source.name):
        resolve_links(index, source.name)
    if not only:
        index.mark_synced(source.name, began, unavailable=suspicious, folders=folder_states(scan.items))
    return SourceReport(
        source=source.name,
        added=tally.added - moved,
        changed=tally.changed,
        moved=moved,
        unchanged=tally.unchanged,
        deleted=len(missing) - moved + tally.vanished,
        kept=len(unlisted) - len(missing),
        skipped=scan.skipped or {},
        failures=tuple(tally.failures),
        warnings=tuple(tally.warnings),
        unavailable=suspicious,
    )


def _suspicious(listed: int, known: int, lost: int) -> str:
    """Why so large a loss is not believed at once, or ''."""
    if listed == 0 and lost:
        return f"lists no files, but {known} were indexed: they are kept"
    if lost > MASS_REMOVAL and lost > known // 2:
        return f"lists only {listed} files, but {known} were indexed: the missing ones are kept"
    return ""


def _read(source: Source, item: Item, state: ItemState | None, reading: Reading, tally: _Tally) -> Change | None:
    """What reading the item changes, or None when it vanished meanwhile (the next run removes it)."""
    try:
        blob = source.read(item)
        if state and state.hash and state.hash == blob.hash:
            tally.unchanged += 1
            return Touch(item)
        documents = tuple(_documents(blob, reading))
    except FileNotFoundError:
        tally.vanished += state is not None
        return Removal(item.uri) if state else None
    except ParseError as error:
        kind: FailureKind = getattr(error, "kind", "unparsable")
        tally.failures.append(Failure(item.uri, kind, str(error)))
        return Unread(item, f"{kind}: {error}", retry=False)
    except OSError as error:
        reason = f"{item.path}: {error.strerror or error}"
        if error.errno == errno.EDEADLK:
            reason += " (a cloud placeholder that is not on this disk yet)"
        tally.failures.append(Failure(item.uri, "unreadable", reason))
        return Unread(item, reason, retry=True)
    for document, _ in documents:
        tally.warnings.extend(f"{item.path}: {warning}" for warning in document.warnings)
    if state and (state.hash or not state.failure):
        tally.changed += 1
    else:
        tally.added += 1
        tally.added_hashes[blob.hash] += 1
    return Replacement(item, blob.hash, documents)


def _recorded(uri: str, failure: str) -> Failure:
    """The failure of an earlier run. Its kind stands before the reason; what could not be read has none there."""
    kinds: dict[str, FailureKind] = {kind: kind for kind in get_args(FailureKind)}
    kind, _, message = failure.partition(": ")
    return Failure(uri, kinds[kind], message) if kind in kinds else Failure(uri, "unreadable", failure)


def _documents(blob: Blob, reading: Reading) -> Iterator[tuple[Document, tuple[Chunk, ...]]]:
    for document in map(reading.cleaned, reading.parser(blob.item).parse(blob)):
        chunks = tuple(reading.chunker(document).chunk(document))
        yield _labelled(document, reading.privacy(document.source, document.privacy)), chunks


def _labelled(document: Document, label: str) -> Document:
    """The document with the label that holds; its own stays in the metadata, for settings may change."""
    if document.privacy:
        document = replace(document, metadata={**document.metadata, "privacy": document.privacy})
    return replace(document, privacy=label)


def resolve_links(index: SqliteIndex, source: str) -> None:
    """Find where each link of a source leads now; links to nothing stay, a later note may answer to them."""
    prefix = len(source) + 1
    resolver = LinkResolver((uri[prefix:], aliases) for uri, aliases in index.link_targets(source))
    changed = []
    for document, ordinal, uri, target, resolved in index.links_of(source):
        found = resolver.resolve(target, uri[prefix:])
        to = None if found.path is None else f"{source}/{found.path}"
        if to != resolved:
            changed.append((to, found.by_alias, document, ordinal))
    index.resolve_links(source, changed)


def embed(
    index: SqliteIndex, embedder: Embedder, *, progress: Progress, limit: int | None = None, late: bool = True
) -> EmbedReport:
    """Give every chunk that waits for one its vector, newest documents first; resumable at any point.

    With ``late``, and an embedder that has them, each vector comes with its token codes, and chunks whose vector
    has none (it was made with late interaction off) are embedded again. Without it no codes are kept.

    A text that the embedder refuses is named in the report and tried again at the next run; the rest of its
    batch is not lost.

    Raises:
        ModelError: the embedder's own, if it cannot be loaded or fails on any text, or on each of a whole batch.
    """
    started = time.perf_counter()
    coding = late and isinstance(embedder, TokenEmbedder)
    index.vectors.begin(embedder.identity, codes=coding)
    waiting_at_start = index.vectors.waiting_count() + (index.vectors.uncoded_count() if coding else 0)
    total = waiting_at_start if limit is None else min(waiting_at_start, limit)
    refused: dict[bytes, Failure] = {}
    embedded = 0
    progress("embed", 0, total)
    while limit is None or embedded < limit:
        window = EMBED_WINDOW if limit is None else limit - embedded
        waiting = index.vectors.waiting(window, list(refused), codes=coding)
        if not waiting:
            break
        for first in range(0, len(waiting), EMBED_BATCH):
            batch = waiting[first : first + EMBED_BATCH]
            for hashes, vectors, codes in _embedded(embedder, coding, batch, refused):
                embedded += index.vectors.add(embedder.identity, hashes, vectors, codes)
            progress("embed", min(embedded, total), total)
    if embedded:
        index.vectors.prune()
        index.vectors.refresh()
    return EmbedReport(embedded, index.vectors.waiting_count(), time.perf_counter() - started, tuple(refused.values()))


def _embedded(
    embedder: Embedder, coding: bool, batch: Sequence[tuple[bytes, str]], refused: dict[bytes, Failure]
) -> Iterator[tuple[list[bytes], Vectors, list[Codes] | None]]:
    """Yield hashes, vectors and token codes of the texts that the embedder takes; name the others in ``refused``.

    When it fails on several, they are halved until the one that it refuses stands alone.
    """
    pending = [batch]
    errors: list[Exception] = []
    while pending:
        part = pending.pop()
        try:
            vectors, codes = _encoded(embedder, coding, [text for _, text in part])
        except Exception as error:
            if part is batch and isinstance(error, BrainError):
                _check_works(embedder, error)
            if len(part) > 1:
                middle = len(part) // 2
                pending += (part[middle:], part[:middle])
                continue
            errors.append(error)
            ((hash, text),) = part
            first_line = text.partition("\n")[0][:80]
            refused[hash] = Failure(hash.hex(), "embedding", f"'{first_line}': {type(error).__name__}: {error}")
        else:
            yield [hash for hash, _ in part], vectors, codes
    if len(errors) == EMBED_BATCH and isinstance(errors[0], ModelError):
        raise errors[0]


def _check_works(embedder: Embedder, error: BrainError) -> None:
    """Raise the error unless it is about a text: a model that can run takes a plain one."""
    if not isinstance(error, ModelError):
        raise error
    try:
        embedder.embed_documents([PLAIN_TEXT])
    except Exception:
        raise error from None


def _encoded(embedder: Embedder, coding: bool, texts: list[str]) -> tuple[Vectors, list[Codes] | None]:
    if coding and isinstance(embedder, TokenEmbedder):
        return embedder.encode_documents(texts)
    return embedder.embed_documents(texts), None
