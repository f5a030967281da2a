"""All pages of a server, as routes of its application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import anyio
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from . import access, files, health_page, map, opening, reading, review, searching, timeline
from .assets import serve_asset
from .page import House, Page, Visit, answered, finished
from .visitors import Visitors

if TYPE_CHECKING:
    from ..brains import Brains

PAGES: tuple[Page, ...] = (
    *access.PAGES, *searching.PAGES, *reading.PAGES, *files.PAGES, *opening.PAGES,
    *map.PAGES, *timeline.PAGES, *health_page.PAGES, *review.PAGES,
)  # fmt: skip
"""Every page: each module of a subject lists its own."""

LONGEST_FORM = 64_000
"""Bytes of a form that are read."""


def site(brains: Brains, visitors: Visitors, *, read_only: bool, graph: Path | None) -> list[Route]:
    """The routes of all pages and their files."""
    house = House(brains, visitors, read_only, graph, frozenset(page.path for page in PAGES))
    return [*_routes(PAGES, house), Route("/static/{version}/{name}", serve_asset, methods=["GET"])]


def _routes(pages: Iterable[Page], house: House) -> Iterable[Route]:
    for page in pages:
        yield Route(page.path, _endpoint(page, house), methods=list(page.methods))


def _endpoint(page: Page, house: House) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        form: Mapping[str, str] = {}
        if request.method == "POST":
            body = b""
            async for piece in request.stream():
                body += piece
                if len(body) > LONGEST_FORM:
                    return PlainTextResponse("the form is too long", 413)
            form = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
        visit = Visit(house, request, form)
        return finished(await anyio.to_thread.run_sync(answered, page, visit), request)

    return endpoint
