"""``brain doctor`` looks at what a project relies on; a session's start is told in at most ten lines, or nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from second_brain.invariants import in_short, project_findings


@pytest.fixture
def project(notes) -> Path:
    """The folder of notes, as a project."""
    (notes.root / ".git").mkdir()
    notes.index({"a.md": "The heron stands."})
    return notes.root


def wrong(notes, project: Path) -> dict[str, str]:
    """Messages of warnings and errors by what was looked at."""
    found = project_findings(notes.brain, project)
    return {finding.name: finding.message for finding in found if finding.severity in ("warning", "error")}


def test_a_sound_project_is_silent(notes, project):
    """Nothing to say at the start of a session."""
    assert wrong(notes, project) == {}
    assert in_short(project_findings(notes.brain, project)) == ""


def test_each_broken_pipe_is_named_with_what_to_do(notes, project):
    """A server that is gone, half-wired hooks, a bad decision and lesson, facts without files, long instructions."""
    (project / ".mcp.json").write_text('{"mcpServers": {"second-brain-search": {"command": "/no/brain", "args": []}}}')
    (project / ".claude").mkdir()
    hook = {"hooks": [{"type": "command", "command": "/opt/brain hook SessionStart"}]}
    (project / ".claude/settings.json").write_text(json.dumps({"hooks": {"SessionStart": [hook]}}))
    (project / "docs/adr").mkdir(parents=True)
    (project / "docs/adr/0001-x.md").write_text("---\nstatus: perhaps\n---\n# X\n")
    (project / "docs/lessons.md").write_text("## L-0001 x\n\n- Status: active\n")
    (project / "memory.jsonl").write_text(
        '{"type":"entity","name":"A","entityType":"t","observations":["x (source: gone.md)"]}\n'
    )
    (project / "CLAUDE.md").write_text("word " * 8000)
    found = wrong(notes, project)
    assert set(found) == {"servers", "hooks", "decisions", "lessons", "graph", "context"}
    assert "/no/brain" in found["servers"]
    assert "PreCompact" in found["hooks"]
    assert "perhaps" in found["decisions"]
    assert "gone.md" in found["graph"]
    text = in_short(project_findings(notes.brain, project))
    assert len(text.splitlines()) <= 10
    assert "brain setup project" in text


def test_a_lost_source_is_told(notes, project, tmp_path):
    """What was indexed of it is kept, and the message says so."""
    project.rename(tmp_path / "away")
    assert "is not there; what was indexed of it is kept" in wrong(notes, tmp_path / "away")["sources"]


def test_many_problems_are_cut_to_ten_lines(notes, project):
    """The last line counts the rest."""
    (project / "docs").mkdir()
    (project / "docs/lessons.md").write_text("".join(f"## L-{n:04d} x\n\n- Status: odd\n\n" for n in range(1, 20)))
    lines = in_short(project_findings(notes.brain, project)).splitlines()
    assert len(lines) == 10
    assert "more: `brain doctor` names them" in lines[-1]


def test_the_command_looks_at_the_project_of_the_current_folder(notes, project):
    """--hook is silent when all is well, and ends with 0 in any case."""
    brain = [sys.executable, "-m", "second_brain.entry", "--home", str(notes.home), "doctor"]
    done = subprocess.run([*brain, "--hook"], cwd=project, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    (project / "docs").mkdir()
    (project / "docs/lessons.md").write_text("## L-0001 x\n\n- Status: active\n")
    assert "docs/lessons.md:1" in subprocess.run([*brain, "--hook"], cwd=project, capture_output=True, text=True).stdout
    assert subprocess.run(brain, cwd=project, capture_output=True).returncode == 3
