"""The extractive summary holds what people later ask a session for."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest
from planted_sessions import session

from second_brain.distill.extract import extractive
from second_brain.distill.note import rendered
from second_brain.distill.summary import turns
from second_brain.types import Block, Document, Section

NOW = datetime(2031, 5, 2, tzinfo=UTC)


def made(*exchanges: list[tuple[str, str]]) -> Document:
    """A session of these exchanges, each a list of (kind, text)."""
    text, sections, blocks = "", [], []
    for number, exchange in enumerate(exchanges, start=1):
        start = len(text)
        for kind, piece in [("heading", f"## {number} · 2031-05-01 09:00 · x"), *exchange]:
            blocks.append(Block(kind, len(text), len(text) + len(piece)))
            text += piece + "\n\n"
        sections.append(Section(2, (f"{number} · x",), start, len(text)))
    when = datetime(2031, 5, 1, tzinfo=UTC)
    return Document(
        "s/a.jsonl", "s", "session", "session", "A", text, when, sections=tuple(sections), blocks=tuple(blocks)
    )


@pytest.mark.parametrize("exchanges", [12, 60])
def test_four_of_five_planted_facts_are_in_a_note_of_3_kb(exchanges):
    """Decisions, errors with their remedy, commands and files, in English and Japanese, said in many ways."""
    held: Counter[bool] = Counter()
    for seed in range(30):
        document, facts = session(seed, exchanges=exchanges)
        note = rendered(document, extractive(document), privacy="work", now=NOW)
        assert len(note.encode("utf-8")) <= 3072
        held.update(all(needle in note for needle in fact.needles) for fact in facts)
    assert held[True] >= 0.8 * held.total()


def test_every_statement_is_in_the_turn_that_it_names():
    """The summary quotes; it makes nothing up."""
    for seed in range(12):
        document, _ = session(seed)
        by_number = {turn.number: " ".join(block.text for block in turn.blocks) for turn in turns(document)}
        summary = extractive(document)
        for part in (summary.happened, summary.decided, summary.open, summary.commands, summary.files):
            for statement in part:
                quote = statement.text.strip("`").rstrip("…")
                assert any(quote in " ".join(by_number[turn].split()) for turn in statement.turns), statement


def test_an_error_stands_with_what_mended_it_even_some_turns_later():
    """The remedy's turn is named too; an error that nothing mended stands alone, once."""
    document = made(
        [("user", "Run it."), ("error", "Traceback\nKeyError: 'tide'"), ("assistant", "Hm, strange.")],
        [("user", "And?"), ("assistant", "The cause was a renamed column: tide is now level.")],
        [("user", "Again"), ("error", "KeyError: 'moon'"), ("error", "KeyError: 'moon'")],
    )
    solved = [(statement.text, statement.turns) for statement in extractive(document).solved]
    assert solved == [
        ("`KeyError: 'tide'` → The cause was a renamed column: tide is now level.", (1, 2)),
        ("`KeyError: 'moon'`", (3,)),
    ]


def test_commands_that_only_look_come_after_those_that_do():
    """And each is named once, however often it ran."""
    document = made([("user", "Go on."), ("command", "$ ls"), ("command", "$ ls"), ("command", "$ make tide")])
    assert [statement.text for statement in extractive(document).commands] == ["`make tide`", "`ls`"]


def test_code_in_a_fence_is_no_statement():
    """A comment that says 'fixed' in pasted code tells nothing about the session."""
    document = made([("user", "Look:\n```py\n# TODO fixed because of the tide\n```\nWhat is it?")])
    summary = extractive(document)
    assert summary.solved == summary.open == ()


def test_a_session_without_words_has_an_empty_summary():
    """Nothing is invented."""
    assert extractive(made()).part("happened") == ()
    assert extractive(made([("user", "")])).part("solved") == ()


def test_a_huge_session_is_summarized_within_the_limit_and_soon():
    """A million characters in one turn, or ten thousand turns."""
    one = made([("user", "Why? " + "The tide rises because of the moon. " * 30_000)])
    many = made(*[[("user", f"Question {n}?"), ("assistant", f"We decided to use tide{n}.")] for n in range(10_000)])
    for document in (one, many):
        assert len(rendered(document, extractive(document), privacy="work", now=NOW).encode()) <= 3072
