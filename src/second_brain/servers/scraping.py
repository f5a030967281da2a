"""What Prometheus reads of a server: its counts, and the figures of the index at that moment."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from .. import wire
from ..errors import BrainError, StorageError
from ..version import __version__
from .brains import Brains
from .callers import Callers
from .fleet import consumers
from .metrics import IndexFigures, Metrics

if TYPE_CHECKING:
    from ..library import Brain

logger = logging.getLogger("second_brain.servers")


class MetricsEndpoint:
    """``/metrics``: for whom ``local`` says so, and for whoever names a valid token.

    The index's figures are those that the token shows.
    """

    def __init__(self, callers: Callers, brains: Brains, metrics: Metrics, local: Callable[[Request], bool]) -> None:
        self._callers = callers
        self._brains = brains
        self._metrics = metrics
        self._local = local

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        response = await anyio.to_thread.run_sync(self._answer, Request(scope))
        await response(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        try:
            token = self._callers.token(request.headers.get("authorization", ""))
            if token is None and not self._local(request):
                return PlainTextResponse("a bearer token is needed", 401, {"WWW-Authenticate": "Bearer"})
            brain = self._brains.seen_by(token.privacy if token else "")
            try:
                figures = _figures(brain)
            except StorageError as error:  # an index that cannot be read is when the other counts are needed most
                logger.warning("%s; %s", error, error.hint)
                figures = None
            data, media_type = self._metrics.exposition(figures)
        except BrainError as error:
            status, said = wire.raised(error)
            return Response(said, status, media_type="application/json")
        return Response(data, headers={"Content-Type": media_type, "Cache-Control": "no-store"})


def _figures(brain: Brain) -> IndexFigures:
    status = brain.status()
    now = datetime.now(UTC)
    states: Counter[str] = Counter(consumer.state(brain.generation, now) for consumer in consumers(brain.settings))
    return IndexFigures(
        generation=brain.generation,
        index=brain.visible().index.id,
        version=__version__,
        documents=status.documents,
        chunks=status.chunks,
        waiting=status.waiting,
        index_bytes=status.index_bytes,
        last_sync=status.last_sync,
        consumers=states,
    )
