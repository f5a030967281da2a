"""``brain eval``: how good are the answers? ``brain eval mine``: questions to measure them with."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .display import progress
from .exits import Exit
from .options import Invocation, WrongUsage, json_option, one_of
from .output import Piece, say, say_json, say_verbatim, tell

if TYPE_CHECKING:
    from ..evals import Evaluation, Plan
    from ..evals.mining import Proposal
    from ..evals.questions import Half
    from ..protocols import Progress

place = click.Path(path_type=Path)

GOLDEN, VAULT = Path("eval/golden.jsonl"), Path("example-vault")


@click.group("eval", invoke_without_command=True)
@click.option(
    "--golden",
    metavar="FILE",
    type=place,
    help="Golden questions, JSONL or a folder in BEIR form.  [default: eval/golden.jsonl about example-vault]",
)
@click.option(
    "--vault", metavar="DIR", type=place, help="The notes that --golden asks about.  [default: your own index]"
)
@click.option("--sets", metavar="DIR", type=place, help="Also the retrieval sets in this folder.")
@click.option("--set", "names", metavar="NAME", multiple=True, help="Only this one of the sets; may be repeated.")
@click.option(
    "--half", metavar="tune|held", callback=one_of("tune", "held"), help="Ask only this half of the questions."
)
@click.option("--peers", is_flag=True, help="Also ask public peers: FTS5 trigram, the same with vectors by RRF, bm25s.")
@click.option("--tokens", is_flag=True, help="Also tell what an agent reads: a search, a note, grep's lines, files.")
@click.option("--baseline", metavar="FILE", type=place, help="Tell what changed since this evaluation was saved.")
@click.option(
    "--fail-below",
    metavar="AMOUNT",
    type=click.FloatRange(min=0),
    help="Exit with 1 if a measure of a mode fell by more below --baseline.",
)
@click.option("--save", metavar="FILE", type=place, help="Keep the values of every question, as a baseline.")
@click.option("--report", metavar="DIR", type=place, help="Write a page, JSON and pictures into this folder.")
@click.option(
    "--cache",
    metavar="DIR",
    type=place,
    default=Path(".eval"),
    show_default=True,
    help="Where indexes and vectors of evaluations are kept.",
)
@json_option
@click.pass_context
def evaluate(
    context: click.Context,
    golden: Path | None,
    vault: Path | None,
    sets: Path | None,
    names: tuple[str, ...],
    half: Half | None,
    peers: bool,
    tokens: bool,
    baseline: Path | None,
    fail_below: float | None,
    save: Path | None,
    report: Path | None,
    cache: Path,
    as_json: bool,
) -> int:
    """Measure the answers to questions whose answers are known.

    Every question is asked of grep, in every mode, and at every stage before a hybrid answer. Your own notes and
    index are not changed; your models and fusion settings are what is measured. With --golden alone the questions are
    about your own index, their paths being as below a source, or uris, and the means are kept beside it, in
    eval-history.jsonl. docs/evaluation.md says how to read the result.
    """
    if context.invoked_subcommand:
        return Exit.DONE
    if names and not sets:
        raise WrongUsage("--set needs --sets", "give the folder of the sets: brain eval --sets DIR --set NAME")
    if fail_below is not None and not baseline:
        raise WrongUsage("--fail-below needs --baseline", "name the file that `brain eval --save FILE` wrote")
    from .. import evals
    from ..evals.baseline import matched
    from ..evals.measures import check_installed
    from ..evals.report import as_json as everything
    from ..evals.report import write_report
    from ..evals.tables import format_changes

    check_installed(peers=peers)
    before = evals.read_evaluations(baseline) if baseline else []
    plan = evals.Plan(half=half, peers=peers, readings=tokens or report is not None)
    with progress(quiet=False) as show:
        evaluations = _measured(context.obj, golden, vault, sets, names, cache, plan, show)
    compared = matched(before, evaluations) if baseline else []
    if save:
        evals.save_evaluations(save, evaluations)
    if report:
        write_report(report, evaluations, half, compared)
    if as_json:
        say_json(everything(evaluations, half, compared))
    else:
        say_verbatim(evals.format_table(evaluations, half))
        if compared:
            say_verbatim("\n" + format_changes(compared, half))
    return Exit.FAILED if fail_below is not None and _tell_falls(compared, half, fail_below) else Exit.DONE


def _tell_falls(compared: Sequence[tuple[Evaluation, Evaluation]], half: Half | None, tolerance: float) -> bool:
    """Whether a measure fell by more than the tolerance; tells which."""
    from .. import evals

    failed = False
    for before, after in compared:
        for change in evals.falls(evals.changes(before, after, half), tolerance):
            failed = True
            tell(
                Piece(f"{after.name}: {change.measure} of {change.system} fell ", "error"),
                f"from {change.before:.4f} to {change.after:.4f}",
            )
    return failed


def _measured(
    invocation: Invocation,
    golden: Path | None,
    vault: Path | None,
    sets: Path | None,
    names: tuple[str, ...],
    cache: Path,
    plan: Plan,
    show: Progress,
) -> list[Evaluation]:
    from .. import evals
    from ..evals.history import record
    from ..evals.vaults import cached_index

    evaluations: list[Evaluation] = []
    with invocation.open_brain() as brain:
        if golden and not vault:
            now = datetime.now(UTC)
            evaluations.append(evals.run_own(golden, brain, now=now, plan=plan, progress=show))
            if plan.half is None:
                record(brain.settings, evaluations[0], now, generation=brain.generation)
        elif golden or vault or not names:
            notes = vault or VAULT
            index = cached_index(cache, notes)
            evaluations.append(
                evals.run_golden(
                    golden or GOLDEN, notes, index=index, settings=brain.settings, plan=plan, progress=show
                )
            )
        if sets:
            evaluations += evals.run_sets(
                sets, names=names, cache=cache, settings=brain.settings, plan=plan, progress=show
            )
    return evaluations


@evaluate.command()
@click.argument("places", metavar="[LOG]...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--golden", metavar="FILE", type=place, help="Where confirmed questions are added.  [default: golden.jsonl in home]"
)
@click.option("--yes", is_flag=True, help="Add all that are found, without asking.")
@json_option
@click.pass_obj
def mine(invocation: Invocation, places: tuple[Path, ...], golden: Path | None, yes: bool, as_json: bool) -> int:
    """Propose golden questions from your sessions with Claude Code.

    A question that you typed, and the indexed notes that were read for it. Each is shown for one key: y adds it, n
    passes on, q ends. LOG is a session's file or a folder of them; without one, those of Claude Code. With --json they
    are listed and nothing is added. Then: brain eval --golden FILE.
    """
    if not (yes or as_json or sys.stdin.isatty()):
        raise WrongUsage("there is no terminal to confirm with", "list them with --json, or add all with --yes")
    from ..evals.mining import append, logs, propose
    from ..sources.claude_sessions import ClaudeSessions

    with invocation.open_brain() as brain:
        file = golden or brain.settings.home / "golden.jsonl"
        proposals = propose(brain, logs(places or ClaudeSessions.default_roots(os.environ)), known=[file])
        if as_json:
            say_json({"golden": str(file), "proposals": [_as_json(proposal) for proposal in proposals]})
            return Exit.DONE
        added = 0
        for proposal in proposals:
            _say_proposal(proposal)
            answer = "y" if yes else _key()
            if answer == "q":
                break
            if answer == "y":
                append(file, proposal)
                added += 1
    questions = "1 question" if added == 1 else f"{added:,} questions"
    say(f"{questions} added to {file}" if added else "no question was added")
    if added:
        tell(f"measure with them: brain eval --golden {file}")
    return Exit.DONE


def _as_json(proposal: Proposal) -> dict[str, object]:
    relevant = [{"path": uri, "grade": grade} for uri, grade in proposal.relevant.items()]
    return {
        "id": proposal.id,
        "query": proposal.query,
        "lang": proposal.lang,
        "relevant": relevant,
        "asked": proposal.time,
    }


def _say_proposal(proposal: Proposal) -> None:
    say()
    say(Piece(proposal.query, "title"), Piece(f"  {proposal.time[:10]}", "dim"))
    for uri, grade in proposal.relevant.items():
        say("   ", uri, Piece("  answers" if grade > 1 else "  helps", "dim"))


def _key() -> str:
    """One of y, n, q, as typed; anything else is asked again. The end of the input is q."""
    tell("add it? [y/n/q] ")
    while True:
        try:
            key = click.getchar().lower()
        except EOFError:
            return "q"
        if key in ("y", "n", "q"):
            return key
