"""``brain generations``, ``brain promote``, ``brain rollback``: which build of the index answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..moments import shown
from .display import Progress, progress, say_table
from .exits import Exit
from .health import size
from .options import Invocation, WrongUsage, json_option
from .output import Piece, say, say_json, tell

if TYPE_CHECKING:
    from ..evals import Evaluation
    from ..evals.baseline import Change
    from ..generations import Comparison, Contents, Generation, Promotion, Pruned
    from ..library import Brain
    from ..servers.fleet import Consumer
    from ..types import Mode

MEASURE = "nDCG@5"
"""By which answers are compared: of golden questions, whose answers stand among the first few hits or nowhere."""

MODE: Mode = "hybrid"
"""How a search answers unless it is told otherwise."""


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def generations(context: click.Context, as_json: bool) -> int:
    """List the builds of the index: which answers, which is ready, and what each holds."""
    if context.invoked_subcommand:
        return Exit.DONE
    invocation: Invocation = context.obj
    with invocation.open_brain() as brain:
        found = brain.roster()
        rows = [(generation, brain.contents(generation.name)) for generation in found.generations]
    if as_json:
        say_json(
            {
                "current": found.current,
                "previous": found.previous,
                "promoting": found.promoting,
                "generations": [_as_json(generation, held) for generation, held in rows],
            }
        )
        return Exit.DONE
    say_table(
        ("", "state", "documents", "passages", "vectors", "size", "made", "embedder", "analyzer", "chunker", "golden"),
        [_row(generation, held, found.previous) for generation, held in rows],
    )
    for generation, held in rows:
        if held.problem:
            tell(Piece(f"note: {generation.name}: {held.problem}", "warning"))
    if found.promoting:
        again = f"`brain promote {found.promoting}` completes it, `brain promote {found.current}` undoes it"
        tell(Piece(f"note: the promotion of '{found.promoting}' did not end; {again}", "warning"))
    return Exit.DONE


def _row(generation: Generation, held: Contents, previous: str) -> tuple[object, ...]:
    golden = generation.golden
    return (
        generation.name,
        "previous" if generation.name == previous else generation.state,
        held.documents,
        held.passages,
        held.passages - held.waiting,
        size(held.bytes),
        shown(generation.made) if generation.made else "",
        held.embedder or generation.embedder,
        held.analyzer or generation.analyzer,
        str(held.chunker or generation.chunker or ""),
        f"{golden.measure} {golden.value:.3f} ({golden.questions} questions)" if golden else "",
    )


def _as_json(generation: Generation, held: Contents) -> dict[str, object]:
    return {
        "name": generation.name,
        "state": generation.state,
        "documents": held.documents,
        "passages": held.passages,
        "vectors": held.passages - held.waiting,
        "waiting": held.waiting,
        "failures": held.failures,
        "bytes": held.bytes,
        "made": generation.made,
        "synced": held.synced,
        "embedder": held.embedder or generation.embedder,
        "analyzer": held.analyzer or generation.analyzer,
        "chunker": held.chunker or generation.chunker,
        "settings": generation.settings,
        "golden": generation.golden,
        "problem": held.problem,
    }


@generations.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@json_option
@click.pass_obj
def prune(invocation: Invocation, names: tuple[str, ...], as_json: bool) -> int:
    """Delete builds that nobody goes back to.

    Without a name: those that were current before the previous one, those that were given up, and those that were
    passed over. What a process has open is kept. With names, just these.
    """
    from .. import builds

    with invocation.open_brain() as brain:
        pruned = builds.prune(brain, names)
    if as_json:
        say_json({"deleted": pruned.deleted, "bytes": pruned.bytes, "open": pruned.open})
    elif not pruned.deleted and not pruned.open:
        say("nothing to delete")
    else:
        _say_pruned(pruned)
    return Exit.INCOMPLETE if names and pruned.open else Exit.DONE


@generations.command()
@click.argument("name")
@click.pass_obj
def repair(invocation: Invocation, name: str) -> int:
    """Choose the build that answers, where the file that says so is damaged or gone."""
    from .. import builds

    with invocation.open_brain() as brain:
        aside = builds.repair(brain, name)
    say(f"'{name}' is the current generation")
    if aside:
        tell(f"what could not be read is kept as {aside}")
    return Exit.DONE


@click.command()
@click.argument("name")
@click.option("--force", is_flag=True, help="Promote it though it is incomplete, or answers worse.")
@click.option(
    "--golden",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Questions that both are asked first.  [default: golden.jsonl in home, if it is there]",
)
@json_option
@click.pass_obj
def promote(invocation: Invocation, name: str, force: bool, golden: Path | None, as_json: bool) -> int:
    """Make a build of the index the one that answers, at once.

    Your golden questions (see `brain eval mine`) are put to both first; one that is incomplete or answers worse is
    refused. Programs that are running follow at their next question. `brain rollback` goes back.
    """
    if golden and not golden.exists():
        raise WrongUsage(f"{golden} does not exist", "name a file of golden questions: `brain eval mine` makes one")
    from .. import builds
    from ..servers.fleet import stale

    with invocation.open_brain() as brain, progress(quiet=as_json) as show:
        asked = golden or brain.settings_as_read.home / "golden.jsonl"
        compare = _comparing(brain, asked, show) if asked.exists() else None
        done = builds.promote(brain, name, force=force, compare=compare)
        pruned = builds.prune(brain)
        behind = stale(brain.settings_as_read, done.current)
    if as_json:
        say_json(
            {
                "current": done.current,
                "before": done.before,
                "overridden": done.overridden,
                "measured": done.comparison,
                "pruned": pruned.deleted,
                "stale": behind,
            }
        )
        return Exit.DONE
    _say_done(done)
    if done.comparison:
        before, after = done.comparison.before, done.comparison.after
        say(f"  {MEASURE} {before.value:.3f} before, {after.value:.3f} now ({after.questions} golden questions)")
    elif done.current != done.before:
        tell(f"note: how well it answers was not measured: there is no {asked}; `brain eval mine` proposes questions")
    for reason in done.overridden:
        tell(Piece(f"note: in spite of: {reason}", "warning"))
    _say_pruned(pruned)
    _tell_stale(behind)
    return Exit.DONE


@click.command()
@json_option
@click.pass_obj
def rollback(invocation: Invocation, as_json: bool) -> int:
    """Make the build answer again that did before the last promotion."""
    from .. import builds
    from ..servers.fleet import stale

    with invocation.open_brain() as brain:
        done = builds.rollback(brain)
        behind = stale(brain.settings_as_read, done.current)
    if as_json:
        say_json({"current": done.current, "before": done.before, "stale": behind})
        return Exit.DONE
    _say_done(done)
    _tell_stale(behind)
    tell("it holds the files as it last saw them; the next `brain index` brings it up to date")
    return Exit.DONE


def _say_done(done: Promotion) -> None:
    if done.current == done.before:
        say(f"'{done.current}' is the current generation already")
    else:
        say(Piece(done.current, "title"), f" answers now, '{done.before}' is kept; `brain rollback` goes back")


def _say_pruned(pruned: Pruned) -> None:
    if pruned.deleted:
        say(f"deleted: {', '.join(pruned.deleted)} ({size(pruned.bytes)})")
    for name in pruned.open:
        tell(f"'{name}' is kept: a process has it open")


def _tell_stale(behind: Sequence[Consumer]) -> None:
    """Who asks from elsewhere and pins another generation than the one that answers."""
    for consumer in behind:
        words = f"note: '{consumer.name}' expects '{consumer.expects}' and is refused until it follows"
        tell(Piece(f"{words} (last seen {shown(consumer.seen)})", "warning"))


def _comparing(brain: Brain, golden: Path, show: Progress) -> Callable[[str, str], Comparison]:
    """What asks golden questions of two generations, each with its own embedder."""
    from .. import evals
    from ..evals.baseline import TOLERANCE
    from ..generations import Comparison, Measured

    def compare(current: str, candidate: str) -> Comparison:
        now = datetime.now(UTC)
        plan = evals.Plan(steps=False, modes=(MODE,), timed=False)

        def answers(name: str) -> Evaluation:
            def told(stage: str, done: int, total: int | None) -> None:
                show(f"{name}: {stage}", done, total)

            with brain.at(name) as one:
                return evals.run_own(golden, one, now=now, plan=plan, progress=told)

        changes = evals.changes(answers(current), answers(candidate))
        (change,) = (each for each in changes if (each.system, each.measure) == (MODE, MEASURE))
        before, after = (
            Measured(MEASURE, value, change.difference.questions, now) for value in (change.before, change.after)
        )
        return Comparison(before, after, _worse(change) if evals.falls([change], TOLERANCE) else "")

    return compare


def _worse(change: Change) -> str:
    low, high = change.difference.low, change.difference.high
    return (
        f"it answers worse: {MEASURE} falls from {change.before:.3f} to {change.after:.3f}"
        f" (difference {change.difference.mean:+.3f}, 95 % interval {low:+.3f} to {high:+.3f})"
    )
