from __future__ import annotations

import pytest

from second_brain.cli import display


def test_columns_line_up_whatever_the_script(capsys: pytest.CaptureFixture[str]) -> None:
    """Wide characters take two cells, numbers stand to the right, nothing trails."""
    display.say_table(("name", "count", "path"), [("会議", 1234, "/a"), ("log", 5, "/b\x1b[2J")], indent=2)
    assert capsys.readouterr().out == (
        "  name  count  path\n"  #
        "  会議  1,234  /a\n"
        "  log       5  /b\u241b[2J\n"
    )


def test_cells_are_text_and_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """A name in brackets stays as it is, a long one is not cut in a pipe."""
    long = "x" * 300
    display.say_table(("name",), [("[bold]a[/bold]",), (long,)])
    assert capsys.readouterr().out.splitlines() == ["name", "[bold]a[/bold]", long]


def test_no_rows_are_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    """A head without rows says nothing."""
    display.say_table(("name",), [])
    assert capsys.readouterr().out == ""
