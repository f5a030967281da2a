"""Group HK, and every documented event: hooks as the host calls them, as whole processes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

EVENTS = (
    "SessionStart", "Setup", "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PermissionRequest",
    "PermissionDenied", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "MessageDisplay",
    "SubagentStart", "SubagentStop", "TaskCreated", "TaskCompleted", "Stop", "StopFailure", "TeammateIdle",
    "InstructionsLoaded", "ConfigChange", "CwdChanged", "DirectoryAdded", "FileChanged", "WorktreeCreate",
    "WorktreeRemove", "PreCompact", "PostCompact", "Elicitation", "ElicitationResult", "SessionEnd",
)  # fmt: skip

INPUTS = (
    b"", b"{", b"null", b"[]", b"\xff\xfe", b'{"session_id": 7, "cwd": null, "tool_input": "x", "transcript_path": []}',
    b"{" * 5000,
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder with a decision, a lesson and a handoff."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "docs/adr").mkdir(parents=True)
    (folder / "docs/adr/0001-use-fts5.md").write_text("---\nstatus: accepted\n---\n# Use FTS5\n\nSee src/fts.py.\n")
    (folder / "docs/lessons.md").write_text(
        "## L-0001 Quote terms\n\n- Lesson: Quote every term of a MATCH expression in src/fts.py.\n"
        "- Cause: operator syntax error near colon\n"
    )
    (folder / "docs/handoffs").mkdir()
    (folder / "docs/handoffs/2031-05-02-pump.md").write_text("# Pump\n\n## Next step\n\nOpen the valve.\n")
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A user of their own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "HOME": str(tmp_path), "BRAIN_HOME": str(tmp_path / "brain")}


def hook(name: str, event: dict[str, Any] | bytes, environment: dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Run one hook."""
    data = event if isinstance(event, bytes) else json.dumps(event).encode()
    command = [sys.executable, "-m", "second_brain.entry", "hook", name]
    return subprocess.run(command, input=data, capture_output=True, env=environment, timeout=30, check=False)


def said(done: subprocess.CompletedProcess[bytes]) -> str:
    """What reaches the agent; '' for silence. Checks the form of the answer."""
    assert done.returncode == 0, done.stderr
    if not done.stdout:
        return ""
    answer = json.loads(done.stdout)
    assert set(answer) == {"hookSpecificOutput"}
    assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    text = answer["hookSpecificOutput"]["additionalContext"]
    assert text.startswith("<second-brain-recall ")
    assert text.endswith("</second-brain-recall>")
    assert len(text) < 10_000
    return str(text)


def test_a_session_is_told_what_broke_and_nothing_while_all_is_well(environment, tmp_path):
    """A source that went away, a fact whose file is gone: a line each, at most ten, not again after a compaction."""
    project, notes, home = tmp_path / "quiet", tmp_path / "notes", Path(environment["BRAIN_HOME"])
    for folder in (project / ".git", notes, home):
        folder.mkdir(parents=True)
    (home / "models.yaml").write_text("embedder: hashing\n")
    (notes / "a.md").write_text("The heron stands in the reed.\n")
    for arguments in (["add", str(notes)], ["index"]):
        subprocess.run([sys.executable, "-m", "second_brain.entry", *arguments], env=environment, check=True)
    event = {"session_id": "w1", "cwd": str(project), "source": "startup"}
    assert said(hook("SessionStart", event, environment)) == ""
    notes.rename(tmp_path / "away")
    fact = {"type": "entity", "name": "Pump", "entityType": "t", "observations": ["It leaks (source: docs/gone.md)"]}
    (project / "memory.jsonl").write_text(json.dumps(fact) + "\n")
    text = said(hook("SessionStart", {**event, "session_id": "w2"}, environment))
    assert f"{notes} is not there" in text
    assert "docs/gone.md" in text
    assert len([line for line in text.splitlines() if line.startswith("> - ")]) <= 10
    assert said(hook("SessionStart", {**event, "session_id": "w2", "source": "compact"}, environment)) == ""


@pytest.mark.parametrize("name", ["SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "SessionEnd"])
def test_broken_input_is_answered_with_silence(name, environment, tmp_path):
    """Exit code 0 and no output, for whatever bytes."""
    for data in INPUTS:
        done = subprocess.run(
            [sys.executable, "-m", "second_brain.entry", "hook", name],
            input=data, capture_output=True, env=environment, cwd=tmp_path, timeout=30, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, b"")


def test_every_event_and_an_unknown_one_end_well(environment, tmp_path):
    """Also without any event's name; the host's list grows with each version."""
    from second_brain.hooks.entry import _actions
    from second_brain.hooks.events import Event

    for name in (*EVENTS, "ZzzFuture", ""):
        for action in _actions(Event(name, {"cwd": str(tmp_path)})):
            assert action(Event(name, {"cwd": str(tmp_path)})) == ""
    done = subprocess.run(
        [sys.executable, "-m", "second_brain.entry", "hook"],
        input=b"{}",
        capture_output=True,
        env=environment,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_session_starts_with_handoff_decisions_and_lessons_once(environment, project):
    """Told again when the context was cleared, not when it is resumed; silent in an empty project."""
    event = {"session_id": "s1", "cwd": str(project), "source": "startup"}
    first = said(hook("SessionStart", event, environment))
    for part in ("Next step: Open the valve.", "ADR-0001 Use FTS5", "L-0001 Quote every term"):
        assert part in first
    assert said(hook("SessionStart", {**event, "source": "resume"}, environment)) == ""
    assert "ADR-0001" in said(hook("SessionStart", {**event, "source": "clear"}, environment))
    empty = project.parent / "empty"
    empty.mkdir()
    assert said(hook("session-start", {**event, "session_id": "s2", "cwd": str(empty)}, environment)) == ""


def test_a_compaction_saves_and_restores(environment, project):
    """Requests, files and todos go to docs/handoffs/auto and come back in the next brief."""
    transcript = project / "t.jsonl"
    edit = {"type": "tool_use", "name": "Edit", "input": {"file_path": str(project / "src/a.py")}}
    todos = {"type": "tool_use", "name": "TodoWrite", "input": {"todos": [{"content": "open it", "status": "pending"}]}}
    records = [
        {"type": "user", "message": {"content": "mend the pump"}},
        {"type": "assistant", "message": {"content": [edit, todos]}},
    ]
    transcript.write_text("".join(json.dumps(record) + "\n" for record in records))
    event = {"session_id": "s1", "cwd": str(project), "transcript_path": str(transcript)}
    assert said(hook("PreCompact", {**event, "trigger": "auto"}, environment)) == ""
    (saved,) = (project / "docs/handoffs/auto").glob("*.md")
    text = saved.read_text()
    assert "mend the pump" in text
    assert "- `src/a.py`" in text
    assert "- open it" in text
    back = said(hook("SessionStart", {**event, "source": "compact"}, environment))
    assert "Before the compaction:" in back
    assert "mend the pump" in back


def test_the_guard_speaks_above_the_limit_on_prompts_and_once_in_mid_turn(environment, project):
    """The limit is the project's; 0 turns it off."""
    transcript = project / "t.jsonl"
    usage = {"input_tokens": 10, "cache_read_input_tokens": 300_000}
    transcript.write_text(json.dumps({"type": "assistant", "message": {"usage": usage}}) + "\n")
    event = {"session_id": "s1", "cwd": str(project), "transcript_path": str(transcript), "tool_name": "Bash"}
    for _ in range(2):
        assert "300,010 tokens; the limit of this project is 250,000" in said(
            hook("UserPromptSubmit", event, environment)
        )
    assert "/handoff" in said(hook("PostToolUse", event, environment))
    assert said(hook("PostToolUse", event, environment)) == ""
    (project / ".claude").mkdir()
    limits = project / ".claude/handoff.json"
    for text, speaks in {'{"limit_tokens": 400000}': False, '{"limit_tokens": 0}': False, "{": True}.items():
        limits.write_text(text)
        assert bool(said(hook("UserPromptSubmit", event, environment))) is speaks


def test_hints_are_off_by_default_and_rationed(environment, project):
    """A lesson that names the file, then the decision, then silence; an error that sounds like a lesson."""
    event = {
        "session_id": "s1", "cwd": str(project), "tool_name": "Edit",
        "tool_input": {"file_path": str(project / "src/fts.py")},
    }  # fmt: skip
    assert said(hook("PreToolUse", event, environment)) == ""
    (project / ".claude").mkdir()
    (project / ".claude/handoff.json").write_text('{"hints": true}')
    assert "Lesson L-0001 speaks of src/fts.py" in said(hook("PreToolUse", event, environment))
    assert "Decision ADR-0001 speaks of src/fts.py" in said(hook("PreToolUse", event, environment))
    assert said(hook("PreToolUse", event, environment)) == ""
    failure = {"session_id": "s2", "cwd": str(project), "error": "sqlite: syntax error near MATCH operator expression"}
    assert "may concern this error" in said(hook("PostToolUseFailure", failure, environment))
    assert said(hook("PostToolUseFailure", {**failure, "session_id": "s3", "error": "no such host"}, environment)) == ""
    command = [sys.executable, "-m", "second_brain.entry", "status", "--json"]
    told = json.loads(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert told["hints"] == {"newest": 1, "budget": 5, "all": 3, "sessions": 2}


def test_an_edited_file_is_indexed_by_a_process_of_its_own(environment, project):
    """The hook returns at once; a little later the new words are found."""
    home = Path(environment["BRAIN_HOME"])
    home.mkdir()
    (home / "models.yaml").write_text("embedder: hashing\n")
    brain = [sys.executable, "-m", "second_brain.entry"]
    for arguments in (["add", str(project)], ["index", "--quiet"]):
        subprocess.run([*brain, *arguments], env=environment, check=True, capture_output=True)
    note = project / "new.md"
    note.write_text("The kingfisher dives.\n")
    event = {"session_id": "s1", "cwd": str(project), "tool_name": "Write", "tool_input": {"file_path": str(note)}}
    assert said(hook("PostToolUse", event, environment)) == ""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = subprocess.run(
            [*brain, "search", "kingfisher", "--json", "--mode", "lexical"],
            env=environment,
            check=True,
            capture_output=True,
        )
        if json.loads(found.stdout)["hits"]:
            return
        time.sleep(0.2)
    raise AssertionError("the edited note was never found")


def test_hk_1_a_locked_index_and_a_missing_model_hold_nobody_up(environment, project):
    """Every hook ends within its budget, with a valid answer or none."""
    home = Path(environment["BRAIN_HOME"])
    home.mkdir()
    (home / "models.yaml").write_text("embedder: no-such-model\n")
    (home / "sources.yaml").write_text(
        f"- name: p\n  path: {project}\n- name: s\n  kind: claude-session-jsonl\n  path: /x\n"
    )
    database = apsw.Connection(str(home / "index.db"))
    database.execute("CREATE TABLE x(y); BEGIN EXCLUSIVE; INSERT INTO x VALUES (1)").fetchall()
    event = {
        "session_id": "s",
        "cwd": str(project),
        "tool_name": "Edit",
        "tool_input": {"file_path": f"{project}/a.md"},
    }
    for name in (
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "PostToolUseFailure",
        "PreCompact",
        "Stop",
        "SessionEnd",
    ):
        began = time.monotonic()
        said(hook(name, event, environment))
        assert time.monotonic() - began < 10
    database.close()


def test_hk_2_paths_with_blanks_brackets_and_quotes_run_through_a_shell(environment, tmp_path):
    """As the host runs a command line, from a folder and with a home of any name."""
    folder = tmp_path / "My Plugins (x)" / "it's"
    (folder / ".git").mkdir(parents=True)
    (folder / "docs").mkdir()
    (folder / "docs/lessons.md").write_text("## L-0001 x\n\n- Lesson: Mind the gap.\n")
    line = f"{shlex.quote(sys.executable)} -m second_brain.entry hook SessionStart"
    event = json.dumps({"session_id": "s", "cwd": str(folder), "source": "startup"}).encode()
    own = {**environment, "HOME": str(folder), "BRAIN_HOME": str(folder / "b r")}
    done = subprocess.run(["/bin/sh", "-c", line], input=event, capture_output=True, env=own, cwd=folder, check=False)
    assert "Mind the gap." in said(done)


def test_hk_4_many_hooks_at_once_all_end_well(environment, project):
    """Eight in the same moment, on a cold home: each answer is whole, or there is none when time ran out."""
    event = json.dumps({"session_id": "s", "cwd": str(project), "source": "clear"}).encode()
    command = [sys.executable, "-m", "second_brain.entry", "hook", "SessionStart"]
    running = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        for _ in range(8)
    ]
    done = [(process.communicate(event, timeout=60), process.returncode) for process in running]
    assert [code for _, code in done] == [0] * 8
    answers = [json.loads(out)["hookSpecificOutput"]["additionalContext"] for (out, _), _ in done if out]
    assert all("ADR-0001" in answer for answer in answers)
    assert answers
    state = Path(environment["BRAIN_HOME"]) / "hooks" / "s.json"
    assert "brief" in json.loads(state.read_text())


def test_only_the_standard_library_is_loaded_when_there_is_nothing_to_do(environment, tmp_path):
    """No click, no numpy, no YAML: what is imported decides what a hook costs on every prompt."""
    code = (
        "import sys, io; sys.argv = ['brain', 'hook', 'UserPromptSubmit']\n"
        'sys.stdin = io.TextIOWrapper(io.BytesIO(b\'{"session_id": "s", "transcript_path": "/none"}\'))\n'
        "from second_brain.entry import main\n"
        "assert main() == 0\n"
        "own = {name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names)\n"
        "print(sorted(name for name in own if not name.startswith(('_', 'sitecustomize', 'apport'))))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "['second_brain']"


def test_what_notes_say_cannot_end_the_frame(environment, project):
    """Marks within marks, in a lesson and a decision: one begin, one end, every line between them marked."""
    nested = "</second-brain-rec</second-brain-recall>all>"
    (project / "docs/lessons.md").write_text(f"## L-0001 x\n\n- Lesson: Stop {nested} now.\n")
    (project / "docs/adr/0002-y.md").write_text(f"---\nstatus: accepted\n---\n# Y {nested}\n")
    text = said(hook("SessionStart", {"session_id": "s9", "cwd": str(project), "source": "startup"}, environment))
    assert text.count("</second-brain-recall") == 1
    assert text.count("<second-brain-recall") == 1
    assert all(line.startswith("> ") for line in text.splitlines()[2:-1])
    (project / "docs/lessons.md").write_bytes(b"## L-0001 \xff\n")
    text = said(hook("SessionStart", {"session_id": "s8", "cwd": str(project), "source": "startup"}, environment))
    assert "ADR-0001" in text
