"""Sessions become notes: written, found, edited, kept, and sent to a model only as far as their label allows."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain.distill.run import distill
from second_brain.errors import NotFound, UsageError
from second_brain.testing.loopback import Answer, Asked, Loopback, chat_answer

NOW = datetime(2031, 5, 3, tzinfo=UTC)
IDS = ("aaaa1111-0000-4000-8000-000000000001", "bbbb2222-0000-4000-8000-000000000002")
SECRET = "ghp_" + "a1B2" * 9


def silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


def log(folder: Path, session: str, word: str, day: int = 1) -> Path:
    """A session of Claude Code about a word, with a decision, an error and what mended it, and a key in it."""

    def record(kind: str, content: Any, minute: int) -> str:
        return json.dumps(
            {
                "type": kind, "uuid": f"{session}-{minute}", "sessionId": session, "cwd": "/home/mina/pump",
                "timestamp": f"2031-05-{day:02d}T09:{minute:02d}:00.000Z",
                "message": {"role": kind, "content": content},
            }
        )  # fmt: skip

    lines = [
        record("user", f"Please look at the {word} importer. It stops in the middle of the night. Key {SECRET}.", 1),
        record(
            "assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"make {word}"}}], 2
        ),
        record(
            "user",
            [{"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": f"KeyError: '{word}'"}],
            3,
        ),
        record(
            "assistant", [{"type": "text", "text": f"The cause was a renamed column in the {word} table. Fixed."}], 4
        ),
        record("user", f"Then let's use the {word} view instead of the table from now on.", 5),
        record("assistant", [{"type": "text", "text": "Done; the importer reads the view."}], 6),
    ]
    path = folder / "projects" / "p" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def brain(tmp_path: Path) -> Brain:
    """Two sessions, indexed; their source is labelled 'work'."""
    for id, word in zip(IDS, ("heron", "egret"), strict=True):
        log(tmp_path, id, word)
    home = tmp_path / "home"
    home.mkdir()
    (home / "models.yaml").write_text("embedder: hashing\n")
    made = Brain.open(home, environment={})
    made.add(tmp_path / "projects", name="agent", kind="claude-session-jsonl", privacy="work")
    made.sync()
    return made


def run(brain: Brain, *names: str, now: datetime = NOW, **options: Any) -> dict[str, str]:
    """What became of each session, by the word that it is about."""
    report = distill(brain, names, now=now, progress=silent, **options)
    return {
        ("heron" if "heron" in o.title else "egret" if "egret" in o.title else o.title): o.state
        for o in report.outcomes
    }


def notes(brain: Brain) -> dict[str, Path]:
    """The summaries, by word."""
    found = sorted((brain.settings.index.parent / "summaries").glob("*.md"))
    return {("heron" if "heron" in path.name else "egret"): path for path in found}


def with_chat(brain: Brain, url: str, privacy: str) -> Brain:
    """The same brain with a chat model that may see labels up to one."""
    home = brain.settings.home
    (home / "models.yaml").write_text(
        f"embedder: hashing\nchat:\n  url: {url}/v1\n  model: m\n  privacy: {privacy}\n  price_in: 1\n  price_out: 2\n"
    )
    return Brain.open(home, environment={})


def test_each_session_gets_a_note_that_is_found_and_leads_back(brain):
    """With its label, what was decided and solved, and links that open the session."""
    assert run(brain) == {"heron": "written", "egret": "written"}
    text = notes(brain)["heron"].read_text(encoding="utf-8")
    assert "privacy: work" in text
    assert "let's use the heron view instead of the table" in text
    assert "`KeyError: 'heron'` → " in text
    assert "renamed column in the heron table" in text
    hits = brain.search("heron importer column", mode="lexical", limit=5).hits
    assert {"session-summary", "session"} <= {hit.type for hit in hits}
    assert brain.get("note:aaaa1111#1").document.uri == f"agent/p/{IDS[0]}.jsonl"
    assert SECRET not in text
    limited = brain.seen_by("public")
    assert limited.search("heron", mode="lexical").hits == ()


def test_it_is_idempotent_until_a_session_goes_on(brain, tmp_path):
    """Unchanged sessions cost nothing; one that grew is written again, into the same file."""
    run(brain)
    before = notes(brain)
    assert run(brain) == {"heron": "unchanged", "egret": "unchanged"}
    path = tmp_path / "projects" / "p" / f"{IDS[0]}.jsonl"
    more = {"type": "user", "uuid": "x", "sessionId": IDS[0], "timestamp": "2031-05-02T10:00:00Z",
            "message": {"role": "user", "content": "I decided to keep the plover cache."}}  # fmt: skip
    with path.open("a") as stream:
        stream.write(json.dumps(more) + "\n")
    assert run(brain) == {"heron": "written", "egret": "unchanged"}
    assert notes(brain) == before
    assert "plover cache" in before["heron"].read_text(encoding="utf-8")


def test_a_note_that_a_person_edited_is_never_written_again(brain, tmp_path):
    """Not even when it is asked for; deleted, it comes back."""
    run(brain)
    path = notes(brain)["heron"]
    path.write_text(path.read_text(encoding="utf-8") + "\nMy own thought.\n", encoding="utf-8")
    assert run(brain, again=True) == {"heron": "edited", "egret": "written"}
    assert "My own thought." in path.read_text(encoding="utf-8")
    path.unlink()
    assert run(brain)["heron"] == "written"


def test_a_session_that_is_going_on_waits(brain):
    """Half an hour after its last word nothing is written; it is when it is asked for at its end."""
    soon = datetime(2031, 5, 1, 9, 30, tzinfo=UTC)
    assert set(run(brain, now=soon).values()) == {"active"}
    assert run(brain, IDS[0][:8], now=soon, quiet=timedelta(0)) == {"heron": "written"}


def test_a_dry_run_writes_and_sends_nothing_and_names_the_price(brain):
    """Sessions, requests, tokens and money."""
    with Loopback(lambda asked: chat_answer("x")).running() as server:
        chatty = with_chat(brain, server.url, "work")
        report = distill(chatty, now=NOW, progress=silent, dry_run=True)
        assert report.counts() == {"planned": 2}
        assert report.requests == 2
        assert 2 * 1200 < report.tokens < 10_000
        assert 0 < report.cost < 0.1
        assert server.asked == []
    assert notes(brain) == {}


def test_a_model_sees_only_what_its_label_allows_and_no_secret(brain):
    """Above the label the session's own words are taken; what is sent has no key in it."""

    def respond(asked: Asked) -> Answer:
        return chat_answer("## Decided\n- The heron view is used. [2]\n")

    with Loopback(respond).running() as server:
        assert run(with_chat(brain, server.url, "public")) == {"heron": "written", "egret": "written"}
        assert server.asked == []
        assert "(extractive)" in notes(brain)["heron"].read_text(encoding="utf-8")
        assert run(with_chat(brain, server.url, "work"), again=True) == {"heron": "written", "egret": "written"}
        assert len(server.asked) == 2
        sent = json.dumps([asked.body for asked in server.asked])
    assert SECRET not in sent
    assert "heron importer" in sent
    text = notes(brain)["heron"].read_text(encoding="utf-8")
    assert "- The heron view is used. [2](note:aaaa1111#2)" in text
    assert "127.0.0.1" in text
    assert "`make heron`" in text


def test_a_model_that_fails_costs_no_note_and_is_told(brain):
    """The other sessions are written; the next run tries again."""

    def respond(asked: Asked) -> Answer:
        return (
            Answer(data=b"{", cut_at=1) if "egret" in json.dumps(asked.body) else chat_answer("## Solved\n- Yes. [1]")
        )

    with Loopback(respond).running() as server:
        assert run(with_chat(brain, server.url, "work")) == {"heron": "written", "egret": "failed"}
        assert list(notes(brain)) == ["heron"]


def test_summaries_are_not_summarized(brain):
    """Their source holds no sessions, whatever they say."""
    run(brain)
    assert len(distill(brain, now=NOW, progress=silent, again=True).outcomes) == 2


def test_unknown_names_and_missing_sources_are_errors(brain, tmp_path):
    """With what to type."""
    with pytest.raises(NotFound, match="no session answers to nothing-like-it"):
        run(brain, "nothing-like-it")
    empty = Brain.open(tmp_path / "empty", environment={})
    with pytest.raises(UsageError) as caught:
        distill(empty, now=NOW, progress=silent)
    assert "claude-session-jsonl" in caught.value.hint
