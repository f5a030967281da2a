"""The sources, the parser and the chunker of sessions keep to the contracts; a blob of theirs is a transcript."""

from __future__ import annotations

import json
from pathlib import Path

from second_brain.chunking.turns import TurnChunker
from second_brain.parsing.transcript import TranscriptParser
from second_brain.protocols import Source
from second_brain.sources.archive import Archived
from second_brain.sources.claude_sessions import ClaudeSessions
from second_brain.sources.codex_sessions import CodexSessions
from second_brain.sources.exports import ChatGptExport, ClaudeExport
from second_brain.sources.gemini_sessions import GeminiSessions
from second_brain.testing.chunker_contract import ChunkerContract
from second_brain.testing.parser_contract import ParserContract, make_blob
from second_brain.testing.source_contract import SourceContract
from second_brain.transcripts import Entry, Fact, Head, Transcript, decode, encode
from second_brain.types import Document

TIME = "2031-05-01T09:00:00Z"


class _Sessions(SourceContract):
    def test_an_item_reads_as_the_bytes_of_its_file(self, tmp_path: Path) -> None:
        """A blob holds the item as listed, and what was said in its file."""
        self.write(tmp_path, "one", "ポンプ\r\nand a tail")
        source = self.source(tmp_path)
        (item,) = source.scan().items
        blob = source.read(item)
        assert blob.item is item
        said = [line.text for line in decode(blob.data).lines if isinstance(line, Entry)]
        assert said == ["ポンプ\nand a tail"]


class TestClaudeSessions(_Sessions):
    def source(self, root: Path) -> Source:
        return ClaudeSessions("agent", root)

    def write(self, root: Path, name: str, text: str) -> Path:
        record = {"type": "user", "timestamp": TIME, "message": {"role": "user", "content": text}}
        return _written(root / f"{name}.jsonl", record)


class TestArchivedSessions(TestClaudeSessions):
    def source(self, root: Path) -> Source:
        return Archived(ClaudeSessions("agent", root), root / ".archive", 1_000_000)


class TestGeminiSessions(_Sessions):
    def source(self, root: Path) -> Source:
        return GeminiSessions("agent", root)

    def write(self, root: Path, name: str, text: str) -> Path:
        return _written(root / f"{name}.jsonl", {"id": "1", "timestamp": TIME, "type": "user", "content": text})


def _written(path: Path, record: object) -> Path:
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return path


def _transcript(*lines: Entry | Fact) -> bytes:
    return encode(Transcript(Head("claude-code", "s1"), lines))


SAMPLES = [
    _transcript(Entry("user", "Why?", TIME), Entry("assistant", "# Because\n\n## 1 · not a heading", TIME, "m1")),
    _transcript(
        Fact("cwd", "/home/mina/pump"),
        Entry("assistant", "前書き", TIME),
        Entry("user", "排水ポンプを交換した。" * 300),
        Entry("command", "make\nmake test"),
        Entry("edit", "a.py"),
        Entry("error", "no rule"),
        Entry("answer", "Yes", session="s2"),
        Entry("user", "word " * 900, subagent="ab"),
        Entry("user", "x" * 5_000, "not a time"),
    ),
]


class TestTranscriptParser(ParserContract):
    def parser(self) -> TranscriptParser:
        return TranscriptParser()

    def samples(self) -> list[bytes]:
        return SAMPLES


class TestTurnChunker(ChunkerContract):
    def chunker(self) -> TurnChunker:
        return TurnChunker()

    def documents(self) -> list[Document]:
        parser = TranscriptParser()
        made = [document for sample in SAMPLES for document in parser.parse(make_blob(sample))]
        item = made[0]
        return [*made, Document(item.uri, item.source, "session", "session", "Empty", "", item.modified)]


def test_the_others_are_sources(tmp_path):
    """Their files have names of their own, which the suite for folders does not know."""
    for source in (CodexSessions("agent", tmp_path), ChatGptExport("chat", tmp_path), ClaudeExport("chat", tmp_path)):
        assert isinstance(source, Source)
