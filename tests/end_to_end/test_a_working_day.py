"""A scripted day with Claude Code on a generated project, by the commands and hooks alone, and what is left of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

FIRST, SECOND = "day00001-0000-4000-8000-000000000001", "day00002-0000-4000-8000-000000000002"


class Day:
    """A project's folder, a home, and a transcript that grows as the host writes it."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "pump project"
        (self.project / ".git").mkdir(parents=True)
        (self.project / "src").mkdir()
        (self.project / "README.md").write_text("# Pump\n\nThe importer reads the tide log.\n")
        self.home = folder / "home"
        self.home.mkdir()
        (self.home / "models.yaml").write_text("embedder: hashing\n")
        self.store = folder / "claude" / "projects" / "p"
        self.store.mkdir(parents=True)
        self.environment = {**os.environ, "HOME": str(folder), "BRAIN_HOME": str(self.home)}
        self.environment.pop("MEMORY_FILE_PATH", None)
        self.minute = 0

    def brain(self, *arguments: str) -> str:
        """Run a command in the project; its output."""
        done = subprocess.run(
            [sys.executable, "-m", "second_brain.entry", *arguments],
            cwd=self.project, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def hook(self, event: str, session: str = FIRST, **fields: Any) -> str:
        """What a hook says to the agent."""
        given = {
            "session_id": session, "cwd": str(self.project), "hook_event_name": event,
            "transcript_path": str(self.store / f"{session}.jsonl"), **fields,
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "second_brain.entry", "hook", event],
            input=json.dumps(given), cwd=self.project, env=self.environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""
        if said:  # the host keeps what hooks inject
            self.write(
                {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [said]}}, session
            )
        return str(said)

    def write(self, record: dict[str, Any], session: str = FIRST) -> None:
        """One more record of the transcript."""
        self.minute += 1
        whole = {
            "uuid": f"{session}-{self.minute}", "sessionId": session, "cwd": str(self.project),
            "timestamp": f"2031-05-02T{8 + self.minute // 60:02d}:{self.minute % 60:02d}:00.000Z", **record,
        }  # fmt: skip
        with (self.store / f"{session}.jsonl").open("a") as stream:
            stream.write(json.dumps(whole) + "\n")

    def says(self, kind: str, content: Any, session: str = FIRST, **usage: int) -> None:
        """A message of the person or the agent."""
        message: dict[str, Any] = {"role": kind, "content": content}
        if usage:
            message["usage"] = usage
        self.write({"type": kind, "message": message}, session)

    def hits(self, *words: str) -> list[dict[str, Any]]:
        """What a search finds."""
        found: list[dict[str, Any]] = json.loads(self.brain("search", "--mode", "lexical", "--json", *words))["hits"]
        return found


@pytest.fixture
def day(tmp_path: Path) -> Day:
    """The morning: the project and the agent's sessions are sources."""
    made = Day(tmp_path)
    made.brain("add", str(made.project), "--name", "pump")
    made.brain("add", str(made.store.parent), "--name", "agent", "--kind", "claude-session-jsonl")
    made.brain("index", "--quiet")
    return made


def test_a_day_is_remembered(day: Day) -> None:
    """Start, edit, error, lesson, decision, compaction, handoff; the next session knows all of it."""
    assert day.hook("SessionStart", source="startup") == ""
    day.says("user", "Please mend the importer: it stops at the sandpiper record.")
    assert day.hook("UserPromptSubmit", prompt="Please mend the importer") == ""

    edited = day.project / "docs" / "importer.md"
    edited.parent.mkdir()
    edited.write_text("# Importer\n\nSkips records without a whimbrel column.\n")
    edit = {"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": str(edited)}}
    day.says("assistant", [edit], input_tokens=9, cache_read_input_tokens=120_000)
    assert day.hook("PostToolUse", tool_name="Write", tool_input={"file_path": str(edited)}) == ""

    day.says("assistant", [{"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "make import"}}])
    failed = {"type": "tool_result", "tool_use_id": "t2", "is_error": True, "content": "KeyError: 'sandpiper'"}
    day.says("user", [failed])
    assert day.hook("PostToolUseFailure", tool_name="Bash", error="KeyError: 'sandpiper'") == ""
    day.says("assistant", [{"type": "text", "text": "The cause was a renamed column; the reader maps it now. Fixed."}])
    day.brain("learn", "When a column is renamed, map it in src/reader.py.", "--detect", "grep -q sandpiper src/none")
    day.brain("adr", "Map columns in the reader", "--decision", "The reader maps old names, the importer does not.")

    day.says("user", "Good. Now the report.")
    todo = {"todos": [{"content": "write the report", "status": "pending"}]}
    day.says("assistant", [{"type": "tool_use", "id": "t3", "name": "TodoWrite", "input": todo}],
             input_tokens=9, cache_read_input_tokens=260_000)  # fmt: skip
    assert "A handoff note is due" in day.hook("UserPromptSubmit", prompt="Good.")
    assert day.hook("PreCompact", trigger="auto") == ""
    restored = day.hook("SessionStart", source="compact")
    assert "write the report" in restored
    assert "ADR-0001 Map columns in the reader" in restored
    day.brain("handoff", "report", "--next", "write the report on the dunlin counts", "--file", "docs/importer.md")
    assert day.hook("Stop") == ""
    assert day.hook("SessionEnd", reason="other") == ""

    ends = time.monotonic() + 60
    while time.monotonic() < ends and not list((day.home / "summaries").glob("*.md")):
        time.sleep(0.2)
    (summary,) = (day.home / "summaries").glob("*.md")
    day.brain("index", "--quiet")

    brief = day.hook("SessionStart", session=SECOND, source="startup")
    for part in ("write the report on the dunlin counts", "Map columns in the reader", "When a column is renamed"):
        assert part in brief
    assert {hit["type"] for hit in day.hits("sandpiper")} >= {"session", "session-summary"}
    assert [Path(hit["path"]).name for hit in day.hits("whimbrel")][:1] == ["importer.md"]
    # what hooks said is never found as something that somebody said
    assert not [hit for hit in day.hits("dunlin") if hit["kind"] == "session"]
    text = summary.read_text(encoding="utf-8")
    assert "`KeyError: 'sandpiper'`" in text
    assert "`make import`" in text

    written = sorted(
        path.relative_to(day.project).as_posix()
        for path in day.project.rglob("*")
        if path.is_file() and ".git" not in path.parts
    )
    auto = [name for name in written if name.startswith("docs/handoffs/auto/")]
    assert len(auto) == 1
    handoffs = [name for name in written if name.startswith("docs/handoffs/") and name not in auto]
    assert len(handoffs) == 1
    assert [name for name in written if name not in auto and name not in handoffs] == [
        "README.md", "docs/adr/0001-map-columns-in-the-reader.md", "docs/importer.md", "docs/lessons.md",
        "memory.jsonl",
    ]  # fmt: skip
    assert "2 entities" in day.brain("graph", "check")
    assert "gone" not in day.brain("doctor", "--hook")
