"""Is it any good, and which change made it better?

For: questions with known answers, put to the product itself in every mode and to a grep baseline; measures with
their usual definitions; differences with an interval. ``docs/evaluation.md`` says how to run it and how to read
it. Not for: speed (``bench/``), nor anything that a search needs: nothing imports this room but the command line.

    from second_brain import evals
    result = evals.run_golden(Path("eval/golden.jsonl"), Path("example-vault"))
    print(evals.format_table([result], half="held"))

Names are resolved when first used: the measures need the extra ``eval``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .golden import run_golden
    from .questions import half
    from .results import Evaluation, compare, read_evaluations, summarize
    from .sets import run_sets
    from .tables import format_table

__all__ = ["Evaluation", "compare", "format_table", "half", "read_evaluations", "run_golden", "run_sets", "summarize"]

_HOMES = {
    "Evaluation": "results",
    "compare": "results",
    "format_table": "tables",
    "half": "questions",
    "read_evaluations": "results",
    "run_golden": "golden",
    "run_sets": "sets",
    "summarize": "results",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
