"""Golden questions out of the logs of an agent."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from second_brain.evals.golden import load_golden
from second_brain.evals.mining import Asked, append, conversations, logs, propose

SESSION = "11111111-2222-4333-8444-555555555555"
NOTES = {
    "garden/compost.md": "# Compost\n\nTurn the heap every second week.\n",
    "home/boiler.md": "# Boiler\n\nError E119 means that the pressure is low.\n",
    "料理/味噌汁.md": "# 味噌汁\n\n味噌は火を止めてから溶く。\n",
}


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": content}, **more}


def calls(name: str, given: Any, id: str = "", **more: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": id or f"toolu_{json.dumps(given)}", "name": name, "input": given}
    message = {"role": "assistant", "id": "msg_1", "content": [block]}
    return {"type": "assistant", "sessionId": SESSION, "message": message, **more}


def asked(*records: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return [(found.text, list(found.read.values())) for found in conversations(records)]


# -- what was asked, and what was read for it ----------------------------------------------------------------


def test_question_has_what_was_read_before_the_next() -> None:
    """In order of reading; a question for which nothing was read is none."""
    assert asked(
        user("how often is the heap turned?", timestamp="2031-05-02T09:00:00.000Z"),
        calls("Grep", {"pattern": "heap"}),
        calls("Read", {"file_path": "/n/garden/roses.md"}),
        calls("Read", {"file_path": "/n/garden/compost.md", "limit": 40}),
        user("thanks"),
        user("and the boiler?"),
        calls("mcp__second-brain__read_note", {"uri": "notes/home/boiler.md"}),
        calls("mcp__other__get_note", {"name": "Boiler"}),
    ) == [
        ("how often is the heap turned?", ["/n/garden/roses.md", "/n/garden/compost.md"]),
        ("and the boiler?", ["notes/home/boiler.md", "Boiler"]),
    ]


def test_answers_of_tools_are_no_questions() -> None:
    """They come as records of the user; a read that failed was none."""
    answered = [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "what a note says"}]}]
    failed = [{"type": "tool_result", "tool_use_id": "t2", "is_error": True, "content": "File does not exist."}]
    assert asked(
        user("how often is the heap turned?"),
        calls("Read", {"file_path": "/n/a.md"}, "t1"),
        user(answered, toolUseResult={"file": {}}),
        calls("Read", {"file_path": "/n/gone.md"}, "t2"),
        user(failed),
    ) == [("how often is the heap turned?", ["/n/a.md"])]


@pytest.mark.parametrize(
    "record",
    [
        user("Caveat: nothing of this was typed", isMeta=True),
        user("All that was said before", isCompactSummary=True),
        user("This session is being continued from a previous conversation that ran out of context."),
        user("[Request interrupted by user for tool use]"),
        user("<local-command-stdout>On branch main</local-command-stdout>"),
        user("<command-name>/clear</command-name>\n<command-message>clear</command-message>"),
        user("<system-reminder>\nThe file changed.\n</system-reminder>"),
        user([{"type": "text", "text": "<ide_opened_file>a.md</ide_opened_file>"}]),
        user([{"type": "image", "source": {"type": "base64", "data": "AAAA"}}]),
        user("find the answer in the notes", isSidechain=True),
        user(None),
        user([None, 3, {"type": "text", "text": None}]),
        {"type": "user", "sessionId": SESSION, "message": "nothing as expected"},
        {"type": "summary", "summary": "All about pumps", "leafUuid": "x"},
        {"type": "of-tomorrow", "sessionId": SESSION, "message": {"role": "user", "content": "who?"}},
    ],
)  # fmt: skip
def test_what_the_user_did_not_type_is_no_question(record: dict[str, Any]) -> None:
    """Injected text, output, markup, pictures, other types: none of it opens a question or closes one."""
    assert asked(
        user("how often is the heap turned?"), record, calls("Read", {"file_path": "/n/a.md"})
    ) == [("how often is the heap turned?", ["/n/a.md"])]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<system-reminder>x</system-reminder>\n\nwhy did the pump fail?", "why did the pump fail?"),
        (["why did", {"type": "text", "text": "the pump fail?"}], "why did\nthe pump fail?"),
        ("[Image #1] what is this valve?", "what is this valve?"),
        ("<command-message>ask</command-message><command-name>/ask</command-name>"
         "<command-args>why did the pump fail?</command-args>", "why did the pump fail?"),
        ("why is <b>bold</b> not <i>italic</i>?", "why is <b>bold</b> not <i>italic</i>?"),
    ],
)  # fmt: skip
def test_question_is_what_was_typed(content: Any, text: str) -> None:
    """Behind what something else put before it, in parts, or as the argument of a command."""
    assert asked(user(content), calls("Read", {"file_path": "/n/a.md"})) == [(text, ["/n/a.md"])]


def test_what_was_copied_or_belongs_to_another_session_is_told_apart() -> None:
    """A record with a known uuid is a copy; a foreign sessionId in the file is another conversation."""
    other = {"sessionId": "other"}
    assert asked(
        user("about the heap?", uuid="u1"),
        {**user("about the boiler?", uuid="u2"), **other},
        calls("Read", {"file_path": "/n/heap.md"}, uuid="u3"),
        {**calls("Read", {"file_path": "/n/boiler.md"}, uuid="u4"), **other},
        user("about the heap?", uuid="u1"),
        calls("Read", {"file_path": "/n/heap.md"}, uuid="u3"),
    ) == [("about the heap?", ["/n/heap.md"]), ("about the boiler?", ["/n/boiler.md"])]


def test_calls_of_unknown_form_are_passed_over() -> None:
    """No input, no name, an empty path, a sub-agent's call."""
    records = [
        user("how often is the heap turned?"),
        calls("Read", None),
        calls("Read", {"file_path": "  "}),
        calls("Read", {"file_path": 7}),
        calls("ReadMcpResource", {"uri": "x"}),
        calls("Read", {"file_path": "/n/b.md"}, isSidechain=True),
        {"type": "assistant", "sessionId": SESSION, "message": {"content": "text"}},
        {"type": "assistant", "sessionId": SESSION, "message": {"content": [{"type": "tool_use", "name": None}]}},
    ]
    assert asked(*records) == []
    assert asked(*records, calls("Read", {"file_path": "/n/a.md"})) == [("how often is the heap turned?", ["/n/a.md"])]


def test_time_and_session_are_kept() -> None:
    """So that the user knows when it was."""
    (found,) = conversations(
        [user("about the heap?", timestamp="2031-05-02T09:00:00Z"), calls("Read", {"path": "a"}, "t")]
    )
    assert found == Asked("about the heap?", SESSION, "2031-05-02T09:00:00Z", {"t": "a"})


# -- proposals -----------------------------------------------------------------------------------------------


def write_log(file: Path, records: Iterable[dict[str, Any]], tail: bytes = b"") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)
    file.write_bytes(b"".join(lines) + tail)
    return file


def test_notes_of_the_index_become_labels(notes: Any, tmp_path: Path) -> None:
    """The last one read answers, those before help; what lies in no source is left out."""
    notes.index(NOTES)
    log = write_log(
        tmp_path / "logs" / "p" / f"{SESSION}.jsonl",
        [
            user("How often should the heap be turned?", timestamp="2031-05-02T09:00:00Z"),
            calls("Read", {"file_path": str(notes.root / "home" / "boiler.md")}),
            calls("Read", {"file_path": str(notes.root / "garden" / "compost.md")}),
            calls("Read", {"file_path": "/nowhere/else.md"}),
            user("味噌はいつ溶く？"),
            calls("mcp__second-brain__read_note", {"uri": "notes/料理/味噌汁.md"}),
            user("what does /etc/hosts say?"),
            calls("Read", {"file_path": "/etc/hosts"}),
        ],
    )
    first, second = propose(notes.brain, [log])
    assert (first.query, first.lang, first.time) == (
        "How often should the heap be turned?",
        "en",
        "2031-05-02T09:00:00Z",
    )
    assert list(first.relevant.items()) == [("notes/garden/compost.md", 2), ("notes/home/boiler.md", 1)]
    assert (second.query, second.lang, dict(second.relevant)) == ("味噌はいつ溶く？", "ja", {"notes/料理/味噌汁.md": 2})


def test_what_makes_no_good_question_is_not_proposed(notes: Any, tmp_path: Path) -> None:
    """Too short, too long, naming the file itself, or the same again."""
    notes.index(NOTES)
    read = calls("Read", {"file_path": str(notes.root / "garden" / "compost.md")})
    texts = ["go on", "x " * 200, "1. 2. 3. 4. 5.", "what does garden/compost.md say?", "see Compost.md please"]
    good = "How often is the heap turned?"
    records = [part for text in (*texts, good, f"  {good.upper()} ") for part in (user(text), read)]
    assert [found.query for found in propose(notes.brain, [write_log(tmp_path / "a.jsonl", records)])] == [good]


def test_broken_logs_are_read_as_far_as_they_go(notes: Any, tmp_path: Path) -> None:
    """Lines that are cut, glued or not UTF-8, NULs, a half last line, a file that is gone: the rest is proposed."""
    notes.index(NOTES)
    good = [user("How often is the heap turned?"), calls("Read", {"file_path": str(notes.root / "garden/compost.md")})]
    glued = "".join(json.dumps(record) for record in good)
    noise = '{"type": "user", "message": {"con\n\x00\x00\x00\nnot json\n[1, 2]\n"text"\n\n'
    log = tmp_path / "broken.jsonl"
    log.write_bytes(b"\xff\xfe\n" + f"{noise}{glued}\n".encode() + b'{"type": "assistant", "mess')
    (found,) = propose(notes.brain, [tmp_path / "gone.jsonl", log])
    assert found.query == "How often is the heap turned?"


def test_confirmed_questions_are_a_golden_set(notes: Any, tmp_path: Path) -> None:
    """Added at the end of the file, whatever its last line lacks; they are not proposed again."""
    notes.index(NOTES)
    log = write_log(
        tmp_path / "a.jsonl",
        [
            user("Why is it that the E119 is shown to me?"),
            calls("Read", {"file_path": str(notes.root / "home/boiler.md")}),
        ],
    )
    golden = tmp_path / "mine" / "golden.jsonl"
    (found,) = propose(notes.brain, [log], known=[golden])
    append(golden, found)
    golden.write_bytes(golden.read_bytes().rstrip(b"\n"))
    append(golden, type(found)("mined-2", "another one?", "", {"notes/home/boiler.md": 2}, ""))
    first, second = load_golden(golden)
    assert (first.text, first.relevant, first.groups) == (
        "Why is it that the E119 is shown to me?",
        {"notes/home/boiler.md": 2},
        ("mined", "en"),
    )
    assert second.groups == ("mined",)
    assert list(propose(notes.brain, [log], known=[golden])) == []


def test_logs_of_sub_agents_are_left_out(tmp_path: Path) -> None:
    """Files and folders may be named; each log comes once."""
    for name in ("p/a.jsonl", "p/a/subagents/agent-1.jsonl", "p/agent-2.jsonl", "p/note.md", "q/b.jsonl"):
        write_log(tmp_path / name, [])
    assert logs([tmp_path, tmp_path / "p" / "a.jsonl"]) == [tmp_path / "p" / "a.jsonl", tmp_path / "q" / "b.jsonl"]
    assert logs([tmp_path / "none"]) == []
