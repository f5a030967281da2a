"""Every source that comes with second-brain keeps to the contract of sources."""

from pathlib import Path

from second_brain.protocols import Source
from second_brain.sources.markdown import MarkdownSource
from second_brain.testing.source_contract import SourceContract


class TestMarkdownSource(SourceContract):
    def source(self, root: Path) -> Source:
        return MarkdownSource("notes", root)

    def write(self, root: Path, name: str, text: str) -> Path:
        path = root / f"{name}.md"
        path.write_text(text, encoding="utf-8", newline="")
        return path


def test_the_markdown_source_is_found_by_name():
    """The entry point 'markdown' leads to the class under test, as for anybody's source."""
    from importlib.metadata import entry_points

    (point,) = entry_points(group="second_brain.sources", name="markdown")
    assert point.load() is MarkdownSource
