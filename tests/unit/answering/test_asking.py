"""A chat model may take a question apart; what it answers is text, and never more than words to search for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from second_brain.answering.asking import Asked, parsed
from second_brain.errors import DeadlineMissed
from second_brain.protocols import Completion, Message


class Chat:
    """Answers with a text, or fails."""

    identity = "fake"

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.asked: list[Sequence[Message]] = []

    def complete(self, messages: Sequence[Message], *, max_tokens: int, deadline_s: float) -> Completion:
        self.asked.append(messages)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Completion(self.answer)


def by_rules(text: str) -> tuple[str, ...]:
    return ("by", "rules")


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ('["pump noise", "valve torque"]', ("pump noise", "valve torque")),
        ('```json\n["pump noise", "valve torque"]\n```', ("pump noise", "valve torque")),
        ('["排水ポンプ"]', ("排水ポンプ",)),
        ('Sure! ["pump"]', ()),
        ('["pump", 3]', ()),
        ('["pump", ""]', ()),
        ('["a", "b", "c", "d", "e"]', ()),
        ('["pump", "pump"]', ()),
        ('{"queries": ["pump"]}', ()),
        ('["' + "x" * 300 + '"]', ()),
        ("", ()),
        ("[", ()),
    ],
)
def test_only_a_list_of_short_texts_is_understood(answer, parts):
    """Anything else is nothing."""
    assert parsed(answer) == parts


def test_the_model_decides_how_many_parts():
    """The question goes to it as data, in a message of its own; one string means one search, in the asker's words."""
    chat = Chat('["pump noise", "valve torque"]')
    assert Asked(lambda: chat, by_rules)("what of pump and valve?") == ("pump noise", "valve torque")
    ((system, user),) = chat.asked
    assert (system.role, user.role, user.content) == ("system", "user", "what of pump and valve?")
    assert Asked(lambda: Chat('["reworded"]'), by_rules)("as asked") == ("as asked",)


@pytest.mark.parametrize("answer", ["no list", DeadlineMissed("too slow")])
def test_rules_step_in_and_the_answer_says_so(answer):
    """When the model fails, is late, or says something else."""
    asked = Asked(lambda: Chat(answer), by_rules)
    assert asked("what of pump and valve?") == ("by", "rules")
    assert len(asked.notices) == 1
    assert "rules" in asked.notices[0]


def test_without_a_model_rules_do_it():
    """Silently: nobody asked for one."""
    asked = Asked(lambda: None, by_rules)
    assert (asked("pump?"), asked.notices) == (("by", "rules"), [])
