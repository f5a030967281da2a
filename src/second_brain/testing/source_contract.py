"""What every source keeps to, as tests to inherit.

    class TestMyNotes(SourceContract):
        def source(self, root: Path) -> Source:
            return MyNotes("mine", root)

        def write(self, root: Path, name: str, text: str) -> Path:
            path = root / f"{name}.note"
            path.write_text(text, encoding="utf-8")
            return path

pytest collects the subclass; each test gets a folder of its own.
"""

from __future__ import annotations

import os
import unicodedata
from abc import ABC, abstractmethod
from datetime import timedelta
from pathlib import Path

from ..errors import ParseError, SourceError
from ..protocols import Source
from ..types import Item


class SourceContract(ABC):
    """The suite for sources of one folder whose items are files."""

    @abstractmethod
    def source(self, root: Path) -> Source:
        """The source under test, over ``root``."""

    @abstractmethod
    def write(self, root: Path, name: str, text: str) -> Path:
        """Write one file that the source lists as one item, over any of the same name; its path."""

    def test_a_source_says_what_it_is(self, tmp_path: Path) -> None:
        """A source has a name, a kind, and says whether what it does not list was deleted."""
        source = self.source(tmp_path)
        assert isinstance(source, Source)
        assert source.name
        assert source.kind
        assert isinstance(source.exhaustive, bool)

    def test_an_empty_folder_lists_nothing(self, tmp_path: Path) -> None:
        """An empty root is no error: the caller decides what that means."""
        scan = self.source(tmp_path).scan()
        assert (scan.items, scan.failures, scan.unlisted) == ((), (), ())

    def test_every_written_file_is_listed_once_in_order_of_uri(self, tmp_path: Path) -> None:
        """Uris begin with the source's name, are composed, sorted and unique; paths are absolute and exist."""
        names = ["b", "a", "会議", "か\u3099ス", "with space"]
        paths = {os.path.abspath(self.write(tmp_path, name, f"text of {name}")) for name in names}  # noqa: PTH100
        source = self.source(tmp_path)
        items = source.scan().items
        uris = [item.uri for item in items]
        assert {item.path for item in items} == paths
        assert len(set(uris)) == len(names)
        assert uris == sorted(uris)
        for item in items:
            assert item.source == source.name
            assert item.uri == f"{source.name}/{item.relative}"
            assert item.uri == unicodedata.normalize("NFC", item.uri)
            assert all(item.relative.split("/"))
            assert item.media_type
            assert item.fingerprint
            assert item.modified.utcoffset() == timedelta(0)

    def test_two_scans_agree(self, tmp_path: Path) -> None:
        """Nothing changed, so nothing differs."""
        for name in ("one", "two", "three"):
            self.write(tmp_path, name, f"text of {name}")
        source = self.source(tmp_path)
        assert source.scan() == source.scan()
        assert source.scan() == self.source(tmp_path).scan()

    def test_an_item_reads_as_the_bytes_of_its_file(self, tmp_path: Path) -> None:
        """A blob holds the item as listed and the bytes on disk, not interpreted."""
        path = self.write(tmp_path, "one", "ポンプ\r\nand a tail")
        source = self.source(tmp_path)
        (item,) = source.scan().items
        blob = source.read(item)
        assert blob.item is item
        assert blob.data == path.read_bytes()

    def test_a_change_changes_the_fingerprint_of_that_item_only(self, tmp_path: Path) -> None:
        """Other text gives another fingerprint; the neighbours keep theirs."""
        self.write(tmp_path, "one", "first")
        self.write(tmp_path, "two", "second")
        source = self.source(tmp_path)
        before = _fingerprints(source)
        path = self.write(tmp_path, "one", "first, and more")
        (changed,) = (item for item in source.scan().items if Path(item.path) == path)
        after = _fingerprints(source)
        assert {uri for uri in after if after[uri] != before[uri]} == {changed.uri}

    def test_a_new_and_a_deleted_file_appear_and_disappear(self, tmp_path: Path) -> None:
        """The listing follows the folder."""
        first = self.write(tmp_path, "one", "first")
        source = self.source(tmp_path)
        self.write(tmp_path, "two", "second")
        assert len(source.scan().items) == 2
        first.unlink()
        assert [Path(item.path).stem for item in source.scan().items] == ["two"]

    def test_reading_what_vanished_says_so(self, tmp_path: Path) -> None:
        """A file deleted after the scan raises FileNotFoundError, so that the caller can take it as deleted."""
        path = self.write(tmp_path, "one", "text")
        source = self.source(tmp_path)
        (item,) = source.scan().items
        path.unlink()
        assert _outcome(source, item) is FileNotFoundError

    def test_binary_bytes_are_refused(self, tmp_path: Path) -> None:
        """A file that holds no text raises ParseError when it is read; the others still read."""
        path = self.write(tmp_path, "one", "text")
        self.write(tmp_path, "two", "text")
        path.write_bytes(bytes(range(256)) * 40)
        source = self.source(tmp_path)
        outcomes = {Path(item.path).stem: _outcome(source, item) for item in source.scan().items}
        assert issubclass(outcomes["one"], ParseError)
        assert outcomes["two"] is bytes

    def test_nothing_outside_the_root_is_listed_or_read(self, tmp_path: Path) -> None:
        """Links to files and folders elsewhere are no items, nor is a file whose folder became a link."""
        root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
        root.mkdir()
        elsewhere.mkdir()
        secret = self.write(elsewhere, "secret", "not for the index")
        inside = self.write(root, "one", "text")
        (root / secret.name).symlink_to(secret)
        (root / "linked").symlink_to(elsewhere, target_is_directory=True)
        source = self.source(root)
        (item,) = source.scan().items
        assert item.path == str(inside)
        inside.unlink()
        inside.symlink_to(secret)
        assert _outcome(source, item) is FileNotFoundError

    def test_a_missing_root_is_a_source_error_with_a_hint(self, tmp_path: Path) -> None:
        """A root that is not there raises SourceError: nothing was deleted, nothing can be compared."""
        source = self.source(tmp_path / "gone")
        failure = None
        try:
            source.scan()
        except SourceError as error:
            failure = error
        assert failure is not None
        assert "gone" in str(failure)
        assert failure.hint


def _fingerprints(source: Source) -> dict[str, str]:
    return {item.uri: item.fingerprint for item in source.scan().items}


def _outcome(source: Source, item: Item) -> type:
    """What reading the item yields: bytes, or the type of the error that a source may raise."""
    try:
        return type(source.read(item).data)
    except (OSError, ParseError) as error:
        return type(error)
