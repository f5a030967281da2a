"""The process ``brain``: what comes in from the shell, and how it ends.

Whatever goes wrong ends in a line that says what, a line that says what to do, and an exit code; a traceback
is for those who set BRAIN_DEBUG=1.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

import click

from ..errors import Ambiguous, BrainError
from .exits import Exit
from .output import prepare_streams, report_error


def main() -> int:
    """Run the command line of this process; returns its exit code."""
    prepare_streams()
    try:
        code = run([as_unicode(argument) for argument in sys.argv[1:]])
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has seen enough (`| head -1`): nothing failed. What is still in the buffers must not be
        # written at exit, when nobody could catch the error.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(nowhere, stream.fileno())
        return Exit.DONE


def as_unicode(argument: str) -> str:
    r"""An argument as its writer meant it: under a C locale Python hands out ``\udce4`` stand-ins for bytes."""
    try:
        argument.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "replace")
    return argument


def run(arguments: Sequence[str]) -> int:
    """Run one command line and report its errors, except BrokenPipeError; returns the exit code."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in options
    try:
        from .app import app

        with app.make_context("brain", list(arguments)) as context:
            return int(app.invoke(context) or Exit.DONE)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.UsageError as error:
        report_error("WrongUsage", error.format_message(), _hint(error), as_json=as_json)
        return Exit.WRONG_USAGE
    except (KeyboardInterrupt, click.Abort):
        report_error("Interrupted", "interrupted", "", as_json=as_json)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        raise
    except BrainError as error:
        candidates = error.candidates if isinstance(error, Ambiguous) else ()
        report_error(type(error).__name__, str(error), error.hint, as_json=as_json, candidates=candidates)
        return _failed()
    except Exception as error:
        report_error(
            type(error).__name__,
            f"unexpected {type(error).__name__}: {error}",
            "this is a fault of second-brain; BRAIN_DEBUG=1 shows where it happened",
            as_json=as_json,
        )
        return _failed()


def _failed() -> int:
    """The exit code of the exception that is being handled; its traceback only for those who asked for it."""
    if os.environ.get("BRAIN_DEBUG") == "1":
        import traceback

        traceback.print_exc()
    return Exit.FAILED


def _hint(error: click.UsageError) -> str:
    """What to type instead of a wrong command line."""
    hint: str = getattr(error, "hint", "")
    if hint:
        return hint
    path = error.ctx.command_path if error.ctx else "brain"
    if isinstance(error, click.NoSuchOption):
        if path != "brain" and error.option_name in ("--home", "--index", "--version"):
            return f"{error.option_name} stands before the command: brain {error.option_name} ..."
        if path == "brain search":
            return f"to search for words that begin with a dash: brain search -- {error.option_name}"
    return f"see `{path} --help`"


if __name__ == "__main__":
    sys.exit(main())
