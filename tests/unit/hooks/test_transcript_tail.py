"""The end of a transcript, as several versions of the host wrote it, whatever is broken in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from second_brain.hooks import transcript


def user(text: Any, **more: Any) -> dict[str, Any]:
    """A record of something the person said."""
    return {"type": "user", "message": {"role": "user", "content": text}, **more}


def assistant(*blocks: dict[str, Any], usage: Any = None, **more: Any) -> dict[str, Any]:
    """A record of an answer."""
    return {"type": "assistant", "message": {"id": "m", "content": list(blocks), "usage": usage}, **more}


def tool(name: str, **given: Any) -> dict[str, Any]:
    """A tool's call."""
    return {"type": "tool_use", "id": "t", "name": name, "input": given}


def written(path: Path, *records: object, end: str = "\n") -> Path:
    """A file of these records; a text is a line as it is."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    return path


USAGE = {
    "input_tokens": 5,
    "cache_creation_input_tokens": 1000,
    "cache_read_input_tokens": 200_000,
    "output_tokens": 95,
}


def test_the_context_is_all_that_the_last_answer_was_made_from(tmp_path):
    """Cache reads and writes count; sub-agents, synthetic answers and records without usage do not."""
    path = written(
        tmp_path / "t.jsonl",
        assistant(usage={"input_tokens": 1}),
        assistant(usage=USAGE),
        assistant(usage={"input_tokens": 9_999_999}, isSidechain=True),
        {"type": "assistant", "message": {"model": "<synthetic>", "usage": {"input_tokens": 0}}},
        assistant(usage=None),
        user("go on"),
    )
    assert transcript.context_tokens(path) == 201_100


def test_after_a_compaction_the_context_is_small_again(tmp_path):
    """What the compaction says counts, until there is a new answer."""
    boundary = {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"postTokens": 12_000}}
    path = written(tmp_path / "t.jsonl", assistant(usage=USAGE), boundary, user("x"))
    assert transcript.context_tokens(path) == 12_000
    path = written(tmp_path / "t.jsonl", assistant(usage=USAGE), {**boundary, "compactMetadata": None})
    assert transcript.context_tokens(path) == 0


@pytest.mark.parametrize(
    "broken",
    ['{"type":"assistant","mess', "", "null", "[1]", '{"type":"zzz-future"}', "\x00\x00", "{" * 3000,
     '{"type":"assistant","message":null}', '{"type":"assistant","message":{"usage":{"input_tokens":"many"}}}',
     '{"type":"user","message":{"content":null}}', '{"type":"user","message":{"content":[null,1,{"type":"text"}]}}'],
)  # fmt: skip
def test_broken_and_unknown_lines_are_passed_over(tmp_path, broken):
    """The good ones around them still count."""
    path = written(tmp_path / "t.jsonl", user("first"), assistant(usage=USAGE), broken, user("second"))
    assert transcript.last_requests(path, 5) == ["first", "second"]
    assert transcript.context_tokens(path) in (201_100, 0)


def test_a_half_written_last_line_is_left_for_later(tmp_path):
    """Even one that would be whole without its end."""
    path = written(tmp_path / "t.jsonl", user("one"), json.dumps(user("two")), end="")
    assert transcript.last_requests(path, 5) == ["one"]


def test_what_the_program_put_into_the_persons_mouth_is_no_request(tmp_path):
    """Injected records, command wrappers, compaction summaries, interruptions, tool results."""
    path = written(
        tmp_path / "t.jsonl",
        user("real one"),
        user("meta", isMeta=True),
        user("summary", isCompactSummary=True),
        user("<command-name>/x</command-name>"),
        user("This session is being continued from a previous conversation"),
        user([{"type": "tool_result", "content": "out"}]),
        user([{"type": "text", "text": "real two"}, {"type": "image"}]),
        user("[Request interrupted by user]"),
    )
    assert transcript.last_requests(path, 5) == ["real one", "real two"]
    assert transcript.last_requests(path, 1) == ["real two"]


def test_touched_files_and_open_todos_are_the_last_ones(tmp_path):
    """Each file once, the last one first; of todos those that are not completed."""
    path = written(
        tmp_path / "t.jsonl",
        assistant(tool("TodoWrite", todos=[{"content": "old", "status": "pending"}])),
        assistant(tool("Write", file_path="/a"), tool("Edit", file_path="/b")),
        assistant(tool("Read", file_path="/c")),
        assistant(tool("TodoWrite", todos=[{"content": "x", "status": "completed"}, {"content": "y"}, None, {"z": 1}])),
        assistant(tool("Edit", file_path="/a"), tool("NotebookEdit", notebook_path="/n"), tool("Edit", file_path=7)),
    )
    assert transcript.touched_files(path, 9) == ["/n", "/a", "/b"]
    assert transcript.open_todos(path) == ["y"]
    assert transcript.open_todos(tmp_path / "none.jsonl") == []


def test_only_the_end_of_a_huge_file_is_read(tmp_path, monkeypatch):
    """Lines longer than a block are whole; what lies before the tail is not looked for."""
    monkeypatch.setattr(transcript, "TAIL_BYTES", 4 << 20)
    path = tmp_path / "t.jsonl"
    with path.open("w") as stream:
        stream.write(json.dumps(user("too long ago")) + "\n")
        for _ in range(30):
            stream.write(json.dumps({"type": "file-history-snapshot", "x": "y" * 200_000}) + "\n")
        stream.write(json.dumps(user("recent " + "z" * 100_000)) + "\n")
    (found,) = transcript.last_requests(path, 5)
    assert found.startswith("recent z")
