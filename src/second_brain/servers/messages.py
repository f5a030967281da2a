"""Messages that a strict reader refuses: what was meant by them, or what to answer, so that nobody waits for nothing.

Clients send half characters (lone surrogates), bytes that are no UTF-8, and numbers without end.
"""

from __future__ import annotations

import json
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
LONGEST_NUMBER = 300
"""Digits; a longer whole number is taken as infinite, as JSON takes 1e400."""


def mended(line: bytes) -> Any:
    """The value of a line of JSON, with U+FFFD for what is no character. Raises ValueError where it is no JSON."""
    try:
        value = json.loads(line.decode("utf-8", "replace"), parse_int=_number)
        return _characters(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def refusal(line: bytes) -> bytes:
    """The answer to a line that is no message: for its request if that can be told, else for nobody's in particular."""
    code, why, id = PARSE_ERROR, "this line is not JSON", None
    try:
        value = mended(line)
    except ValueError:
        pass
    else:
        code, why = INVALID_REQUEST, "this is not a message of JSON-RPC 2.0 as MCP has them"
        id = value.get("id") if isinstance(value, dict) else None
        id = id if isinstance(id, str | int) and not isinstance(id, bool) else None
    return json.dumps({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}}).encode() + b"\n"


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) <= LONGEST_NUMBER else float(digits)


def _characters(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {_characters(key): _characters(inner) for key, inner in value.items()}
    return [_characters(inner) for inner in value] if isinstance(value, list) else value
