"""What a server counts: times by mode and stage, requests by status, and what its answers spare the reader."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from second_brain.servers.metrics import LAST, MOST_STAGES, IndexFigures, Metrics, answered_tokens
from second_brain.types import SearchResult


def _result(mode: Any = "hybrid", **stages: float) -> SearchResult:
    return SearchResult("a secret question", mode, (), (), stages)


def _families(metrics: Metrics, figures: IndexFigures | None = None) -> dict[str, Any]:
    data, media_type = metrics.exposition(figures)
    assert media_type.startswith("text/plain")
    return {family.name: family for family in text_string_to_metric_families(data.decode())}


def test_the_snapshot_has_percentiles_of_the_last_searches_by_mode() -> None:
    """In milliseconds; what is long ago counts as a search and not in them."""
    metrics = Metrics()
    for number in range(LAST + 100):
        seconds = 9.0 if number < 100 else (number - 99) / 1000
        metrics.searched(_result(), seconds, answer_tokens=10, document_tokens=100)
    metrics.searched(_result("lexical"), 0.002, answer_tokens=0, document_tokens=0)
    metrics.requested("search", 200)
    metrics.requested("search", 503)
    found = metrics.snapshot()
    hybrid, lexical = found.modes
    assert (hybrid.mode, hybrid.searches) == ("hybrid", LAST + 100)
    assert (hybrid.p50_ms, hybrid.p95_ms) == (pytest.approx(501), pytest.approx(951))
    assert (lexical.p50_ms, lexical.p95_ms) == (pytest.approx(2), pytest.approx(2))
    assert (found.searches, found.requests, found.failed) == (LAST + 101, 2, 1)
    assert found.saved_tokens == (LAST + 100) * 90
    assert datetime.now(UTC) - found.since < timedelta(minutes=1)


def test_a_server_that_nobody_asked_has_a_snapshot_too() -> None:
    """Of nothing."""
    found = Metrics().snapshot()
    assert (found.modes, found.searches, found.saved_tokens) == ((), 0, 0)


def test_prometheus_reads_histograms_by_mode_and_stage() -> None:
    """Buckets are cumulative, and their last is the count."""
    metrics = Metrics()
    for seconds in (0.0005, 0.03, 99.0):
        metrics.searched(_result(lexical=seconds * 1000), seconds, answer_tokens=1, document_tokens=2)
    samples = [
        (sample.labels.get("le"), sample.value)
        for sample in _families(metrics)["brain_search_seconds"].samples
        if sample.labels["stage"] == "lexical" and sample.name.endswith("_bucket")
    ]
    counts = dict(samples)
    assert (counts["0.001"], counts["0.025"], counts["0.05"], counts["+Inf"]) == (1, 1, 2, 3)
    assert [value for _, value in samples] == sorted(value for _, value in samples)


def test_the_index_figures_are_gauges_and_the_generation_is_a_label() -> None:
    """Without the index they are left out, and the rest stays."""
    moment = datetime.now(UTC) - timedelta(hours=2)
    figures = IndexFigures("g3", "abc", "0.1.0", 5, 50, 7, 1_000, moment, {"current": 2, "stale": 1})
    found = _families(Metrics(), figures)
    assert found["brain_index_waiting"].samples[0].value == 7
    assert found["brain_index_info"].samples[0].labels == {"generation": "g3", "index": "abc", "version": "0.1.0"}
    assert found["brain_sync_age_seconds"].samples[0].value == pytest.approx(7200, abs=600)
    states = {sample.labels["state"]: sample.value for sample in found["brain_consumers"].samples}
    assert states == {"current": 2, "stale": 1}
    assert set(_families(Metrics())) == {
        "brain_requests",
        "brain_search_seconds",
        "brain_answer_tokens",
        "brain_document_tokens",
    }


def test_labels_are_bounded_whatever_stages_there_are() -> None:
    """A stage that somebody's adapter names after each query must not fill the memory."""
    metrics = Metrics()
    for number in range(500):
        metrics.searched(_result(**{f"stage {number}": 1.0}), 0.001, answer_tokens=0, document_tokens=0)
    stages = {sample.labels["stage"] for sample in _families(metrics)["brain_search_seconds"].samples}
    assert len(stages) == MOST_STAGES + 1
    assert "other" in stages


def test_tokens_of_whole_documents_are_those_of_the_documents_that_are_quoted(notes: Any) -> None:
    """At the rate of the passage: a document that is one passage counts as that, a long one as much more."""
    long = "# Egret\n\n" + "\n\n".join(f"## Part {n}\n\nThe egret number {n} " + "walks " * 200 for n in range(40))
    notes.index({"short.md": "# Heron\n\nThe heron stands.\n", "long.md": long})
    short = notes.brain.search("heron", mode="lexical")
    answer, whole = answered_tokens(notes.brain, short)
    assert 0 < answer <= whole < 1.5 * answer
    quoted = notes.brain.search("egret", mode="lexical", limit=1)
    answer, whole = answered_tokens(notes.brain, quoted)
    assert whole > 10 * answer
    assert answered_tokens(notes.brain, quoted, "two words")[0] == 2
