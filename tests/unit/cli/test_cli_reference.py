from __future__ import annotations

from pathlib import Path

import click
import pytest

from second_brain.cli.app import COMMANDS, app
from second_brain.cli.exits import MEANINGS, Exit
from second_brain.cli.reference import FILE, render

PAGE = Path(__file__).parents[3] / "docs" / "reference" / FILE


def test_the_reference_is_up_to_date() -> None:
    """docs/reference/cli.md is what the commands say of themselves; `make docs` writes it."""
    assert PAGE.read_text(encoding="utf-8") == render()


def test_every_exit_code_has_a_meaning() -> None:
    """None is left out of the help and the reference."""
    assert set(MEANINGS) == set(Exit)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_says_what_it_does(name: str) -> None:
    """A sentence for each, and the command answers to the name under which it is listed."""
    command = app.get_command(click.Context(app), name)
    assert command is not None
    assert command.name == name
    assert (command.help or "").partition("\n")[0].endswith(".")
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    assert [option.name for option in options if not (option.help or "").strip()] == []
