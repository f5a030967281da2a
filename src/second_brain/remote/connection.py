"""The line to the box: one request and its whole answer, or in what state the box is.

After a failure nobody asks for a while, longer each time (1 s to 30 s), so that no question waits for a box that is
gone; then one question tries, and where it is answered all is as before.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from .. import wire
from ..config import RemoteSettings
from ..errors import BrainError, Busy, GenerationMismatch, NotAllowed, Unreachable, UsageError
from ..models.transport import CutOff, Failed, NotReached, Reply, TooLate, TooMuch, Transport
from ..version import __version__

T = TypeVar("T")

CONNECT_S = 3.0
"""How long a connection may take: on a network that swallows packets nobody says no."""

UNHEARD_S = 3.0
"""How long a kept connection may be silent about what it was sent, down to its acknowledgements."""

FIRST_REST_S = 1.0
LONGEST_REST_S = 30.0
"""How long nobody asks after a failure; doubled with each further one."""

MOST_BYTES = 64 << 20
HINT = "start `brain serve` on the box, or correct `remote: url` in settings.yaml"

_PHRASES: Mapping[type[Failed], str] = {
    TooLate: "did not answer in time",
    CutOff: "ended the connection before its answer was complete",
    TooMuch: "sent a larger answer than expected",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """Which generation of which index the box last answered from, and when."""

    generation: str
    index: str
    version: str
    when: datetime


class Line:
    """One box, as one consumer sees it. Safe to use from many threads.

    Args:
        settings: url, deadline, the generation that is expected.
        token: the bearer token, '' for none; never shown.
        consumer: how we call ourselves.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        settings: RemoteSettings,
        token: str,
        consumer: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings
        self.url = settings.url.rstrip("/")
        self.seen: Seen | None = None
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._rests_until = 0.0
        self._trying = False
        self._problem: Unreachable | None = None
        headers = {
            wire.CONSUMER: consumer,
            wire.CONSUMER_VERSION: __version__,
            **({"Authorization": f"Bearer {token}"} if token else {}),
            **({wire.EXPECTS: settings.expects} if settings.expects else {}),
        }
        self._transport = Transport(self.url, headers, purpose="a brain on another machine", unheard_s=UNHEARD_S)

    def ask(
        self,
        method: str,
        path: str,
        type: type[T],
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        deadline_s: float | None = None,
    ) -> T:
        """The box's answer as a value. Raises as ``reply`` does, and Unreachable where it is of another form."""
        reply = self.reply(method, path, content=content, headers=headers, deadline_s=deadline_s)
        return self.value(reply, type)

    def value(self, reply: Reply, type: type[T]) -> T:
        """The value that an answer holds. Raises Unreachable where it is of another form."""
        try:
            return wire.decode(reply.data, type)
        except UsageError as error:
            raise self._lost(
                f"{self.url} answered something else than a brain would: {error}",
                "check `remote: url`: a login page or another program may answer there",
            ) from error

    def reply(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        deadline_s: float | None = None,
    ) -> Reply:
        """The box's answer, of a status below 400. Every request may be sent twice: none does more the second time.

        Raises:
            Unreachable: no connection, none in time, cut off, a failure of the server, or a rest after one of these.
            NotAllowed: the token is missing, unknown, or does not reach so far.
            GenerationMismatch: another generation answers than is expected.
            Busy: the box takes no more just now.
            BrainError: what the box says of the request itself, of the class that it raised there.
        """
        self._may_try()
        try:
            reply = self._sent(method, path, content, headers, deadline_s or self.settings.timeout_s)
        except BaseException:
            with self._lock:
                self._trying = False
            raise
        return self._judged(reply)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _sent(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str] | None, deadline_s: float
    ) -> Reply:
        ends = time.monotonic() + deadline_s
        repeats = 1  # a kept connection may have ended while nobody looked
        kind = {"Content-Type": "application/json"} if content is not None else {}
        while True:
            try:
                return self._transport.exchange(
                    method,
                    self.url + wire.PREFIX + path,
                    content=content,
                    headers={**kind, **(headers or {})},
                    ends=ends,
                    connect_s=CONNECT_S,
                    most_bytes=MOST_BYTES,
                )
            except CutOff as error:
                if not repeats:
                    raise self._lost(f"{self.url} {_PHRASES[CutOff]}") from error
                repeats -= 1
            except NotReached as error:
                raise self._lost(*_not_reached(self.url, str(error))) from error
            except Failed as error:
                words = f"{self.url} {_PHRASES[type(error)]}"
                raise self._lost(f"{words} ({deadline_s:g} s)" if isinstance(error, TooLate) else words) from error

    def _judged(self, reply: Reply) -> Reply:
        if reply.status < 400 and wire.GENERATION.lower() not in reply.headers:
            raise self._lost(
                f"{self.url} answered (HTTP {reply.status}), but it is no brain",
                "check `remote: url`: a login page or another program may answer there",
            )
        if reply.status < 400:
            self._reached(reply)
            return reply
        error = wire.error_of(reply.status, reply.data)
        if reply.status == 401 or (reply.status == 403 and isinstance(error, NotAllowed)):
            self._reached(None)
            raise NotAllowed(f"{self.url} does not take the token: {error}", hint=_token_hint(self.settings)) from error
        if isinstance(error, GenerationMismatch):
            self._reached(None)
            raise error
        if isinstance(error, Busy):
            self._reached(None)
            raise error
        if reply.status >= 500 and type(error) is BrainError:
            raise self._lost(f"{self.url} failed (HTTP {reply.status}): {error}", "its log says why")
        self._reached(reply)
        raise error

    # -- the state of the line ---------------------------------------------------------------------------

    def _may_try(self) -> None:
        """Raise the last failure again while the box is given a rest, but for one question when it is over."""
        with self._lock:
            if self._problem is None:
                return
            now = self._clock()
            if now >= self._rests_until and not self._trying:
                self._trying = True
                return
            again = max(1, round(self._rests_until - now))
            raise Unreachable(f"{self._problem} (tried again in {again} s)", hint=self._problem.hint)

    def _lost(self, words: str, hint: str = HINT) -> Unreachable:
        """The error that says so; from now on the line rests."""
        problem = Unreachable(words, hint=hint)
        with self._lock:
            rest = min(LONGEST_REST_S, FIRST_REST_S * 2.0 ** min(self._failures, 10))
            self._failures += 1
            self._rests_until = self._clock() + rest * (0.75 + random.random() / 2)
            self._problem, self._trying = problem, False
        return problem

    def _reached(self, reply: Reply | None) -> None:
        with self._lock:
            self._failures, self._problem, self._trying = 0, None, False
            if reply is not None and wire.GENERATION.lower() in reply.headers:
                said = reply.headers
                self.seen = Seen(
                    said[wire.GENERATION.lower()],
                    said.get(wire.INDEX.lower(), ""),
                    said.get(wire.VERSION.lower(), ""),
                    datetime.now(UTC),
                )


def _not_reached(url: str, said: str) -> tuple[str, str]:
    if "CERTIFICATE" in said.upper() or "SSL" in said.upper():
        return (
            f"{url} cannot be trusted: {said.partition(': ')[2] or said}",
            "its certificate must name this host and come from an authority that this machine knows",
        )
    return said if said.startswith(url) else f"{url} cannot be reached: {said}", HINT


def _token_hint(settings: RemoteSettings) -> str:
    where = f"${settings.key_variable}" if settings.key_variable else "`remote: token: $BRAIN_TOKEN` in settings.yaml"
    return f"make one on the box: brain token add NAME --privacy LABEL; then put it into {where}"
