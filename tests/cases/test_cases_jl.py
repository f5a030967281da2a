"""Cases JL: session logs of agents, from the file to what a search finds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain.types import SourceReport

FIRST = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"


class Sessions:
    """A store of Claude Code's sessions, and a brain that has it as its one source."""

    def __init__(self, folder: Path, kind: str = "claude-session-jsonl") -> None:
        self.root = folder / "projects"
        self.home = folder / "home"
        self.root.mkdir()
        self.home.mkdir()
        (self.home / "models.yaml").write_text("embedder: hashing\n")
        self.brain = Brain.open(self.home, index=self.home / "index.db", environment={})
        self.brain.add(self.root, name="agent", kind=kind)

    def write(self, name: str, *records: dict[str, Any] | str | bytes) -> Path:
        """Write a log of these lines."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(map(line, records)))
        return path

    def sync(self) -> SourceReport:
        (report,) = self.brain.sync().sources
        return report

    def found(self, text: str) -> list[str]:
        """The passages that hold the words themselves, not only in the title of their session."""
        hits = self.brain.search(text, mode="lexical", limit=50, per_document=None).hits
        return [hit.text for hit in hits if all(word in hit.text.lower() for word in text.split())]

    def documents(self, type: str = "session") -> list[str]:
        return [document.uri for document in self.brain.recent(limit=100) if document.type == type]


def line(record: dict[str, Any] | str | bytes) -> bytes:
    if isinstance(record, bytes):
        return record
    return (record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)).encode() + b"\n"


def user(text: Any, *, session: str = FIRST, number: int = 0, **more: Any) -> dict[str, Any]:
    """A record of the user."""
    return {
        "type": "user",
        "uuid": f"u-{session[:4]}-{number}-{str(text)[:9]}",
        "sessionId": session,
        "timestamp": f"2031-05-01T09:{number:02d}:00.000Z",
        "cwd": "/home/mina/pump",
        "message": {"role": "user", "content": text},
        **more,
    }


def said(text: str, *, session: str = FIRST, number: int = 0, key: str = "", **more: Any) -> dict[str, Any]:
    """A record of the agent."""
    return {
        "type": "assistant",
        "uuid": f"a-{session[:4]}-{number}-{text[:9]}",
        "sessionId": session,
        "timestamp": f"2031-05-01T09:{number:02d}:30.000Z",
        "cwd": "/home/mina/pump",
        "message": {
            "id": key or f"msg_{session[:4]}_{number}",
            "role": "assistant",
            "model": "claude-x",
            "content": [{"type": "text", "text": text}],
        },
        **more,
    }


def turn(number: int, word: str, session: str = FIRST, **more: Any) -> list[dict[str, Any]]:
    """A question and its answer."""
    question = user(f"Question {number} about the gannet {word}?", session=session, number=number, **more)
    return [question, said(f"Answer {number}: the {word} is fine.", session=session, number=number, **more)]


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[Sessions]:
    made = Sessions(tmp_path)
    with made.brain:
        yield made


def test_jl_1_history_that_a_resumed_session_brings_along(sessions):
    """Four turns, repeated in a second log with new uuids, and one more: five passages, and both logs can be opened."""
    words = ("valve", "sensor", "filter", "gauge")
    first = [record for number, word in enumerate(words) for record in turn(number, word)]
    sessions.write(f"p/{FIRST}.jsonl", *first)
    copies = [{**record, "uuid": f"new-{at}", "sessionId": SECOND} for at, record in enumerate(first)]
    sessions.write(f"p/{SECOND}.jsonl", *copies, *turn(9, "impeller", SECOND))
    sessions.sync()
    assert len(sessions.found("gannet")) == 5
    assert sessions.brain.status().chunks == 5
    assert [len(sessions.found(word)) for word in (*words, "impeller")] == [1] * 5
    for session, turns in ((FIRST, 4), (SECOND, 5)):
        note = sessions.brain.get(session)
        assert note.text.count("Question") == 2 * turns  # in the heading and below it
    assert len(sessions.documents()) == 2


def test_jl_1_one_message_streamed_in_parts_and_written_twice(sessions):
    """Of a message that is written as it grows the last form is kept, once; of copies in one file one."""
    parts = ("The", "The curlew plan", "The curlew plan holds.")
    streamed = [said(text, key="msg_1", uuid=f"s-{at}") for at, text in enumerate(parts)]
    block = said("And the tests pass.", key="msg_1", uuid="s-9")
    sessions.write(f"p/{FIRST}.jsonl", user("How is it?"), *streamed, block, *streamed, block)
    sessions.sync()
    (text,) = sessions.found("curlew")
    assert text.count("curlew") == 1
    assert text.endswith("**Assistant:** The curlew plan holds.\n\nAnd the tests pass.")


def test_jl_3_a_line_that_is_half_written(sessions):
    """Half a line, cut inside a character, is no loss and no warning; with its end it is found, once."""
    path = sessions.write(f"p/{FIRST}.jsonl", *turn(0, "valve"))
    whole = line(user("Where does the 海鳥 kittiwake nest?", number=5))
    cut = whole.index("海".encode()) + 1
    with path.open("ab") as file:
        file.write(whole[:cut])
    report = sessions.sync()
    assert (report.failures, report.warnings) == ((), ())
    assert (len(sessions.found("gannet")), sessions.found("kittiwake")) == (1, [])
    with path.open("ab") as file:
        file.write(whole[cut:])
    assert sessions.sync().changed == 1
    assert len(sessions.found("kittiwake")) == len(sessions.found("海鳥")) == 1
    assert sessions.sync().unchanged == 1


def test_jl_5_record_types_of_later_versions(sessions):
    """Known text is kept, the unknown is counted once a type, nothing is said on the console."""
    sessions.write(
        f"p/{FIRST}.jsonl",
        {"type": "progress", "uuid": "p", "data": {"type": "hook_progress", "output": "siskin"}},
        {"type": "last-prompt", "lastPrompt": "siskin"},
        {"type": "zzz-future", "uuid": "z1", "content": "siskin"},
        {"type": "zzz-future", "uuid": "z2"},
        {"uuid": "none"},
        user("A plain text about the linnet."),
        user(["a raw text on the redwing", {"type": "text", "text": "and a block on the dunlin"}, None, 7], number=1),
        user(None, number=2),
        user(12.5, number=3),
        {"type": "user", "message": {"role": "user", "content": "No time, no id: a plover."}},
        {"type": "user", "message": "not an object"},
        {"type": "assistant", "message": {"content": None}},
        said("The whimbrel answer.", timestamp="yesterday"),
    )
    report = sessions.sync()
    assert (report.added, report.failures, report.warnings) == (1, (), ())
    for word in ("linnet", "redwing", "dunlin", "plover", "whimbrel"):
        assert len(sessions.found(word)) == 1
    assert sessions.found("siskin") == []
    assert sessions.brain.get(FIRST).document.metadata["unread"] == ["zzz-future 2", "without type 1"]


def test_jl_6_a_broken_line_in_the_middle(sessions):
    """What stands before, behind and between is found; one warning counts what was lost."""
    glued = line(user("The avocet turn.", number=1)).strip() + line(user("The dotterel turn.", number=2))
    raw = line(user("The osprey\u0001 turn.", number=3)).replace(b"\\u0001", b"\x01\t")
    cut = line(user("never finished", number=4))[:90] + line(user("The knot turn.", number=5))
    nul = b"\0" * 5_000 + line(user("The smew turn.", number=6))
    first, last = user("The gannet turn."), user("The heron turn.", number=9)
    sessions.write(f"p/{FIRST}.jsonl", first, '{"type":"user","mess', "", glued, raw, cut, nul, b"\xff\xfe{\n", last)
    report = sessions.sync()
    for word in ("gannet", "avocet", "dotterel", "osprey", "knot", "smew", "heron"):
        assert len(sessions.found(word)) == 1, word
    (warning,) = report.warnings
    assert "3 broken" in warning
    assert report.failures == ()


def test_jl_8_half_a_character(sessions):
    """Stored as U+FFFD, wherever it stands; what is around it is found, and answers are valid JSON."""
    broken = r'{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"cut \ud83d here osprey"}]}}'
    edit = r'{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"src/\udc00.py"}}'
    sessions.write(
        f"p/{FIRST}.jsonl",
        user("What was cut?"),
        broken,
        r'{"type":"assistant","message":{"id":"n","content":[' + edit + "]}}",
        r'{"type":"custom-title","customTitle":"A \ud83d title"}',
        r'{"type":"tag","tag":"half \ud83d"}',
        r'{"type":"assistant","message":{"id":"o","content":[{"type":"text","text":"whole \ud83d\ude00 smile"}]}}',
    )
    assert sessions.sync().failures == ()
    (text,) = sessions.found("osprey")
    assert "cut \ufffd here osprey" in text
    assert "edit src/\ufffd.py" in text
    assert "whole 😀 smile" in text
    note = sessions.brain.get(FIRST)
    assert note.document.title == "A \ufffd title"
    command = [sys.executable, "-m", "second_brain.cli", "search", "--json", "--mode", "lexical", "osprey"]
    environment = {"BRAIN_HOME": str(sessions.home), "BRAIN_INDEX": str(sessions.home / "index.db"), "PATH": ""}
    answer = subprocess.run(command, capture_output=True, check=True, env=environment).stdout
    assert json.loads(answer.decode("utf-8"))["hits"][0]["title"] == "A \ufffd title"


MEASURED = """
import resource, sys
from pathlib import Path
from second_brain import Brain
home, root = map(Path, sys.argv[1:])
with Brain.open(home, index=home / "index.db", environment={}) as brain:
    brain.sync()
status = Path("/proc/self/status")
if status.exists():  # what getrusage says there counts the process before it became this one
    print(int(status.read_text().partition("VmHWM:")[2].split()[0]) // 1024)
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> (20 if sys.platform == "darwin" else 10))
"""


def test_jl_9_pictures_and_compactions(tmp_path):
    """A log of 200 MB is read in less than 300 MB; no picture is in the index, each turn once."""
    sessions = Sessions(tmp_path, "codex-session-jsonl")
    name = f"sessions/2031/05/01/rollout-2031-05-01T09-00-00-{FIRST}.jsonl"
    path = sessions.write(name, {"type": "session_meta", "payload": {"id": FIRST, "cwd": "/home/mina/pump"}})
    picture = "QUJD" * (1 << 20)

    def item(role: str, number: int, *more: dict[str, Any]) -> dict[str, Any]:
        kind = "input_text" if role == "user" else "output_text"
        content = [{"type": kind, "text": f"Turn {number}: the gannet and the {role}."}, *more]
        payload = {"type": "message", "role": role, "content": content}
        return {"timestamp": f"2031-05-01T09:{number:02d}:00Z", "type": "response_item", "payload": payload}

    with path.open("ab") as file:
        for number in range(25):
            shown = {"type": "input_image", "image_url": f"data:image/png;base64,{picture}"}
            asked = item("user", number, shown)
            history = {"message": "", "replacement_history": [asked["payload"]]}
            for record in (asked, {"type": "compacted", "payload": history}, item("assistant", number)):
                file.write(line(record))
    assert path.stat().st_size > 200_000_000
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(sessions.home), str(sessions.root)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 300  # MB
    assert len(sessions.found("gannet")) == 25
    note = sessions.brain.get(FIRST)
    assert "QUJD" not in note.text
    assert (sessions.home / "index.db").stat().st_size < 1_000_000
    sessions.brain.close()


def test_jl_10_a_sub_agent_is_part_of_its_session(sessions):
    """One session is listed; what only the sub-agent said is found, marked as its work; meta records are no prompts."""
    sessions.write(
        f"p/{FIRST}.jsonl",
        user("<system-reminder>do not show</system-reminder>", isMeta=True),
        user("Please survey the gannet colony."),
        {"type": "system", "subtype": "informational", "content": "a system line", "uuid": "s"},
        said("I will send an agent."),
        user("<task-notification>It found a sandpiper.</task-notification>", number=3),
    )
    more = {"isSidechain": True, "agentId": "a1b2c3d"}
    log = (user("Survey the north side.", **more), said("Only a sandpiper there.", **more))
    path = sessions.write(f"p/{FIRST}/subagents/agent-a1b2c3d.jsonl", *log)
    sessions.sync()
    assert sessions.documents() == [f"agent/p/{FIRST}.jsonl"]
    (hit,) = sessions.brain.search("sandpiper", mode="lexical").hits
    assert hit.type == "subagent"
    assert hit.title == "Survey the north side. (sub-agent of Please survey the gannet colony.)"
    metadata = sessions.brain.get(hit.uri).document.metadata
    assert (metadata["parent"], metadata["subagent"]) == (FIRST, "a1b2c3d")
    note = sessions.brain.get(FIRST)
    assert note.document.metadata["turns"] == 1
    assert not any(word in note.text for word in ("do not show", "system line", "sandpiper"))
    path.rename(sessions.root / "p" / "agent-a1b2c3d.jsonl")  # where earlier versions put it
    sessions.brain.sync(rebuild=True)
    assert sessions.documents() == [f"agent/p/{FIRST}.jsonl"]
    assert len(sessions.found("sandpiper")) == 1


def test_jl_11_recalled_text_is_not_learned_again(sessions):
    """Five rounds of recalling a fact and indexing the log of it: the fact is found once, and never as recalled."""
    sessions.write(f"p/{FIRST}.jsonl", *turn(0, "valve"), said("The goldcrest valve opens at 3 bar.", number=1))
    sessions.sync()
    records: list[dict[str, Any]] = []
    for number in range(5):
        recalled = "\n".join(sessions.found("goldcrest valve"))
        block = f'<second-brain-recall source="prompt">\nFrom your notes:\n{recalled}\n</second-brain-recall>'
        attached = {"type": "hook_additional_context", "content": [block], "hookEvent": "UserPromptSubmit"}
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "mcp__second-brain__search",
            "input": {"query": "valve"},
        }
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": recalled, "is_error": number % 2 == 0}
        prompt = f"Round {number}: what about it?\n<system-reminder>\n{block}\n</system-reminder>"
        records += [
            user(f"<system-reminder>\n{block}\n</system-reminder>", session=SECOND, number=number),
            user(prompt, session=SECOND, number=10 + number),
            {"type": "attachment", "uuid": f"at{number}", "sessionId": SECOND, "attachment": attached},
            {"type": "assistant", "uuid": f"c{number}", "sessionId": SECOND, "message": {"content": [call]}},
            user([result], session=SECOND, number=20 + number),
            said(f"Noted in round {number}. {block}", session=SECOND, number=30 + number),
        ]
        sessions.write(f"p/{SECOND}.jsonl", *records)
        sessions.sync()
        (only,) = sessions.found("goldcrest")
        assert "recall" not in only
    assert "Round 4: what about it?" in sessions.brain.get(SECOND).text
    assert len(sessions.found("noted round")) == 5


def test_jl_13_files_of_a_form_that_is_not_known(sessions):
    """A compressed log and one of a later format are named by every run and counted in the status."""
    sessions.write(f"p/{FIRST}.jsonl", *turn(0, "valve"))
    sessions.write("p/session.v9.jsonl", {"v": 9, "turns": [{"who": "me", "what": "hello"}]})
    sessions.write(f"p/{SECOND}.jsonl.zst", b"(\xb5/\xfd\x04\x00" + bytes(range(256)))
    for _ in range(2):
        report = sessions.sync()
        told = {failure.uri: "compressed" in failure.message for failure in report.failures}
        assert told == {f"agent/p/{SECOND}.jsonl.zst": True, "agent/p/session.v9.jsonl": False}
    status = sessions.brain.status()
    assert (status.failures, status.documents) == (2, 1)
    assert [source.failures for source in status.sources] == [2]
