"""How much one token may have at once: some work runs, some waits, the rest is told when to come again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import anyio

from ...errors import Busy

T = TypeVar("T")

AT_ONCE = 4
"""Requests of one token that run at the same time."""

MOST_WAITING = 16
"""Requests of one token that wait for their turn."""

WAIT_S = 10.0
"""How long one waits."""

THREADS = 32


class Turns:
    """The turns of one token. A turn ends when its work has ended, even where nobody waits for that any more."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads
        self._limiter = anyio.CapacityLimiter(AT_ONCE)
        self._waiting = 0

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """Wait for a turn, and have it. Raises Busy."""
        turn = Turn(self._threads)
        try:
            self._limiter.acquire_on_behalf_of_nowait(turn)
        except anyio.WouldBlock:
            await self._wait(turn)
        try:
            yield turn
        finally:
            turn.over(lambda: self._limiter.release_on_behalf_of(turn))

    async def _wait(self, turn: Turn) -> None:
        if self._waiting >= MOST_WAITING:
            raise self._busy(f"{MOST_WAITING} requests of this token wait already")
        self._waiting += 1
        try:
            with anyio.move_on_after(WAIT_S) as patience:
                await self._limiter.acquire_on_behalf_of(turn)
        finally:
            self._waiting -= 1
        if patience.cancelled_caught:
            raise self._busy(f"{AT_ONCE} requests of this token have been running for {WAIT_S:.0f} s")

    @staticmethod
    def _busy(why: str) -> Busy:
        return Busy(why, retry_after_s=2.0, hint=f"ask for at most {AT_ONCE} things at once")


class Turn:
    """Work in threads, one piece after the other."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads
        self._loop = asyncio.get_running_loop()
        self._last: Future[object] | None = None

    async def run(self, work: Callable[[], T]) -> T:
        """What the work returns, or raises. If the waiting is cancelled, the work goes on by itself."""
        future = self._threads.submit(work)
        self._last = future  # type: ignore[assignment]
        return await asyncio.wrap_future(future)

    def over(self, release: Callable[[], None]) -> None:
        """Call ``release`` in the event loop when the last piece has ended."""
        if self._last is None or self._last.done():
            release()
            return

        def ended(_: Future[object]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody counts any more
                self._loop.call_soon_threadsafe(release)

        self._last.add_done_callback(ended)
