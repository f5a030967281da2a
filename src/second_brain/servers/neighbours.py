"""The server's end of ``relay``: processes of the same user on this machine, over a socket in a folder of their own."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import struct
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream

from ..errors import BrainError
from .adapter import exchange, make_server
from .brains import Brains
from .desk import Desk
from .relay import LONGEST_LINE, is_private
from .stdio import CHUNK
from .toolsets import chosen

HELLO_S = 5.0

logger = logging.getLogger("second_brain.servers")


class Neighbours:
    """Serves whoever connects to a socket, each with the toolsets, label and project that it names."""

    def __init__(self, brains: Brains, path: Path) -> None:
        self._brains = brains
        self._path = path

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """The time in which they are served. If another server listens already, or none can, nobody is."""
        if not self._free():
            yield
            return
        try:
            listener = await anyio.create_unix_listener(self._path, mode=0o600)
        except OSError as error:  # the path is too long for a socket, or its disk knows none
            logger.warning("%s: %s: local clients work by themselves", self._path, error)
            yield
            return
        mine = self._path.stat().st_ino
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(partial(listener.serve, self._serve))
                yield
                tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await listener.aclose()
            with contextlib.suppress(OSError):
                if self._path.stat().st_ino == mine:
                    self._path.unlink()

    def _free(self) -> bool:
        """Whether the socket can be ours; one that a killed server left is taken away."""
        folder = self._path.parent
        if not hasattr(socket, "AF_UNIX"):
            return False
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_private(folder):
            logger.warning("%s is not private to this user: local clients work by themselves", folder)
            return False
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as probe:
            try:
                probe.connect(os.fspath(self._path))
            except FileNotFoundError:
                return True
            except OSError:
                self._path.unlink(missing_ok=True)
                return True
        return False

    async def _serve(self, stream: SocketStream) -> None:
        lines = _lines(stream)
        async with stream:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream):
                if not _is_ours(stream):
                    return
                with anyio.move_on_after(HELLO_S) as patience:
                    hello = json.loads(await anext(lines, b"null"))
                if patience.cancelled_caught:
                    return
                try:
                    server = self._server(hello)
                except (BrainError, TypeError, KeyError) as error:
                    await stream.send(json.dumps({"welcome": False, "why": str(error)}).encode("utf-8") + b"\n")
                    return
                await stream.send(b'{"welcome": true}\n')
                await exchange(server, lines, stream.send)

    def _server(self, hello: Any) -> Any:
        label, read_only = str(hello["privacy"]), bool(hello["read_only"])
        project, graph = (Path(hello[name]) if hello[name] else None for name in ("project", "graph"))
        tools = chosen([str(name) for name in hello["toolsets"]], read_only=read_only)
        label = label or self._brains.seen_by("").settings.see  # what it would see by itself
        self._brains.seen_by(label)  # an unknown label is refused now, not at each call
        return make_server(tools, Desk(self._brains, label, read_only, project, graph=graph), local=True)


def _is_ours(stream: SocketStream) -> bool:
    """Whether the other end is a process of this user, where the system tells."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # the folder lets nobody else in
    raw = stream.extra(SocketAttribute.raw_socket)
    _, user, _ = struct.unpack("3i", raw.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return bool(user == os.getuid())


async def _lines(stream: SocketStream) -> AsyncIterator[bytes]:
    data = b""
    while True:
        line, found, data = data.partition(b"\n")
        if found:
            if line.strip():
                yield line
            continue
        if len(line) > LONGEST_LINE:
            return
        try:
            data = line + await stream.receive(CHUNK)
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return
