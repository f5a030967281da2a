"""The process ``brain mcp``: one client on stdin and stdout, and an end when it goes.

Nothing but protocol may reach stdout: the real one is moved away before anything else is imported, and descriptor 1
leads to stderr, also for C libraries.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import BinaryIO, cast

from .desk import Desk
from .toolsets import Tool

PARENT_EVERY_S = 2.0
"""How often it is looked whether the client still lives; stdin usually ends sooner."""


def serve(tools: Sequence[Tool], desk: Desk) -> None:
    """Serve until stdin ends or the parent is gone."""
    with _moved_stdout() as protocol:
        _end_with_parent()
        import anyio
        from mcp.server.stdio import stdio_server

        from .adapter import make_server

        server = make_server(tools, lambda context: desk)

        async def run() -> None:
            stdin = anyio.wrap_file(TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace"))
            stdout = anyio.wrap_file(TextIOWrapper(protocol, encoding="utf-8"))
            async with stdio_server(stdin, stdout) as (read, write):
                await server.run(read, write, server.create_initialization_options())

        anyio.run(run)


@contextmanager
def _moved_stdout() -> Iterator[BinaryIO]:
    """The real stdout as a binary stream; whatever else is written meanwhile goes to stderr."""
    shown = sys.stdout
    shown.flush()
    own = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    try:
        with os.fdopen(os.dup(own), "wb", buffering=0) as protocol:
            yield cast(BinaryIO, protocol)
    finally:
        sys.stdout = shown
        os.dup2(own, 1)
        os.close(own)


def _end_with_parent() -> None:
    """End this process soon after its parent, even if somebody else holds the pipe open."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_EVERY_S)
        os._exit(0)

    start_daemon(watch)


def start_daemon(work: Callable[[], None]) -> None:
    """Run something that never keeps the process alive."""
    threading.Thread(target=work, daemon=True).start()
