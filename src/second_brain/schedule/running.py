"""One run of one job: never two at once, at low priority, each step by itself, in a log that does not grow for ever."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

import msgspec

from ..config import write_atomically
from ..errors import BrainError, StorageError
from ..index.lock import file_lock

LOG_BYTES = 1_000_000
LOGS_KEPT = 3
NICENESS = 10

BUSY = "another run of this job is working; nothing to do"


@dataclass(frozen=True, slots=True)
class Told:
    """What a step says when it is done. ``incomplete``: something was skipped, and is named in the words."""

    words: str
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A part of a job. What it raises is logged, and keeps no other step from its turn."""

    name: str
    work: Callable[[], Told]


@dataclass(frozen=True, slots=True)
class Run:
    """The last run of a job. ``exit``: 0 done, 3 something was skipped, 1 a step failed. ``words`` by step."""

    began: datetime
    ended: datetime
    exit: int
    words: dict[str, str]


def log_path(state: Path, job: str) -> Path:
    """Where the runs of a job are logged."""
    return state / f"{job}.log"


def last_run(state: Path, job: str) -> Run | None:
    """What came of the last run that worked, or None."""
    try:
        return msgspec.json.decode((state / f"{job}.json").read_bytes(), type=Run)
    except (OSError, msgspec.DecodeError):
        return None


def run(state: Path, job: str, steps: Sequence[Step], *, say: Callable[[str], None]) -> int:
    """Run the steps, unless a run of the same job is working; the exit code.

    Args:
        state: folder of locks, logs and what came of each job; made if need be.
        job: its name.
        steps: in order.
        say: told each line of the log.

    Raises:
        StorageError: the folder cannot be written.
    """
    try:
        with _log(state, job, say) as line, contextlib.ExitStack() as stack:
            try:
                stack.enter_context(file_lock(state / f"{job}.lock", wait_s=0))
            except TimeoutError:
                line(logging.INFO, BUSY)
                return 0
            step_back()
            began = datetime.now(UTC)
            words: dict[str, str] = {}
            code = 0
            for step in steps:
                code = max(code, _one(step, words, line), key=(0, 3, 1).index)
            made = Run(began, datetime.now(UTC), code, words)
            write_atomically(state / f"{job}.json", msgspec.json.encode(asdict(made)).decode())
            return code
    except OSError as error:
        raise StorageError(
            f"{state}: cannot be written ({error.strerror})", hint="check its permissions, or set $XDG_STATE_HOME"
        ) from error


def _one(step: Step, words: dict[str, str], line: Callable[[int, str], None]) -> int:
    try:
        told = step.work()
    except Exception as error:
        # A fault of ours in one step must not cost the others their turn: it stands in the log with its kind.
        kind = "" if isinstance(error, BrainError) else f"unexpected {type(error).__name__}: "
        words[step.name] = _flat(f"failed: {kind}{error}")
        hint = f"; {error.hint}" if isinstance(error, BrainError) and error.hint else ""
        line(logging.ERROR, f"{step.name}: {words[step.name]}{hint}")
        return 1
    words[step.name] = _flat(told.words)
    line(logging.WARNING if told.incomplete else logging.INFO, f"{step.name}: {words[step.name]}")
    return 3 if told.incomplete else 0


@contextlib.contextmanager
def _log(state: Path, job: str, say: Callable[[str], None]) -> Iterator[Callable[[int, str], None]]:
    """Write lines to the job's log, with time and severity, and tell them."""
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    handler = RotatingFileHandler(log_path(state, job), maxBytes=LOG_BYTES, backupCount=LOGS_KEPT, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S%z"))

    def line(level: int, text: str) -> None:
        handler.handle(logging.LogRecord(job, level, "", 0, "%s", (f"[{os.getpid()}] {_flat(text)}",), None))
        say(_flat(text))

    try:
        yield line
    finally:
        handler.close()


def _flat(text: str) -> str:
    """The text on one line, of letters that a file can hold."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\n", " | ")


def step_back() -> None:
    """Let everybody else go first; whoever started us may have seen to that already."""
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))
