"""Public peers, on the passages of an index."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from second_brain.evals.answers import Asking, Engine
from second_brain.evals.golden import run_golden
from second_brain.evals.peers import passages_of, peer_engines, trigram_parts
from second_brain.evals.systems import Plan

NOTES = {
    "garden/compost.md": "# Compost\n\nTurn the heap every second week.\n\n## Worms\n\nThey like it damp.\n",
    "home/boiler.md": "# Boiler\n\nError E119 means that the pressure is low.\n",
    "料理/味噌汁.md": "# 味噌汁\n\n味噌は火を止めてから溶く。\n",
}


def first(engine: Engine, question: str) -> list[str]:
    return [place.document for place in engine(question).places[:1]]


def test_peers_find_what_the_product_finds(notes: Any) -> None:
    """The same passages, each below its title and headings; a question that nothing holds finds nothing by word."""
    notes.index(NOTES)
    passages = passages_of(notes.brain.index)
    assert passages[1].text == "Boiler\n# Boiler\n\nError E119 means that the pressure is low."
    with ExitStack() as held:
        peers = peer_engines(notes.brain.index, notes.brain.embedder(), Asking(), held)
        assert list(peers) == ["fts5-trigram", "trigram+dense", "bm25s"]
        for engine in peers.values():
            assert first(engine, "what does error e119 mean?") == ["notes/home/boiler.md"]
            assert first(engine, "turning the heap") == ["notes/garden/compost.md"]
        assert first(peers["fts5-trigram"], "味噌を止めて") == ["notes/料理/味噌汁.md"]
        assert first(peers["fts5-trigram"], "zebra, quartz") == first(peers["bm25s"], "zebra, quartz") == []
        assert "E119" in peers["bm25s"]("e119").text()


def test_nothing_in_a_question_is_an_operator_of_fts5(notes: Any) -> None:
    """Signs, operators and quotes are words or nothing; a blank question finds nothing."""
    notes.index(NOTES)
    with ExitStack() as held:
        trigram = peer_engines(notes.brain.index, notes.brain.embedder(), Asking(), held)["fts5-trigram"]
        for question in ('"', "AND OR NOT NEAR(", "heap* ^heap col:heap", "a-b", "?!", ""):
            trigram(question)
        assert first(trigram, "heap NEAR(x)") == ["notes/garden/compost.md"]


def test_parts_for_trigrams_are_words_and_threes_of_characters() -> None:
    """Two letters are no trigram; English stop words are left out."""
    assert trigram_parts("What is the E119 of 味噌を溶く?") == ["味噌を", "噌を溶", "を溶く", "e119"]


def test_peers_stand_in_the_table_of_an_evaluation(tmp_path: Path, notes: Any) -> None:
    """Where they are asked for, before the product's systems, with their time."""
    notes.write(NOTES)
    golden = tmp_path / "golden.jsonl"
    golden.write_text('{"id": "q", "query": "E119", "relevant": [{"path": "home/boiler.md", "grade": 1}]}\n')
    result = run_golden(golden, notes.root, settings=notes.brain.settings, plan=Plan(peers=True))
    assert list(result.values)[:5] == ["grep", "fts5-trigram", "trigram+dense", "bm25s", "lexical"]
    assert all(result.values[name]["MRR@10"] == {"q": 1.0} for name in ("fts5-trigram", "trigram+dense", "bm25s"))
    assert result.costs["bm25s"].p50_ms > 0


def test_empty_corpus_is_no_error_of_a_library(notes: Any) -> None:
    """With nothing indexed every peer finds nothing."""
    with ExitStack() as held:
        peers = peer_engines(notes.brain.index, notes.brain.embedder(), Asking(), held)
        for name in ("fts5-trigram", "bm25s"):
            assert first(peers[name], "anything") == []
