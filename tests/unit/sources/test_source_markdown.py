import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from second_brain.protocols import Source
from second_brain.sources.markdown import MarkdownSource
from second_brain.sources.reading import FileTooLarge


def relatives(source: MarkdownSource) -> list[str]:
    return [item.relative for item in source.scan().items]


def test_it_is_a_source_of_markdown_that_lists_all_it_has(tmp_path):
    """What is not listed was deleted."""
    source = MarkdownSource("notes", tmp_path)
    assert isinstance(source, Source)
    assert (source.name, source.kind, source.exhaustive) == ("notes", "markdown", True)


def test_both_suffixes_count_in_any_case(tmp_path, grow):
    """.md and .markdown, as other programs write them."""
    grow(tmp_path, "a.md", "b.MD", "c.markdown", "d.Markdown", "e.txt", "f.mdown", "gmd")
    assert relatives(MarkdownSource("n", tmp_path)) == ["a.md", "b.MD", "c.markdown", "d.Markdown"]


def test_include_lists_only_what_matches(tmp_path, grow):
    """Files, or files in folders, that match a pattern; ``!`` takes some back."""
    grow(tmp_path, "a.md", "notes/b.md", "notes/old/c.md", "x/notes/d.md", "x/e.md")
    assert relatives(MarkdownSource("n", tmp_path, include=["notes/", "/a.md"])) == [
        "a.md",
        "notes/b.md",
        "notes/old/c.md",
        "x/notes/d.md",
    ]
    assert relatives(MarkdownSource("n", tmp_path, include=["/notes/", "!old/"])) == ["notes/b.md"]


def test_exclude_wins_over_include_and_ignore_files(tmp_path, grow):
    """The settings have the last word."""
    grow(tmp_path, "a.md", "b.md", "old/c.md", (".indexignore", "!b.md\n!old/"))
    source = MarkdownSource("n", tmp_path, include=["*.md"], exclude=["b.md", "old/"])
    assert relatives(source) == ["a.md"]


def test_the_files_that_obsidian_excludes_are_left_out(tmp_path, grow):
    """A prefix and an expression of the vault's settings; excluded entries are counted."""
    filters = json.dumps({"userIgnoreFilters": ["Templates/", "/draft/"]})
    grow(tmp_path, "a.md", "Templates/t.md", "x/my draft.md", (".obsidian/app.json", filters))
    source = MarkdownSource("n", tmp_path)
    assert relatives(source) == ["a.md"]
    assert source.scan().skipped == {"excluded": 2}


def test_broken_settings_of_obsidian_are_a_failure_of_the_scan_and_no_more(tmp_path, grow):
    """The notes are listed and the settings file is named."""
    grow(tmp_path, "a.md", (".obsidian/app.json", "{"))
    scan = MarkdownSource("n", tmp_path).scan()
    assert [item.relative for item in scan.items] == ["a.md"]
    assert [(failure.uri, failure.kind) for failure in scan.failures] == [("n/.obsidian/app.json", "walk")]


def test_a_relative_root_is_resolved_when_the_source_is_made(tmp_path, grow, monkeypatch):
    """A later change of the current folder leads nowhere else."""
    grow(tmp_path, "v/a.md")
    monkeypatch.chdir(tmp_path)
    source = MarkdownSource("n", Path("v"))
    monkeypatch.chdir("/")
    assert [item.path for item in source.scan().items] == [str(tmp_path / "v" / "a.md")]


def test_files_above_the_limit_are_listed_and_refused_when_read(tmp_path, grow):
    """The limit is the source's setting."""
    grow(tmp_path, ("a.md", "12345678"))
    source = MarkdownSource("n", tmp_path, max_bytes=7)
    (item,) = source.scan().items
    with pytest.raises(FileTooLarge, match="8 bytes, more than the limit of 7"):
        source.read(item)


def test_a_folder_that_became_a_link_is_not_read_through(tmp_path, grow):
    """Between scan and read the folder of an item was replaced by a link out of the root."""
    grow(tmp_path, "v/sub/a.md", ("secret/a.md", "secret"))
    source = MarkdownSource("n", tmp_path / "v")
    (item,) = source.scan().items
    (tmp_path / "v" / "sub").rename(tmp_path / "v" / "moved")
    (tmp_path / "v" / "sub").symlink_to(tmp_path / "secret")
    with pytest.raises(FileNotFoundError, match="not below the root of source 'n'"):
        source.read(item)


@pytest.mark.parametrize(
    "path", ["/etc/hostname", "{root}/../secret.md", "{root}/sub/../../secret.md", "{root}-2/a.md"]
)
def test_a_path_outside_the_root_is_not_read(tmp_path, grow, path):
    """An item that was not listed by this source gives nothing away."""
    grow(tmp_path, "v/a.md", "v/sub/b.md", "secret.md", "v-2/a.md")
    source = MarkdownSource("n", tmp_path / "v")
    item = replace(source.scan().items[0], path=path.format(root=tmp_path / "v"))
    with pytest.raises(FileNotFoundError):
        source.read(item)


def test_the_root_of_the_file_system_can_be_read_from(grow, tmp_path):
    """A root that ends in the separator is no special case for reading."""
    grow(tmp_path, ("a.md", "text"))
    (item,) = MarkdownSource("n", tmp_path).scan().items
    assert MarkdownSource("n", Path("/")).read(item).data == b"text"


def test_a_root_behind_a_link_is_read(tmp_path, grow):
    """The link was there when the user named it."""
    grow(tmp_path, ("real/sub/a.md", "text"))
    (tmp_path / "link").symlink_to("real")
    source = MarkdownSource("n", tmp_path / "link")
    (item,) = source.scan().items
    assert source.read(item).data == b"text"


def test_the_hash_of_a_blob_follows_the_bytes_alone(tmp_path, grow):
    """Same bytes at another place and time, same hash."""
    grow(tmp_path, ("a.md", "text"), ("b.md", "text"), ("c.md", "other"))
    os.utime(tmp_path / "b.md", (1, 1))
    source = MarkdownSource("n", tmp_path)
    one, same, other = (source.read(item).hash for item in source.scan().items)
    assert one == same != other
