"""``brain adr``, ``brain learn``, ``brain handoff``: what was decided, what was learnt, where the work stands."""

from __future__ import annotations

import os
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .exits import Exit
from .options import Invocation, WrongUsage, json_option
from .output import Piece, Style, say, say_json, tell

if TYPE_CHECKING:
    from ..journal.lessons import Lesson
    from ..memory.operations import KnowledgeGraph

project_option = click.option(
    "--project",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The project's folder.  [default: that of the current folder]",
)


def project_folder(chosen: Path | None) -> Path:
    """The folder that was named, or the project that the current folder belongs to."""
    from ..memory.location import project_of

    return chosen.absolute() if chosen else project_of(Path.cwd())


@click.command()
@click.argument("title", nargs=-1, required=True)
@click.option("--context", default="", help="Why something had to be decided.")
@click.option("--option", "options", multiple=True, help="An option that was considered; may be repeated.")
@click.option("--decision", default="", help="What was decided, and why.")
@click.option("--consequences", default="", help="What follows from it, good and bad, a line each.")
@click.option(
    "--status",
    metavar="STATUS",
    help="proposed, accepted, rejected or deprecated.  [default: accepted with --decision, else proposed]",
)
@click.option("--supersedes", metavar="N", type=int, multiple=True, help="The number of a record that it replaces.")
@click.option("--no-graph", is_flag=True, help="Leave the knowledge graph alone.")
@project_option
@json_option
@click.pass_obj
def adr(
    invocation: Invocation,
    title: tuple[str, ...],
    context: str,
    options: tuple[str, ...],
    decision: str,
    consequences: str,
    status: str | None,
    supersedes: tuple[int, ...],
    no_graph: bool,
    project: Path | None,
    as_json: bool,
) -> int:
    """Write the next decision record of this project.

    It has the form that the records there have, MADR or Nygard's, and its parts are left empty where nothing is given.
    A superseded record gets its new status, and nothing else in it changes.
    """
    from ..journal.decisions import Draft, folder_of, read_all, record

    folder = project_folder(project)
    stands = status.lower() if status else "accepted" if decision.strip() else "proposed"
    draft = Draft(" ".join(title), context, options, decision, consequences, stands, supersedes)
    written = record(folder, draft, today=date.today())
    if not no_graph:
        from ..journal.facts import add_decision

        add_decision(project_graph(folder), written, read_all(folder_of(folder)), folder)
    _index(invocation, written.path.parent)  # what it supersedes changed too
    if as_json:
        say_json({"number": written.number, "title": written.title, "path": str(written.path), "form": written.form})
        return Exit.DONE
    say(Piece(written.name, "title"), f" {written.title}")
    say("  ", Piece(str(written.path), "dim"))
    return Exit.DONE


class _Learn(click.Group):
    """``brain learn TEXT`` records; ``list``, ``check``, ``supersede`` and ``retire`` are what else can be done."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """What begins with none of the commands is a lesson, with options before or behind it."""
        if args and args[0] not in (*self.commands, "--help"):
            args = ["record", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Learn)
def learn() -> None:
    """Record a lesson: brain learn 'When X, do Y' --detect 'a command that finds the fault'.

    Lessons are in docs/lessons.md. They are superseded or retired, never deleted.
    """


@learn.command(hidden=True)
@click.argument("lesson", nargs=-1, required=True)
@click.option("--title", default="", help="A short name.  [default: the lesson's first sentence]")
@click.option("--cause", default="", help="Why it went wrong.")
@click.option("--detect", default="", help="A command that exits with 0 when the fault is there.")
@click.option("--evidence", default="", help="A commit, test, session or link.")
@click.option("--applies-to", default="", help="Paths, tools, versions.")
@project_option
@json_option
@click.pass_obj
def record(invocation: Invocation, /, lesson: tuple[str, ...], project: Path | None, as_json: bool, **told: str) -> int:
    """Record a lesson."""
    from ..journal.facts import entity_of_lesson
    from ..journal.lessons import FILE
    from ..journal.lessons import learn as add

    folder = project_folder(project)
    added = add(folder, " ".join(lesson), today=date.today(), **told)
    project_graph(folder).create_entities([entity_of_lesson(added)])
    _index(invocation, folder / FILE)
    if as_json:
        say_json(_as_json(added))
        return Exit.DONE
    say(Piece(added.id, "title"), f" {added.lesson}")
    say("  ", Piece(str(folder / FILE), "dim"))
    return Exit.DONE


@learn.command("list")
@click.option("--all", "everything", is_flag=True, help="Also superseded and retired ones.")
@project_option
@json_option
def list_lessons(everything: bool, project: Path | None, as_json: bool) -> int:
    """List the lessons that hold."""
    from ..journal.lessons import problems, read_all

    folder = project_folder(project)
    found = [lesson for lesson in read_all(folder) if everything or lesson.state == "active"]
    if as_json:
        say_json({"lessons": [_as_json(lesson) for lesson in found]})
        return Exit.DONE
    for lesson in found:
        say(Piece(lesson.id, "title"), f" {lesson.lesson}")
        if lesson.state != "active":
            say("       ", Piece(lesson.status, "dim"))
    if not found:
        say("no lessons yet: brain learn 'When X, do Y'")
    for problem in problems(folder):
        tell(Piece(f"note: {problem}", "warning"))
    return Exit.DONE


@learn.command("check")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@project_option
@json_option
def check_lessons(ids: tuple[str, ...], project: Path | None, as_json: bool) -> int:
    """Run the detection commands of lessons: does the fault exist again?

    They are commands from docs/lessons.md, run by your shell in the project's folder. Exit code 3: a fault is there.
    """
    from ..journal.lessons import check, number_of

    done = list(check(project_folder(project), [number_of(id) for id in ids]))
    if as_json:
        say_json({"checks": [{**_as_json(c.lesson), "found": c.found, "output": c.output[:2000]} for c in done]})
    else:
        for one in done:
            word, style = _verdict(one.found)
            say(Piece(f"{word:<7}", style), f" {one.lesson.id} {one.lesson.lesson}")
            if one.found is not False and one.output:
                say("        ", Piece(one.output.splitlines()[0][:200], "dim"))
        if not done:
            say("no active lesson has a detection command")
    return Exit.DONE if all(one.found is False for one in done) else Exit.INCOMPLETE


@learn.command("supersede")
@click.argument("old", metavar="OLD-ID")
@click.argument("new", metavar="NEW-ID")
@project_option
def supersede_lesson(old: str, new: str, project: Path | None) -> int:
    """Say that another lesson holds instead."""
    from ..journal.lessons import number_of, supersede

    supersede(project_folder(project), number_of(old), number_of(new))
    say(f"L-{number_of(old):04d} is superseded by L-{number_of(new):04d}")
    return Exit.DONE


@learn.command("retire")
@click.argument("id")
@click.argument("reason", nargs=-1, required=True)
@project_option
def retire_lesson(id: str, reason: tuple[str, ...], project: Path | None) -> int:
    """Say that a lesson holds no more, and why."""
    from ..journal.lessons import number_of, retire

    retire(project_folder(project), number_of(id), " ".join(reason), today=date.today())
    say(f"L-{number_of(id):04d} is retired")
    return Exit.DONE


@click.command()
@click.argument("topic", nargs=-1)
@click.option("--goal", default="", help="What is to be reached.")
@click.option("--state", default="", help="How far it is.")
@click.option("--decision", "decisions", multiple=True, help="What was decided; may be repeated.")
@click.option("--open", "open_ends", multiple=True, help="What is open; may be repeated.")
@click.option("--next", "next_step", default="", help="What comes next.")
@click.option("--file", "files", multiple=True, help="A file that matters; may be repeated.")
@click.option("--card", "only_card", is_flag=True, help="Write nothing: show the card of the latest handoff.")
@project_option
@json_option
@click.pass_obj
def handoff(
    invocation: Invocation, /, topic: tuple[str, ...], only_card: bool, project: Path | None, as_json: bool, **told: Any
) -> int:
    """Write where the work stands, and show the card that starts a fresh session.

    The note goes to docs/handoffs/. A lone - as TOPIC reads the state from standard input.
    """
    from ..errors import NotFound
    from ..journal.handoffs import Handoff, card, latest, write

    folder = project_folder(project)
    if only_card:
        path = latest(folder)
        if path is None:
            raise NotFound(f"{folder} has no handoff yet", hint="write one: brain handoff 'topic' --next '...'")
    else:
        if topic == ("-",):
            told["state"] = sys.stdin.buffer.read().decode("utf-8", "replace")
            topic = ()
        if not any(told.values()):
            raise WrongUsage("the handoff says nothing", "give at least --next: brain handoff 'pump' --next 'open it'")
        path = write(folder, Handoff(" ".join(topic) or folder.name, **told), today=date.today())
        _index(invocation, path)
    text = card(path, folder)
    if as_json:
        say_json({"path": str(path), "card": text})
        return Exit.DONE
    for line in text.split("\n"):
        say(line)
    return Exit.DONE


def project_graph(folder: Path) -> KnowledgeGraph:
    """The knowledge graph of a project."""
    from ..memory.file import MemoryFile
    from ..memory.location import memory_file
    from ..memory.operations import KnowledgeGraph

    return KnowledgeGraph(MemoryFile(memory_file(folder, os.environ)))


def _index(invocation: Invocation, path: Path) -> None:
    """Read the written file if it lies in a source; what is written is there all the same."""
    from ..errors import BrainError, NotFound

    try:
        with invocation.open_brain() as brain:
            if brain.sources():
                brain.sync([path])
    except NotFound:
        pass  # it lies in no source: nobody asked for it to be found
    except BrainError as error:
        tell(Piece(f"note: it is written, but not indexed yet: {error}; {error.hint}", "warning"))


def _as_json(lesson: Lesson) -> dict[str, object]:
    from dataclasses import asdict

    return {"id": lesson.id, "state": lesson.state, **asdict(lesson)}


def _verdict(found: bool | None) -> tuple[str, Style]:
    if found is None:
        return "failed", "warning"
    return ("there", "error") if found else ("absent", "dim")
