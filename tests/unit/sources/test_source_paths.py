import os
import unicodedata
from pathlib import Path

import pytest

from second_brain.sources.paths import (
    absolute,
    compose,
    disk_bytes,
    joined,
    nearest_with,
    normalize_relative,
    uri_names,
)

CAFE = "Café.md"
CAFE_DECOMPOSED = unicodedata.normalize("NFD", CAFE)


def test_text_in_the_locale_and_plain_text_name_the_same_file():
    """Stand-ins that a C locale puts for bytes, and the letters themselves, are the same bytes on disk."""
    name = "会議.md".encode()
    assert disk_bytes(os.fsdecode(name)) == name
    assert disk_bytes(name.decode("ascii", "surrogateescape")) == name


def test_a_relative_path_becomes_absolute_without_dots(tmp_path, monkeypatch):
    """``absolute`` resolves against the current folder and drops ``.`` and ``..``."""
    monkeypatch.chdir(tmp_path)
    assert absolute("a/./b/../c") == os.fsencode(tmp_path / "a" / "c")


def test_joining_keeps_absolute_names_and_drops_empty_ones():
    """An absolute name replaces the folder; an empty one adds no slash."""
    assert joined(b"/a", b"b", b"", b"c") == os.fsencode(Path("/a", "b", "c"))
    assert joined(b"/a", b"/b") == b"/b"


def test_the_nearest_folder_with_a_name_is_found_upwards(tmp_path):
    """The folder itself comes first, then its parents; None when no folder has it."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "mark").touch()
    top, inner = os.fsencode(tmp_path), os.fsencode(tmp_path / "a" / "b")
    assert nearest_with(inner, b"mark") == top
    (tmp_path / "a" / "b" / "mark").touch()
    assert nearest_with(inner, b"mark") == inner
    assert nearest_with(inner, b"no such name anywhere") is None


@pytest.mark.parametrize(
    ("decomposed", "composed"), [(CAFE_DECOMPOSED, CAFE), ("か\u3099", "が"), ("plain", "plain"), ("한", "한")]
)
def test_text_is_composed(decomposed, composed):
    """Base letter and mark become one letter; what is composed already stays."""
    assert compose(decomposed) == composed


def test_a_decomposed_name_gets_the_composed_segment():
    """A file written by a Mac and one written elsewhere have one identity."""
    assert uri_names([CAFE_DECOMPOSED.encode(), b"a.md"]) == {CAFE_DECOMPOSED.encode(): CAFE, b"a.md": "a.md"}


def test_two_forms_of_one_name_stay_apart():
    """When both forms lie in one folder, the composed one gets its name and the other keeps its own form."""
    names = uri_names([CAFE_DECOMPOSED.encode(), CAFE.encode()])
    assert names == {CAFE.encode(): CAFE, CAFE_DECOMPOSED.encode(): CAFE_DECOMPOSED}


def test_two_decomposed_forms_keep_their_own():
    """Two spellings, neither composed: both keep theirs, whatever the order of listing."""
    one, other = "e\u0323\u0302".encode(), "e\u0302\u0323".encode()
    assert compose(one.decode()) == compose(other.decode())
    assert uri_names([one, other]) == uri_names([other, one]) == {one: one.decode(), other: other.decode()}


def test_names_that_are_not_utf8_have_no_segment():
    """Latin-1 bytes cannot be named in a uri."""
    assert uri_names([b"caf\xe9.md", b"a.md"]) == {b"a.md": "a.md"}


@pytest.mark.parametrize(
    ("typed", "windows", "wanted"),
    [
        ("Sub\\", True, "Sub/"),
        ("Sub/", True, "Sub/"),
        (".\\Sub\\\\a.md", True, "Sub/a.md"),
        ("C:\\notes\\a.md", True, "C:/notes/a.md"),
        ("odd\\name.md", False, "odd\\name.md"),
        ("./Sub//a.md", False, "Sub/a.md"),
        ("/abs/Sub/", False, "/abs/Sub/"),
        (CAFE_DECOMPOSED, False, CAFE),
        ("/", False, "/"),
        ("", False, ""),
        (".", False, ""),
    ],
)
def test_a_typed_path_gets_the_form_of_uris(typed, windows, wanted):
    """Slashes, dots and Unicode forms are made equal; a final slash keeps its meaning."""
    assert normalize_relative(typed, windows=windows) == wanted
