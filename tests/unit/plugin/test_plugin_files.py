"""The plugin for Claude Code: every file has the documented form, every path exists, and nothing in it has logic."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from second_brain import __version__
from second_brain.cli.app import COMMANDS
from second_brain.hooks.entry import SPEAKING
from second_brain.parsing.frontmatter import read_frontmatter

ROOT = Path(__file__).resolve().parents[3]
PLUGIN = ROOT / "plugin"
SKILLS = ("adr", "handoff", "ingest", "learn", "recall")

EVENTS = {
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop",
    "SessionEnd",
}  # fmt: skip
HANDLER_KEYS = {"type", "command", "timeout", "async", "statusMessage"}
SKILL_KEYS = {"name", "description", "argument-hint", "allowed-tools"}


def loaded(path: Path) -> Any:
    """A JSON file."""
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_marketplace_at_the_root_leads_to_the_plugin():
    """Name, owner, and a relative source with a manifest of the same name."""
    market = loaded(ROOT / ".claude-plugin" / "marketplace.json")
    assert re.fullmatch(r"[a-z][a-z0-9-]*", market["name"])
    assert isinstance(market["owner"]["name"], str)
    (entry,) = market["plugins"]
    assert entry["source"].startswith("./")
    manifest = loaded(ROOT / entry["source"] / ".claude-plugin" / "plugin.json")
    assert manifest["name"] == entry["name"]
    assert manifest["version"] == __version__
    assert isinstance(manifest["author"], dict)
    assert all(isinstance(word, str) for word in manifest["keywords"])


def test_every_hook_is_one_that_brain_knows():
    """Documented events and keys only; each runs `brain hook EVENT` through the quoted wrapper."""
    hooks = loaded(PLUGIN / "hooks" / "hooks.json")
    assert set(hooks) == {"description", "hooks"}
    assert set(hooks["hooks"]) == EVENTS
    assert set(hooks["hooks"]) >= SPEAKING
    for event, groups in hooks["hooks"].items():
        for group in groups:
            assert set(group) <= {"matcher", "hooks"}
            for handler in group["hooks"]:
                assert set(handler) <= HANDLER_KEYS
                assert handler["type"] == "command"
                assert handler["command"] == f'sh "${{CLAUDE_PLUGIN_ROOT}}/bin/brain.sh" hook {event}'


def test_both_servers_are_started_through_the_wrapper():
    """Search and memory, with toolsets of their own."""
    servers = loaded(PLUGIN / ".mcp.json")["mcpServers"]
    assert set(servers) == {"search", "memory"}
    for server in servers.values():
        assert server["command"] == "sh"
        assert server["args"][:2] == ["${CLAUDE_PLUGIN_ROOT}/bin/brain.sh", "mcp"]


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_says_when_to_use_it_and_names_commands_that_exist(name):
    """Frontmatter of documented keys; each `brain` command in it is one of ours."""
    text = (PLUGIN / "skills" / name / "SKILL.md").read_text(encoding="utf-8")
    front = read_frontmatter(text)
    assert front.warnings == ()
    assert set(front.values) == SKILL_KEYS
    assert front.values["name"] == name
    assert "Use it " in str(front.values["description"])
    assert len(str(front.values["description"])) < 1024
    assert "$ARGUMENTS" in text[front.body_start :]
    named = set(re.findall(r"\bbrain ([a-z]+)\b", text))
    assert named
    assert named <= set(COMMANDS)


def test_there_is_nothing_else_in_the_plugin():
    """No logic of its own: manifest, hooks, servers, skills and the wrapper."""
    found = sorted(path.relative_to(PLUGIN).as_posix() for path in PLUGIN.rglob("*") if path.is_file())
    assert found == sorted(
        [".claude-plugin/plugin.json", ".mcp.json", "bin/brain.sh", "hooks/hooks.json"]
        + [f"skills/{name}/SKILL.md" for name in SKILLS]
    )


def wrapper(tmp_path: Path, arguments: list[str], programs: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the wrapper from a folder with blanks, where only these programs are on PATH."""
    place = tmp_path / "My Plugins (x)" / "it's"
    place.mkdir(parents=True)
    (place / "brain.sh").write_text((PLUGIN / "bin" / "brain.sh").read_text())
    programs_folder = tmp_path / "bin"
    programs_folder.mkdir()
    for name in ("cat", "sh"):
        (programs_folder / name).symlink_to(f"/bin/{name}")
    for name, script in programs.items():
        (programs_folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs_folder / name).chmod(0o755)
    return subprocess.run(
        ["/bin/sh", str(place / "brain.sh"), *arguments], input="{}", capture_output=True, text=True, check=False,
        env={"PATH": str(programs_folder), "HOME": str(tmp_path / "nobody")},
    )  # fmt: skip


SAY = 'printf "%s|" "$0" "$@"'


def test_an_installed_brain_goes_first(tmp_path):
    """Arguments arrive whole."""
    done = wrapper(tmp_path, ["mcp", "a b", "it's"], {"brain": SAY, "uvx": SAY})
    assert done.stdout.endswith("/bin/brain|mcp|a b|it's|")


@pytest.mark.parametrize(
    ("program", "begins"), [("uvx", "--from|second-brain[mcp]|brain|mcp|"), ("pipx", "run|--spec|")]
)
def test_a_server_is_fetched_where_brain_is_not_installed(tmp_path, program, begins):
    """By uvx, else by pipx."""
    done = wrapper(tmp_path, ["mcp"], {program: SAY})
    assert done.stdout.partition("|")[2].startswith(begins)


def test_hooks_fetch_nothing_and_the_start_of_a_session_says_what_to_install(tmp_path):
    """Silent on every prompt, exit code 0."""
    done = wrapper(tmp_path, ["hook", "SessionStart"], {"uvx": SAY})
    assert done.returncode == 0
    assert "uv tool install 'second-brain[mcp]'" in json.loads(done.stdout)["systemMessage"]
    done = wrapper(tmp_path / "2", ["hook", "UserPromptSubmit"], {})
    assert (done.returncode, done.stdout) == (0, "")


def test_without_anything_the_error_says_what_to_install(tmp_path):
    """On stderr, with the shell's code for a command that is not there."""
    done = wrapper(tmp_path, ["mcp"], {})
    assert (done.returncode, done.stdout) == (127, "")
    assert "pip install --user 'second-brain[mcp]'" in done.stderr


@pytest.mark.skipif(shutil.which("claude") is None, reason="Claude Code is not installed")
@pytest.mark.parametrize("folder", [".", "plugin"])
def test_claude_code_itself_finds_marketplace_and_plugin_valid(tmp_path, folder):
    """By its own validator, as a user of its own."""
    command = ["claude", "plugin", "validate", str(ROOT / folder)]
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
