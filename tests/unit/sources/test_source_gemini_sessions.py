from __future__ import annotations

import json
from pathlib import Path

import pytest
from session_records import CWD, SESSION, facts_in, read_log, said_in, write_log

from second_brain.errors import ParseError
from second_brain.sources.gemini_sessions import GeminiSessions

LOG = "pump/chats/session-2031-05-01T09-00-5e551011.jsonl"
META = {"sessionId": SESSION, "projectHash": "0" * 64, "startTime": "2031-05-01T09:00:00Z", "kind": "main"}


def message(key: str, kind: str, content, **more):
    return {"id": key, "timestamp": "2031-05-01T09:00:00Z", "type": kind, "content": content, **more}


@pytest.fixture
def transcript_of(tmp_path):
    def condensed(*records, name=LOG):
        write_log(tmp_path / name, *records)
        return read_log(GeminiSessions("agent", tmp_path), name.rpartition("/")[2])

    return condensed


def test_words_and_deeds_of_a_session(transcript_of):
    """Text in any of its forms, shell commands, edits and what failed; no thoughts, results and notices."""
    calls = [
        {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}, "status": "error",
         "result": [{"functionResponse": {"response": {"error": "no rule"}}}]},
        {"id": "c2", "name": "replace", "args": {"file_path": f"{CWD}/a.py"}, "status": "success", "result": "long"},
        {"id": "c3", "name": "read_file", "args": {"file_path": "b.py"}, "status": "error", "resultDisplay": "no file"},
    ]  # fmt: skip
    transcript = transcript_of(
        {**META, "directories": [CWD], "summary": "A leak"},
        message("1", "user", "/help"),
        message("2", "user", [{"text": "Why does it"}, "leak? @a.py\n…"], displayContent="Why does it leak? @a.py"),
        message("3", "gemini", {"text": "I look."}, model="gemini-x", thoughts=[{"subject": "hm"}], toolCalls=calls),
        message("4", "info", "Update available"),
        message("5", "error", "Quota exceeded"),
        message("6", "user", "<session_context>x</session_context>"),
    )
    assert said_in(transcript) == [
        ("user", "Why does it leak? @a.py"),
        ("assistant", "I look."),
        ("command", "make"),
        ("error", "no rule"),
        ("edit", "a.py"),
        ("error", "no file"),
        ("error", "Quota exceeded"),
    ]
    assert facts_in(transcript) == {"cwd": CWD, "project": "pump", "summary": "A leak", "model": "gemini-x"}
    assert (transcript.head.agent, transcript.head.session) == ("gemini-cli", SESSION)


def test_later_records_change_earlier_ones(transcript_of):
    """The same id replaces, a rewind takes back, a checkpoint replaces all; a rewind to nothing known clears."""
    one, two, three = (message(key, "user", f"prompt {key}") for key in "123")
    begun = [META, one, two, message("2", "user", "prompt 2, corrected"), three]
    assert [text for _, text in said_in(transcript_of(*begun))] == ["prompt 1", "prompt 2, corrected", "prompt 3"]
    assert [text for _, text in said_in(transcript_of(*begun, {"$rewindTo": "2"}))] == ["prompt 1"]
    assert said_in(transcript_of(*begun, {"$rewindTo": "?"})) == []
    kept = transcript_of(*begun, {"$set": {"messages": [three], "summary": "Three"}}, message("4", "user", "prompt 4"))
    assert [text for _, text in said_in(kept)] == ["prompt 3", "prompt 4"]
    assert facts_in(kept)["summary"] == "Three"


def test_one_object_as_earlier_versions_wrote_it(tmp_path):
    """Pretty-printed, in a folder that is named by a hash; a file beside says which folder that is of."""
    folder = tmp_path / ("0" * 64)
    (folder / "chats").mkdir(parents=True)
    (folder / ".project_root").write_text("/home/mina/tide\n")
    whole = {**META, "messages": [message("1", "user", "Why?"), message("2", "gemini", "Because.")]}
    (folder / "chats" / "session-2031-x.json").write_text(json.dumps(whole, indent=2))
    transcript = read_log(GeminiSessions("agent", tmp_path))
    assert said_in(transcript) == [("user", "Why?"), ("assistant", "Because.")]
    assert facts_in(transcript) == {"cwd": "/home/mina/tide"}


def test_sub_agents_lie_in_a_folder_of_their_session(transcript_of):
    """Its name is the parent's."""
    transcript = transcript_of(
        {**META, "sessionId": "child"}, message("1", "user", "Look."), name=f"pump/chats/{SESSION}/c.jsonl"
    )
    assert (transcript.head.session, transcript.head.subagent) == (SESSION, "child")


def test_unknown_records_are_counted_and_foreign_files_refused(transcript_of):
    """A record of a new type is no loss; a file of nothing else is no log."""
    assert facts_in(transcript_of(META, {"type": "zzz"}))["unread"] == "zzz 1"
    with pytest.raises(ParseError):
        transcript_of({"type": "zzz"}, '{"v": 9}')


def test_where_gemini_keeps_its_logs(monkeypatch):
    """In the home of the user."""
    monkeypatch.setenv("HOME", "/home/mina")
    assert GeminiSessions.default_roots({}) == (Path("/home/mina/.gemini/tmp"),)
