"""``brain index`` and ``brain embed``: bring the index in step with the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from .display import Progress, progress
from .exits import Exit
from .options import Invocation, WrongUsage, json_option
from .output import Piece, report_error, say, say_json, tell
from .remote import RemoteCommand, index_remotely, remote_option

if TYPE_CHECKING:
    from ..errors import BrainError
    from ..generations import Begun
    from ..library import Brain
    from ..types import EmbedReport, Failure, SourceReport, SyncReport

SHOWN_AT_MOST = 10
"""So many failures and warnings are named; ``--verbose`` names all."""


@dataclass(slots=True)
class _Run:
    """How far a run came. ``stage`` and the counts are those of the last report of progress."""

    sync: SyncReport | None = None
    embedding: EmbedReport | None = None
    problem: BrainError | None = None
    interrupted: bool = False
    embedding_begun: bool = False
    stage: str = ""
    done: int = 0
    total: int | None = None
    begun: Begun | None = None
    taken: int = 0
    finished: bool = False

    @contextmanager
    def watched(self, *, quiet: bool) -> Iterator[Progress]:
        """Progress that is shown and remembered; Ctrl-C ends the block and is remembered too."""
        try:
            with progress(quiet=quiet) as show:

                def remember(stage: str, done: int, total: int | None) -> None:
                    self.stage, self.done, self.total = stage, done, total
                    show(stage, done, total)

                yield remember
        except KeyboardInterrupt:
            self.interrupted = True

    def embed(self, brain: Brain, show: Progress, limit: int | None = None, *, in_place: bool = False) -> None:
        """Embed what waits; an error is remembered, as what was read before is indexed all the same."""
        from ..errors import BrainError

        self.embedding_begun = True
        try:
            self.embedding = brain.embed(limit=limit, in_place=in_place, progress=show)
        except BrainError as error:
            self.problem = error

    def build(self, brain: Brain, show: Progress, *, rebuild: bool, prune: bool, embed: bool, quiet: bool) -> None:
        """Fill a generation beside the one that answers; what stops it leaves it half-built."""
        from .. import builds

        with builds.new_generation(brain) as (new, self.begun):
            if not quiet:
                _tell_begun(self.begun, brain.generation)
            self.sync = new.sync(rebuild=rebuild, prune=prune, progress=show)
            if embed:
                self.taken = builds.take_over(new, progress=show)
                self.embed(new, show)
            if self.embedding:
                builds.finish(new)
                self.finished = True

    def exit(self) -> Exit:
        """The exit code."""
        if self.interrupted:
            return Exit.INTERRUPTED
        if self.problem:
            return Exit.FAILED
        reports = self.sync.sources if self.sync else ()
        failures = any(report.failures or report.unavailable for report in reports)
        if failures or (self.embedding and self.embedding.failures):
            return Exit.INCOMPLETE
        return Exit.DONE

    def error(self) -> dict[str, str] | None:
        """What kept the run from its end, and how to go on; None when nothing did."""
        if self.interrupted:
            return {"type": "Interrupted", **self._where()}
        if self.problem:
            again = "brain index --new-generation" if self.begun else "brain embed"
            hint = self.problem.hint or f"search by word works; `{again}` tries again"
            return {"type": type(self.problem).__name__, "message": str(self.problem), "hint": hint}
        return None

    def _where(self) -> dict[str, str]:
        if self.embedding_begun:
            place = f"at {self.done} of {self.total} vectors" if self.stage == "embed" else "before the first vector"
        elif self.total is not None:
            place = f"at {self.done} of {self.total} files of source '{self.stage}'"
        else:
            place = "before anything was written"
        command = "index --new-generation" if self.begun else "embed" if self.embedding_begun else "index"
        return {
            "message": f"stopped {place}; what was done stays, the index is sound",
            "hint": f"go on with `brain {command}`",
        }

    def report_error(self, *, as_json: bool) -> None:
        """Say what kept the run from its end, if something did."""
        if error := self.error():
            report_error(error["type"], error["message"], error["hint"], as_json=as_json)


verbose_option = click.option("-v", "--verbose", is_flag=True, help="Name every failure and warning.")


@click.command(cls=RemoteCommand)
@click.argument("targets", metavar="[NAME|PATH]...", nargs=-1)
@click.option("--rebuild", is_flag=True, help="Read every file again; vectors of unchanged texts are kept.")
@click.option("--prune", is_flag=True, help="Believe it when most files of a source are gone.")
@click.option("--no-embed", is_flag=True, help="Only words; vectors follow with `brain embed`.")
@click.option(
    "--new-generation", is_flag=True, help="Build another index beside the one that answers; then `brain promote`."
)
@remote_option("Send what changed to the brain on another machine, which indexes it.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@verbose_option
@json_option
@click.pass_obj
def index(
    invocation: Invocation,
    targets: tuple[str, ...],
    rebuild: bool,
    prune: bool,
    no_embed: bool,
    new_generation: bool,
    remote: str | None,
    quiet: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    """Read what is new or changed, then make vectors of it.

    Without a name or path: all sources. Ctrl-C stops at any point and loses nothing that was done; search
    by word works as soon as the files are read, newest notes get their vectors first.
    """
    if new_generation and targets:
        raise WrongUsage("a new generation holds all sources", "leave the names out: brain index --new-generation")
    if remote is not None:
        if rebuild or new_generation or no_embed:
            raise WrongUsage("the box itself decides how it indexes", "give --remote alone, or with --prune")
        loud = verbose or invocation.verbose
        return index_remotely(invocation, remote, targets, prune=prune, quiet=quiet, verbose=loud, as_json=as_json)
    run, kept = _Run(), ""
    with invocation.open_brain() as brain, run.watched(quiet=quiet) as show:
        if new_generation:
            run.build(brain, show, rebuild=rebuild, prune=prune, embed=not no_embed, quiet=quiet)
        else:
            run.sync = brain.sync(targets, rebuild=rebuild, prune=prune, progress=show)
            if not no_embed:
                run.embed(brain, show)
            kept = "" if run.problem else brain.embedder_notice()
    if as_json and run.sync:
        say_json(
            {
                "sources": [asdict(report) for report in run.sync.sources],
                "seconds": run.sync.seconds,
                "embedding": asdict(run.embedding) if run.embedding else None,
                **(_begun_as_json(run) if run.begun else {}),
                "error": run.error(),
            }
        )
    elif run.sync and not quiet:
        for report in run.sync.sources:
            say_source(report, verbose=verbose or invocation.verbose)
        if run.embedding:
            _say_embedding(run.embedding, verbose=verbose or invocation.verbose)
        else:
            _tell_notices(run.sync.notices)
        if run.begun:
            _say_built(run)
    if kept and not quiet:
        tell(Piece(f"note: {kept}", "warning"))
    run.report_error(as_json=as_json and not run.sync)
    return run.exit()


@click.command()
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Stop after about so many passages.")
@click.option(
    "--in-place", is_flag=True, help="Drop the vectors of another embedder first, however long their like will take."
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@verbose_option
@json_option
@click.pass_obj
def embed(invocation: Invocation, limit: int | None, in_place: bool, quiet: bool, verbose: bool, as_json: bool) -> int:
    """Make the vectors that are still missing, newest notes first.

    An index of many passages keeps the embedder that it has when models.yaml names another one: build one beside it
    with `brain index --new-generation`.
    """
    run, kept = _Run(), ""
    with invocation.open_brain() as brain, run.watched(quiet=quiet) as show:
        run.embed(brain, show, limit, in_place=in_place)
        kept = "" if run.problem else brain.embedder_notice()
    if as_json and run.embedding:
        say_json(asdict(run.embedding))
    elif run.embedding and not quiet:
        _say_embedding(run.embedding, verbose=verbose or invocation.verbose)
    if kept and not quiet:
        tell(Piece(f"note: {kept}", "warning"))
    run.report_error(as_json=as_json)
    return run.exit()


def _tell_begun(begun: Begun, current: str) -> None:
    name = begun.generation.name
    for given_up in begun.given_up:
        tell(f"'{given_up}' was begun with other settings and is given up; `brain generations prune` deletes it")
    how = "going on with" if begun.continued else "building"
    tell(f"{how} generation '{name}' beside '{current}', which goes on answering")


def _begun_as_json(run: _Run) -> dict[str, object]:
    assert run.begun
    return {
        "generation": run.begun.generation.name,
        "continued": run.begun.continued,
        "given_up": list(run.begun.given_up),
        "taken_over": run.taken,
        "ready": run.finished,
    }


def _say_built(run: _Run) -> None:
    assert run.begun
    name = run.begun.generation.name
    if run.taken:
        say(Piece("vectors", "title"), f": {run.taken:,} taken over from the generation that answers")
    if run.finished:
        say(Piece(name, "title"), f" is ready; make it answer with `brain promote {name}`")
    else:
        tell(f"'{name}' is half-built; `brain index --new-generation` goes on")


def say_source(report: SourceReport, *, verbose: bool, remote: bool = False) -> None:
    """What was done with one source, here or on the box, in a line; and what was not read."""
    counts = [
        f"{getattr(report, what)} {what}"
        for what in ("added", "changed", "moved", "unchanged", "deleted", "kept")
        if getattr(report, what)
    ]
    if report.skipped:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(report.skipped.items()))
        counts.append(f"{sum(report.skipped.values())} skipped ({reasons})")
    say(Piece(report.source, "title"), ": ", ", ".join(counts) or "nothing to read")
    if report.unavailable:
        tell(Piece("  not compared: ", "warning"), report.unavailable)
        tell(
            "  what the index holds of it is kept; if its files are gone for good:"
            f" brain index {'--remote ' if remote else ''}--prune '{report.source}', or brain remove '{report.source}'"
            f"{' on the box' if remote else ''}"
        )
    _tell_some("not read", [_named(failure) for failure in report.failures], verbose)
    _tell_some("warning", report.warnings, verbose)


def _named(failure: Failure) -> str:
    """Message of a failure with the name of its file, which most messages hold as a path."""
    below = failure.uri.partition("/")[2].rstrip("/")
    return failure.message if below in failure.message else f"{failure.uri}: {failure.message}"


def _say_embedding(report: EmbedReport, *, verbose: bool) -> None:
    waiting = f", {report.waiting} still wait" if report.waiting else ""
    say(Piece("vectors", "title"), f": {report.embedded} made in {report.seconds:.1f} s{waiting}")
    _tell_some("no vector", [failure.message for failure in report.failures], verbose)
    _tell_notices(report.notices)


def _tell_notices(notices: Sequence[str]) -> None:
    for notice in notices:
        tell(Piece("note: ", "warning"), notice)


def _tell_some(label: str, messages: Sequence[str], verbose: bool) -> None:
    shown = messages if verbose else messages[:SHOWN_AT_MOST]
    for message in shown:
        tell(Piece(f"  {label}: ", "warning"), message)
    if len(messages) > len(shown):
        tell(f"  {label}: and {len(messages) - len(shown)} more (--verbose names all)")
