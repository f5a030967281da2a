"""Group RK of the failure cases: scores, ties and times, as answers show them.

RK-2 is in ``tests/unit/ranking``, RK-7 beside the measures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from second_brain import wiring
from second_brain.answering import reranking
from second_brain.errors import MissingExtra
from second_brain.types import MODES, Filter

TOKYO = timezone(timedelta(hours=9))


def test_rk_1_more_of_the_word_in_a_shorter_note_scores_higher(notes):
    """Five times in a short note is above once in a long one; scores differ, and larger means better."""
    notes.index(
        {
            "long.md": "The weir was mended. " * 40 + "A gannet passed. " + "The weir was mended. " * 40,
            "short.md": "gannet, gannet, gannet, gannet and gannet\n",
            **{f"other-{number}.md": f"nothing of the sort {number}" for number in range(10)},
        }
    )
    hits = notes.brain.search("gannet", mode="lexical").hits
    assert [hit.title for hit in hits] == ["short", "long"]
    assert hits[0].score > hits[1].score > 0


@pytest.mark.parametrize("mode", MODES)
def test_rk_4_ties_come_in_one_order(notes, mode):
    """Twenty notes of one text: the same order in every call, after a rebuild in another order, on every page."""
    text = "The gannet dives.\n"
    names = [f"{number:02}/note.md" for number in range(20)]
    for name in names:
        notes.index({name: text})
    every = [hit.id for hit in notes.brain.search("gannet", mode=mode, limit=20).hits]
    assert len(set(every)) == 20
    for _ in range(20):
        assert [hit.id for hit in notes.brain.search("gannet", mode=mode, limit=20).hits] == every
    for last in (5, 10, 15, 20):
        assert [hit.id for hit in notes.brain.search("gannet", mode=mode, limit=last).hits] == every[:last]
    notes.brain.index.remove_source("notes")
    for name in names:
        (notes.root / name).unlink()
    for name in reversed(names):
        notes.index({name: text})
    assert [hit.id for hit in notes.brain.search("gannet", mode=mode, limit=20).hits] == every


class Encoder:
    """A cross-encoder that prefers the shortest passage, raises, or sleeps until it is let go."""

    identity = "fake"

    def __init__(self, error: Exception | None = None, *, sleeps: threading.Event | None = None) -> None:
        self.error = error
        self.sleeps = sleeps

    def score(self, query: str, texts: Sequence[str], *, deadline_s: float) -> np.ndarray:
        if self.sleeps:
            self.sleeps.wait(60)
        if self.error:
            raise self.error
        return np.array([1 / len(text) for text in texts], dtype=np.float32)


@pytest.fixture
def gannets(notes):
    """Three notes that the words alone order by their length, longest last."""
    notes.index({f"{number}.md": "gannet " * (6 - number) + "dives. " * number * 9 for number in (1, 2, 3)})
    return notes


@pytest.mark.parametrize("mode", MODES)
def test_rk_5_a_reranker_orders_the_hits(gannets, monkeypatch, mode):
    """Where there is one and it answers, its order is delivered, without a notice; ``BRAIN_RERANK=0`` turns it off."""
    plain = gannets.brain.search("gannet dives", mode=mode)
    monkeypatch.setattr(wiring, "reranker", lambda settings: Encoder() if settings.rerank else None)
    gannets.reopen()
    result = gannets.brain.search("gannet dives", mode=mode)
    lengths = [len(hit.text) for hit in result.hits]
    assert lengths == sorted(lengths)
    assert "rerank" in {signal.name for signal in result.hits[0].explanation.signals}
    assert not any("rerank" in notice for notice in result.notices)
    gannets.reopen(BRAIN_RERANK="0")
    assert gannets.brain.search("gannet dives", mode=mode).hits == plain.hits


@pytest.mark.parametrize("mode", MODES)
def test_rk_5_a_reranker_that_fails_loses_nothing(gannets, monkeypatch, mode):
    """It raises, sleeps for a minute, or is not installed: the fused order, in time, and a notice that says why."""
    monkeypatch.setattr(reranking, "LOADING_S", 0.0)
    plain = gannets.brain.search("gannet dives", mode=mode)
    let_go = threading.Event()

    def absent(settings: object) -> None:
        raise MissingExtra("the reranker 'x'", "hub")

    for make, said in (
        (lambda settings: Encoder(RuntimeError("out of memory")), "RuntimeError: out of memory"),
        (lambda settings: Encoder(sleeps=let_go), "did not answer within 800 ms"),
        (absent, "pip install 'second-brain[hub]'"),
    ):
        monkeypatch.setattr(wiring, "reranker", make)
        gannets.reopen()
        started = time.monotonic()
        result = gannets.brain.search("gannet dives", mode=mode)
        assert time.monotonic() - started < 10
        assert result.hits == plain.hits
        (notice,) = set(result.notices) - set(plain.notices)
        assert notice.startswith("not reranked: ")
        assert said in notice
    let_go.set()


def test_rk_9_a_day_is_the_readers_day(notes):
    """What was written at 21:30 UTC on 1 May is of 2 May for a reader in Tokyo, and not for one in London."""
    notes.index(
        {
            "late.md": "---\ndate: 2031-05-01T21:30:00Z\n---\ngannet\n",
            "early.md": "---\ndate: 2031-05-01T14:59:59Z\n---\ngannet\n",
            "zoned.md": "---\ndate: 2031-05-02T06:30:00+09:00\n---\ngannet\n",
        }
    )
    tokyo = Filter(since=datetime(2031, 5, 2, tzinfo=TOKYO))
    london = Filter(since=datetime(2031, 5, 2, tzinfo=UTC))
    for mode in MODES:
        assert sorted(notes.found("gannet", mode=mode, filter=tokyo)) == ["late.md", "zoned.md"]
        assert notes.found("gannet", mode=mode, filter=london) == []
    assert [document.uri for document in notes.brain.recent(filter=tokyo)] == ["notes/late.md", "notes/zoned.md"]
    (hit,) = (hit for hit in notes.brain.search("gannet").hits if hit.title == "late")
    assert hit.date.astimezone(TOKYO).isoformat() == "2031-05-02T06:30:00+09:00"


def test_rk_9_a_note_of_a_bare_day_is_of_that_day_everywhere(notes):
    """A note that names a day and no time is found under that day, whatever the reader's zone, and no other."""
    notes.index({"day.md": "---\ndate: 2031-05-02\n---\ngannet\n", "2031-05-02 walk.md": "gannet\n"})
    for hours in (-11, -4, 0, 9, 14):
        first = datetime(2031, 5, 2, tzinfo=timezone(timedelta(hours=hours)))
        day = timedelta(days=1)
        assert len(notes.found("gannet", filter=Filter(since=first, until=first + day))) == 2
        assert notes.found("gannet", filter=Filter(until=first)) == []
        assert notes.found("gannet", filter=Filter(since=first + day)) == []


def test_rk_9_until_leaves_out_its_own_moment(notes):
    """A day from midnight to midnight holds its first moment and not the next day's."""
    notes.index({f"{hour:02}.md": f"---\ndate: 2031-05-02T{hour:02}:00:00Z\n---\ngannet\n" for hour in (0, 12, 23)})
    day = Filter(since=datetime(2031, 5, 2, tzinfo=UTC), until=datetime(2031, 5, 2, 23, tzinfo=UTC))
    assert sorted(notes.found("gannet", filter=day)) == ["00.md", "12.md"]


@pytest.mark.parametrize("mode", MODES)
def test_rk_4_every_process_has_the_same_order(notes, mode):
    """Three processes with other hash seeds and kernels of linear algebra, one of them without the mapped matrix."""
    words = ["gannet", "heron", "weir", "owl", "shed", "鷺", "堰"]
    notes.index({f"{n}.md": " ".join(words[(n * step) % 7] for step in range(1, 2 + n % 9)) for n in range(120)})
    command = [sys.executable, "-m", "second_brain.cli", "search", "heron owl 堰", "--json", "-n", "50", "--mode", mode]
    answers = []
    for seed, kernel in (("1", "Haswell"), ("2", "Nehalem"), ("3", "Haswell")):
        if seed == "3":
            notes.brain.index.vectors.matrix_path.unlink()
        environment = {"BRAIN_HOME": str(notes.home), "PYTHONHASHSEED": seed, "OPENBLAS_CORETYPE": kernel}
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
        answers.append([(hit["id"], hit["score"]) for hit in json.loads(done.stdout)["hits"]])
    assert len(answers[0]) >= 40
    assert answers[0] == answers[1] == answers[2]
