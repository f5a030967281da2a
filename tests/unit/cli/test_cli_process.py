from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from running_brain import Brain

from second_brain.cli.__main__ import as_unicode
from second_brain.cli.options import Invocation


def test_without_a_command_the_help_is_shown(brain: Brain) -> None:
    """``brain`` alone lists every command and exit code."""
    outcome = brain()
    assert outcome.code == 0
    for word in ("search", "index", "Exit codes:", "130"):
        assert word in outcome.out


@pytest.mark.parametrize("group", ["graph", "token", "fleet", "okf", "learn", "schedule"])
def test_a_group_without_a_command_shows_its_own_help(brain: Brain, group: str) -> None:
    """As lines to read, not as an error in one line; nothing was done, so it is wrong usage."""
    outcome = brain(group)
    assert (outcome.code, outcome.out) == (2, "")
    lines = outcome.err.splitlines()
    assert lines[0].startswith(f"Usage: brain {group} ")
    assert "Commands:" in lines
    assert "error" not in lines[0]


def test_the_version_is_told(brain: Brain) -> None:
    """One line."""
    assert brain("--version").out.startswith("brain ")


@pytest.mark.parametrize(
    ("typed", "advice"), [("serch", "Did you mean 'search'?"), ("pump", "to search: brain search pump valve")]
)
def test_an_unknown_command_proposes_one(brain: Brain, typed: str, advice: str) -> None:
    """The nearest, and the search that was perhaps meant."""
    outcome = brain(typed, "valve")
    assert (outcome.code, outcome.out) == (2, "")
    assert advice in outcome.err


def test_home_and_index_are_chosen_by_options(brain: Brain, indexed: Path, tmp_path: Path) -> None:
    """Before the command, stronger than the environment."""
    other = tmp_path / "別の家"
    other.mkdir()
    (other / "models.yaml").write_text("embedder: hashing\n", encoding="utf-8")
    status = json.loads(brain("--home", other, "--index", tmp_path / "x.db", "status", "--json").out)
    assert (status["home"], status["index"], status["documents"]) == (str(other), str(tmp_path / "x.db"), 0)


def test_wrong_settings_name_file_and_line(brain: Brain, tmp_path: Path) -> None:
    """For people, and for programs with --json."""
    (tmp_path / "home" / "sources.yaml").write_text("sources:\n- name: a\n  pth: /x\n", encoding="utf-8")
    outcome = brain("status", "--json")
    assert outcome.code == 1
    assert "sources.yaml:3: unknown key 'pth'" in outcome.err
    assert "did you mean 'path'?" in outcome.err
    assert json.loads(outcome.out)["error"]["type"] == "ConfigError"


def test_a_fault_is_one_line_unless_debugged(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Type and message, no traceback; BRAIN_DEBUG=1 shows it."""

    def broken(self: Invocation) -> None:
        raise ZeroDivisionError("nothing left")

    monkeypatch.setattr(Invocation, "open_brain", broken)
    outcome = brain("status")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("error: unexpected ZeroDivisionError: nothing left\n")
    assert "Traceback" not in outcome.err
    monkeypatch.setenv("BRAIN_DEBUG", "1")
    assert "Traceback" in brain("status").err


def test_ctrl_c_anywhere_ends_quietly(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 130, no traceback."""

    def interrupted(self: Invocation) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Invocation, "open_brain", interrupted)
    outcome = brain("status")
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "error: interrupted\n")


@pytest.mark.parametrize("command", [(), ("get",), ("index",), ("search", "--mode"), ("search", "--since", "now")])
def test_pasted_text_is_not_repeated_at_length(brain: Brain, command: tuple[str, ...]) -> None:
    """An error shows its beginning; a path is shown whole."""
    outcome = brain(*command, "排水ポンプの点検表を" * 50)
    assert outcome.code in (1, 2)
    assert all(len(line) < 250 for line in outcome.err.splitlines())
    path = "/gone" * 30
    assert path in brain("add", path).err


def test_arguments_are_read_as_utf_8() -> None:
    r"""Stand-ins of a C locale become the letters that were typed; what is no UTF-8 becomes U+FFFD."""
    assert as_unicode("pump 会議") == "pump 会議"
    stand_ins = "会議".encode().decode("ascii", "surrogateescape")
    assert as_unicode(stand_ins) == os.fsencode(stand_ins).decode("utf-8") == "会議"
    assert as_unicode("caf\udce9") == "caf\ufffd"
