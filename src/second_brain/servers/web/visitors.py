"""Who has logged in: sessions in memory, gone when the process ends.

A browser holds a random key in a cookie, this process only the key's hash. A session that began with a token lives as
long as the token does: it is looked up again at every request.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..tokens import Token

IDLE_S = 12 * 3600
"""A session ends after so long without a request."""

LONGEST_S = 7 * 24 * 3600
"""A session ends after so long, whatever happened in it."""

LINK_S = 10 * 60
"""A one-time login link is good for so long."""

MOST_SESSIONS = 1000
"""The one that was used longest ago ends when another begins."""


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who logged in. ``token`` is the hash of their token, '' for the owner, who came by the one-time link."""

    token: str
    begun: float
    used: float


@dataclass(frozen=True, slots=True)
class Visitor:
    """What a session shows and allows: ``label`` is the highest privacy label, '' for everything."""

    name: str
    label: str
    changes: bool
    owner: bool


class Visitors:
    """Safe to use from many threads. ``clock`` yields seconds and never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._secret = secrets.token_bytes(32)
        self._sessions: dict[str, Session] = {}
        self._links: dict[str, float] = {}

    def link_key(self) -> str:
        """A key for one login as the owner; only its hash is kept."""
        key = secrets.token_urlsafe(32)
        with self._lock:
            self._links[_hash(key)] = self._clock() + LINK_S
        return key

    def use_link(self, key: str) -> bool:
        """Whether the key is good; after this it is not."""
        with self._lock:
            now = self._clock()
            self._links = {hashed: ends for hashed, ends in self._links.items() if ends > now}
            return self._links.pop(_hash(key), None) is not None

    def begin(self, token: Token | None) -> str:
        """Begin a session: for whoever has a token, or for the owner. Returns the key for the cookie."""
        key = new_key()
        now = self._clock()
        with self._lock:
            while len(self._sessions) >= MOST_SESSIONS:
                del self._sessions[min(self._sessions, key=lambda each: self._sessions[each].used)]
            self._sessions[_hash(key)] = Session(token.digest if token else "", now, now)
        return key

    def end(self, key: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(_hash(key), None)

    def who(self, key: str, known: Callable[[], list[Token]]) -> Visitor | None:
        """Whose key this is, None for nobody's. ``known`` yields the tokens of now; asked for sessions of tokens only.

        The label and rights are those that the token has now.
        """
        if not key:
            return None
        hashed = _hash(key)
        now = self._clock()
        with self._lock:
            session = self._sessions.get(hashed)
            if session is None:
                return None
            if now - session.used > IDLE_S or now - session.begun > LONGEST_S:
                del self._sessions[hashed]
                return None
            self._sessions[hashed] = replace(session, used=now)
        if not session.token:
            return Visitor("", "", changes=True, owner=True)
        for token in known():
            if hmac.compare_digest(token.digest, session.token):
                return Visitor(token.name, token.privacy, token.changes, owner=False)
        self.end(key)
        return None

    def proof(self, key: str, purpose: str) -> str:
        """What only pages for the browser with this key contain; a request that carries it comes from one of them."""
        return hmac.new(self._secret, f"{purpose}\0{key}".encode(), hashlib.sha256).hexdigest()[:40]


def new_key() -> str:
    """A key that nobody guesses."""
    return secrets.token_urlsafe(32)


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
