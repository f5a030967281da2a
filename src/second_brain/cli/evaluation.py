"""``brain eval``: how good are the answers?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .display import progress
from .exits import Exit
from .options import Invocation, WrongUsage, json_option, one_of
from .output import say_json, say_verbatim

if TYPE_CHECKING:
    from ..evals import Evaluation
    from ..evals.questions import Half

folder = click.Path(path_type=Path)


@click.command("eval")
@click.option("--golden", metavar="FILE", type=folder, help="Golden questions.  [default: eval/golden.jsonl]")
@click.option("--vault", metavar="DIR", type=folder, help="The notes they are about.  [default: example-vault]")
@click.option("--sets", metavar="DIR", type=folder, help="Also the retrieval sets in this folder.")
@click.option("--set", "names", metavar="NAME", multiple=True, help="Only this one of the sets; may be repeated.")
@click.option("--half", metavar="tune|held", callback=one_of("tune", "held"), help="Only this half of the questions.")
@click.option(
    "--cache",
    metavar="DIR",
    type=folder,
    default=Path(".eval"),
    show_default=True,
    help="Where indexes and vectors of evaluations are kept.",
)
@json_option
@click.pass_obj
def evaluate(
    invocation: Invocation,
    golden: Path | None,
    vault: Path | None,
    sets: Path | None,
    names: tuple[str, ...],
    half: Half | None,
    cache: Path,
    as_json: bool,
) -> int:
    """Measure the answers to questions whose answers are known.

    Every question is asked in every mode, and of grep where it can answer. Your own notes and index are not
    touched; your models and fusion settings are what is measured. docs/evaluation.md says how to read it.
    """
    if names and not sets:
        raise WrongUsage("--set needs --sets", "give the folder of the sets: brain eval --sets DIR --set NAME")
    from .. import evals

    with invocation.open_brain() as brain:
        settings = brain.settings
    evaluations: list[Evaluation] = []
    with progress(quiet=False) as show:
        if golden or vault or not names:
            evaluations.append(
                evals.run_golden(
                    golden or Path("eval/golden.jsonl"),
                    vault or Path("example-vault"),
                    index=cache / "golden" / "index.db",
                    settings=settings,
                    progress=show,
                )
            )
        if sets:
            evaluations += evals.run_sets(sets, names=names, cache=cache, settings=settings, progress=show)
    if as_json:
        say_json(
            {
                "evaluations": [
                    {
                        **asdict(evaluation),
                        "summaries": [asdict(summary) for summary in evals.summarize(evaluation, half)],
                    }
                    for evaluation in evaluations
                ]
            }
        )
    else:
        say_verbatim(evals.format_table(evaluations, half))
    return Exit.DONE
