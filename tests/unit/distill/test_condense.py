"""A chat model's summary: the whole session, every answer kept, nothing believed that cannot be traced."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest
from planted_sessions import session

from second_brain.distill.condense import MARK, Condenser, Prompts, load_prompts, parts, read_answer
from second_brain.distill.ledger import CapReached, Ledger
from second_brain.distill.summary import Statement, turns
from second_brain.errors import DeadlineMissed, ModelError
from second_brain.models.chat import OpenAiChat
from second_brain.testing.loopback import Answer, Asked, Loopback, chat_answer

TODAY = date(2031, 5, 2)
PROMPTS = Prompts(f"PART {MARK}", f"WHOLE {MARK}")


def asked_text(asked: Asked) -> str:
    """What the one message of a request says."""
    (message,) = asked.body["messages"]
    return str(message["content"])


def echo(asked: Asked) -> Answer:
    """A model that repeats the first turn it sees, so that its answer can be traced."""
    turn = re.search(r"\[(\d+)\]", asked_text(asked))
    assert turn
    return chat_answer(
        f"## Happened\n- Turn {turn.group(1)} was read. [{turn.group(1)}]\n## Solved\n- It works. [1, 2]"
    )


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[Asked], Answer]], Loopback]]:
    """Starts a server that responds so."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda respond: stack.enter_context(Loopback(respond).running())


def condenser(server: Loopback, folder: Path, *, cap: int = 0, context: int = 3000, timeout_s: float = 20) -> Condenser:
    """One that asks the server and keeps its answers in the folder."""
    return Condenser(
        OpenAiChat(server.url, "m"), PROMPTS, Ledger(folder, tokens_per_day=cap, today=TODAY), context, timeout_s
    )


def test_the_whole_session_is_read_whatever_its_length():
    """Parts of at most the room given, in order, that together hold every block; a huge block is cut."""
    document, _ = session(3, exchanges=80)
    read = list(turns(document))
    pieces = list(parts(read, 600))
    assert len(pieces) > 5
    joined = "".join("\n".join(pieces).split())
    for turn in read:
        for block in turn.blocks:
            assert "".join(block.text.split()) in joined
    assert [len(list(parts(read, room))) for room in (200, 100_000)][1] == 1


def test_several_parts_become_one_summary_and_commands_stay_the_sessions_own(serve, tmp_path):
    """Part after part, then the whole; the model is never asked for commands or files."""
    server = serve(echo)
    document, facts = session(4, exchanges=60)
    summary = condenser(server, tmp_path).summary(document)
    kinds = [asked_text(asked).split()[0] for asked in server.asked]
    assert kinds.count("PART") > 1
    assert kinds[-1] == "WHOLE"
    assert summary.happened == (Statement("Turn 1 was read.", (1,)),)
    assert summary.solved == (Statement("It works.", (1, 2)),)
    commands = " ".join(statement.text for statement in summary.commands)
    assert all(needle in commands for fact in facts if fact.kind == "command" for needle in fact.needles)


def test_nothing_is_asked_or_paid_twice(serve, tmp_path):
    """A second run takes the kept answers; a run that was cut off goes on where it was."""
    document, _ = session(4, exchanges=60)
    server = serve(echo)
    first = condenser(server, tmp_path / "a").summary(document)
    asked = len(server.asked)
    assert condenser(server, tmp_path / "a").summary(document) == first
    assert len(server.asked) == asked

    def cut_at_third(request: Asked) -> Answer:
        return Answer(data=b"{", cut_at=1) if len(cut.asked) == 3 else echo(request)

    cut = serve(cut_at_third)
    with pytest.raises(ModelError):
        condenser(cut, tmp_path / "b").summary(document)
    assert len(cut.asked) == 3
    condenser(cut, tmp_path / "b").summary(document)
    texts = [asked_text(request) for request in cut.asked]
    assert len(texts) == asked + 1
    assert [text for text in set(texts) if texts.count(text) > 1] == [texts[2]]


def test_the_cap_of_a_day_holds_across_restarts_and_ends_with_the_day(serve, tmp_path):
    """What is counted before a request is never less than what it takes; the next day counts anew."""
    server = serve(lambda asked: chat_answer("## Solved\n- It works. [1]", prompt_tokens=1900, completion_tokens=100))
    document, _ = session(4, exchanges=60)
    spent = []
    for _ in range(2):
        with pytest.raises(CapReached, match="cap of 6,000 tokens a day"):
            condenser(server, tmp_path, cap=6000).summary(document)
        spent.append(Ledger(tmp_path, tokens_per_day=0, today=TODAY).spent_today())
    assert 0 < spent[0] <= spent[1] <= 6000
    assert Ledger(tmp_path, tokens_per_day=0, today=date(2031, 5, 3)).spent_today() == 0


def test_a_request_of_unknown_fate_stays_counted_a_refused_one_does_not(serve, tmp_path):
    """Slow: perhaps paid. Refused: surely not."""
    document, _ = session(4, exchanges=6)
    slow = serve(lambda asked: Answer(echo(asked).body, delay_s=2))
    with pytest.raises(DeadlineMissed):
        condenser(slow, tmp_path / "slow", timeout_s=0.3).summary(document)
    assert Ledger(tmp_path / "slow", tokens_per_day=0, today=TODAY).spent_today() > 1000
    refused = serve(lambda asked: Answer({"error": {"message": "no"}}, 400))
    with pytest.raises(ModelError, match="refused"):
        condenser(refused, tmp_path / "refused").summary(document)
    assert Ledger(tmp_path / "refused", tokens_per_day=0, today=TODAY).spent_today() == 0


def test_only_what_can_be_traced_is_taken(tmp_path):
    """Bullets below known headings; turns that exist, else the turn that shares the words; the rest is dropped."""
    document, _ = session(1, exchanges=4)
    read = list(turns(document))
    words = read[2].blocks[1].text
    found = read_answer(
        "Sure!\n- outside [1]\n## Decided\n- By range. [1-3]\n1. Japanese brackets。［2、4］\n- nobody said this [99]\n"
        f"- {words}\n## Secrets\n- other part [1]\n## OPEN\n* one [4].\nprose",
        read,
    )
    assert found["decided"] == (
        Statement("By range.", (1, 2, 3)),
        Statement("Japanese brackets。", (2, 4)),
        Statement(words, (read[2].number,)),
    )
    assert found["open"] == (Statement("one", (4,)),)
    assert found["happened"] == found["solved"] == ()


def test_an_answer_without_anything_to_trace_is_an_error(serve, tmp_path):
    """The caller says so; no empty summary is written."""
    server = serve(lambda asked: chat_answer("I am sorry."))
    with pytest.raises(ModelError, match="could be traced"):
        condenser(server, tmp_path).summary(session(1)[0])


def test_a_context_too_small_for_anything_is_named(serve, tmp_path):
    """With the setting that can be raised."""
    server = serve(echo)
    with pytest.raises(ModelError) as caught:
        condenser(server, tmp_path, context=1500).summary(session(1)[0])
    assert "context_tokens" in caught.value.hint
    assert server.asked == []


def test_prompts_of_the_user_are_taken_and_checked(tmp_path):
    """Each file by itself; one without the mark is refused."""
    ours = load_prompts(tmp_path)
    assert MARK in ours.part
    assert MARK in ours.whole
    (tmp_path / "part.md").write_text(f"Mine {MARK}")
    assert load_prompts(tmp_path) == Prompts(f"Mine {MARK}", ours.whole)
    (tmp_path / "whole.md").write_text("nothing")
    with pytest.raises(ModelError, match=r"whole.md: \{\{text\}\} is missing"):
        load_prompts(tmp_path)


def test_what_a_model_says_stays_plain_text(tmp_path):
    """No picture, link, embed, element, heading or key comes of it; no flood of statements."""
    read = list(turns(session(1, exchanges=4)[0]))
    key = "ghp_" + "a1B2" * 9
    said = f"- # Big ![i](http://x/p.png) [[note]] <img src=x> [t](u) {key} [1]\n"
    (one,) = read_answer("## Open\n" + said, read)["open"]
    assert not any(live in one.text for live in ("![", "[[", "](", "<", key))
    assert not one.text.startswith("#")
    found = read_answer("## Open\n" + "- one more thing [1]\n" * 10_000 + "- " + "long " * 10_000 + "[1]\n", read)
    assert len(found["open"]) <= 30
    assert all(len(statement.text) <= 500 for statement in found["open"])
