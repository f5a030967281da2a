"""``brain setup`` writes our entry into the settings of an agent's program, and takes it out again."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

import pytest

from second_brain.cli.__main__ import run
from second_brain.cli.setup import NAMES
from second_brain.errors import ConfigError
from second_brain.setup.clients import CLIENTS, NAME, Place
from second_brain.setup.entries import adding, removing, settings_file


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder in which nothing is set yet."""
    home = tmp_path / "me"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("BRAIN_HOME", str(home / "brain"))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "APPDATA", "BRAIN_INDEX"):
        monkeypatch.delenv(name, raising=False)
    return home


def entry_in(client: str, file: Path) -> dict[str, object] | None:
    """Our entry, as the program would read it."""
    read = tomllib.loads if file.suffix == ".toml" else json.loads
    found = read(file.read_text(encoding="utf-8"))
    for name in CLIENTS[client].path:
        found = found.get(name, {})
    entry: dict[str, object] | None = found.get(NAME)
    return entry


@pytest.mark.parametrize("client", NAMES)
def test_written_only_on_yes_and_undone_by_remove(client, person, capsys):
    """Shown first; the entry starts this very program; other entries and keys stay byte for byte."""
    file = CLIENTS[client].file(Place(person, sys.platform, {}))
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".toml":
        mine = 'model = "x" # mine\n\n[mcp_servers.other]\ncommand = "o"\n'
    else:
        mine = json.dumps({"theme": "dark", CLIENTS[client].path[0]: {"other": {"command": "o"}}}, indent=2)
    file.write_text(mine)
    assert run(["setup", client]) == 0
    shown = capsys.readouterr()
    assert "+" in shown.out
    assert "--yes" in shown.err
    assert file.read_text() == mine
    assert run(["setup", client, "--yes", "--privacy", "work", "--read-only"]) == 0
    entry = entry_in(client, file)
    assert entry is not None
    assert Path(str(entry["command"])).exists()
    arguments = entry["args"]
    assert isinstance(arguments, list)
    assert arguments[-6:] == ["--home", str(person / "brain"), "mcp", "--privacy", "work", "--read-only"]
    assert run(["setup", client, "--yes", "--privacy", "work", "--read-only"]) == 0
    assert "nothing to change" in capsys.readouterr().out
    assert run(["setup", client, "--remove", "--yes"]) == 0
    assert file.read_text() == mine
    assert run(["setup", client, "--remove", "--yes"]) == 0
    assert "no entry of ours" in capsys.readouterr().out


@pytest.mark.parametrize("client", NAMES)
def test_a_program_without_settings_yet_gets_a_file(client, person):
    """With nothing but our entry, for its owner only."""
    assert run(["setup", client, "--yes"]) == 0
    file = CLIENTS[client].file(Place(person, sys.platform, {}))
    assert entry_in(client, file)
    assert file.stat().st_mode & 0o077 == 0


def test_each_platform_and_variable_has_its_place():
    """As the programs' own documentation names them."""
    me = Path("/me")
    desktop, code = CLIENTS["claude-desktop"], CLIENTS["vscode"]
    assert desktop.file(Place(me, "darwin", {})) == Path(
        "/me/Library/Application Support/Claude/claude_desktop_config.json"
    )
    assert desktop.file(Place(me, "win32", {"APPDATA": "/r"})) == Path("/r/Claude/claude_desktop_config.json")
    assert desktop.file(Place(me, "linux", {})) == Path("/me/.config/Claude/claude_desktop_config.json")
    assert code.file(Place(me, "linux", {"XDG_CONFIG_HOME": "/x"})) == Path("/x/Code/User/mcp.json")
    assert CLIENTS["claude-code"].file(Place(me, "linux", {})) == Path("/me/.claude.json")
    assert CLIENTS["claude-code"].file(Place(me, "linux", {"CLAUDE_CONFIG_DIR": "/c"})) == Path("/c/.claude.json")
    assert CLIENTS["codex"].file(Place(me, "linux", {"CODEX_HOME": "/k"})) == Path("/k/config.toml")


def test_a_project_has_a_file_of_its_own(person, tmp_path, capsys):
    """Where the program knows such; else the error says so."""
    assert run(["setup", "claude-code", "--project", str(tmp_path), "--yes"]) == 0
    assert entry_in("claude-code", tmp_path / ".mcp.json")
    assert not (person / ".claude.json").exists()
    assert run(["setup", "codex", "--project", str(tmp_path), "--yes"]) != 0
    assert "has no settings of a single folder" in capsys.readouterr().err


def test_a_broken_or_changed_file_is_never_written(person, capsys):
    """Broken: named with its line. Changed since it was read: the other program's change stays."""
    file = person / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {\n')
    assert run(["setup", "cursor", "--yes"]) != 0
    assert "line 2" in capsys.readouterr().err
    assert file.read_text() == '{"mcpServers": {\n'
    file.write_text("{}")
    cursor = CLIENTS["cursor"]
    change = adding(cursor, settings_file(cursor, Place(person, "linux", {}), None), "/b", ())
    file.write_text('{"mine": 1}')
    with pytest.raises(ConfigError, match="changed by another program"):
        change.write()
    assert file.read_text() == '{"mine": 1}'


def test_a_mark_at_the_beginning_and_a_link_survive(person):
    """A byte-order mark stays; a linked file stays a link, its target is written."""
    real = person / "dotfiles.json"
    real.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    file = person / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.symlink_to(real)
    assert run(["setup", "gemini", "--yes"]) == 0
    assert file.is_symlink()
    assert real.read_bytes().startswith(b"\xef\xbb\xbf{")
    assert json.loads(real.read_bytes().decode("utf-8-sig"))["a"] == 1
    gemini = CLIENTS["gemini"]
    assert removing(gemini, file).needed


def test_unknown_programs_and_labels_are_named(person, capsys):
    """With what is allowed."""
    assert run(["setup", "cursr"]) == 2
    assert "Did you mean 'cursor'" in capsys.readouterr().err
    assert run(["setup", "cursor", "--privacy", "hidden"]) != 0
    assert "public, work, personal, secret" in capsys.readouterr().err
