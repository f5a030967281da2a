"""JSON values from files that were never finished, were written by several programs at once, or are very large.

Logs are read line by line in binary, so that no character of a text counts as the end of a line. Most lines are
decoded at once. A line that is not JSON is searched for the objects that it holds: two records glued together, one
that was cut off where the next begins, runs of NUL bytes from a crash, raw control characters, bytes that are not
UTF-8. What is left is counted, never raised. A last line without an end is still being written.

Source of what goes wrong: an audit of 10,949 logs in anthropics/claude-code#81843.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

import msgspec

from ..types import Json

MAX_BYTES = 64 << 20
"""A line or element with more is skipped: pictures take a few megabytes, whole files some more."""

_ATTEMPTS = 1_000
"""Places of a broken line at which a record is looked for."""

_RECORD = re.compile(
    r'\{\s*"(?:type|parentUuid|isSidechain|uuid|sessionId|timestamp|leafUuid|messageId|operation|id|\$set|\$rewindTo)"'
)
"""How records of the logs that we know begin."""

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?P<end>"?)|[\[{]|[\]}]', re.DOTALL)
_LENIENT = json.JSONDecoder(strict=False)
_BLOCK = 1 << 20


@dataclass(slots=True)
class Losses:
    """What could not be read: lines (or elements) of which something is ``broken``, and those that are too ``long``."""

    broken: int = 0
    long: int = 0

    def warnings(self) -> tuple[str, ...]:
        """One sentence that counts them, or none."""
        parts = [f"{self.broken} broken"] if self.broken else []
        parts += [f"{self.long} of more than {MAX_BYTES >> 20} MB"] if self.long else []
        return (f"records that could not be read: {', '.join(parts)}",) if parts else ()


def records(stream: IO[bytes], losses: Losses, max_bytes: int = MAX_BYTES) -> Iterator[dict[str, Json]]:
    """Yield the objects of JSON Lines, in order. Memory: a few times the longest line."""
    for line in _lines(stream, losses, max_bytes):
        found = loads(line)
        if isinstance(found, dict):
            yield found
        elif line.endswith(b"\n") and line.strip(b"\0 \t\r\n"):
            yield from _recovered(line, losses)


def elements(stream: IO[bytes], losses: Losses, max_bytes: int = MAX_BYTES) -> Iterator[dict[str, Json]]:
    """Yield the objects of one JSON array, or the one object that is there instead; a cut file as far as it goes.

    Memory: a few times the largest element, however large the file.
    """
    for data in _cut(stream, losses, max_bytes):
        found = loads(data)
        if isinstance(found, dict):
            yield found
        else:
            yield from _recovered(data, losses)


def loads(data: bytes) -> Json:
    """The value, or None when the bytes are not sound JSON."""
    try:
        value: Json = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return value


def _lines(stream: IO[bytes], losses: Losses, max_bytes: int) -> Iterator[bytes]:
    while line := stream.readline(max_bytes + 1):
        if len(line) <= max_bytes:
            yield line
            continue
        losses.long += 1
        while not line.endswith(b"\n") and (line := stream.readline(_BLOCK)):
            pass


def _recovered(line: bytes, losses: Losses) -> Iterator[dict[str, Json]]:
    """The objects that can be found in a line which is not JSON."""
    text = line.decode("utf-8", "replace").replace("\0", "").strip()
    position, lost = 0, False
    for _ in range(_ATTEMPTS):
        try:
            value, position = _LENIENT.raw_decode(text, position)
        except (ValueError, RecursionError):
            lost = True
            following = _RECORD.search(text, position + 1)
            if following is None:
                break
            position = following.start()
            continue
        if isinstance(value, dict):
            yield _sound(value)
        else:
            lost = True
        while position < len(text) and text[position].isspace():
            position += 1
        if position == len(text):
            break
    losses.broken += lost


def _sound(value: dict[str, Json]) -> dict[str, Json]:
    """The same with U+FFFD in place of halves of characters, which Python takes and no database does."""
    return {_whole(key): _sound_value(inner) for key, inner in value.items()}


def _sound_value(value: Json) -> Json:
    if isinstance(value, str):
        return _whole(value)
    if isinstance(value, list):
        return [_sound_value(inner) for inner in value]
    return _sound(value) if isinstance(value, dict) else value


def _whole(text: str) -> str:
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _cut(stream: IO[bytes], losses: Losses, max_bytes: int) -> Iterator[bytes]:
    """The bytes of each element of an array: brackets are counted, texts are passed over."""
    held, at, start, depth, base, blank = b"", 0, -1, 0, -1, True
    while block := stream.read(_BLOCK):
        held += block
        blank = blank and not block.strip()
        while token := _TOKEN.search(held, at):
            if held[token.start()] == 0x22:
                if not token["end"]:
                    break  # the text goes on in the next block
            elif held[token.start()] in b"[{":
                if base < 0:
                    base = 1 if held[token.start()] == 0x5B else 0
                if depth == base:
                    start = token.start()
                depth += 1
            else:
                depth -= 1
                if depth == base and start >= 0:
                    yield held[start : token.end()]
                    start = -1
                elif depth < base:
                    return
            at = token.end()
        else:
            at = len(held)
        kept = at if start < 0 else start
        if len(held) - kept > max_bytes:
            losses.long += 1
            if at == kept:
                return  # one text alone is over the limit
            start, kept = -1, at
        held, at, start = held[kept:], at - kept, -1 if start < 0 else 0
    losses.broken += depth > 0 or (base < 0 and not blank)  # it ends too early, or is no JSON


# -- values of which nothing is sure ---------------------------------------------------------------------------------


def text_of(value: Json) -> str:
    """The value if it is a text, else ''."""
    return value if isinstance(value, str) else ""


def mapping(value: Json) -> dict[str, Json]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: Json) -> list[Json]:
    """The value if it is an array, else an empty one."""
    return value if isinstance(value, list) else []
