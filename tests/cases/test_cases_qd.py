"""Group QD of the failure cases: Qdrant's locks, aliases, ids and shapes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from second_brain.errors import BackendMismatch
from second_brain.index.qdrant.client import HOLDER, Client, open_local, rest_models
from second_brain.index.qdrant.points import chunk_of, point_id
from second_brain.testing.qdrant_server import Fault, QdrantServer

PUMP = "# Pump\n\nThe pump lost pressure.\n"


@pytest.fixture
def local(make_notes, tmp_path):
    """Notes whose copy is in a folder, in local mode."""
    notes = make_notes(tmp_path)
    (notes.home / "settings.yaml").write_text(f"index: qdrant\nqdrant:\n  path: {tmp_path / 'qdrant'}\n")
    notes.reopen()
    yield notes
    notes.brain.close()


@pytest.fixture
def served(make_notes, tmp_path):
    """Notes whose copy is on a server."""
    server = QdrantServer()
    notes = make_notes(tmp_path)
    (notes.home / "settings.yaml").write_text(f"index: qdrant\nqdrant:\n  url: {server.url}\n")
    notes.reopen()
    with server.running():
        notes.server = server
        yield notes
    notes.brain.close()


def points(notes) -> int:
    return sum(held.points for held in notes.brain.index.collections.listed())


def test_qd_1_a_folder_that_another_process_holds_is_said_and_the_catalogue_answers(local, tmp_path):
    """The message names the process and what to do; indexing goes on, and what waits is sent once it is free."""
    local.index({"pump.md": PUMP})
    local.brain.close()
    code = (
        "import sys; from second_brain import Brain; brain = Brain.open(sys.argv[1], environment={})\n"
        "brain.search('pump'); print('held', flush=True); sys.stdin.read(); brain.close()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(local.home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    try:
        result = local.brain.search("pump pressure")
        assert [hit.uri for hit in result.hits] == ["notes/pump.md"]
        (notice,) = (notice for notice in result.notices if "Qdrant" in notice)
        assert f"process {holder.pid} has Qdrant's folder open" in notice
        assert "qdrant: url:" in notice
        local.write({"heron.md": "# Heron\n\nIt waits.\n"})
        report = local.brain.sync()
        assert f"process {holder.pid}" in report.notices[0]
        assert local.found("heron") == ["heron.md"]
    finally:
        holder.communicate()
    local.reopen()
    local.brain.embed()
    assert points(local) == 2
    assert not local.brain.search("heron").notices
    local.brain.close()
    assert not (tmp_path / "qdrant" / HOLDER).exists()


def test_qd_1_a_holder_that_cannot_be_told_is_another_process(local, tmp_path):
    """Somebody else's program holds it, or a note about one that ended long ago is left."""
    local.index({"pump.md": PUMP})
    local.brain.close()
    foreign = open_local(str(tmp_path / "qdrant"))
    for left in (None, json.dumps({"pid": 2**22 + 5}), "{"):
        if left is not None:
            (tmp_path / "qdrant" / HOLDER).write_text(left)
        local.reopen()
        assert "another process has Qdrant's folder open" in " ".join(local.brain.search("pump").notices)
    foreign.close()


def test_qd_2_a_collection_that_has_the_aliass_name_is_left_alone_with_a_message(served):
    """Nothing is dropped or made, search and index say what is in the way and what to type; then all goes on."""
    served.server.answer("PUT", "/collections/brain-vault", {"vectors": {"size": 4, "distance": "Dot"}})
    served.write({"pump.md": PUMP})
    assert "a collection named 'brain-vault'" in " ".join(served.brain.status().notices)
    for deed in (served.brain.sync, lambda: served.brain.search("pump")):
        with pytest.raises(BackendMismatch, match="has a collection named 'brain-vault'") as caught:
            deed()
        assert "DELETE /collections/brain-vault" in caught.value.hint
        assert "prefix" in caught.value.hint
    assert served.brain.index.client.collections() == {"brain-vault"}
    served.server.answer("DELETE", "/collections/brain-vault", None)
    served.index()
    assert served.brain.index.collections.aliases() == {"brain-vault": "brain-vault-g1"}
    served.index({"heron.md": "# Heron\n\nIt waits.\n"})  # and again, now that the alias exists
    assert points(served) == 2


def test_qd_2_the_reverse_an_alias_that_has_a_collections_name_is_left_alone(served):
    """An alias by somebody else that bears the name of our physical collection: a message, nothing changed."""
    served.server.answer("PUT", "/collections/theirs", {"vectors": {"size": 4, "distance": "Dot"}})
    create = {"collection_name": "theirs", "alias_name": "brain-vault-g1"}
    served.server.answer("POST", "/collections/aliases", {"actions": [{"create_alias": create}]})
    served.write({"pump.md": PUMP})
    with pytest.raises(BackendMismatch, match="has an alias named 'brain-vault-g1'"):
        served.brain.sync()
    assert served.brain.index.client.aliases() == {"brain-vault-g1": "theirs"}


def test_qd_4_ids_are_stable_so_that_points_are_passages_each_time(served):
    """Indexed twice, a write that fails after it was done, a deleted note: as many points as passages, no orphan."""
    notes = {f"{number}.md": f"# Pump {number}\n\nPressure {number}.\n" for number in range(5)}
    served.index(notes)
    index = served.brain.index
    ids = set(index.client.ids("brain-vault-g1"))
    assert ids == {point_id(id) for (id,) in index.database.rows("SELECT id FROM chunk")}
    served.brain.sync(rebuild=True)
    served.brain.embed()
    assert set(index.client.ids("brain-vault-g1")) == ids
    served.server.faults.append(Fault("PUT /collections/brain-vault-g1/points", status=500, after=True))
    served.index({"5.md": "# Owl\n\nIt nests.\n"})
    assert points(served) == index.chunk_count() == 6
    (served.root / "0.md").unlink()
    served.index()
    assert points(served) == index.chunk_count() == 5
    assert {chunk_of(id) for id in index.client.ids("brain-vault-g1")} == {
        id for (id,) in index.database.rows("SELECT id FROM chunk")
    }


@pytest.mark.parametrize("where", ["local", "served"])
def test_qd_5_a_collection_of_another_shape_is_refused_at_the_start_with_both_shapes(where, request, tmp_path):
    """1,536 wide without a name: named beside what is needed; nothing is read, written or made anew."""
    notes = request.getfixturevalue(where)
    models = rest_models()
    client = open_local(str(tmp_path / "qdrant")) if where == "local" else notes.server._local
    client.create_collection("brain-vault-g1", models.VectorParams(size=1536, distance=models.Distance.COSINE))
    if where == "local":
        client.close()
    notes.write({"pump.md": PUMP})
    for deed in (notes.brain.sync, lambda: notes.brain.search("pump"), notes.brain.embed):
        with pytest.raises(BackendMismatch) as caught:
            deed()
        message = str(caught.value)
        assert "dense vectors without a name (1536, Cosine); sparse vectors none" in message
        assert "dense vectors 'dense' (256, Cosine); sparse vectors 'terms'" in message
        assert "prefix" in caught.value.hint
    assert notes.brain.index.chunk_count() == 0
    shape = notes.brain.index.client.shape("brain-vault-g1")
    assert dict(shape.dense) == {"": (1536, "Cosine")}


def test_qd_1_one_process_opens_a_folder_once_for_all_that_use_it(local, tmp_path):
    """Two generations and a promotion in one process do not lock each other out; the last one frees the folder."""
    local.index({"pump.md": PUMP})
    index = local.brain.index
    other = Client(index.client.settings)
    assert other.collections() == {"brain-vault-g1"}
    local.brain.close()
    assert other.aliases() == {"brain-vault": "brain-vault-g1"}
    assert (tmp_path / "qdrant" / HOLDER).exists()
    del other
    assert not (tmp_path / "qdrant" / HOLDER).exists()
    open_local(str(tmp_path / "qdrant")).close()
