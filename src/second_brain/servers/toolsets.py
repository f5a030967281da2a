"""Which tools there are, and which a client gets."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from .arguments import Arguments
from .desk import Desk, Report

BUDGET_TOKENS = 2_000
LEAST_TOKENS = 300
MOST_TOKENS = 8_000
"""Of one answer; clients cut or refuse what is longer than some 25,000."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers: text for a model, and the same as a value for a program."""

    text: str
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. ``takes`` and ``gives`` are JSON schemas' ``properties``; ``needs`` the required ones.

    ``run`` imports what it needs when it is called: the tools are listed before any of it is loaded.
    """

    name: str
    title: str
    description: str
    run: Callable[[Desk, Arguments, Report], Answer]
    takes: Mapping[str, Any]
    gives: Mapping[str, Any]
    needs: tuple[str, ...] = ()
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True

    def input_schema(self) -> dict[str, Any]:
        """The schema of the arguments."""
        return {"type": "object", "properties": dict(self.takes), "required": list(self.needs)}

    def output_schema(self) -> dict[str, Any]:
        """The schema of the value."""
        return {"type": "object", "properties": dict(self.gives), "required": list(self.gives)}


def toolsets() -> dict[str, tuple[Tool, ...]]:
    """All tools, by set."""
    from . import entities, knowledge, shelves

    return {
        "knowledge": knowledge.KNOWLEDGE,
        "sources": shelves.SOURCES,
        "notes": knowledge.NOTES,
        "vault": knowledge.VAULT,
        "memory": entities.MEMORY,
    }


DEFAULT = ("knowledge", "sources")


def chosen(names: Sequence[str], *, read_only: bool = False) -> tuple[Tool, ...]:
    """The tools of these sets, in a fixed order; with ``read_only`` those that change nothing. Raises UsageError."""
    every = toolsets()
    for name in names:
        if name not in every:
            raise UsageError(f"there is no toolset '{name}'; toolsets: {', '.join(every)}")
    tools = {tool.name: tool for name in every if name in names for tool in every[name]}
    return tuple(tool for tool in tools.values() if tool.read_only or not read_only)


def within(budget: int, make: Callable[[int], Answer], *, least: int = 200) -> Answer:
    """The answer that ``make`` gives for so many tokens, with less where its value as JSON would take more.

    Clients show a model the text, or the value; neither may be longer than was asked for.
    """
    from ..answering.packing import tokens

    room = budget
    while True:
        answer = make(room)
        size = tokens(json.dumps(answer.value, ensure_ascii=False))
        if size <= budget or room <= least:
            return answer
        room = max(least, min(room - 50, room * budget // size))
