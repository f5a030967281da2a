"""One request of a page: who asks, in which language, with which view of the brain; and what is sent with every answer.

A page is a function from a ``Visit`` to a response. It runs in a thread of its own; what it raises becomes a page too.
"""

from __future__ import annotations

import gzip
import hmac
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...errors import Ambiguous, BrainError, NotFound, UsageError
from ..tokens import tokens
from .strings import LANGUAGES, said
from .templating import filled
from .visitors import Visitor, Visitors

if TYPE_CHECKING:
    from ...library import Brain
    from ..brains import Brains

THEMES = ("auto", "light", "dark")
YEAR_S = 365 * 24 * 3600
NAVIGATION = (
    ("search", "/"),
    ("map", "/map"),
    ("timeline", "/timeline"),
    ("health", "/health"),
    ("review", "/review"),
)
"""The pages that every page leads to: the name among the strings (``nav.search``), and the path."""

_LEAST_TO_ZIP = 1000

logger = logging.getLogger("second_brain.servers")


@dataclass(frozen=True, slots=True)
class Page:
    """A page by its path (``/note/{name:path}``).

    ``part``: only scripts of a page fetch it, so who has no session gets 401 and no login page. ``public``: without a
    session.
    """

    path: str
    answer: Callable[[Visit], Response]
    methods: tuple[str, ...] = ("GET",)
    part: bool = False
    public: bool = False


@dataclass(frozen=True, slots=True)
class House:
    """What all pages of a server share. ``graph`` is the file of the knowledge graph, None where there is none."""

    brains: Brains
    visitors: Visitors
    read_only: bool = False
    graph: Path | None = None
    paths: frozenset[str] = frozenset()


@dataclass
class Visit:
    """One request. ``who`` is None only on public pages. ``form`` holds the fields of a POST, the last of each name."""

    house: House
    request: Request
    form: Mapping[str, str] = field(default_factory=dict)
    who: Visitor | None = None
    key: str = ""

    @cached_property
    def brain(self) -> Brain:
        """The view that this visitor may have: the same for the whole request."""
        assert self.who is not None, "a public page has no brain"
        return self.house.brains.seen_by(self.who.label)

    @property
    def may_change(self) -> bool:
        """Whether this visitor may let things be indexed."""
        return bool(self.who and self.who.changes and not self.house.read_only)

    @cached_property
    def language(self) -> str:
        """``en`` or ``ja``: what was chosen, else what the browser prefers."""
        chosen = self.request.cookies.get("brain-language", "")
        return chosen if chosen in LANGUAGES else _preferred(self.request.headers.get("accept-language", ""))

    @property
    def theme(self) -> str:
        """``light`` or ``dark`` where one was chosen, else ``auto``."""
        chosen = self.request.cookies.get("brain-theme", "")
        return chosen if chosen in THEMES else "auto"

    @property
    def near(self) -> bool:
        """Whether the browser runs on this machine."""
        client = self.request.client
        return client is not None and client.host in ("127.0.0.1", "::1")

    @property
    def here(self) -> str:
        """Path and query of this page."""
        query = self.request.url.query
        return self.request.url.path + (f"?{query}" if query else "")

    @property
    def csrf(self) -> str:
        """What a form of this browser's pages carries in its field ``csrf``."""
        return self.house.visitors.proof(self.key, "form")

    def t(self, name: str, /, **values: Any) -> str:
        """The words of this name in the visitor's language."""
        return said(self.language, name, **values)

    def argument(self, name: str, default: str = "") -> str:
        """A value of the query, the first of its name."""
        return self.request.query_params.get(name, default)

    def filled(self, template: str, **values: Any) -> str:
        """A template with these values and what every template may use.

        That is: ``t`` (words), ``visit``, ``csrf``, ``note_url``, ``with_query``, ``asset``.
        """
        shared = {
            "t": self.t,
            "visit": self,
            "csrf": self.csrf,
            "note_url": note_url,
            "with_query": with_query,
            "navigation": [entry for entry in NAVIGATION if entry[1] in self.house.paths],
        }
        return filled(template, {**shared, **values})

    def show(self, template: str, status: int = 200, **values: Any) -> Response:
        """An answer made of a template."""
        return HTMLResponse(self.filled(template, **values), status)

    def go(self, path: str) -> Response:
        """Lead to another page of ours."""
        return RedirectResponse(path, 303)

    def trouble(self, error: BrainError, status: int = 400) -> Response:
        """A page that says what went wrong, and what to do next."""
        return self.show("trouble.html", status, error=error)


def note_url(name: str, **query: str) -> str:
    """The address of a note, by uri or whatever else names it."""
    return with_query("/note/" + quote(name, safe="/~:@!$&'()*+,;="), **query)


def with_query(path: str, **query: str) -> str:
    """The path with what of the query is not ''."""
    told = urlencode({name: value for name, value in query.items() if value})
    return f"{path}?{told}" if told else path


def own_path(text: str) -> str:
    """A path of this server, '/' for anything that could lead elsewhere."""
    parts = urlsplit(text)
    inside = text.startswith("/") and not text.startswith("//") and "\\" not in text and text.isprintable()
    return text if inside and not parts.netloc and not parts.scheme else "/"


def cookie_name(request: Request) -> str:
    """The name of the session's cookie: browsers keep cookies by host, whatever the port, and servers are by port."""
    return f"brain-session-{request.url.port or request.url.scheme}"


def set_cookie(response: Response, request: Request, name: str, value: str, *, longest_s: int | None = None) -> None:
    """Set a cookie that no script reads and no other site sends."""
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=longest_s, path="/", secure=secure, httponly=True, samesite="strict")


def answered(page: Page, visit: Visit) -> Response:
    """What a page answers, or what is said instead: that one must log in, that something went wrong.

    Raises ConfigError where the settings are wrong: then nobody knows who may see what.
    """
    visit.key = visit.request.cookies.get(cookie_name(visit.request), "")
    house = visit.house
    visit.who = house.visitors.who(visit.key, lambda: tokens(house.brains.seen_by("").settings))
    if visit.request.method == "POST":
        given = visit.form.get("csrf", "")
        if not visit.key or not hmac.compare_digest(given.encode(), visit.csrf.encode()):
            return visit.trouble(UsageError(visit.t("access.stale"), hint=visit.t("access.stale.hint")), 403)
    if visit.who is None and not page.public:
        return _unknown(page, visit)
    try:
        return page.answer(visit)
    except NotFound as error:
        return visit.trouble(error, 404)
    except Ambiguous as error:
        return visit.show("ambiguous.html", 300, error=error)
    except UsageError as error:
        return visit.trouble(error, 400)
    except BrainError as error:
        logger.warning("%s: %s; %s", visit.request.url.path, error, error.hint)
        return visit.trouble(error, 503)
    except Exception:
        logger.exception("%s cannot be answered", visit.request.url.path)
        return visit.trouble(BrainError(visit.t("fault"), hint=visit.t("fault.hint")), 500)


def _unknown(page: Page, visit: Visit) -> Response:
    if page.part:
        return Response(status_code=401)
    if visit.request.headers.get("sec-fetch-site") == "cross-site" and visit.request.method == "GET":
        # Somebody followed a link from elsewhere: the browser sends a strict cookie only when our own page asks.
        return visit.show("again.html", here=visit.here)
    back = visit.here if visit.request.method == "GET" else "/"
    return visit.go(with_query("/login", next="" if back == "/" else back))


def finished(response: Response, request: Request) -> Response:
    """The answer with the headers that every page has, compressed where the browser takes it."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    body = response.body
    if (
        len(body) >= _LEAST_TO_ZIP
        and "gzip" in request.headers.get("accept-encoding", "")
        and "content-encoding" not in response.headers
        and response.headers.get("content-type", "").startswith(("text/", "application/json"))
    ):
        response.body = gzip.compress(bytes(body), 5, mtime=0)
        response.headers["content-encoding"] = "gzip"
        response.headers["content-length"] = str(len(response.body))
    return response


def policy(*, images: str = "") -> str:
    """The content security policy of a page. ``images`` are further origins that its pictures may come from."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:{images and ' ' + images};"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": policy(),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # no-referrer would make the Origin of our own forms "null"
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
    "Vary": "Cookie, Accept-Language, Accept-Encoding",
}


def _preferred(header: str) -> str:
    """The language of ours that comes first by the weights in an Accept-Language header."""
    weighed = []
    for position, entry in enumerate(header.split(",")[:20]):
        name, _, weight = entry.partition(";q=")
        language = name.strip().partition("-")[0].lower()
        try:
            weighed.append((-float(weight or 1), position, language))
        except ValueError:
            continue
    return next((language for _, _, language in sorted(weighed) if language in LANGUAGES), LANGUAGES[0])
