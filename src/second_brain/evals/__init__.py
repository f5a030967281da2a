"""Is it any good, and which change made it better?

For: questions with known answers, put to the product itself in every mode and stage, to a grep baseline and to public
peers; measures with their usual definitions; differences with an interval, and a gate that a change must pass; what
an answer costs in time and tokens; questions proposed from the logs of agents. ``docs/evaluation.md`` says how to run
it and how to read it. Not for: speed (``bench/``), nor anything that a search needs: nothing imports this room but
the command line.

    from second_brain import evals
    result = evals.run_golden(Path("eval/golden.jsonl"), Path("example-vault"))
    print(evals.format_table([result], half="held"))

Names are resolved when first used: the measures need the extra ``eval``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .baseline import changes, falls, read_evaluations, save_evaluations
    from .golden import run_golden, run_own
    from .questions import half
    from .results import Evaluation, summarize
    from .sets import run_sets
    from .systems import Plan
    from .tables import format_table

__all__ = [
    "Evaluation",
    "Plan",
    "changes",
    "falls",
    "format_table",
    "half",
    "read_evaluations",
    "run_golden",
    "run_own",
    "run_sets",
    "save_evaluations",
    "summarize",
]

_HOMES = {
    "Evaluation": "results",
    "Plan": "systems",
    "changes": "baseline",
    "falls": "baseline",
    "format_table": "tables",
    "half": "questions",
    "read_evaluations": "baseline",
    "run_golden": "golden",
    "run_own": "golden",
    "run_sets": "sets",
    "save_evaluations": "baseline",
    "summarize": "results",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
