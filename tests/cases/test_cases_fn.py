"""File names and paths: faults that users of such products met, as far as listing and reading go."""

import unicodedata
from pathlib import Path

import pytest

from second_brain.sources.markdown import MarkdownSource
from second_brain.sources.paths import normalize_relative

COMPOSED = "Café.md"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)


def contents(root: Path) -> dict[str, str]:
    """Each listed uri with the text that it reads back."""
    source = MarkdownSource("v", root)
    return {item.uri: source.read(item).data.decode("utf-8") for item in source.scan().items}


def test_fn_1_a_name_in_decomposed_and_composed_unicode(tmp_path):
    """Renamed from one form to the other and edited, it stays one item with its newest text."""
    (tmp_path / DECOMPOSED).write_text("first")
    assert contents(tmp_path) == {f"v/{COMPOSED}": "first"}
    (tmp_path / DECOMPOSED).rename(tmp_path / COMPOSED)
    assert contents(tmp_path) == {f"v/{COMPOSED}": "first"}
    (tmp_path / COMPOSED).write_text("second")
    assert contents(tmp_path) == {f"v/{COMPOSED}": "second"}
    assert normalize_relative(DECOMPOSED) == normalize_relative(COMPOSED) == COMPOSED


def test_fn_3_a_rename_that_changes_only_case(tmp_path):
    """The folder is listed under its new name only, and on a disk that keeps case apart two notes stay two."""
    (tmp_path / "Finance").mkdir()
    (tmp_path / "Finance" / "a.md").write_text("text")
    assert contents(tmp_path) == {"v/Finance/a.md": "text"}
    (tmp_path / "Finance").rename(tmp_path / "finance")
    assert contents(tmp_path) == {"v/finance/a.md": "text"}
    if not (tmp_path / "FINANCE").exists():
        (tmp_path / "finance" / "A.md").write_text("other")
        assert contents(tmp_path) == {"v/finance/A.md": "other", "v/finance/a.md": "text"}


@pytest.mark.parametrize("name", ["50% plan #2 [draft].md", "a?b&c=d.md", "会議 メモ.md", "a%20b.md", "+ plus.md"])
def test_fn_4_names_with_characters_that_urls_escape(tmp_path, name):
    """The uri in the listing is the name as it is, not escaped, and reads back its own text."""
    (tmp_path / name).write_text(f"text of {name}", encoding="utf-8")
    (tmp_path / "a b.md").write_text("another")
    assert contents(tmp_path)[f"v/{name}"] == f"text of {name}"


def test_fn_7_a_name_of_255_bytes(tmp_path):
    """84 kana and ``.md`` fill the limit; the note is listed and read."""
    name = "あ" * 84 + ".md"
    assert len(name.encode()) == 255
    (tmp_path / name).write_text("text")
    assert contents(tmp_path) == {f"v/{name}": "text"}


def test_fn_8_backslashes_on_windows(tmp_path):
    """A listing, a watcher's path and an argument in either spelling have one form."""
    (tmp_path / "Sub").mkdir()
    (tmp_path / "Sub" / "n.md").write_text("text")
    (uri,) = contents(tmp_path)
    assert uri == "v/Sub/n.md"
    assert normalize_relative("Sub\\n.md", windows=True) == normalize_relative("Sub/n.md", windows=True) == "Sub/n.md"
    assert normalize_relative("Sub\\", windows=True) == normalize_relative("Sub/", windows=True) == "Sub/"


def test_fn_8_a_backslash_is_a_letter_elsewhere(tmp_path):
    """On other systems a name may hold one, and it is not taken for a folder."""
    try:
        (tmp_path / "odd\\name.md").write_text("text")
    except OSError:
        pytest.skip("this system keeps the backslash for itself")
    assert normalize_relative("odd\\name.md", windows=False) == "odd\\name.md"
    assert contents(tmp_path) == {"v/odd\\name.md": "text"}
