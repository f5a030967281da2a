"""The outbox: what changes in the catalogue is written down for the copy, in the transaction that changes it."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import apsw
import pytest

from second_brain.index.qdrant import replica as copies
from second_brain.index.qdrant.replica import MOST_DRIFT, Replica
from second_brain.index.sqlite import schema
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.records import Removal
from second_brain.testing.index_contract import embed, fill, put, write

COMPAT = Path(__file__).parents[2] / "compat"


@pytest.fixture
def index(tmp_path: Path):
    """A filled catalogue with a copy that has been told everything."""
    with closing(SqliteIndex(tmp_path / "index.db")) as made:
        fill(made)
        embed(made)
        with made.database.transaction():
            copies.write_replica(made.database, Replica("http://x", "brain", "g1"))
        yield made


def named(index: SqliteIndex) -> set[str]:
    """The documents of the passages in the outbox, and ids of those that are gone."""
    rows = index.database.rows(
        "SELECT coalesce(d.uri, 'gone') FROM outbox o LEFT JOIN chunk c ON c.id = o.id"
        " LEFT JOIN document d ON d.key = c.document"
    )
    return {uri for (uri,) in rows}


def triggers(index: SqliteIndex) -> list[str]:
    """The names of the file's triggers."""
    return [name for (name,) in index.database.rows("SELECT name FROM sqlite_schema WHERE type = 'trigger'")]


def test_without_a_copy_nothing_is_written_down(tmp_path: Path):
    """Whoever uses SQLite alone pays nothing: there is no trigger, and no row."""
    with closing(SqliteIndex(tmp_path / "index.db")) as plain:
        fill(plain)
        embed(plain)
        assert copies.is_empty(plain.database)
        assert triggers(plain) == []


def test_triggers_come_with_the_record_of_the_copy_or_not_at_all(tmp_path: Path):
    """Both are of one transaction; whoever opens the file then, or has it open, writes down."""
    path = tmp_path / "index.db"
    with closing(SqliteIndex(path)) as index, closing(SqliteIndex(path)) as other:
        fill(other)

        def undone() -> None:
            with index.database.transaction():
                copies.write_replica(index.database, Replica("http://x", "brain", "g1"))
                raise RuntimeError

        with pytest.raises(RuntimeError):
            undone()
        assert (triggers(index), copies.read_replica(index.database)) == ([], None)
        put(other, "notes/before.md", "A bittern.")
        with index.database.transaction():
            copies.write_replica(index.database, Replica("http://x", "brain", "g1"))
            copies.queue_all(index.database)
        assert "notes/before.md" in named(index)
        index.database.rows("DELETE FROM outbox")
        put(other, "notes/after.md", "An egret.")
        assert named(index) == {"notes/after.md"}
        with closing(SqliteIndex(path)) as third:
            put(third, "notes/later.md", "A heron.")
        assert named(index) == {"notes/after.md", "notes/later.md"}


def test_every_way_of_changing_a_passage_is_written_down(index: SqliteIndex):
    """A new text, a vector, a label, a place on disk, a removal, a removed source."""
    assert named(index) == set()
    put(index, "notes/new.md", "An egret.")
    assert named(index) == {"notes/new.md"}
    index.database.rows("DELETE FROM outbox")
    embed(index)
    assert named(index) == {"notes/new.md"}
    index.relabel("docs", lambda own: "secret")
    assert named(index) == {"notes/new.md", "docs/manual.md", "docs/old.md"}
    index.database.rows("DELETE FROM outbox")
    index.database.rows("UPDATE item SET path = '/elsewhere' WHERE uri = 'code/valve.py'")
    assert named(index) == {"code/valve.py"}
    index.database.rows("DELETE FROM outbox")
    write(index, "notes", Removal("notes/pump.md"))
    assert named(index) == {"gone"}
    index.database.rows("DELETE FROM outbox")
    index.remove_source("docs")
    assert index.database.value("SELECT count(*) FROM outbox") == 2
    index.database.rows("DELETE FROM outbox")
    index.vectors.begin("another/1")
    assert index.database.value("SELECT count(*) FROM outbox") == index.chunk_count()


def test_what_is_undone_is_not_written_down(index: SqliteIndex):
    """Both are of one transaction."""

    def undone() -> None:
        with index.database.transaction():
            index.relabel("docs", lambda own: "secret")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        undone()
    assert copies.is_empty(index.database)


def test_what_changes_while_it_is_sent_stays(index: SqliteIndex):
    """Taking off what was sent takes off no later change of the same passage, even if it was taken off before."""
    put(index, "notes/new.md", "An egret.")
    batch = copies.queued(index.database, 0, 10)
    index.relabel("notes", lambda own: "secret")
    copies.was_sent(index.database, batch)
    assert "notes/new.md" in named(index)
    index.database.rows("DELETE FROM outbox")
    index.relabel("notes", lambda own: "work")
    copies.was_sent(index.database, batch)
    assert "notes/new.md" in named(index)


def test_unsent_passages_are_counted_for_the_asker(index: SqliteIndex):
    """Only those that the filter lets through, and none that are gone."""
    from second_brain.types import Filter

    put(index, "notes/new.md", "An egret.", privacy="secret")
    put(index, "notes/open.md", "A heron.", privacy="public")
    write(index, "notes", Removal("notes/pump.md"))
    assert copies.unsent_count(index.database) == 2
    assert copies.unsent_count(index.database, Filter(privacy=("public",))) == 1


@pytest.mark.parametrize(("share", "drifted"), [(0.99, False), (1.04, False), (1.06, True), (0.9, True), (0.0, True)])
def test_weights_are_made_anew_when_passages_have_become_longer_or_shorter(share: float, drifted: bool):
    """Beyond a twentieth; and whenever another analyzer made the terms, or fields weighed otherwise."""
    assert MOST_DRIFT == 0.05
    known = Replica("x", "brain", "g1").weighed(100.0, (3.0, 1.5))
    assert known.has_drifted(100.0 * share, (3.0, 1.5)) is drifted
    assert known.has_drifted(100.0, (2.0, 1.0))
    assert replace(known, analyzer="0").has_drifted(100.0, (3.0, 1.5))


def test_a_file_from_before_the_outbox_gets_it(tmp_path: Path):
    """It is migrated when it is opened, and writes down from then on."""
    with closing(SqliteIndex(tmp_path / "index.db")) as made:
        fill(made)
        made.database.rows("DROP TABLE outbox")
        made.database.rows("PRAGMA user_version = 2")
    with closing(SqliteIndex(tmp_path / "index.db")) as again:
        assert again.database.value("PRAGMA user_version") == schema.FORMAT
        with again.database.transaction():
            copies.write_replica(again.database, Replica("x", "brain", "g1"))
        put(again, "notes/new.md", "An egret.")
        assert named(again) == {"notes/new.md"}


@pytest.mark.parametrize("copied", [False, True])
def test_triggers_of_format_3_stay_only_beside_a_copy(tmp_path: Path, copied: bool):
    """That format had them always; a copy that is there misses nothing by the change."""
    path = tmp_path / "index.db"
    shutil.copyfile(COMPAT / "format-3.db", path)
    raw = apsw.Connection(str(path))
    if copied:
        value = json.dumps(asdict(Replica("x", "brain", "g1")))
        raw.execute("INSERT INTO meta VALUES ('replica', ?)", (value,)).fetchall()
    assert raw.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'").fetchall() == [(5,)]
    raw.close()
    with closing(SqliteIndex(path)) as index:
        put(index, "notes/new.md", "An egret.")
        assert len(triggers(index)) == (5 if copied else 0)
        assert named(index) == ({"notes/new.md"} if copied else set())
        with index.database.transaction():
            copies.write_replica(index.database, Replica("x", "brain", "g1"))
        put(index, "notes/newer.md", "A heron.")
        assert "notes/newer.md" in named(index)
