"""Which tools there are, and which a client gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import UsageError
from .arguments import Arguments
from .desk import Desk, Report


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers: text for a model, and the same as a value for a program."""

    text: str
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. ``takes`` and ``gives`` are JSON schemas' ``properties``; ``needs`` the required ones."""

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
