"""One response on its way: whole, line by line, or what went wrong."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import anyio
import anyio.to_thread

from ... import wire
from ...errors import BrainError, Busy

JSON = "application/json"
ZIPPED_FROM = 1_400
"""Bytes; less is one packet either way."""

LAST_WORD_S = 1.0
"""How long the last line of a stream that failed may take to leave."""


class Sending:
    """One response. ``headers`` are added to whatever is sent; ``status`` is that of what was sent at last."""

    def __init__(self, send: Any) -> None:
        self._send = send
        self._begun = ""
        self.whole = False
        self.status = 500
        self.headers: dict[str, str] = {}

    async def answer(self, data: bytes, *, zipped: bool = False) -> None:
        """A whole answer; ``zipped``: the asker takes it compressed."""
        if zipped and len(data) > ZIPPED_FROM:
            data = await anyio.to_thread.run_sync(partial(gzip.compress, compresslevel=1), data)
            await self._whole(200, data, {"Content-Encoding": "gzip"})
        else:
            await self._whole(200, data, {})

    async def error(
        self, error: BrainError, status: int = 0, headers: Mapping[str, str] = {}, *, close: bool = False
    ) -> None:
        """What went wrong: the whole answer, or the last line of one. Within another, the connection is cut."""
        known, data = wire.raised(error)
        if self._begun:
            self.status = status or known
            if self._begun == wire.NDJSON:
                with anyio.move_on_after(LAST_WORD_S):
                    await self.line(wire.StreamLine(error=wire.spoken(error)))
                    await self.end()
            return
        more = dict(headers)
        if isinstance(error, Busy):
            more["Retry-After"] = str(max(1, round(error.retry_after_s)))
        if close:
            more["Connection"] = "close"
        await self._whole(status or known, data, more)

    async def _whole(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
        await self.begin(JSON, status, {**headers, "Content-Length": str(len(data))})
        self.whole = True
        await self._send({"type": "http.response.body", "body": data})

    async def begin(self, media_type: str, status: int = 200, headers: Mapping[str, str] = {}) -> None:
        """The head of the response."""
        self._begun, self.status = media_type, status
        told = {**self.headers, **headers, "Content-Type": media_type, "Cache-Control": "no-store"}
        await self._send({"type": "http.response.start", "status": status, "headers": _raw(told.items())})

    async def line(self, value: wire.StreamLine) -> None:
        """One line, sent at once."""
        await self._send({"type": "http.response.body", "body": wire.encode(value) + b"\n", "more_body": True})

    async def end(self) -> None:
        """The end of what was begun."""
        self.whole = True
        await self._send({"type": "http.response.body", "body": b""})


def _raw(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("ascii"), value.encode("latin-1", "replace")) for name, value in headers]
