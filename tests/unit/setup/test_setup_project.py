"""``brain setup project`` makes a folder ready without the plugin, and undoes it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from second_brain.cli.__main__ import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with settings of its own, and a home with the embedder for tests."""
    home = tmp_path / "ho me"
    home.mkdir()
    (home / "models.yaml").write_text("embedder: hashing\n")
    monkeypatch.setenv("BRAIN_HOME", str(home))
    monkeypatch.delenv("BRAIN_INDEX", raising=False)
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / "note.md").write_text("The heron stands in the reed.\n")
    mine = {
        "permissions": {"allow": ["Bash(ls)"]},
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]},
    }
    (project / ".claude/settings.json").write_text(json.dumps(mine, indent=2) + "\n")
    return project


def test_it_writes_servers_and_hooks_indexes_and_is_undone(folder, capsys):
    """Shown first; the user's own hooks stay before ours; undone, the files read as before."""
    before = (folder / ".claude/settings.json").read_text()
    assert run(["setup", "project", "--project", str(folder)]) == 0
    assert "nothing was written" in capsys.readouterr().err
    assert not (folder / ".mcp.json").exists()
    assert run(["setup", "project", "--project", str(folder), "--yes"]) in (0, 3)
    servers = json.loads((folder / ".mcp.json").read_text())["mcpServers"]
    assert sorted(servers) == ["second-brain-memory", "second-brain-search"]
    hooks = json.loads((folder / ".claude/settings.json").read_text())["hooks"]
    assert hooks["Stop"][0]["hooks"][0]["command"] == "x"
    assert len(hooks["Stop"]) == 2
    assert "ready" in capsys.readouterr().out
    assert run(["search", "heron", "--mode", "lexical"]) == 0
    assert "note.md" in capsys.readouterr().out
    assert run(["setup", "project", "--project", str(folder), "--yes"]) in (0, 3)
    assert json.loads((folder / ".claude/settings.json").read_text())["hooks"] == hooks
    assert run(["setup", "project", "--project", str(folder), "--remove", "--yes"]) == 0
    left = json.loads((folder / ".claude/settings.json").read_text())
    assert {event: groups for event, groups in left["hooks"].items() if groups} == json.loads(before)["hooks"]
    assert not (folder / ".mcp.json").exists()
    capsys.readouterr()
    run(["search", "heron", "--mode", "lexical"])
    assert "note.md" not in capsys.readouterr().out
    assert (folder / "note.md").exists()


def test_what_was_there_before_stays_when_it_is_undone(folder):
    """A source that the user had, a file of servers that holds another's."""
    (folder / ".mcp.json").write_text('{"mcpServers": {"other": {"command": "x"}}}\n')
    assert run(["add", str(folder.parent / "project")]) == 0
    assert run(["setup", "project", "--project", str(folder), "--yes"]) in (0, 3)
    assert run(["setup", "project", "--project", str(folder), "--remove", "--yes"]) == 0
    assert json.loads((folder / ".mcp.json").read_text()) == {"mcpServers": {"other": {"command": "x"}}}
    assert run(["search", "heron", "--mode", "lexical"]) == 0


def test_the_hooks_that_it_writes_run_through_a_shell(folder):
    """With a home whose path has a blank."""
    run(["setup", "project", "--project", str(folder), "--yes"])
    (folder / "docs").mkdir()
    (folder / "docs/lessons.md").write_text("## L-0001 x\n\n- Lesson: Mind the gap.\n")
    hooks = json.loads((folder / ".claude/settings.json").read_text())["hooks"]
    command = hooks["SessionStart"][0]["hooks"][0]["command"]
    event = json.dumps({"session_id": "s", "cwd": str(folder), "source": "startup"})
    done = subprocess.run(["/bin/sh", "-c", command], input=event, capture_output=True, text=True, check=True)
    assert "Mind the gap." in done.stdout
