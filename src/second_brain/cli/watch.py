"""``brain watch``: the index follows files as they change."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

import click

from ..moments import shown
from .exits import Exit
from .options import Invocation, json_option
from .output import Piece, Style, say, say_json, tell

if TYPE_CHECKING:
    from ..library import Brain
    from ..watching.watcher import Event, Watcher

STYLES: dict[str, Style] = {"polling": "warning", "trouble": "error", "unavailable": "warning"}


@click.command()
@click.option(
    "--poll",
    "poll_s",
    metavar="SECONDS",
    type=click.FloatRange(min=0.1),
    default=60.0,
    show_default=True,
    help="How often folders are compared where the system tells of no changes (network drives).",
)
@json_option
@click.pass_obj
def watch(invocation: Invocation, poll_s: float, as_json: bool) -> int:
    """Index notes as they change, until Ctrl-C.

    A burst of changes is one run; vectors follow when nothing else is to do. Folders on network drives are compared
    every now and then. Who watches, and which folders are polled, `brain status` says.

    With --json each event is a line.
    """
    from ..generations import first_index
    from ..schedule.running import step_back
    from ..watching.pacing import Pace
    from ..watching.presence import claimed, watching
    from ..watching.watcher import Watcher

    def show(event: Event) -> None:
        now = datetime.now().astimezone()
        if as_json:
            say_json({"event": event.name, "at": now, **event.data})
        elif not event.quiet:
            say(Piece(f"{now:%H:%M:%S} ", "dim"), Piece(event.words, STYLES.get(event.name, "plain")))

    with invocation.open_brain() as brain:
        brain.must_see_all("index")
        index = first_index(brain.settings)
        with claimed(index) as alone:
            if not alone:
                other = watching(index)
                who = f"process {other.pid} since {shown(other.since)}" if other else "another process"
                tell(f"{who} watches this home already; nothing to do")
                if as_json:
                    say_json({"event": "watched", "pid": other.pid if other else None})
                return Exit.DONE
            step_back()
            watcher = Watcher(brain, show, Pace(poll_s=poll_s))
            for number in (signal.SIGINT, signal.SIGTERM):
                # the first one ends the run in peace; a second Ctrl-C ends the process whatever it waits for
                signal.signal(number, lambda *received: _end(watcher))
            watcher.run()
    return Exit.DONE


@contextmanager
def followed(brain: Brain) -> Iterator[None]:
    """Index files as they change, in a thread, until the block ends; what matters is told on stderr.

    Raises MissingExtra. Where somebody watches already, that is told and all.
    """
    import threading

    from ..generations import first_index
    from ..watching.presence import claimed
    from ..watching.watcher import Watcher

    with claimed(first_index(brain.settings)) as alone:
        if not alone:
            tell("note: another process watches this home already")
            yield
            return
        watcher = Watcher(brain, lambda event: None if event.quiet else tell(event.words))
        thread = threading.Thread(target=watcher.run, name="watching")
        thread.start()
        try:
            yield
        finally:
            watcher.stop()
            thread.join()


def _end(watcher: Watcher) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    watcher.stop()
