"""Qdrant that fails, over real sockets: nothing is lost, the catalogue answers, and every answer says so."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from second_brain.index.qdrant import sending, store
from second_brain.index.qdrant.client import Client
from second_brain.index.qdrant.points import point_id
from second_brain.index.qdrant.retrying import Patience
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.testing.index_contract import vector_of
from second_brain.testing.qdrant_server import Fault, QdrantServer
from second_brain.types import Filter

MANY = {f"{number:03}.md": f"# Pump {number}\n\nThe pump number {number} lost pressure.\n" for number in range(40)}


@pytest.fixture
def filled(copied):
    copied.index(MANY)
    assert counted(copied) == (40, 40)
    return copied


def counted(notes) -> tuple[int, int]:
    """Points, and passages of the catalogue."""
    index = notes.brain.index
    return sum(held.points for held in index.collections.listed()), index.chunk_count()


def sent(server: QdrantServer) -> int:
    return sum(line.startswith("PUT") and line.endswith("/points") for line in server.asked)


def hits(notes, **options) -> list[tuple[str, float]]:
    return [(hit.uri, hit.score) for hit in notes.brain.search("pump number 7", **options).hits]


@pytest.mark.parametrize(
    "fault",
    [
        Fault("POST", times=9, status=503),
        Fault("POST", times=9, cut=True),
        Fault("POST", times=9, status=404),
        Fault("POST", times=9, delay_s=1.5),
        Fault("POST", times=9, status=500, after=True),
    ],
    ids=["unavailable", "cut", "not found", "slow", "failed afterwards"],
)
@pytest.mark.parametrize("mode", ["lexical", "dense", "hybrid"])
def test_the_catalogue_answers_when_a_search_fails(filled, server, fault: Fault, mode: str):
    """The same hits as ever, and a notice that names Qdrant's place and the reason; never an empty success."""
    before = hits(filled, mode=mode)
    server.faults.append(fault)
    began = time.monotonic()
    result = filled.brain.search("pump number 7", mode=mode)
    assert time.monotonic() - began < 10
    assert [hit.uri for hit in result.hits] == [uri for uri, _ in before]
    assert [hit.score for hit in result.hits] == pytest.approx([score for _, score in before], abs=1e-3)
    (notice,) = (notice for notice in result.notices if "Qdrant" in notice)
    assert server.url in notice
    assert "the SQLite catalogue answered" in notice


def test_one_failure_in_a_search_is_tried_again_unseen(filled, server):
    """A single cut connection costs a moment, not the backend."""
    server.faults.append(Fault("query", cut=True))
    result = filled.brain.search("pump number 7")
    assert result.hits
    assert not [notice for notice in result.notices if "Qdrant" in notice]


def test_a_backend_that_is_away_is_left_alone_for_a_while(filled, server, monkeypatch):
    """The next searches do not wait for it, and say why; then it is asked again."""
    server.faults.append(Fault("query", times=4, status=503))
    filled.brain.search("pump", mode="lexical")
    asked = len(server.asked)
    result = filled.brain.search("pump", mode="lexical")
    assert len(server.asked) == asked
    assert "503" in " ".join(result.notices)
    server.faults.clear()
    monkeypatch.setattr(store.time, "monotonic", lambda real=time.monotonic: real() + store.LEFT_ALONE_S + 1)
    assert not filled.brain.search("pump", mode="lexical").notices
    assert len(server.asked) > asked


def test_sending_goes_on_through_failures_that_pass(copied, server):
    """Errors, lost answers and cut connections are repeated; each point is there once."""
    server.faults += [
        Fault("PUT /collections/brain-vault-g1/points", status=503),
        Fault("PUT /collections/brain-vault-g1/points", status=500, after=True),
        Fault("PUT /collections/brain-vault-g1/points", cut=True),
        Fault("PUT /collections/brain-vault-g1/points", status=429, headers={"Retry-After": "0"}),
    ]
    copied.index(MANY)
    assert counted(copied) == (40, 40)
    assert not copied.brain.search("pump").notices


def test_what_could_not_be_sent_waits_and_is_told(filled, server, monkeypatch):
    """The index is written, the run says what is wrong, searches say how much lacks; the next run sends it."""
    server.faults.append(Fault("PUT", times=99, status=503))
    monkeypatch.setattr(sending, "BATCH", 4)
    monkeypatch.setattr(sending, "PATIENCE", Patience(tries=1))
    filled.write({"new.md": "# Heron\n\nA heron came.\n", "000.md": "# Changed\n\nAn egret came.\n"})
    report = filled.brain.sync()
    assert [source.added for source in report.sources] == [1]
    assert "503" in report.notices[0]
    assert "2 passages are not in Qdrant yet" in report.notices[1]
    result = filled.brain.search("heron egret", mode="lexical")
    assert {hit.uri for hit in result.hits} == {"notes/new.md", "notes/000.md"}
    assert any("2 passages are not in Qdrant yet" in notice for notice in result.notices)
    assert any("2 passages are not in Qdrant yet" in notice for notice in filled.brain.status().notices)
    server.faults.clear()
    filled.brain.embed()
    assert counted(filled) == (41, 41)
    assert not [notice for notice in filled.brain.search("heron").notices if "Qdrant" in notice]


def test_what_was_removed_while_qdrant_was_away_is_told_until_it_is_gone(filled, server, monkeypatch):
    """Somebody asked to forget it: status says that Qdrant still has it; the next run takes it out."""
    monkeypatch.setattr(sending, "PATIENCE", Patience(tries=1))
    server.faults.append(Fault("/points/delete", times=99, status=503))
    filled.brain.remove("notes")
    said = "40 passages that were removed are in Qdrant still"
    assert any(said in notice for notice in filled.brain.status().notices)
    server.faults.clear()
    assert filled.brain.embed().notices == ()
    assert counted(filled) == (0, 0)
    assert not any("Qdrant" in notice for notice in filled.brain.status().notices)


def test_requests_go_out_side_by_side_but_never_more_than_the_workers(copied, server, monkeypatch):
    """Several batches are on their way at once; the rest waits instead of filling memory."""
    monkeypatch.setattr(sending, "BATCH", 2)
    server.faults.append(Fault("PUT /collections/brain-vault-g1/points", times=99, delay_s=0.05))
    copied.index(MANY)
    assert counted(copied) == (40, 40)
    assert 1 < server.most_at_once <= sending.WORKERS


def test_points_are_made_no_faster_than_they_can_be_sent(copied, monkeypatch):
    """Of a slow server's backlog only a few batches are in memory at any moment."""
    monkeypatch.setattr(sending, "BATCH", 2)
    made, outstanding, finished = [], [], []
    read, upsert = sending.read_points, Client.upsert

    def reading(*given):
        made.append(1)
        outstanding.append(len(made) - len(finished))
        return read(*given)

    def slow(*given):
        time.sleep(0.02)
        upsert(*given)
        finished.append(1)

    monkeypatch.setattr(sending, "read_points", reading)
    monkeypatch.setattr(Client, "upsert", slow)
    copied.index(MANY)
    assert len(made) >= 20
    assert max(outstanding) <= 2 * sending.WORKERS + 1


def test_whoever_is_killed_in_the_middle_leaves_the_rest_to_the_next(copied, server, tmp_path):
    """A process that dies between batches loses nothing and doubles nothing; a search alone goes on with it."""
    copied.write(MANY)
    code = (
        "import os, sys; from second_brain import Brain; from second_brain.index.qdrant import sending\n"
        "sending.BATCH = 4\n"
        "real = sending.copies.was_sent\n"
        "calls = []\n"
        "def dying(*given):\n"
        "    calls.append(1)\n"
        "    os._exit(9) if len(calls) == 3 else real(*given)\n"
        "sending.copies.was_sent = dying\n"
        "Brain.open(sys.argv[1], environment={}).sync()\n"
    )
    died = subprocess.run([sys.executable, "-c", code, str(copied.home)], capture_output=True)
    assert died.returncode == 9, died.stderr
    index = copied.brain.index
    assert index.chunk_count() == 40
    assert counted(copied)[0] >= 12
    assert index.database.value("SELECT count(*) FROM outbox") == 32
    result = copied.brain.search("pump", mode="lexical")
    assert result.hits
    assert "not filled yet" in " ".join(result.notices) or counted(copied) == (40, 40)
    copied.brain.embed()
    assert counted(copied) == (40, 40)
    assert not copied.brain.search("pump").notices


def test_a_search_sends_what_another_process_left(filled):
    """Nobody has to run anything: whoever comes next goes on."""
    other = SqliteIndex(filled.brain.settings.index)
    other.relabel("notes", lambda own: "work")
    other.close()
    assert filled.brain.index.database.value("SELECT count(*) FROM outbox") == 40
    assert not [notice for notice in filled.brain.search("pump").notices if "Qdrant" in notice]
    assert filled.brain.index.database.value("SELECT count(*) FROM outbox") == 0


def test_vectors_of_another_embedder_are_never_asked_of_qdrant(filled, monkeypatch):
    """While not all of the new ones are there the catalogue ranks, and says which Qdrant still has."""
    monkeypatch.setattr(store, "BATCH", 1)
    monkeypatch.setattr(sending, "BATCH", 1)
    index = filled.brain.index
    index.vectors.begin("another-256/1")
    search = index.searching()
    assert not search.dense(vector_of("x"), Filter(), 5).entries
    assert "holds vectors of 'hashing-256/1' still" in search.notices()[0]
    assert index.replicate(lambda *_: None) == ()
    assert index.searching().notices() == ()


def test_a_lost_qdrant_is_filled_again_without_embedding(filled, server, monkeypatch):
    """The catalogue has all that it takes: texts, terms, vectors, tokens."""
    before = hits(filled)
    server.answer("DELETE", "/collections/brain-vault-g1", None)
    result = filled.brain.search("pump number 7")
    assert [hit.uri for hit in result.hits] == [uri for uri, _ in before]
    assert "the SQLite catalogue answered" in " ".join(result.notices)
    report = filled.brain.embed()
    assert (report.embedded, report.notices) == (0, ())
    assert counted(filled) == (40, 40)
    assert hits(filled) == before
    assert not filled.brain.search("pump").notices


def test_points_that_are_gone_or_strange_are_put_right_by_the_next_run(filled, server):
    """Qdrant restored from an older state: what lacks comes back, what nobody knows goes."""
    index = filled.brain.index
    ids = [id for (id,) in index.database.rows("SELECT id FROM chunk LIMIT 3")]
    index.client.delete("brain-vault-g1", [point_id(id) for id in ids])
    stranger = {"id": point_id("ffffffffffffffff"), "vector": {"terms": {"indices": [1], "values": [1.0]}}}
    index.client.upsert("brain-vault-g1", [stranger])
    filled.brain.embed()
    assert counted(filled) == (40, 40)
    assert point_id("ffffffffffffffff") not in set(index.client.ids("brain-vault-g1"))


def test_a_stopped_server_that_comes_back_is_used_again(make_notes, tmp_path):
    """A process of its own that is killed in between, its folder kept: searches never fail."""
    notes = make_notes(tmp_path)
    command = [sys.executable, "-m", "second_brain.testing.qdrant_server", "--path", str(tmp_path / "store")]

    def started(*more: str) -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen([*command, *more], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    process, url = started()
    try:
        (notes.home / "settings.yaml").write_text(f"index: qdrant\nqdrant:\n  url: {url}\n  timeout_s: 1\n")
        notes.reopen()
        notes.index({"a.md": "# Pump\n\nIt lost pressure.\n"})
        assert not notes.brain.search("pump").notices
        process.kill()
        process.wait()
        result = notes.brain.search("pump")
        assert result.hits
        assert "does not answer" in " ".join(result.notices)
        process.stdout.close()
        process, _ = started("--port", url.rpartition(":")[2])
        notes.index({"b.md": "# Heron\n\nIt waits.\n"})
        assert counted(notes) == (2, 2)
        assert not notes.brain.search("heron").notices
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        notes.brain.close()
