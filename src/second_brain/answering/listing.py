"""The documents that fields alone ask for, by date: ``type:meeting after:2031`` has no word to rank by."""

from __future__ import annotations

from dataclasses import dataclass

from ..index.sqlite.lookups import first_chunks
from ..index.sqlite.store import SqliteIndex
from ..records import StoredChunk
from ..types import Explanation, Filter, Hit, Signal


@dataclass(frozen=True, slots=True)
class Dated:
    """The first passage of each document that a filter lets through, newest first, equal dates by uri."""

    index: SqliteIndex
    filter: Filter

    def first(self, count: int) -> list[Hit]:
        """See ``HitList``."""
        documents = self.index.recent(self.filter, count)
        keys = first_chunks(self.index.database, [document.key for document in documents])
        chunks = self.index.chunks(keys)
        return [_hit(rank, chunks[key]) for rank, key in enumerate(keys, start=1) if key in chunks]


def _hit(rank: int, chunk: StoredChunk) -> Hit:
    document = chunk.document
    moment = document.date.timestamp()
    return Hit(
        rank=rank,
        score=moment,
        id=chunk.id,
        uri=document.uri,
        path=document.path,
        title=document.title,
        heading_path=chunk.heading_path,
        source=document.source,
        kind=document.kind,
        type=document.type,
        date=document.date,
        status=document.status,
        tags=document.tags,
        privacy=document.privacy,
        start=chunk.start,
        end=chunk.end,
        line=chunk.line,
        text=chunk.text,
        notes=(f"could not be read when last indexed: {document.failure}",) if document.failure else (),
        explanation=Explanation((Signal("date", "add", moment, document.date.isoformat()),)),
        project=document.project,
        language=document.language,
    )
