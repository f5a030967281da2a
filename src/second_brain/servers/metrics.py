"""What a server counts: requests, how long searches take by mode and stage, and what they spare the reader.

Counted here once; Prometheus and the web page read the same numbers. No text, path, query or name is kept.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra

if TYPE_CHECKING:
    from ..library import Brain
    from ..types import SearchResult

BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper ends of the histogram's buckets."""

WHOLE = "all"
"""The stage that stands for the whole search."""

MOST_STAGES = 40
"""Of one mode; the names are ours, and few."""

LAST = 1_000
"""Searches of a mode from which its percentiles are taken."""


@dataclass(frozen=True, slots=True)
class ModeTimes:
    """The last searches of one mode; milliseconds."""

    mode: str
    searches: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The counts since ``since``. ``failed`` are requests with a status of 500 and above.

    ``answer_tokens`` were in answers; ``document_tokens`` are in the whole documents that they quote from.
    """

    since: datetime
    requests: int
    failed: int
    searches: int
    modes: tuple[ModeTimes, ...]
    answer_tokens: int
    document_tokens: int

    @property
    def saved_tokens(self) -> int:
        """What the reader did not have to read."""
        return max(0, self.document_tokens - self.answer_tokens)


@dataclass(frozen=True, slots=True)
class IndexFigures:
    """What the index holds at the moment of asking, and who asks. ``consumers`` counts them by state."""

    generation: str
    index: str
    version: str
    documents: int
    chunks: int
    waiting: int
    index_bytes: int
    last_sync: datetime | None
    consumers: Mapping[str, int] = field(default_factory=dict)


class _Histogram:
    """Counts by bucket."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)
        self.total_s = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.total_s += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """(upper end, how many up to it), as Prometheus has them."""
        ends, running = (*map(str, BOUNDS_S), "+Inf"), 0
        found = []
        for end, count in zip(ends, self.counts, strict=True):
            running += count
            found.append((end, float(running)))
        return found


class Metrics:
    """The counts of one server process. Safe to use from many threads."""

    def __init__(self) -> None:
        self._since = datetime.now(UTC)
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._stages: dict[tuple[str, str], _Histogram] = {}
        self._last: dict[str, deque[float]] = {}
        self._tokens = [0, 0]

    def requested(self, endpoint: str, status: int) -> None:
        """A request was answered. ``endpoint`` is the name of a route, never what was sent."""
        with self._lock:
            self._requests[endpoint, status] += 1

    def searched(self, result: SearchResult, seconds: float, *, answer_tokens: int, document_tokens: int) -> None:
        """A search was answered."""
        with self._lock:
            self._histogram(result.mode, WHOLE).observe(seconds)
            for stage, spent_ms in result.timings_ms.items():
                self._histogram(result.mode, stage).observe(spent_ms / 1000)
            self._last.setdefault(result.mode, deque(maxlen=LAST)).append(seconds)
            self._tokens[0] += answer_tokens
            self._tokens[1] += document_tokens

    def _histogram(self, mode: str, stage: str) -> _Histogram:
        if (mode, stage) not in self._stages and sum(known == mode for known, _ in self._stages) >= MOST_STAGES:
            stage = "other"
        return self._stages.setdefault((mode, stage), _Histogram())

    def snapshot(self) -> Snapshot:
        """The counts of now."""
        with self._lock:
            last = {mode: sorted(times) for mode, times in sorted(self._last.items())}
            count = {mode: sum(self._stages[mode, WHOLE].counts) for mode in last}
            return Snapshot(
                since=self._since,
                requests=self._requests.total(),
                failed=sum(n for (_, status), n in self._requests.items() if status >= 500),
                searches=sum(count.values()),
                modes=tuple(
                    ModeTimes(mode, count[mode], _percentile(times, 0.5), _percentile(times, 0.95))
                    for mode, times in last.items()
                ),
                answer_tokens=self._tokens[0],
                document_tokens=self._tokens[1],
            )

    def exposition(self, figures: IndexFigures | None) -> tuple[bytes, str]:
        """All of it in Prometheus' format, and its media type; without ``figures`` the index is left out.

        Raises MissingExtra.
        """
        try:
            from prometheus_client import CollectorRegistry
            from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
        except ImportError as error:
            raise MissingExtra("/metrics", "serve") from error
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Families(self, figures))
        return generate_latest(registry), CONTENT_TYPE_LATEST

    def counted(self) -> Iterator[Any]:
        """The families of what is counted here."""
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

        requests = CounterMetricFamily("brain_requests", "Requests answered.", labels=("endpoint", "status"))
        times = HistogramMetricFamily(
            "brain_search_seconds", "Time of searches, by mode and stage.", labels=("mode", "stage")
        )
        with self._lock:
            for (endpoint, status), count in sorted(self._requests.items()):
                requests.add_metric((endpoint, str(status)), count)
            for key, histogram in sorted(self._stages.items()):
                times.add_metric(key, histogram.buckets(), histogram.total_s)
            answer, document = self._tokens
        yield requests
        yield times
        yield CounterMetricFamily("brain_answer_tokens", "Tokens in the answers of searches.", value=answer)
        yield CounterMetricFamily(
            "brain_document_tokens", "Tokens in the whole documents that answers quote from.", value=document
        )


class _Families:
    """A collector over the counts and the index's figures."""

    def __init__(self, metrics: Metrics, figures: IndexFigures | None) -> None:
        self._metrics = metrics
        self._figures = figures

    def collect(self) -> Iterator[Any]:
        """All families."""
        from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

        yield from self._metrics.counted()
        figures = self._figures
        if figures is None:
            return
        info = {"generation": figures.generation, "index": figures.index, "version": figures.version}
        yield InfoMetricFamily("brain_index", "The generation that answers.", value=info)
        yield GaugeMetricFamily("brain_index_documents", "Documents in the index.", value=figures.documents)
        yield GaugeMetricFamily("brain_index_chunks", "Passages in the index.", value=figures.chunks)
        yield GaugeMetricFamily("brain_index_waiting", "Passages without a vector yet.", value=figures.waiting)
        yield GaugeMetricFamily("brain_index_bytes", "Size of the index's file.", value=figures.index_bytes)
        if figures.last_sync is not None:
            age = (datetime.now(UTC) - figures.last_sync).total_seconds()
            yield GaugeMetricFamily("brain_sync_age_seconds", "Since the last comparison with the files.", value=age)
        consumers = GaugeMetricFamily("brain_consumers", "Consumers that were seen, by state.", labels=("state",))
        for state, count in sorted(figures.consumers.items()):
            consumers.add_metric((state,), count)
        yield consumers


def answered_tokens(brain: Brain, result: SearchResult, text: str | None = None) -> tuple[int, int]:
    """(tokens that the reader got, tokens of the whole documents that they come from), both estimates.

    ``text`` is the answer where it is one; else the quotes count. A document counts by its size in bytes, at the rate
    of the passage that is quoted from it. Cost: one query.
    """
    from ..answering.packing import tokens

    quoted = [(hit.uri, tokens(hit.text), len(hit.text.encode("utf-8", "replace"))) for hit in result.hits]
    rates = {uri: count / max(1, size) for uri, count, size in quoted}
    sizes = brain.visible().index.text_bytes(tuple(rates))
    whole = sum(int(sizes.get(uri, 0) * rate) for uri, rate in rates.items())
    return tokens(text) if text is not None else sum(count for _, count, _ in quoted), whole


def _percentile(times: list[float], share: float) -> float:
    """Of sorted seconds, in milliseconds; 0 of none."""
    return times[min(len(times) - 1, int(len(times) * share))] * 1000 if times else 0.0
