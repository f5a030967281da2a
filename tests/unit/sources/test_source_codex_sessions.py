from __future__ import annotations

import json
from pathlib import Path

import pytest
from session_records import CWD, OTHER, SESSION, codex, codex_message, facts_in, read_log, said_in, write_log

from second_brain.errors import ParseError
from second_brain.sources.codex_sessions import CodexSessions

LOG = f"sessions/2031/05/01/rollout-2031-05-01T09-00-00-{SESSION}.jsonl"
META = codex("session_meta", id=SESSION, cwd=CWD, git={"branch": "main"}, base_instructions="long")


def call(name: str, key: str, **arguments):
    return codex("response_item", type="function_call", name=name, call_id=key, arguments=json.dumps(arguments))


def output(key: str, text):
    return codex("response_item", type="function_call_output", call_id=key, output=text)


@pytest.fixture
def transcript_of(tmp_path):
    def condensed(*records):
        write_log(tmp_path / LOG, *records)
        return read_log(CodexSessions("agent", tmp_path))

    return condensed


def test_words_and_deeds_of_a_session(transcript_of):
    """Messages, commands, patched files and failures are kept; mirrors, instructions and reasoning are not."""
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-x\n+y\n*** Add File: b.py\n*** End Patch"
    transcript = transcript_of(
        META,
        codex_message("developer", "rules"),
        codex_message("user", "# AGENTS.md instructions for /home", "<environment_context>x</environment_context>"),
        codex("turn_context", cwd=CWD, model="gpt-5-codex"),
        codex_message("user", "Why does it leak?"),
        codex("event_msg", type="user_message", message="Why does it leak?"),
        codex("response_item", type="reasoning", summary=[{"text": "hm"}], encrypted_content="x"),
        codex_message("assistant", "I look."),
        codex("event_msg", type="agent_message", message="I look."),
        call("shell", "c1", command=["bash", "-lc", "pytest -q | tail"]),
        output("c1", json.dumps({"output": "2 failed", "metadata": {"exit_code": 1}})),
        call("exec_command", "c2", cmd="ls"),
        output("c2", "Chunk ID: 1\nProcess exited with code 0\nOutput:\na.py"),
        call("exec_command", "c3", cmd="make"),
        output("c3", "Chunk ID: 1\nProcess exited with code 2\nOutput:\nno rule"),
        call("shell", "c4", command=["git", "commit", "-m", "a b"]),
        codex("response_item", type="custom_tool_call", name="apply_patch", call_id="c5", input=patch),
        codex("response_item", type="local_shell_call", call_id="c6", action={"type": "exec", "command": ["pwd"]}),
        codex("compacted", message="", replacement_history=[codex_message("user", "Why does it leak?")["payload"]]),
    )  # fmt: skip
    assert said_in(transcript) == [
        ("user", "Why does it leak?"),
        ("assistant", "I look."),
        ("command", "pytest -q | tail"),
        ("error", "2 failed"),
        ("command", "ls"),
        ("command", "make"),
        ("error", "no rule"),
        ("command", "git commit -m 'a b'"),
        ("edit", "src/a.py"),
        ("edit", "b.py"),
        ("command", "pwd"),
    ]
    assert facts_in(transcript) == {"cwd": CWD, "branch": "main", "model": "gpt-5-codex"}
    assert (transcript.head.agent, transcript.head.session) == ("codex", SESSION)


def test_a_fork_knows_its_own_name_and_the_copies_by_their_words(transcript_of):
    """The session that it was forked from is named in it too; the copies have new times and the same ids."""
    first = transcript_of(META, codex_message("user", "Why?"), codex_message("assistant", "Because."))
    later = "2031-06-01T09:00:00Z"
    second = transcript_of(
        codex("session_meta", id=OTHER, cwd=CWD, forked_from_id=SESSION),
        META,
        codex("response_item", later, **codex_message("user", "Why?")["payload"]),
        codex("response_item", later, **codex_message("assistant", "Because.")["payload"]),
    )
    assert (first.head.session, second.head.session) == (SESSION, OTHER)
    assert [line.id for line in first.lines[2:]] == [line.id for line in second.lines[1:]]
    assert said_in(first) == said_in(second)


def test_a_thread_of_another_is_its_sub_agent(transcript_of):
    """It names its parent."""
    transcript = transcript_of(
        codex("session_meta", id=OTHER, parent_thread_id=SESSION), codex_message("user", "Look.")
    )
    assert (transcript.head.session, transcript.head.subagent) == (SESSION, OTHER)


def test_early_versions_wrote_records_without_an_envelope(tmp_path, transcript_of):
    """Flat lines, or one object with all of them."""
    flat = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Why?"}]}
    head = {"id": SESSION, "timestamp": "2025-05-01T09:00:00Z", "instructions": "x", "git": {"branch": "old"}}
    transcript = transcript_of(head, {"record_type": "state"}, flat)
    assert said_in(transcript) == [("user", "Why?")]
    assert (transcript.head.session, facts_in(transcript)) == (SESSION, {"branch": "old"})
    whole = {"session": head, "items": [flat, {**flat, "role": "assistant"}]}
    (tmp_path / "sessions" / "rollout-2025-05-01-x.json").write_text(json.dumps(whole, indent=2))
    transcript = read_log(CodexSessions("agent", tmp_path), ".json")
    assert said_in(transcript) == [("user", "Why?"), ("assistant", "Why?")]


def test_unknown_records_are_counted_and_foreign_files_refused(tmp_path, transcript_of):
    """A record of a new type is no loss; a file of nothing else is no log."""
    transcript = transcript_of(
        META, codex("zzz", x=1), codex("response_item", type="zzz_call"), codex_message("user", "Hi.")
    )
    assert facts_in(transcript)["unread"] == "zzz 1"
    with pytest.raises(ParseError):
        transcript_of(codex("zzz", x=1), "[1]")


def test_where_codex_keeps_its_logs(tmp_path, monkeypatch):
    """By the variable, else in the home of the user; its other files are no logs."""
    monkeypatch.setenv("HOME", "/home/mina")
    assert CodexSessions.default_roots({}) == (Path("/home/mina/.codex"),)
    assert CodexSessions.default_roots({"CODEX_HOME": "/x"}) == (Path("/x"),)
    for name in (LOG, f"archived_sessions/rollout-2031-{OTHER}.jsonl", "history.jsonl", "session_index.jsonl"):
        write_log(tmp_path / name)
    found = [item.relative for item in CodexSessions("agent", tmp_path).scan().items]
    assert found == [f"archived_sessions/rollout-2031-{OTHER}.jsonl", LOG]
