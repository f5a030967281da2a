"""The stages of a search as systems."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from second_brain.config import ModelSettings, Settings
from second_brain.errors import UsageError
from second_brain.evals.answers import Asking, Found, Place, capped, gather
from second_brain.evals.questions import Question, silent
from second_brain.evals.stages import search_engines, stages
from second_brain.types import MODES


@pytest.fixture
def settings(notes: Any) -> Settings:
    """Of a small brain with a withdrawn note."""
    notes.index(
        {
            "old.md": "---\nstatus: deprecated\n---\n# Old pump\n\nThe pump pump pump runs at 40 Hz.\n",
            "new.md": "# New pump\n\nNowadays the pump runs at 50 Hz, quietly, in the second house by the river.\n",
        }
    )
    found: Settings = notes.brain.settings
    return found


def test_every_stage_has_its_row(settings: Settings) -> None:
    """In the order of the pipeline; the cross-encoder's where one is configured, token comparison where it can be."""
    modes = [mode for mode in MODES if mode not in ("lexical", "dense")]
    assert list(stages(settings, tokens=True)) == ["lexical", "dense", "fused", "late", "adjusted", *modes]
    assert list(stages(settings, tokens=True, steps=False)) == ["lexical", "dense", *modes]
    assert "late" not in stages(settings, tokens=False)
    assert "late" not in stages(replace(settings, late=False), tokens=True)
    reranked = replace(settings, models=ModelSettings(embedder="hashing", reranker="some/model"))
    assert list(stages(reranked, tokens=True)) == [
        "lexical", "dense", "fused", "late", "adjusted", "reranked", *modes
    ]  # fmt: skip
    assert "reranked" not in stages(replace(reranked, rerank=False), tokens=True)


def test_last_stage_is_what_hybrid_delivers(settings: Settings) -> None:
    """So it is asked once."""
    named = stages(settings, tokens=True)
    assert named["adjusted"] == named["hybrid"] != named["late"]
    with ExitStack() as held:
        engines = search_engines(settings, _embedder(), Asking(), held)
        assert engines["adjusted"] is engines["hybrid"]
        calls: list[str] = []
        gather(engines, [Question("q", "pump", {})], "set", lambda stage, *rest: calls.append(stage))
        assert calls == [f"set {name}" for name in engines if name != "hybrid"]


def test_status_counts_only_in_the_adjusted_stage(settings: Settings) -> None:
    """Before it, the withdrawn note that holds the word most stands first; the index is the same."""
    with ExitStack() as held:
        engines = search_engines(settings, _embedder(), Asking(), held)
        first = {name: engine("which pump runs?").places[0].document for name, engine in engines.items()}
    assert first["fused"] == "notes/old.md"
    assert first["adjusted"] == first["hybrid"] == "notes/new.md"


def test_answer_in_another_mode_is_an_error(settings: Settings) -> None:
    """A dense search that fell back to words must not be reported as dense."""
    with ExitStack() as held:
        engines = search_engines(settings, _Other(), Asking(), held)
        with pytest.raises(UsageError, match=r"'pump' was to be answered in mode dense.*search by meaning is off"):
            engines["dense"]("pump")


def test_an_agent_reads_the_packed_answer(settings: Settings) -> None:
    """Title, place and quote, within a budget."""
    with ExitStack() as held:
        engines = search_engines(settings, _embedder(), Asking().as_an_agent(), held)
        text = engines["hybrid"]("second house").text()
    assert "notes/new.md:" in text
    assert "> Nowadays the pump runs at 50 Hz" in text


def test_places_are_capped_as_asked() -> None:
    """By document and in all, in order."""
    places = [Place("a", 0, 1), Place("a", 1, 2), Place("b", 0, 1), Place("c", 0, 1)]
    assert capped(places, Asking(limit=2)) == [places[0], places[2]]
    assert capped(places, Asking(limit=3, per_document=None)) == places[:3]
    assert capped(places, Asking(limit=3, per_document=2)) == places[:3]


def test_each_question_is_asked_once_and_progress_is_told() -> None:
    """By question id, in order."""
    told: list[tuple[str, int, int | None]] = []

    def engine(question: str) -> Found:
        return Found([Place(question, 0, 1)], str)

    questions = [Question("a", "first", {}), Question("b", "second", {})]
    answers = gather({"x": engine}, questions, "set", lambda *step: told.append(step))
    assert answers == {"x": {"a": [Place("first", 0, 1)], "b": [Place("second", 0, 1)]}}
    assert told == [("set x", 1, 2), ("set x", 2, 2)]
    assert gather({}, questions, "set", silent) == {}


def _embedder() -> Any:
    from second_brain.models.hashing import HashingEmbedder

    return HashingEmbedder()


class _Other:
    """An embedder whose vectors the index does not hold."""

    identity = "other/1"
    dimensions = 256

    def embed_documents(self, texts: Any) -> Any:
        raise AssertionError(texts)

    embed_queries = embed_documents
