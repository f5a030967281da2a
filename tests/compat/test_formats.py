"""Index files of every format that was ever released open, answer, and are taken over without embedding again.

The files are made by ``make_index.py``, which holds the notes that are in them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import pytest
from make_index import write_notes

from second_brain.index.sqlite import schema
from second_brain.types import MODES, Filter

FOLDER = Path(__file__).parent
FORMATS = list(range(1, schema.FORMAT + 1))
CHUNKS = {1: 6, 2: 5, 3: 5, 4: 5}
"""Small sections of a note are one chunk since format 2."""


@pytest.fixture(params=FORMATS, ids="format-{}".format)
def old(request, make_notes, tmp_path):
    """A home whose index is the committed file; its folder of notes is empty still."""
    notes = make_notes(tmp_path)
    shutil.copyfile(FOLDER / f"format-{request.param}.db", notes.brain.settings.index)
    notes.format = request.param
    with notes.brain:
        yield notes


def test_there_is_a_file_of_every_format_and_a_step_to_the_next():
    """Whoever raises ``FORMAT`` adds both; each file says which format it has, and is small."""
    assert sorted(schema.MIGRATIONS) == FORMATS[:-1]
    for number in FORMATS:
        file = FOLDER / f"format-{number}.db"
        raw = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
        assert raw.execute("PRAGMA user_version").fetchall() == [(number,)]
        assert raw.execute("PRAGMA application_id").fetchall() == [(schema.APPLICATION_ID,)]
        raw.close()
        assert file.stat().st_size < 150_000


def test_an_old_file_answers(old):
    """By word, by meaning, by name, by link and by filter, in any script."""
    for mode in MODES:
        result = old.brain.search("pump lost pressure", mode=mode)
        assert (result.mode, result.hits[0].uri) == (mode, "notes/pump.md")
    assert old.found("排水ポンプ") == ["会議.md"]
    assert old.found("empty") == ["empty.md"]
    assert old.found("pump", filter=Filter(tags=("ops",))) == ["pump.md"]
    assert old.found("pump", filter=Filter(types=("decision",))) == ["old.md"]
    assert "old.md" not in old.found("pump", filter=Filter(privacy=("personal",)))
    note = old.brain.get("lp-9")
    assert [link.target for link in note.links] == ["notes/deep/owl.md"]
    assert [link.source for link in note.backlinks] == ["notes/deep/owl.md"]
    assert [link.target for link in old.brain.get("Owl").links] == ["notes/pump.md", None]
    assert len(old.brain.recent()) == 5


def test_an_old_file_is_sound_and_complete(old):
    """Status counts what was put into it, doctor finds no error."""
    status = old.brain.status()
    assert (status.documents, status.waiting, status.embedder) == (5, 0, "hashing-256/1")
    assert status.chunks == CHUNKS[old.format]
    assert [finding.message for finding in old.brain.doctor() if finding.severity == "error"] == []
    assert old.brain.index.database.value("PRAGMA user_version") == schema.FORMAT


def test_an_old_file_is_taken_over(old):
    """With the same notes nothing is added, only what is now cut otherwise is embedded, and changes are followed."""
    write_notes(old.root)
    report = old.sync()
    assert (report.added, report.deleted, report.moved, report.failures) == (0, 0, 0, ())
    assert old.brain.status().waiting == (1 if old.format == 1 else 0)
    assert old.brain.get("old.md").document.privacy == "secret"
    hits = old.brain.search("pump").hits
    assert hits
    assert not any("changed" in note or "gone" in note for hit in hits for note in hit.notes)
    old.index({"pump.md": "It was mended by a heron.\n"})
    assert old.found("heron", mode="hybrid")[0] == "pump.md"
