"""How the process listens and ends: patience with slow clients has a limit, and so has the end.

Asked to end, it answers what it began, tells whoever comes now to come again, and is gone within seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

GRACE_S = 3
"""How long answers that were begun may take after the process was asked to end."""

HEAD_S = 10.0
"""How long a client may take for the head of a request."""

LARGEST_HEAD = 32 << 10
MOST_AT_ONCE = 200
"""Connections at the same time; the next ones get 503."""


class Running:
    """Whether the server still takes requests, and how many it is answering."""

    def __init__(self) -> None:
        self.ending = False
        self.count = 0

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """The time of one request."""
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1


class Listener(uvicorn.Server):
    """A server that answers what it began before it ends, and refuses the rest aloud."""

    def __init__(self, app: Any, running: Running) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=_Impatient,
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=GRACE_S,
                limit_concurrency=MOST_AT_ONCE,
                h11_max_incomplete_event_size=LARGEST_HEAD,
                server_header=False,
                ws="none",
            )
        )
        self._running = running
        self._asked_at = 0.0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal begins the end; a second one is the end."""
        if self._running.ending or sig == getattr(signal, "SIGQUIT", None):
            super().handle_exit(sig, frame)
            return
        self._captured_signals.append(sig)
        self._running.ending = True
        self._asked_at = time.monotonic()

    async def on_tick(self, counter: int) -> bool:
        """Whether it is time to go."""
        if self._running.ending and (not self._running.count or time.monotonic() - self._asked_at >= GRACE_S):
            self.should_exit = True
        return await super().on_tick(counter)


class _Impatient(H11Protocol):
    """Ends a connection whose request does not come to the end of its head in time."""

    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limit = self.loop.call_later(HEAD_S, transport.close)

    def data_received(self, data: bytes) -> None:
        if self._limit is None and self.conn.their_state is h11.IDLE:  # the next request of a kept connection begins
            self._limit = self.loop.call_later(HEAD_S, self.transport.close)
        super().data_received(data)
        if self._limit is not None and self.conn.their_state is not h11.IDLE:
            self._limit.cancel()
            self._limit = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._limit is not None:
            self._limit.cancel()
        super().connection_lost(exc)
