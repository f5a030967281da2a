from __future__ import annotations

import json
import zipfile

import pytest
from session_records import said_in

from second_brain.errors import ParseError, SourceError
from second_brain.parsing.transcript import TranscriptParser
from second_brain.sources.exports import ChatGptExport, ClaudeExport
from second_brain.transcripts import decode


def node(key, parent, role, text, *, kind="text", recipient="all", **metadata):
    content = {"content_type": kind, "parts": text if isinstance(text, list) else [text]}
    message = {"id": f"m-{key}", "author": {"role": role}, "content": content, "recipient": recipient}
    return {
        "id": key,
        "parent": parent,
        "children": [],
        "message": {**message, "create_time": 1.9e9, "metadata": metadata},
    }


def chat(key="c1", *nodes, current="", **more):
    mapping = {"root": {"id": "root", "message": None, "parent": None}, **{each["id"]: each for each in nodes}}
    return {"id": key, "title": "Pump", "create_time": 1.9e9, "mapping": mapping, "current_node": current, **more}


def claude_chat(key="c1", **more):
    messages = [
        {"uuid": "m1", "sender": "human", "created_at": "2031-05-01T09:00:00Z", "text": "old form",
         "content": [{"type": "text", "text": "Why?"}],
         "attachments": [{"file_name": "log.txt", "extracted_content": "x"}]},
        {"uuid": "m2", "sender": "assistant", "created_at": "2031-05-01T09:01:00Z", "text": "Because.",
         "content": [{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "name": "x"}]},
    ]  # fmt: skip
    return {"uuid": key, "name": "Leak", "created_at": "2031-05-01T09:00:00Z", "chat_messages": messages, **more}


SIMPLE = chat("c1", node("a", "root", "user", "Why?"), node("b", "a", "assistant", "Because."), current="b")


@pytest.fixture
def documents_of(tmp_path):
    """The documents of an export that is one file with these conversations."""

    def read(conversations, source=ChatGptExport):
        (tmp_path / "conversations.json").write_text(json.dumps(conversations))
        made = source("chat", tmp_path)
        (item,) = made.scan().items
        return list(TranscriptParser().parse(made.read(item)))

    return read


def test_a_document_for_each_conversation(documents_of):
    """Named by the file and the conversation, which also answers to its own id."""
    first, second = documents_of([SIMPLE, {**SIMPLE, "id": "c2", "title": None}, SIMPLE])
    assert (first.uri, first.title, first.aliases) == ("chat/conversations.json#c1", "Pump", ("c1",))
    assert (second.uri, second.title) == ("chat/conversations.json#c2", "Why?")
    assert first.kind == first.type == "session"
    assert first.metadata["agent"] == "chatgpt"
    assert first.date.year == 2030
    assert "**User:** Why?\n\n**Assistant:** Because." in first.text


def test_the_branch_that_was_shown_last(documents_of):
    """Other answers are left out; where the way to the root is cut or a circle, all messages by time."""
    nodes = (
        node("a", "root", "user", "Why?"),
        node("b1", "a", "assistant", "First try."),
        node("b2", "a", "assistant", "Second try."),
    )
    (shown,) = documents_of([chat("c1", *nodes, current="b2")])
    assert "Second try." in shown.text
    assert "First try." not in shown.text
    circle = node("a", "b2", "user", "Why?")
    for current, first in (("gone", nodes[0]), ("b2", circle)):
        (whole,) = documents_of([chat("c1", first, *nodes[1:], current=current)])
        assert "First try." in whole.text
        assert "Second try." in whole.text


def test_only_what_both_sides_said(documents_of):
    """No hidden, system and tool messages, nothing said to a tool, no thoughts; pictures are named."""
    nodes = [
        node("a", "root", "system", "rules"),
        node("b", "a", "user", "about me", is_user_system_message=True),
        node("c", "b", "user", ["See this", {"asset_pointer": "file://x"}], kind="multimodal_text"),
        node("d", "c", "assistant", "search(x)", recipient="browser"),
        node("e", "d", "tool", "result"),
        node("f", "e", "assistant", "hm", kind="thoughts"),
        node("g", "f", "assistant", "It is \ue200cite\ue202turn0\ue201a valve."),
        node("h", "g", "assistant", "hidden", is_visually_hidden_from_conversation=True),
    ]
    (document,) = documents_of([chat("c1", *nodes, current="h")])
    said = document.text.split("\n\n", 1)[1].strip()
    assert said == "**User:** See this\n\n[picture]\n\n**Assistant:** It is a valve."


def test_what_shall_not_be_remembered_is_not(documents_of):
    """Nor is a conversation without words a document."""
    assert documents_of([{**SIMPLE, "is_do_not_remember": True}, chat("c2"), {"id": "x", "mapping": None}]) == []


def test_an_export_of_claude(documents_of):
    """Its blocks of text, else its text; attachments by name. Told by its shape, whatever kind the source is."""
    for source in (ClaudeExport, ChatGptExport):
        (document,) = documents_of([claude_chat(), claude_chat("c2", chat_messages=[])], source)
        assert document.title == "Leak"
        assert document.text.split("\n\n", 1)[1].strip() == "**User:** Why?\n\n[log.txt]\n\n**Assistant:** Because."


def test_parts_and_zips_in_a_folder(tmp_path):
    """Each part is an item; of a zip all parts are read; other files of the export are not listed."""
    (tmp_path / "conversations-000.json").write_text(json.dumps([SIMPLE]))
    for name in ("user.json", "chat.html", "export_manifest.json"):
        (tmp_path / name).write_text("{}")
    with zipfile.ZipFile(tmp_path / "data-2031.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("export/conversations-000.json", json.dumps([claude_chat()]))
        archive.writestr("export/conversations-001.json", json.dumps([claude_chat("c2")]))
        archive.writestr("export/users.json", "[]")
    source = ClaudeExport("chat", tmp_path)
    assert source.exhaustive
    items = source.scan().items
    assert [item.relative for item in items] == ["conversations-000.json", "data-2031.zip"]
    assert len(said_in(decode(source.read(items[1]).data))) == 4


def test_an_export_that_is_one_file(tmp_path):
    """The source may be the file or the zip itself; when it is gone, that is told."""
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("conversations.json", json.dumps({"conversations": [SIMPLE]}))
    source = ChatGptExport("chat", path)
    (item,) = source.scan().items
    assert (item.uri, item.path) == ("chat/export.zip", str(path))
    assert said_in(decode(source.read(item).data)) == [("user", "Why?"), ("assistant", "Because.")]
    path.unlink()
    with pytest.raises(SourceError):
        source.scan()
    with pytest.raises(SourceError):
        ChatGptExport("chat", path).scan()


@pytest.mark.parametrize("damage", ["other", "cut", "flipped", "text", "binary"])
def test_what_is_no_export_is_refused(tmp_path, damage):
    """A zip of something else, a damaged one, and what is no JSON are errors that say so."""
    path = tmp_path / ("conversations.json" if damage in ("text", "binary") else "x.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("photo.jpg" if damage == "other" else "conversations.json", json.dumps([SIMPLE] * 500))
    data = path.read_bytes()
    if damage == "cut":
        path.write_bytes(data[:-100])
    elif damage == "flipped":
        path.write_bytes(data[:100] + bytes(reversed(data[100:160])) + data[160:])
    elif damage == "text":
        path.write_bytes(b'[{"broken')
    elif damage == "binary":
        path.write_bytes(bytes(range(256)) * 20)
    source = ChatGptExport("chat", tmp_path)
    (item,) = source.scan().items
    with pytest.raises(ParseError):
        source.read(item)
