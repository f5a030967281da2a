"""What is about to be written and called, as a value: it is shown to the user first, and done as shown."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..config import write_atomically
from ..errors import UsageError

CALL_S = 60.0
"""No program that is called here takes longer."""


@dataclass(frozen=True, slots=True)
class Write:
    """A file of ours for one job."""

    job: str
    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A program to run. ``may_fail``: it undoes what may not be there."""

    words: tuple[str, ...]
    stdin: bytes = b""
    may_fail: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Files to write and to delete, then programs to call, in this order. ``before`` is called first of all.

    ``notes`` are what the user has to know or do beside it.
    """

    writes: tuple[Write, ...] = ()
    deletes: tuple[Path, ...] = ()
    before: tuple[Call, ...] = ()
    calls: tuple[Call, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.writes or self.deletes or self.before or self.calls)

    def __add__(self, other: Plan) -> Plan:
        """This plan, then the other."""
        return Plan(
            self.writes + other.writes,
            self.deletes + other.deletes,
            self.before + other.before,
            self.calls + other.calls,
            self.notes + other.notes,
        )

    def shown(self) -> Iterator[str]:
        """The lines that tell all of it: files with their contents, commands with what they read."""
        for call in self.before:
            yield from _shown(call)
        for write in self.writes:
            yield f"write {write.path}"
            yield from (f"    {line}" for line in write.text.splitlines())
        for path in self.deletes:
            yield f"delete {path}"
        for call in self.calls:
            yield from _shown(call)

    def carry_out(self) -> None:
        """Do it. Raises UsageError when a file cannot be written or a program fails; what was done stays."""
        for call in self.before:
            _run(call)
        try:
            for write in self.writes:
                write_atomically(write.path, write.text)
            for path in self.deletes:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise UsageError(f"{error.filename}: cannot be changed ({error.strerror})") from error
        for call in self.calls:
            _run(call)


def _shown(call: Call) -> Iterator[str]:
    yield f"run {shlex.join(call.words)}"
    if call.stdin:
        yield from (f"    {line}" for line in call.stdin.decode("utf-8", "replace").splitlines())


def _run(call: Call) -> None:
    words = shlex.join(call.words)
    try:
        done = subprocess.run(call.words, input=call.stdin, capture_output=True, check=False, timeout=CALL_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        if call.may_fail:
            return
        raise UsageError(f"`{words}` cannot be run: {error}") from error
    if done.returncode and not call.may_fail:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise UsageError(
            f"`{words}` failed with exit code {done.returncode}: {said or 'it said nothing'}",
            hint="`brain schedule remove` takes away what was written; `--with cron` does without this program",
        )
