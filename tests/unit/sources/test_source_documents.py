"""Documents are listed where something can read them, in a vault as in their own folder; the others are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from second_brain.sources import documents
from second_brain.sources.documents import DOCUMENTS, TABLES, DocumentSource
from second_brain.sources.markdown import MarkdownSource
from second_brain.sources.reading import BinaryFile
from second_brain.testing.source_contract import SourceContract

FILES = ("a.md", "b.PDF", "c.html", "d.docx", "e.pptx", "f.epub", "g.csv", "h.xlsx", "i.canvas", "j.base", "k.txt")


class TestDocumentSource(SourceContract):
    def source(self, root: Path) -> DocumentSource:
        return DocumentSource("files", root)

    def write(self, root: Path, name: str, text: str) -> Path:
        path = root / f"{name}.csv"
        path.write_text(text, encoding="utf-8", newline="")
        return path


@pytest.fixture
def nothing_installed(monkeypatch):
    """As without the extra."""
    documents._readable.cache_clear()
    monkeypatch.setattr(documents, "find_spec", lambda package: None)
    yield
    documents._readable.cache_clear()


def relatives(source: MarkdownSource | DocumentSource) -> list[str]:
    return [item.relative for item in source.scan().items]


def test_a_vault_lists_its_documents_but_no_tables(tmp_path, grow):
    """Tables in a vault are data more often than text."""
    grow(tmp_path, *FILES)
    assert relatives(MarkdownSource("n", tmp_path)) == [
        name for name in FILES if name[-3:] not in ("csv", "lsx", "txt")
    ]


def test_a_folder_of_documents_lists_tables_and_notes_too(tmp_path, grow):
    """Each with the media type of its suffix, in any letter case."""
    grow(tmp_path, *FILES)
    types = {item.relative: item.media_type for item in DocumentSource("n", tmp_path).scan().items}
    assert list(types) == [name for name in FILES if name != "k.txt"]
    assert types["b.PDF"] == DOCUMENTS[".pdf"]
    assert types["g.csv"] == TABLES[".csv"]
    assert types["a.md"] == "text/markdown"


@pytest.mark.usefixtures("nothing_installed")
@pytest.mark.parametrize("kind", [MarkdownSource, DocumentSource])
def test_without_the_extra_documents_are_counted_with_what_to_type(tmp_path, grow, kind):
    """By format, as skipped and not as failed; what an index holds of them is kept."""
    grow(tmp_path, "a.md", "b.pdf", "x/c.pdf", "d.docx", "i.canvas", "e.pptx")
    scan = kind("n", tmp_path).scan()
    assert [item.relative for item in scan.items] == ["a.md", "e.pptx", "i.canvas"]
    assert scan.skipped == {
        "PDF wait for: pip install 'second-brain[documents]'": 2,
        "DOCX wait for: pip install 'second-brain[documents]'": 1,
    }
    assert scan.failures == ()
    assert scan.unlisted == ("n/b.pdf", "n/d.docx", "n/x/c.pdf")


def test_binary_formats_are_read_as_they_are_and_text_formats_are_text(tmp_path):
    """A PDF may hold any bytes, a web page may not."""
    for name in ("a.pdf", "b.html"):
        (tmp_path / name).write_bytes(bytes(range(256)) * 40)
    source = DocumentSource("n", tmp_path)
    pdf, html = source.scan().items
    assert len(source.read(pdf).data) == 256 * 40
    with pytest.raises(BinaryFile):
        source.read(html)
