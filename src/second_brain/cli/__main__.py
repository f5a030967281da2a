"""The process ``brain``: what comes in from the shell, and how it ends.

Whatever goes wrong ends in a line that says what, a line that says what to do, and an exit code; a traceback
is for those who set BRAIN_DEBUG=1.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
from collections.abc import Sequence

import click

from ..errors import Ambiguous, BrainError
from . import output
from .exits import Exit
from .options import ECHO, shortened


def main() -> int:
    """Run the command line of this process; returns its exit code."""
    output.prepare_streams()
    try:
        code = run([as_unicode(argument) for argument in sys.argv[1:]])
        sys.stdout.flush()
        if threading.active_count() > 1:  # a model that is still being loaded, a lock that is waited for: for nobody
            sys.stderr.flush()
            os._exit(code)
        return code
    except BrokenPipeError:  # the reader has seen enough (`| head -1`): nothing failed
        output.give_up_streams()
        return Exit.DONE
    except OSError as error:
        with contextlib.suppress(OSError):
            output.report_error("OSError", f"cannot write the output: {error.strerror or error}", "", as_json=False)
        output.give_up_streams()
        return Exit.FAILED


def as_unicode(argument: str) -> str:
    r"""An argument as its writer meant it: under a C locale Python hands out ``\udce4`` stand-ins for bytes."""
    try:
        argument.encode("utf-8")
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "replace")
    return argument


def run(arguments: Sequence[str]) -> int:
    """Run one command line and report its errors; returns the exit code. Raises OSError when stdout cannot be written.

    What somebody pasted is not repeated at length in an error; what looks like a path is.
    """
    pasted = [argument for argument in arguments if len(argument) > ECHO and not _is_path(argument)]

    def report_error(kind: str, message: str, hint: str, *, candidates: Sequence[str] = ()) -> None:
        for argument in pasted:
            message, hint = (text.replace(argument, shortened(argument)) for text in (message, hint))
        output.report_error(kind, message, hint, as_json=as_json, candidates=candidates)

    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in options
    try:
        from .app import app

        with app.make_context("brain", list(arguments)) as context:
            return int(app.invoke(context) or Exit.DONE)
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:  # a group without a command: what it says is its help
        click.echo(error.format_message(), err=True)
        return Exit.WRONG_USAGE
    except click.UsageError as error:
        report_error("WrongUsage", error.format_message(), _hint(error, arguments))
        return Exit.WRONG_USAGE
    except (KeyboardInterrupt, click.Abort):
        report_error("Interrupted", "interrupted", "")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        raise
    except Ambiguous as error:  # its hint would list the candidates once more
        report_error("Ambiguous", str(error), "give one of these", candidates=error.candidates)
        return _failed()
    except BrainError as error:
        report_error(type(error).__name__, str(error), error.hint)
        return _failed()
    except Exception as error:
        if isinstance(error, OSError) and output.came_from_writing(error):
            raise
        report_error(
            type(error).__name__,
            f"unexpected {type(error).__name__}: {error}",
            "this is a fault of second-brain; BRAIN_DEBUG=1 shows where it happened",
        )
        return _failed()


def _is_path(argument: str) -> bool:
    return os.path.lexists(argument) or bool(os.path.dirname(argument) and not re.search(r"\s", argument))  # noqa: PTH120


def _failed() -> int:
    """The exit code of the exception that is being handled; its traceback only for those who asked for it."""
    if os.environ.get("BRAIN_DEBUG") == "1":
        import traceback

        traceback.print_exc()
    return Exit.FAILED


def _hint(error: click.UsageError, arguments: Sequence[str]) -> str:
    """What to type instead of a wrong command line."""
    hint: str = getattr(error, "hint", "")
    if hint:
        return hint
    from .app import COMMANDS

    named = " ".join(["brain", *[argument for argument in arguments if argument in COMMANDS][:1]])
    path = error.ctx.command_path if error.ctx else named
    if isinstance(error, click.NoSuchOption):
        if path != "brain" and error.option_name in ("--home", "--index", "--privacy", "--version"):
            return f"{error.option_name} stands before the command: brain {error.option_name} ..."
        if path == "brain search":
            return f"to search for words that begin with a dash: brain search -- {error.option_name}"
    return f"see `{path} --help`"


if __name__ == "__main__":
    sys.exit(main())
