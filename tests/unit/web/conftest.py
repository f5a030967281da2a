"""A browser without a window for the pages of a server, without a socket: requests go straight to the application."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html import unescape
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

import pytest

from second_brain.servers.brains import Brains
from second_brain.servers.http import make_app
from second_brain.servers.tokens import add
from second_brain.servers.web.visitors import Visitors


@dataclass
class Answer:
    """What came back. ``words`` is the text without tags, entities read, blanks squeezed."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def words(self) -> str:
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", self.text)).split())

    @property
    def csrf(self) -> str:
        return re.search(r'name="csrf" value="([^"]+)"', self.text)[1]


@dataclass
class Client:
    """One browser: it keeps cookies, and follows no redirect."""

    app: Any
    cookies: dict[str, str] = field(default_factory=dict)
    host: str = "127.0.0.1:8765"
    address: str = "127.0.0.1"
    csrf: str = ""
    scheme: str = "http"

    def get(self, path: str, **headers: str) -> Answer:
        return self._ask("GET", path, b"", headers)

    def post(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Answer:
        fields = {"csrf": self.csrf, **(form or {})}
        return self._ask("POST", path, urlencode(fields).encode(), headers)

    def log_in(self, **form: str) -> Answer:
        """By ``token=`` or ``once=``."""
        self.csrf = self.get("/login").csrf
        answer = self.post("/login", form)
        if answer.status == 303:
            self.csrf = self.get("/").csrf
        return answer

    def _ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        parts = urlsplit(path)
        query = quote(parts.query, safe="=&%+;/?:@!$',()*~")
        sent = {"host": self.host, "cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": self.scheme,
            "path": unquote(parts.path), "raw_path": parts.path.encode(), "query_string": query.encode(),
            "root_path": "", "headers": [(name.encode(), value.encode()) for name, value in sent.items() if value],
            "client": (self.address, 50000), "server": ("127.0.0.1", 8765),
        }  # fmt: skip
        answer = Answer(0, {}, b"")

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                for name, value in message["headers"]:
                    if name == b"set-cookie":
                        self._keep(value.decode())
                    answer.headers[name.decode()] = value.decode()
            else:
                answer.body += message.get("body", b"")

        asyncio.run(self.app(scope, receive, send))
        return answer

    def _keep(self, header: str) -> None:
        for name, morsel in SimpleCookie(header).items():
            if morsel["max-age"] == "0":
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = morsel.value


@dataclass
class Web:
    """The pages over the brain of ``notes``."""

    notes: Any
    app: Any
    visitors: Visitors

    def stranger(self) -> Client:
        """A browser that nobody knows."""
        return Client(self.app)

    def owner(self) -> Client:
        """A browser that came by the one-time link."""
        client = self.stranger()
        assert client.log_in(once=self.visitors.link_key()).status == 303
        return client

    def guest(self, label: str, *, changes: bool = False) -> Client:
        """A browser with a token up to a label; the token is named after it."""
        token = add(self.notes.brain.settings, label, label, changes=changes)
        client = self.stranger()
        assert client.log_in(token=token).status == 303
        return client


@pytest.fixture
def make_web(notes: Any) -> Callable[..., Web]:
    """Makes the pages over ``notes``, with a clock of the caller's where time matters."""

    def make(*, read_only: bool = False, clock: Callable[[], float] | None = None) -> Web:
        visitors = Visitors(clock) if clock else Visitors()
        app = make_app(
            Brains(lambda: notes.brain), [], host="127.0.0.1", read_only=read_only, neighbours=None, visitors=visitors
        )
        return Web(notes, app, visitors)

    return make


@pytest.fixture
def site(make_web: Callable[..., Web]) -> Web:
    """The pages over ``notes``."""
    return make_web()


@pytest.fixture
def web(site: Web) -> Client:
    """The owner's browser."""
    return site.owner()
