"""The servers by a client of another SDK, in another language: every tool, over pipes and over HTTP."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_client import EVERY_CALL

CLIENTS = Path(__file__).parents[1] / "clients"
NODE = shutil.which("node")
TOOLSETS = "knowledge,sources,notes,vault,memory"

pytestmark = pytest.mark.skipif(
    not NODE or not (CLIENTS / "node_modules").is_dir(), reason="`make clients` installs the other SDK, with npm"
)


@pytest.fixture
def home(make_home: Callable[..., Path]) -> Path:
    """A home with a note."""
    return make_home({"pump.md": "# Pump\n\nThe heron pump lost pressure.\n"})


def all_called(home: Path, *place: str) -> Any:
    """What the client says of a server after it made every call."""
    script = str(CLIENTS / "call_tools.mjs")
    calls = json.dumps([[name, given] for name, given in EVERY_CALL.items()])
    done = subprocess.run(
        [str(NODE), script, *place],
        input=calls,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=home,
        env={**os.environ, "HOME": str(home.parent)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(said: Any) -> None:
    """Every tool is listed and answers; the client itself has compared the values with their schemas."""
    assert said["server"]["name"] == "second-brain"
    assert {tool["name"] for tool in said["tools"]} == set(EVERY_CALL)
    assert [resource["uri"] for resource in said["resources"]] == ["note://notes/pump.md"]
    assert [prompt["name"] for prompt in said["prompts"]] == ["recall", "brief"]
    failed = [(name, answer) for name, answer in zip(EVERY_CALL, said["answers"], strict=True) if answer.get("isError")]
    assert failed == []


def test_every_tool_over_pipes(home):
    """As an agent's program starts it."""
    check(all_called(home, "stdio", sys.executable, "-m", "second_brain.entry", "--home", str(home), "mcp",
                     "--toolsets", TOOLSETS))  # fmt: skip


def test_every_tool_over_http(home):
    """With a token that may change things; the graph's file is named by the server's variable."""
    command = [sys.executable, "-m", "second_brain.entry", "--home", str(home)]
    token = subprocess.run(
        [*command, "token", "add", "other", "--privacy", "secret", "--changes"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    server = subprocess.Popen(
        [*command, "serve", "--port", "0", "--toolsets", TOOLSETS],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOME": str(home.parent), "MEMORY_FILE_PATH": str(home / "memory.jsonl")},
    )
    try:
        assert server.stderr
        line = next(line for line in server.stderr if "serving at" in line)
        (url,) = re.findall(r"http://\S+/mcp", line)
        check(all_called(home, "http", url, token))
    finally:
        server.terminate()
        server.wait(20)
        server.stderr.close()
