from __future__ import annotations

from pathlib import Path

import pytest

from second_brain.schedule.jobs import Home

HOSTILE = (
    "/home/kim/notes",
    "/home/kim/my notes",
    "/home/kim/100% %h %n",
    "/home/kim/'single' \"double\" `back` $HOME ${X} $(id)",
    "/home/kim/back\\slash\\n\\",
    "/home/kim/new\nline\ttab",
    "/home/kim/日本/ñ",
    "/home/kim/; rm -rf x & # !",
)
"""Paths as a home may have them."""


@pytest.fixture(params=HOSTILE)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Home:
    """A home with a path of each kind."""
    return Home(
        Path(request.param),
        "0a1b2c3d",
        ("/opt/second brain/bin/brain", "--home", request.param, "--index", f"{request.param}/index.db"),
        tmp_path / "state",
        {"XDG_STATE_HOME": request.param},
    )
