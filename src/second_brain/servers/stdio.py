"""The process ``brain mcp``: one client on stdin and stdout, and an end when it goes.

Nothing but protocol may reach stdout: the real one is moved away before anything else is imported, and descriptor 1
leads to stderr, also for C libraries.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .desk import Desk

PARENT_EVERY_S = 1.0
"""How often it is looked whether the client still lives; stdin usually ends sooner."""

CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Wire:
    """The descriptors that lead to the client."""

    stdin: int
    stdout: int

    def write(self, data: bytes) -> None:
        """Write all of it."""
        while data:
            data = data[os.write(self.stdout, data) :]


@dataclass(frozen=True, slots=True)
class Begun:
    """A conversation that somebody else began: what is to be said again, and whose answer the client has already.

    ``rest`` is what came from the client and was not handed on.
    """

    said: tuple[bytes, ...] = ()
    answered: int | str | None = None
    rest: bytes = b""


@contextmanager
def claimed() -> Iterator[Wire]:
    """Stdin and stdout for the protocol alone: whoever else reads or writes them gets nothing, or stderr.

    Until the end of the context, the process ends soon after its parent does, even if somebody holds the pipe open.
    """
    sys.stdout.flush()
    wire = Wire(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    over = threading.Event()
    threading.Thread(target=_end_with_parent, args=(os.getppid(), over), name="parent", daemon=True).start()
    try:
        yield wire
    finally:
        over.set()
        for own, standard in ((wire.stdin, 0), (wire.stdout, 1)):
            os.dup2(own, standard)
            os.close(own)


def _end_with_parent(parent: int, over: threading.Event) -> None:
    while not over.wait(PARENT_EVERY_S):
        if os.getppid() != parent:
            os._exit(0)


def serve(wire: Wire, toolsets: Sequence[str], desk: Desk, begun: Begun = Begun()) -> None:
    """Serve the client until its stdin ends. Raises UsageError for an unknown toolset, ImportError without the SDK."""
    from .toolsets import chosen

    tools = chosen(toolsets, read_only=desk.read_only)
    import anyio

    from .adapter import exchange, make_server

    anyio.run(
        partial(exchange, make_server(tools, desk, local=True), _lines(wire, begun), _Writer(wire, begun.answered))
    )


async def _lines(wire: Wire, begun: Begun) -> AsyncIterator[bytes]:
    """What was said, then what the client says, line by line."""
    from anyio import CapacityLimiter, to_thread

    for line in begun.said:
        yield line
    own = CapacityLimiter(1)  # it waits all the time, and must not take a thread from the tools
    data = begun.rest
    while True:
        line, found, data = data.partition(b"\n")
        if found:
            if line.strip():
                yield line
            continue
        more = await to_thread.run_sync(os.read, wire.stdin, CHUNK, abandon_on_cancel=True, limiter=own)
        if not more:
            return
        data = line + more


class _Writer:
    """Writes answers, but for the one that the client has already."""

    def __init__(self, wire: Wire, answered: int | str | None) -> None:
        from anyio import CapacityLimiter

        self._wire = wire
        self._answered = answered
        self._own = CapacityLimiter(1)

    async def __call__(self, line: bytes) -> None:
        from anyio import to_thread

        if self._answered is not None:
            import json

            message = json.loads(line)
            if message.get("id") == self._answered and "method" not in message:
                self._answered = None
                return
        await to_thread.run_sync(self._wire.write, line, limiter=self._own)
