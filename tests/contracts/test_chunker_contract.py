from __future__ import annotations

from second_brain.chunking.markdown import MarkdownChunker
from second_brain.parsing.markdown import MarkdownParser
from second_brain.testing.chunker_contract import ChunkerContract
from second_brain.testing.parser_contract import make_blob
from second_brain.types import Document

TEXTS = (
    "",
    "---\ntitle: Only properties\ndate: 2031-04-05\n---\n",
    "One line.",
    "# Title\n\n## Empty\n\n## Full\n\ntext\n\n# Title\n\n## Full\n\ntext\n",
    "Pumps need care. " * 400,
    "排水ポンプを月曜に交換した。" * 200,
    "- item\n" * 900 + "\n```sh\n" + "make pump\n" * 500 + "```\n",
)


class TestMarkdownChunker(ChunkerContract):
    def chunker(self) -> MarkdownChunker:
        return MarkdownChunker()

    def documents(self) -> list[Document]:
        parser = MarkdownParser()
        return [document for text in TEXTS for document in parser.parse(make_blob(text))]
