"""A line between a client and a server that does what lines do: it cuts, drops, delays, and refuses."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

PIECE = 4096
ACCEPTS_EVERY_S = 0.05


class CuttingProxy:
    """Forwards connections to a server on this machine. What it does to them may be changed at any time.

    - ``mode``: 'forward'; 'refuse' closes each at once, and open ones with the next byte; 'swallow' takes what comes
      and never answers.
    - ``up``, ``down``: so many bytes of a connection go to the server, or come back, then it is cut; None for all.
    - ``cuts``: so many connections are cut, then no more; None for all.
    - ``delay_s``: passes before each piece that comes back.

    ``connections`` counts those that were taken, ``cut`` those that were cut.
    """

    def __init__(self, port: int, *, host: str = "127.0.0.1", listening: str = "127.0.0.1") -> None:
        self.mode: Literal["forward", "refuse", "swallow"] = "forward"
        self.up: int | None = None
        self.down: int | None = None
        self.cuts: int | None = None
        self.delay_s = 0.0
        self.connections = 0
        self.cut = 0
        self._to = (host, port)
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listening = socket.create_server((listening, 0))
        self._listening.settimeout(ACCEPTS_EVERY_S)
        self.port: int = self._listening.getsockname()[1]
        self.url = f"http://{listening}:{self.port}"

    @contextmanager
    def running(self) -> Iterator[CuttingProxy]:
        """Forward until the end of the block."""
        threads = [threading.Thread(target=self._accept, daemon=True)]
        threads[0].start()
        try:
            yield self
        finally:
            self._ending.set()
            self.cut_all()
            threads[0].join()
            self._listening.close()

    def restore(self) -> None:
        """Be a good line again."""
        self.mode, self.up, self.down, self.cuts, self.delay_s = "forward", None, None, None, 0.0

    def cut_all(self) -> None:
        """Cut every connection that is open now."""
        with self._lock:
            for end in self._open:
                _close(end)
            self._open.clear()

    def _accept(self) -> None:
        while not self._ending.is_set():
            try:
                client, _ = self._listening.accept()
            except TimeoutError:
                continue
            self.connections += 1
            if self.mode == "refuse":
                _close(client)
                continue
            try:
                server = socket.create_connection(self._to, timeout=10)
                server.settimeout(None)
            except OSError:
                _close(client)
                continue
            client.settimeout(None)
            for end in (client, server):  # pieces go on as they come
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._open |= {client, server}
            for args in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._forward, args=args, daemon=True).start()

    def _forward(self, source: socket.socket, to: socket.socket, upwards: bool) -> None:
        """One direction of a connection, until either end closes it or it is cut."""
        passed = 0
        with contextlib.suppress(OSError):
            while data := source.recv(PIECE):
                if self.mode == "swallow":
                    continue
                if self.mode == "refuse":
                    break
                if not upwards and self.delay_s:
                    time.sleep(self.delay_s)
                most = self.up if upwards else self.down
                if most is not None and passed + len(data) > most and self._may_cut():
                    to.sendall(data[: max(0, most - passed)])
                    break
                to.sendall(data)
                passed += len(data)
        for end in (source, to):
            _close(end)
            with self._lock:
                self._open.discard(end)

    def _may_cut(self) -> bool:
        with self._lock:
            if self.cuts == 0:
                return False
            if self.cuts is not None:
                self.cuts -= 1
            self.cut += 1
            return True


def _close(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()
