"""What an endpoint is: what it takes and gives, what it may cost, and what answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ... import wire
from ...errors import UsageError
from ...types import Filter
from ..desk import Desk, Report
from ..metrics import Metrics

if TYPE_CHECKING:
    from .syncing import Receiving

QUESTION_BYTES = 1 << 20
TEXTS_BYTES = 8 << 20
SYNC_BYTES = 64 << 20
"""Of a request's body; longer ones are not read."""

QUESTION_S = 30.0
LONG_S = 300.0
"""How long a request may take, its body and its answer included."""

MOST_HITS = 100
MOST_STREAMED = 1_000
MOST_NAMES = 100
MOST_TEXTS = 256
"""Of one request for vectors or scores."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: whose it is, the values of its path and query, and its body.

    ``report`` raises Cancelled when nobody waits for the answer any more: long work calls it often.
    """

    desk: Desk
    metrics: Metrics
    receiving: Receiving
    values: Mapping[str, Any]
    body: Any
    report: Report


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value in path or query. ``kind``: a text, a whole number from ``low`` to ``high``, or a filter in JSON."""

    name: str
    says: str
    kind: Literal["text", "number", "filter"] = "text"
    default: Any = ""
    low: int = 1
    high: int = 1_000
    place: Literal["query", "path"] = "query"

    def read(self, text: str | None) -> Any:
        """The value that a text stands for. Raises UsageError."""
        if text is None or not text:
            return self.default
        if self.kind == "filter":
            return wire.decode(text.encode("utf-8", "surrogatepass"), Filter, strict=True)
        if self.kind == "text":
            return text
        if not (text.isascii() and text.isdigit() and len(text) < 10 and self.low <= int(text) <= self.high):
            raise UsageError(f"'{self.name}' is '{text[:40]}', expected a whole number from {self.low} to {self.high}")
        return int(text)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One thing that can be asked for. ``takes`` is the type of its body, None without one; ``gives`` of its answer.

    ``streams``: ``run`` yields the answer line by line. ``changes``: only for tokens that may change the index.
    ``marked``: the answer has a mark (ETag), and who has one with the same mark is only told so (304).
    """

    name: str
    method: Literal["GET", "POST"]
    path: str
    title: str
    says: str
    run: Callable[[Asked], Any]
    gives: Any
    takes: Any = None
    parameters: tuple[Parameter, ...] = ()
    largest: int = QUESTION_BYTES
    deadline_s: float = QUESTION_S
    streams: bool = False
    changes: bool = False
    marked: bool = False
    fails: Mapping[int, str] = field(default_factory=dict)
