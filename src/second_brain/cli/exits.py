"""The exit codes of every command."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended, for the shell that called it."""

    DONE = 0
    FAILED = 1
    WRONG_USAGE = 2
    INCOMPLETE = 3
    INTERRUPTED = 130


MEANINGS = {
    Exit.DONE: "done",
    Exit.FAILED: "the command failed, or what you named (a note, source, file) does not exist; the error says why",
    Exit.WRONG_USAGE: "wrong usage: an unknown command or option, or a value of the wrong form",
    Exit.INCOMPLETE: "done, but some files were skipped (index, embed), or the index has a problem (doctor)",
    Exit.INTERRUPTED: "interrupted with Ctrl-C; what was done stays done",
}
