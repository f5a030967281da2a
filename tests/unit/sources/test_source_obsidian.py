import json
import os
from pathlib import Path

import pytest

from second_brain.sources.obsidian import hidden_in_obsidian


def settle(vault: Path, text: str) -> None:
    (vault / ".obsidian").mkdir(parents=True, exist_ok=True)
    (vault / ".obsidian" / "app.json").write_text(text, encoding="utf-8")


def hidden(root: Path, *paths: str) -> tuple[list[str], list[str]]:
    """Which of the paths are hidden, and the problems."""
    problems: list[str] = []
    test = hidden_in_obsidian(os.fsencode(root), problems)
    return [path for path in paths if test(path)], problems


def test_a_filter_is_the_start_of_a_path(tmp_path):
    """``Archive/20`` hides all that begins so, from the vault's root, in the letter case given."""
    settle(tmp_path, json.dumps({"userIgnoreFilters": ["Templates/", "Archive/20", "README.md"]}))
    shown = ["a/Templates/x.md", "Archive/19/x.md", "templates/x.md", "Archive/"]
    hides = ["Templates/", "Templates/x.md", "Archive/2031/", "Archive/2031.md", "README.md"]
    assert hidden(tmp_path, *shown, *hides) == (hides, [])


def test_a_filter_between_slashes_is_an_expression_about_files(tmp_path):
    """It is searched in the path of a file; a folder is not asked, as Obsidian does not ask either."""
    settle(tmp_path, json.dumps({"userIgnoreFilters": [r"/draft\.md$/", "/^log/", "/drafts\\/$/"]}))
    paths = ["a/draft.md", "draft.md.md", "logs/x.md", "a/log.md", "drafts/", "drafts/x.md"]
    assert hidden(tmp_path, *paths) == (["a/draft.md", "logs/x.md"], [])


def test_filters_are_composed(tmp_path):
    """A filter written on a Mac in decomposed form hides the composed path."""
    settle(tmp_path, json.dumps({"userIgnoreFilters": ["か\u3099/"]}))
    assert hidden(tmp_path, "が/x.md") == (["が/x.md"], [])


def test_a_folder_inside_a_vault_has_the_filters_of_the_vault(tmp_path):
    """Paths are those from the vault's root."""
    settle(tmp_path, json.dumps({"userIgnoreFilters": ["Notes/Old/", "Old/"]}))
    (tmp_path / "Notes").mkdir()
    assert hidden(tmp_path / "Notes", "Old/x.md", "New/Old/x.md") == (["Old/x.md"], [])


@pytest.mark.parametrize("text", ["{}", '{"userIgnoreFilters": null}', '{"userIgnoreFilters": []}', "[]", '{"x": 1}'])
def test_settings_without_filters_hide_nothing(tmp_path, text):
    """Nor do they give a problem."""
    settle(tmp_path, text)
    assert hidden(tmp_path, "a.md", "b/") == ([], [])


def test_a_folder_that_is_no_vault_hides_nothing(tmp_path):
    """The usual case of a plain folder."""
    assert hidden(tmp_path, "a.md") == ([], [])


@pytest.mark.parametrize(
    "text",
    ['{"userIgnoreFilters": [', "\xff", "[" * 100_000, '{"userIgnoreFilters": "a/"}', '{"userIgnoreFilters": [1]}'],
)
def test_broken_settings_are_told_and_hide_nothing(tmp_path, text):
    """A file that Obsidian was writing just now, or one of another shape."""
    settle(tmp_path, text)
    found, problems = hidden(tmp_path, "a/x.md")
    assert found == []
    assert [problem.startswith("Obsidian's excluded files are not applied: ") for problem in problems] == [True]


def test_an_expression_that_python_does_not_know_is_told(tmp_path):
    """JavaScript's named groups differ; the other filters hold."""
    settle(tmp_path, json.dumps({"userIgnoreFilters": ["/(?<year>20..)/", "a/"]}))
    found, problems = hidden(tmp_path, "a/x.md", "2031.md")
    assert found == ["a/x.md"]
    assert "'/(?<year>20..)/' is not applied" in problems[0]


def test_a_pipe_in_place_of_the_settings_does_not_block(tmp_path):
    """It is no settings file."""
    (tmp_path / ".obsidian").mkdir()
    os.mkfifo(tmp_path / ".obsidian" / "app.json")
    assert hidden(tmp_path, "a.md") == ([], [])
