"""The cross-encoder's stage: an order within the deadline, or the old one with a reason."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from second_brain.answering import reranking
from second_brain.answering.reranking import Reranking
from second_brain.answering.settings import RerankSettings
from second_brain.errors import MissingExtra, ModelError
from second_brain.types import Explanation, Hit, Signal


def hit(rank: int, **fields: object) -> Hit:
    score = 1.0 / rank
    made = Hit(
        rank=rank, score=score, id=f"{rank:02}", uri=f"n/{rank}", path="", title=f"note {rank}", heading_path=("H",),
        source="n", kind="markdown", type="", date=datetime(2031, 5, 2, tzinfo=UTC), status="", tags=(), privacy="work",
        start=0, end=4, line=1, text=f"text {rank}", notes=(),
        explanation=Explanation((Signal("lexical", "add", score),)),
    )  # fmt: skip
    return replace(made, **fields)


HITS = [hit(rank) for rank in range(1, 6)]


class Encoder:
    """Scores by a table from text to score; the last word of a passage is its key."""

    identity = "fake"

    def __init__(self, scores: dict[str, float]) -> None:
        self.scores = scores
        self.read: list[list[str]] = []

    def score(self, query: str, texts: Sequence[str], *, deadline_s: float) -> np.ndarray:
        self.read.append(list(texts))
        return np.array([self.scores.get(text.split()[-1], -9.0) for text in texts], dtype=np.float32)


def ids(hits: Sequence[Hit]) -> list[str]:
    return [each.id for each in hits]


def test_the_first_candidates_come_in_its_order():
    """Each is read with title and headings; those beyond keep their places; explanations replay to the new scores."""
    encoder = Encoder({"3": 4.0, "1": 1.0, "2": -2.0})
    ordered, refused = Reranking(lambda: encoder, RerankSettings(candidates=3)).order("q", HITS)
    assert (ids(ordered), refused) == (["03", "01", "02", "04", "05"], "")
    assert encoder.read == [["note 1 › H\ntext 1", "note 2 › H\ntext 2", "note 3 › H\ntext 3"]]
    for each in ordered:
        assert each.explanation.replay() == pytest.approx(each.score)
    assert ordered[0].explanation.signals[1].detail.startswith("rank 3 before")


def test_what_was_multiplied_before_counts_again():
    """A withdrawn note stays halved, however well it answers."""
    halved = replace(
        hit(2), explanation=Explanation((Signal("lexical", "add", 1.0), Signal("status", "multiply", 0.5)))
    )
    ordered, _ = Reranking(lambda: Encoder({"1": 0.6, "2": 0.9})).order("q", [hit(1), halved])
    assert ids(ordered) == ["01", "02"]
    assert ordered[1].score == pytest.approx(0.45)


def test_a_named_note_stays_first():
    """The question is its title: no model knows better."""
    named = replace(hit(1), explanation=Explanation((Signal("name", "add", 2.0),)))
    assert ids(Reranking(lambda: Encoder({"2": 5.0, "3": 9.0})).order("q", [named, *HITS[1:3]])[0]) == [
        "01",
        "03",
        "02",
    ]


def test_what_may_not_be_sent_is_not():
    """It keeps its place; the others are ordered among theirs."""
    encoder = Encoder({"1": 0.1, "3": 0.9})
    stage = Reranking(lambda: encoder, may_read=lambda each: each.privacy != "secret")
    ordered, _ = stage.order("q", [hit(1), hit(2, privacy="secret"), hit(3)])
    assert ids(ordered) == ["03", "02", "01"]
    assert not any("text 2" in text for text in encoder.read[0])


class Bad(Encoder):
    """Answers with what it was given."""

    def __init__(self, outcome: object) -> None:
        super().__init__({})
        self.outcome = outcome

    def score(self, query: str, texts: Sequence[str], *, deadline_s: float) -> np.ndarray:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return np.array(self.outcome, dtype=np.float32)


@pytest.mark.parametrize(
    "outcome", [ModelError("no connection"), ValueError("a bug"), [1.0], [1.0, 2.0, 3.0, 4.0, float("nan")]]
)
def test_a_failure_leaves_the_order_and_says_so(outcome):
    """Whatever it raises or returns."""
    ordered, refused = Reranking(lambda: Bad(outcome)).order("q", HITS)
    assert ordered == HITS
    assert refused.startswith("not reranked: ")


def test_one_that_is_not_installed_is_named_with_what_to_type():
    """It was asked for in models.yaml, so that its absence is no silence."""

    def missing() -> None:
        raise MissingExtra("the reranker", "hub")

    ordered, refused = Reranking(missing).order("q", HITS)
    assert ordered == HITS
    assert "pip install" in refused


def test_a_late_answer_is_not_waited_for(monkeypatch):
    """Neither now nor, while it still works, by the next search; when it is done the stage works again."""
    monkeypatch.setattr(reranking, "LOADING_S", 0.0)
    free = threading.Event()

    class Slow(Encoder):
        def score(self, query: str, texts: Sequence[str], *, deadline_s: float) -> np.ndarray:
            free.wait(60)
            return super().score(query, texts, deadline_s=deadline_s)

    stage = Reranking(lambda: Slow({"5": 1.0}), RerankSettings(deadline_ms=50))
    started = time.monotonic()
    assert "did not answer within 50 ms" in stage.order("q", HITS)[1]
    assert "still works on an earlier search" in stage.order("q", HITS)[1]
    assert time.monotonic() - started < 5
    free.set()
    for _ in range(500):
        ordered, refused = stage.order("q", HITS)
        if not refused:
            break
        time.sleep(0.01)
    assert ids(ordered)[0] == "05"


def test_no_model_is_no_stage():
    """Nothing is said, nothing changes."""
    stage = Reranking(lambda: None)
    assert (stage.order("q", HITS), stage.wanted) == ((HITS, ""), False)
