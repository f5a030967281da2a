"""One exchange over HTTP: a request goes out, a whole answer comes back, or how it failed is said.

The one module that imports an HTTP client. It knows nothing of what is asked: meaning, retries and hints are the
callers' (``models.endpoint``, ``remote.connection``).
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from ..errors import MissingExtra

if TYPE_CHECKING:
    import httpx2

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Failed(Exception):
    """No whole answer came. ``untouched``: the server surely did nothing."""

    untouched = False


class NotReached(Failed):
    """There is no connection: nobody listens, the name is unknown, TLS does not agree."""

    untouched = True


class TooLate(Failed):
    """The deadline passed; the server may have worked all the same."""


class CutOff(Failed):
    """The connection ended before the answer was complete."""


class TooMuch(Failed):
    """The answer is larger than the caller takes."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer, its body decompressed. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    data: bytes


def is_loopback(url: str) -> bool:
    """Whether what is sent there stays on this machine."""
    return (urlsplit(url).hostname or "") in LOOPBACK


class Transport:
    """Connections to one server, kept open. Safe to use from many threads.

    Args:
        url: where the server is; decides whether a proxy of the environment is used.
        headers: sent with every request.
        purpose: what for, as the error names it where the HTTP client is not installed.
        unheard_s: after so long a connection counts as cut whose other end does not even acknowledge what was sent;
            None leaves that to the system, which tries for minutes. Known to Linux only.
    """

    def __init__(self, url: str, headers: Mapping[str, str], *, purpose: str, unheard_s: float | None = None) -> None:
        self._url = url
        self._headers = {name.encode("ascii"): value.encode("utf-8") for name, value in headers.items()}
        self._purpose = purpose
        self._unheard_s = unheard_s
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None

    def exchange(
        self,
        method: str,
        url: str,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        ends: float,
        connect_s: float | None = None,
        most_bytes: int,
    ) -> Reply:
        """The answer to one request, whatever its status.

        Args:
            method, url, content, headers: of the request.
            ends: the deadline, on the monotonic clock, for everything together.
            connect_s: how long a connection may take, at most.
            most_bytes: of the answer, decompressed.

        Raises:
            NotReached, TooLate, CutOff, TooMuch: see there.
            MissingExtra: the HTTP client is not installed.
        """
        httpx, client = self._opened()
        left = ends - time.monotonic()
        if left <= 0:
            raise TooLate(f"{url} did not answer in time")
        timeout = httpx.Timeout(left, connect=min(left, connect_s or left))
        try:
            with client.stream(method, url, content=content, headers=dict(headers or {}), timeout=timeout) as response:
                data = bytearray()
                for piece in response.iter_bytes():
                    data += piece
                    if time.monotonic() > ends:
                        raise TooLate(f"{url} did not finish its answer in time")
                    if len(data) > most_bytes:
                        raise TooMuch(f"{url} answered more than {most_bytes >> 20} MB")
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NotReached(f"{url} cannot be reached: {str(error) or 'no answer to the call'}") from error
        except httpx.TimeoutException as error:
            raise TooLate(f"{url} did not answer in time") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            if isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL)):
                raise NotReached(f"{url} is no address that can be asked: {error}") from error
            raise CutOff(f"{url} ended the connection before its answer was complete: {error}") from error
        return Reply(response.status_code, {k.lower(): v for k, v in response.headers.items()}, bytes(data))

    def close(self) -> None:
        """Close the connections; the next exchange opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _opened(self) -> tuple[Any, httpx2.Client]:
        httpx = _library(self._purpose)
        with self._lock:
            if self._client is None:
                # A proxy from the environment must not see what is meant for this machine.
                trusts = not is_loopback(self._url)
                own = self._impatient(httpx) if not (trusts and getproxies()) else None
                self._client = httpx.Client(
                    headers=self._headers, trust_env=trusts, follow_redirects=False, transport=own
                )
            return httpx, self._client

    def _impatient(self, httpx: Any) -> Any:
        """Connections that end when nothing is heard from the other side; None where that is not asked for or known."""
        if self._unheard_s is None or not hasattr(socket, "TCP_USER_TIMEOUT"):
            return None
        patience = (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(self._unheard_s * 1000))
        return httpx.HTTPTransport(socket_options=[patience])


def _library(purpose: str) -> Any:
    try:
        import httpx2
    except ImportError as error:
        raise MissingExtra(purpose, "http") from error
    return httpx2
