"""A box answers as if it were here: the same hits, the same words, with the paths of this machine."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain.errors import NotAllowed, NotFound, UsageError
from second_brain.remote.brain import RemoteBrain
from second_brain.servers.brains import Brains
from second_brain.servers.calls import call
from second_brain.servers.desk import Desk
from second_brain.servers.toolsets import chosen
from second_brain.types import Filter

NOW = datetime(2031, 5, 2, 12, tzinfo=UTC)
PUMP = {
    "pump.md": "---\naliases: [bilge]\n---\n# Pump\n\nThe pump cavitates when the strainer clogs.\n",
    "logs/strainer.md": "# Strainer\n\nCleaned the strainer of the pump in May.\n",
    "cooking.md": "# Soup\n\nMiso soup with clams.\n",
}


def silent(stage: str, done: int, total: int | None) -> None:
    pass


def test_answers_equal_those_of_the_library(box: Any, laptop: Callable[..., RemoteBrain]) -> None:
    """What the proxy gets is the value that the library returns, but for how long it took."""
    box.index(PUMP)
    remote = laptop()
    for mode in ("lexical", "dense", "hybrid", "agentic"):
        own = box.brain.search("why does the pump cavitate", mode=mode, now=NOW)
        got = remote.search("why does the pump cavitate", mode=mode, now=NOW)
        assert (got.hits, got.rolled_up, got.notices, got.confidence) == (
            own.hits, own.rolled_up, own.notices, own.confidence
        )  # fmt: skip
    assert remote.get("bilge") == box.brain.get("bilge")
    assert remote.recent(limit=2) == box.brain.recent(limit=2)
    assert remote.facets("strainer") == box.brain.facets("strainer")
    assert remote.status() == box.brain.status()
    assert [source.name for source in remote.sources()] == ["notes"]
    assert remote.generation == box.brain.generation


def test_more_hits_than_one_answer_holds_come_as_a_stream(box: Any, laptop: Callable[..., RemoteBrain]) -> None:
    """Two hundred hits are asked for at once, and are those of the library."""
    box.index({f"n{n}.md": f"# Note {n}\n\nThe heron number {n} stands.\n" for n in range(130)})
    own = box.brain.search("heron", mode="lexical", limit=120, now=NOW, per_document=None)
    got = laptop().search("heron", mode="lexical", limit=120, now=NOW, per_document=None)
    assert [hit.id for hit in got.hits] == [hit.id for hit in own.hits]
    assert len(got.hits) == 120


def test_errors_arrive_as_what_they_were(box: Any, laptop: Callable[..., RemoteBrain]) -> None:
    """What is wrong with a question is said in the box's own words and class."""
    box.index(PUMP)
    with pytest.raises(NotFound, match="'unknown'"):
        laptop().search("pump", filter=Filter(sources=("unknown",)))
    with pytest.raises(NotFound, match="nothing in the index answers to 'heron'"):
        laptop().get("heron")
    with pytest.raises(UsageError, match="at least 1"):
        laptop().search("pump", limit=0)
    with pytest.raises(NotAllowed, match="does not take the token"):
        laptop(token="sb_wrong").search("pump")


def test_a_view_shows_nothing_above_its_label(box: Any, laptop: Callable[..., RemoteBrain]) -> None:
    """A client that may see 'work' gets no hit, note, count or source above it, whatever the token shows."""
    box.index(PUMP, privacy="secret")
    box.index({"plan.md": "# Plan\n\nReplace the pump.\n"}, source="office", privacy="work")
    for view in (laptop().seen_by("work"), laptop(token="work")):
        assert [hit.source for hit in view.search("pump").hits] == ["office"]
        assert [source.name for source in view.sources()] == ["office"]
        assert view.status().documents == 1
        assert [document.source for document in view.recent()] == ["office"]
        with pytest.raises(NotFound):
            view.get("Pump")


def test_hits_have_the_paths_of_this_machine_where_the_files_are(
    box: Any, tmp_path: Path, laptop: Callable[..., RemoteBrain]
) -> None:
    """A hit whose file lies here by a rule is shown with that path; another keeps the box's."""
    root = box.index(PUMP)
    here = tmp_path / "vault"
    here.mkdir()
    (here / "pump.md").write_bytes((root / "pump.md").read_bytes())
    remote = laptop(paths={root: here})
    paths = {hit.uri: hit.path for hit in remote.search("pump strainer", mode="lexical").hits}
    assert paths == {"notes/pump.md": str(here / "pump.md"), "notes/logs/strainer.md": str(root / "logs/strainer.md")}
    assert [hit.uri for hit in remote.search("pump", filter=Filter(path_prefix=str(here / "logs"))).hits] == [
        "notes/logs/strainer.md"
    ]


def test_a_note_is_read_here_when_it_is_what_the_box_indexed(
    box: Any, tmp_path: Path, laptop: Callable[..., RemoteBrain]
) -> None:
    """The local file is read if its bytes have the indexed hash; the note says which one it is."""
    root = box.index({"pump.md": "# Pump\r\n\r\npassword = 'hunter2hunter2'\r\n"})
    here = tmp_path / "vault"
    here.mkdir()
    copy = here / "pump.md"
    copy.write_bytes((root / "pump.md").read_bytes())
    remote = laptop(paths={root: here})
    own, note = box.brain.get("Pump"), remote.get(str(copy))
    assert note.text == own.text
    assert "hunter2" not in note.text
    assert note.notes == (f"read from {copy} on this machine, which is what the box indexed",)
    copy.write_text("# Pump\n\nsomething else\n")
    note = remote.get(f"{copy}:3")
    assert note.text == own.text
    assert note.notes == (f"read from the box: {copy} on this machine differs from what it indexed",)


def test_every_method_that_servers_call_takes_what_that_of_a_brain_takes() -> None:
    """Tools run unchanged over a box: each method has the arguments of the library's."""
    for name in (
        "search", "short_ids", "get", "recent", "facets", "sources", "status", "sync", "embed", "add", "remove",
        "follow", "seen_by", "must_see_all", "close",
    ):  # fmt: skip
        wanted = inspect.signature(getattr(Brain, name)).parameters
        given = inspect.signature(getattr(RemoteBrain, name)).parameters
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in given.values())
        optional = {"wait_s", "in_place", "within"}  # of the command line alone
        assert takes_all or wanted.keys() - optional <= given.keys(), name


def test_tools_answer_over_a_box_as_over_a_brain(box: Any, laptop: Callable[..., RemoteBrain]) -> None:
    """The tools of all sets say the same words, whichever brain they work over."""
    box.index(PUMP)
    remote = laptop()
    over_box = Desk(Brains(lambda: remote, models_elsewhere=True), read_only=True)
    over_brain = Desk(Brains(lambda: box.brain), read_only=True)
    over_brain.has_model(box.brain, wait_s=10)
    given = {
        "search_knowledge": {"query": "why does the pump cavitate"}, "search_vault": {"query": "strainer"},
        "read_note": {"name": "Strainer"}, "list_recent_notes": {}, "get_index_status": {}, "list_sources": {},
        "list_collections": {},
    }  # fmt: skip
    for tool in chosen(["knowledge", "sources", "vault"], read_only=True):
        if tool.name in given:
            expected = call(tool, over_brain, given[tool.name], silent)
            assert call(tool, over_box, given[tool.name], silent) == expected, tool.name
            assert expected.value is not None, expected.text
