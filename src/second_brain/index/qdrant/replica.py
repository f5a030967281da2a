"""What the catalogue knows of its copy in Qdrant: which it is, what it was made with, and what it lacks still.

The outbox is a table that triggers fill: the transaction that changes a passage says so. They are there only while
there is a copy, for they cost an eighth of the time in which notes are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TypeAlias

from ...analysis import ANALYZER_VERSION
from ...types import Filter
from ..sqlite.connection import Database
from ..sqlite.filters import chunk_condition
from ..sqlite.schema import meta, set_meta

KEY = "replica"

MOST_DRIFT = 0.05
"""So far may the average length of passages move away from the one that the weights of terms were made with; beyond
that all are sent again. Measured: docs/adr/0013."""

TRIGGERS = """
CREATE TRIGGER IF NOT EXISTS outbox_added AFTER INSERT ON chunk BEGIN
  INSERT OR REPLACE INTO outbox(id) VALUES (new.id);
END;
CREATE TRIGGER IF NOT EXISTS outbox_removed AFTER DELETE ON chunk BEGIN
  INSERT OR REPLACE INTO outbox(id) VALUES (old.id);
END;
CREATE TRIGGER IF NOT EXISTS outbox_changed AFTER UPDATE ON chunk BEGIN
  INSERT OR REPLACE INTO outbox(id) SELECT old.id WHERE old.id != new.id;
  INSERT OR REPLACE INTO outbox(id) VALUES (new.id);
END;
CREATE TRIGGER IF NOT EXISTS outbox_document AFTER UPDATE ON document BEGIN
  INSERT OR REPLACE INTO outbox(id) SELECT id FROM chunk WHERE document = new.key;
END;
CREATE TRIGGER IF NOT EXISTS outbox_moved AFTER UPDATE OF path ON item WHEN old.path != new.path BEGIN
  INSERT OR REPLACE INTO outbox(id)
    SELECT c.id FROM chunk c JOIN document d ON d.key = c.document WHERE d.item = new.key;
END;
"""
"""So that no way of changing a passage can forget to say so, in the transaction that changes it."""

Queued: TypeAlias = "list[tuple[int, str]]"
"""(sequence number, id of the passage), oldest first."""


@dataclass(frozen=True, slots=True)
class Replica:
    """``average`` is the length, ``field_weights`` are the fields' weights that the weights of terms were made with,
    ``analyzer`` the version that made the terms.

    ``embedder`` is whose vectors are all there, '' before the outbox was empty for the first time: until then the
    catalogue answers. ``sources`` says which collection holds each source.
    """

    place: str
    prefix: str
    generation: str
    average: float = 0.0
    analyzer: str = ""
    field_weights: Sequence[float] = ()
    embedder: str | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

    def is_of(self, other: Replica) -> bool:
        """Whether both are the same copy, however full."""
        return (self.place, self.prefix, self.generation) == (other.place, other.prefix, other.generation)

    def weighed(self, average: float, field_weights: Sequence[float]) -> Replica:
        """The same copy, with weights of terms made like this."""
        return replace(self, average=average, field_weights=tuple(field_weights), analyzer=str(ANALYZER_VERSION))

    def has_drifted(self, average: float, field_weights: Sequence[float]) -> bool:
        """Whether the weights of terms were made with another average length, other weights of fields or terms."""
        if abs(average - self.average) > MOST_DRIFT * self.average:
            return True
        return (self.analyzer, *self.field_weights) != (str(ANALYZER_VERSION), *field_weights)


def read_replica(database: Database) -> Replica | None:
    """What was recorded of the copy, None if there was none."""
    text = meta(database, KEY)
    return None if text is None else Replica(**json.loads(str(text)))


def write_replica(database: Database, replica: Replica) -> None:
    """Record it, inside the caller's transaction: what is changed after that is written down for it."""
    database.connection.execute(TRIGGERS).fetchall()
    set_meta(database, KEY, json.dumps(asdict(replica)))


def queue_all(database: Database, sources: Sequence[str] | None = None) -> None:
    """Have every passage sent (again), or those of some sources; inside the caller's transaction."""
    where = ""
    if sources is not None:
        where = (
            " WHERE document IN (SELECT d.key FROM document d JOIN source s ON s.key = d.source"
            " WHERE s.name IN (SELECT value FROM json_each(?)))"
        )
    database.rows(
        f"INSERT OR REPLACE INTO outbox(id) SELECT id FROM chunk{where} ORDER BY key",
        () if sources is None else (json.dumps(list(sources)),),
    )


def queued(database: Database, after: int, limit: int) -> Queued:
    """What is to be sent next, behind a sequence number."""
    return [
        (seq, id)
        for seq, id in database.rows("SELECT seq, id FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit))
    ]


def was_sent(database: Database, batch: Queued) -> None:
    """Take these off the outbox; what changed meanwhile has another number and stays."""
    with database.transaction() as connection:
        connection.executemany("DELETE FROM outbox WHERE seq = ?", [(seq,) for seq, _ in batch])


def is_empty(database: Database) -> bool:
    """Whether nothing is to be sent."""
    return database.value("SELECT 1 FROM outbox LIMIT 1") is None


def unsent_count(database: Database, filter: Filter = Filter()) -> int:
    """How many passages that the filter lets through have changed or come since they were sent."""
    where, values = chunk_condition(filter)
    return int(
        database.value(
            "SELECT count(*) FROM outbox o JOIN chunk c ON c.id = o.id" + (f" WHERE {where}" if where else ""), values
        )
    )


def undeleted_count(database: Database) -> int:
    """How many passages are gone from the catalogue, but perhaps not from the copy."""
    return int(
        database.value("SELECT count(*) FROM outbox o WHERE NOT EXISTS (SELECT 1 FROM chunk c WHERE c.id = o.id)")
    )


def passages_of(database: Database, sources: Sequence[str]) -> int:
    """How many passages some sources have."""
    return int(
        database.value(
            "SELECT count(*) FROM chunk c JOIN document d ON d.key = c.document JOIN source s ON s.key = d.source"
            " WHERE s.name IN (SELECT value FROM json_each(?))",
            (json.dumps(list(sources)),),
        )
    )


def strays(database: Database, ids: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Those of the passages' ids that none of the sources holds."""
    rows = database.rows(
        "SELECT j.value FROM json_each(?) j WHERE NOT EXISTS (SELECT 1 FROM chunk c"
        " JOIN document d ON d.key = c.document JOIN source s ON s.key = d.source"
        " WHERE c.id = j.value AND s.name IN (SELECT value FROM json_each(?)))",
        (json.dumps(list(ids)), json.dumps(list(sources))),
    )
    return [id for (id,) in rows]
