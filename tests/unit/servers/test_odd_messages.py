"""Whatever a client sends on its line, somebody answers: half characters, endless numbers, days at the end of time."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from second_brain.servers.adapter import exchange, make_server
from second_brain.servers.brains import Brains
from second_brain.servers.desk import Desk
from second_brain.servers.messages import mended, refusal
from second_brain.servers.toolsets import chosen

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def answered(notes: Any, *lines: bytes) -> list[dict[str, Any]]:
    """What a client gets that says hello and then these lines, one after the other."""
    notes.index({"pump.md": "# Pump\n\nThe heron pump failed.\n"})
    got: list[dict[str, Any]] = []
    came = anyio.Event

    async def talk() -> None:
        answer = came()

        async def write(line: bytes) -> None:
            nonlocal answer
            got.append(json.loads(line))
            answer.set()
            answer = came()

        async def said() -> AsyncIterator[bytes]:
            waiting = answer
            yield json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}).encode()
            await waiting.wait()
            yield b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
            for line in lines:
                waiting = answer
                yield line
                with anyio.fail_after(20):
                    await waiting.wait()

        desk = Desk(Brains(lambda: notes.brain))
        await exchange(make_server(chosen(["knowledge"], read_only=True), desk), said(), write)

    anyio.run(talk)
    return got[1:]


def call(arguments: bytes, *, tool: str = "search_knowledge") -> bytes:
    """A call of a tool, with these arguments as they are written."""
    head = b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"%s","arguments":'
    return head % tool.encode() + arguments + b"}}"


@pytest.mark.parametrize(
    "arguments",
    [
        b'{"query":"heron \\ud800 pump"}',
        b'{"query":"heron \\udfff\\ud83d\\udc26"}',
        b'{"query":"heron \xff\xfe"}',
        b'{"query":"heron \\u0000"}',
        b'{"query":"heron","limit":' + b"9" * 5_000 + b"}",
        b'{"query":"heron","limit":1e999}',
        b'{"query":"heron","until":"9999-12-31"}',
        b'{"query":"heron","since":"0001-01-01"}',
        b'{"query":"heron","since":"0001-01-01T00:00:00+14:00","until":"9999-12-31T23:59:59-12:00"}',
    ],
    ids=lambda arguments: arguments[:40].decode("latin-1"),
)
def test_odd_arguments_are_answered_like_others(notes: Any, arguments: bytes) -> None:
    """The pump is found."""
    (answer,) = answered(notes, call(arguments))
    assert answer["id"] == 5
    assert not answer["result"].get("isError"), answer
    assert "pump.md" in answer["result"]["content"][0]["text"]


@pytest.mark.parametrize("arguments", [b'{"until":"9999-12-31"}', b'{"since":"0001-01-01","until":"9999-12-31"}'])
def test_the_last_day_of_the_calendar_bounds_nothing(notes: Any, arguments: bytes) -> None:
    """There is none after it."""
    (answer,) = answered(notes, call(arguments, tool="list_recent_notes"))
    assert "Pump" in answer["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("line", "id", "code"),
    [
        (b"{not json", None, -32700),
        (b"[" * 100_000, None, -32700),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}', 7, -32600),
        (b'{"jsonrpc":"2.0","id":"a","method":5}', "a", -32600),
        (b"[]", None, -32600),
        (b"17", None, -32600),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_message_is_refused_and_the_next_one_answered(notes: Any, line: bytes, id: Any, code: int) -> None:
    """For its request, where that can be told."""
    refused, pong = answered(notes, line, b'{"jsonrpc":"2.0","id":9,"method":"ping"}')
    assert (refused["id"], refused["error"]["code"]) == (id, code)
    assert (pong["id"], pong["result"]) == (9, {})


def test_half_characters_become_replacements_and_whole_ones_stay() -> None:
    """Also in keys, and where two halves are one character."""
    line = b'{"a\\udc00": ["\\ud83d\\udc26", "\\ud83d", "\xe9\xb7\xba", "\xe9"]}'
    assert mended(line) == {"a\ufffd": ["🐦", "\ufffd", "鷺", "\ufffd"]}


def test_a_refusal_is_one_line() -> None:
    """Whatever it refuses."""
    assert refusal(b'{"id":"a\\nb"}').count(b"\n") == 1
