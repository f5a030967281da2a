"""CL: the command line on poor consoles and in pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "second_brain.cli"]
CONSOLES = {
    "cp1252": {"PYTHONIOENCODING": "cp1252:strict"},
    "C": {"LC_ALL": "C"},
    "C without coercion": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
NOTE = "# 排水ポンプ 🚰\n\n第二倉庫の排水ポンプを月曜に交換した ✓ (café)\n"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A Japanese note as the only source, added but not indexed."""
    root = tmp_path_factory.mktemp("consoles")
    home = root / "home"
    home.mkdir()
    (home / "models.yaml").write_text("embedder: hashing\n", encoding="utf-8")
    (root / "vault").mkdir()
    (root / "vault" / "ポンプ ✓.md").write_text(NOTE, encoding="utf-8")
    (root / "vault" / "壊れた.md").write_bytes(b"\x00\x01" * 500)
    variables = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    variables |= {"HOME": str(root), "BRAIN_HOME": str(home)}
    subprocess.run([*COMMAND, "add", str(root / "vault")], env=variables, check=True, capture_output=True)
    subprocess.run([*COMMAND, "index", "--quiet"], env=variables, check=False, capture_output=True)
    return variables


def run(variables: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a process."""
    return subprocess.run([*COMMAND, *arguments], env=variables, capture_output=True, timeout=60)


@pytest.mark.parametrize("console", CONSOLES)
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("status",), 0),
        (("search", "排水ポンプ", "--explain"), 0),
        (("get", "排水ポンプ 🚰"), 0),
        (("index", "--verbose"), 3),
        (("get", "存在しない 🙂"), 1),
        (("serch", "🙂"), 2),
    ],
)
def test_cl_1_no_console_is_too_poor(
    environment: dict[str, str], console: str, arguments: tuple[str, ...], code: int
) -> None:
    """What an encoding lacks is replaced; results, warnings and the error path all end as they should."""
    outcome = run({**environment, **CONSOLES[console]}, *arguments)
    assert outcome.returncode == code
    assert b"Traceback" not in outcome.stderr
    assert b"Error" not in outcome.stderr
    assert outcome.stdout or code in (1, 2)


@pytest.mark.parametrize("console", CONSOLES)
def test_cl_1_json_is_utf_8_on_every_console(environment: dict[str, str], console: str) -> None:
    """A program reads the same bytes wherever the command runs."""
    outcome = run({**environment, **CONSOLES[console]}, "search", "排水ポンプ", "--json")
    (hit,) = json.loads(outcome.stdout.decode("utf-8"))["hits"]
    assert hit["text"] == NOTE.rstrip("\n")
    missing = run({**environment, **CONSOLES[console]}, "get", "存在しない", "--json")
    assert "'存在しない'" in json.loads(missing.stdout.decode("utf-8"))["error"]["message"]


@pytest.mark.parametrize("arguments", [("search", "排水"), ("search", "排水", "--json"), ("get", "排水ポンプ 🚰")])
def test_cl_2_a_closed_pipe_is_no_error(environment: dict[str, str], arguments: tuple[str, ...]) -> None:
    """``| head -1`` through a real shell, buffered or not: the first line, nothing on stderr."""
    for unbuffered in ({}, {"PYTHONUNBUFFERED": "1"}):
        outcome = subprocess.run(
            ["/bin/sh", "-c", '"$@" | head -1', "sh", *COMMAND, *arguments],
            env={**environment, **unbuffered, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            timeout=60,
        )
        assert outcome.stderr == b""
        assert outcome.stdout.count(b"\n") == 1


def test_cl_2_json_of_a_cold_index_is_only_json(environment: dict[str, str], tmp_path: Path) -> None:
    """The first run, with progress and failures on: every byte of stdout is the object."""
    cold = {**environment, "BRAIN_INDEX": str(tmp_path / "cold.db"), "PYTHONUNBUFFERED": "1"}
    indexed = run(cold, "index", "--json")
    assert indexed.returncode == 3
    report = json.loads(indexed.stdout)
    assert report["sources"][0]["added"] == 1
    for arguments in (("search", "排水", "--json"), ("status", "--json"), ("recent", "--json"), ("doctor", "--json")):
        outcome = run(cold, *arguments)
        assert isinstance(json.loads(outcome.stdout), dict)
        assert outcome.stdout.count(b"\n") == 1
        assert outcome.stderr == b""
