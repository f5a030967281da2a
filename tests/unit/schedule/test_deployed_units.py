"""The unit for a box: systemd takes it, little is left open, and it starts a command that there is."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from second_brain.cli.servers import serve

UNIT = Path(__file__).parents[3] / "deploy" / "systemd" / "second-brain.service"
EXPOSED_AT_MOST = 2.0
"""As `systemd-analyze security` rates it, from 0 (nothing) to 10 (everything)."""


def analyzed(*words: str) -> subprocess.CompletedProcess[str]:
    """What systemd says, where it is installed."""
    try:
        return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("no systemd-analyze here")


def test_the_unit_is_sound_and_leaves_little_open(tmp_path):
    """With this Python in the place of the program, which is not installed here."""
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/second-brain/bin/brain", sys.executable))
    done = analyzed("verify", str(unit))
    assert (done.returncode, unit.name in done.stderr) == (0, False), done.stderr
    told = analyzed("security", "--offline=true", str(unit)).stdout
    level = re.search(r"exposure level for \S+: ([\d.]+)", told)
    assert level is not None
    assert float(level[1]) <= EXPOSED_AT_MOST


def test_the_command_of_the_unit_is_one_of_ours():
    """Its options are those of today."""
    (line,) = [line for line in UNIT.read_text().splitlines() if line.startswith("ExecStart=")]
    program, command, *arguments = shlex.split(line.partition("=")[2])
    assert (Path(program).name, command) == ("brain", "serve")
    given = serve.make_context("serve", arguments).params
    assert (given["host"], given["follow"]) == ("127.0.0.1", True)
