"""Is the index whole, fresh and up to date, as far as the asker may know?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from . import keeping
from .clearance import VisibleLinks
from .config import Settings
from .generations import embedder_notice
from .index.sqlite.check import Finding, repair
from .index.sqlite.counting import count_uncoded
from .index.sqlite.store import SqliteIndex
from .protocols import Embedder, Progress, TokenEmbedder
from .records import Status
from .types import Filter
from .version import __version__


def status(
    settings: Settings, index: SqliteIndex, embedder: Embedder, filter: Filter, notices: Iterable[str]
) -> Status:
    """What the index holds of what the filter lets through. ``notices`` stand first."""
    stats = index.stats(filter)
    states = index.sources(filter)
    synced = [state.synced for state in states if state.synced]
    wanted = embedder.identity
    told = list(notices)
    if notice := embedder_notice(settings, index, wanted):
        told.append(notice)
    elif stats.waiting:
        told.append(f"{stats.waiting:,} of {stats.chunks:,} passages wait for a vector; run `brain embed`")
    elif settings.late and isinstance(embedder, TokenEmbedder):
        uncoded = count_uncoded(index.database, filter)
        if uncoded:
            told.append(f"{uncoded:,} passages have no token codes and rank without; run `brain embed`")
    configured = {source.name for source in settings.sources}
    told.extend(
        f"source '{state.name}' is indexed but not in the settings; `brain remove {state.name}` forgets it"
        for state in states
        if state.name not in configured
    )
    lost = VisibleLinks(index, filter).lost(filter.sources) if filter.privacy is not None else 0
    return Status(
        version=__version__,
        home=settings.home,
        index=settings.index,
        documents=stats.documents,
        chunks=stats.chunks,
        embedded=stats.chunks - stats.waiting,
        waiting=stats.waiting,
        links=stats.links,
        unresolved_links=stats.unresolved_links + lost,
        failures=stats.failures,
        embedder=stats.embedder,
        wanted_embedder=wanted,
        text_bytes=stats.text_bytes,
        index_bytes=stats.file_bytes,
        matrix_bytes=stats.matrix_bytes,
        last_sync=max(synced) if synced else None,
        sources=tuple(states),
        notices=tuple(told),
        generation=settings.generation,
    )


def mend(path: Path, findings: list[Finding], *, redact: bool, progress: Progress) -> list[Finding]:
    """Mend what can be mended of the file, then apply the rules of now for secrets; what is found after that.

    The caller sees to it that nobody writes meanwhile.
    """
    if any(finding.fixable for finding in findings if finding.name != "secrets"):
        findings = repair(path, findings)
    findings = [finding for finding in findings if finding.name != "secrets"]
    index = SqliteIndex(path)
    try:
        changed = keeping.mask_older(index, redact=redact, progress=progress)
    finally:
        index.close()
    if changed:
        findings.append(
            Finding("secrets", "note", f"secrets were masked in {changed} documents that were indexed before")
        )
    return findings


def findings_for_guests(findings: Iterable[Finding]) -> list[Finding]:
    """What somebody who may not see everything is told of the file: not which documents, not how many."""
    kept = [finding for finding in findings if finding.name in ("sqlite", "place", "index")]
    told = [replace(finding, fixable=False) for finding in kept if finding.severity in ("ok", "note")]
    told += [finding for finding in kept if finding.name in ("sqlite", "place") and finding not in told]
    others = [finding for finding in findings if finding.name in ("index", "terms", "chunks", "vectors", "generations")]
    if any(finding.severity == "error" for finding in others):
        told.append(Finding("index", "error", "the index has a problem", "its owner sees which with `brain doctor`"))
    return told
