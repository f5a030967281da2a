"""One call of a tool, from what the client sent to what it gets; what goes wrong is an answer it can act on."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ..errors import Ambiguous, BrainError
from .arguments import Arguments
from .desk import Desk, Report
from .toolsets import Tool

MOST_CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the client gets. ``value`` is None where the call failed, which ``text`` then explains."""

    text: str
    value: dict[str, Any] | None


def call(tool: Tool, desk: Desk, given: Mapping[str, Any] | None, report: Report) -> Outcome:
    """Run a tool. Raises only Cancelled, which ``report`` does when the client does not want the answer any more."""
    try:
        answer = tool.run(desk, Arguments(given, tuple(tool.takes)), report)
    except Ambiguous as error:
        candidates = ", ".join(error.candidates[:MOST_CANDIDATES])
        return failed(str(error), f"give one of: {candidates}")
    except BrainError as error:
        return failed(str(error), error.hint)
    except Exception as error:
        traceback.print_exc(file=sys.stderr)  # for the client's log; its model has no use for it
        return failed(f"unexpected {type(error).__name__}", "this is a fault of second-brain: try another way")
    return Outcome(answer.text, answer.value)


def unknown(name: str, tools: Sequence[Tool]) -> Outcome:
    """The answer to a call of a tool that is not offered."""
    names = [tool.name for tool in tools]
    near = get_close_matches(name, names, 1)
    meant = f"did you mean '{near[0]}'? " if near else ""
    return failed(f"there is no tool '{name[:80]}'", f"{meant}tools: {', '.join(names)}")


def failed(message: str, hint: str) -> Outcome:
    """What was wrong, and what to do."""
    from ..answering.packing import seen

    return Outcome("\n".join(seen(line)[:1000] for line in (message, hint) if line), None)
