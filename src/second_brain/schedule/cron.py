"""Lines in the user's crontab, between two marks; everything else in it stays byte for byte."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import string
import subprocess
from collections.abc import Sequence

from ..config import Daily, Every
from ..errors import UsageError
from ..sources.paths import disk_bytes
from .jobs import Home, Job
from .plan import CALL_S, Call, Plan

_NONE_YET = re.compile(rb"no crontab|can't open|No such file", re.IGNORECASE)
"""What the programs of Debian, Red Hat, the BSDs and busybox say where there is no crontab."""


def available() -> str:
    """Why there is no cron, or ''."""
    return "" if shutil.which("crontab") else "there is no program `crontab`"


def crontab() -> bytes:
    """The user's crontab, empty where there is none. Raises UsageError: one that cannot be read is not overwritten."""
    if available():
        return b""
    try:
        done = subprocess.run(
            ("crontab", "-l"), capture_output=True, check=False, timeout=CALL_S, env={**os.environ, "LC_ALL": "C"}
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"`crontab -l` cannot be run: {error}") from error
    if done.returncode == 0:
        return done.stdout
    if _NONE_YET.search(done.stderr):
        return b""
    said = done.stderr.decode("utf-8", "replace").strip()
    raise UsageError(f"`crontab -l` failed with exit code {done.returncode}: {said}", hint="your crontab is untouched")


def block(home: Home, jobs: Sequence[Job]) -> bytes:
    """Our lines, with their marks."""
    ionice = ("ionice", "-c", "3") if shutil.which("ionice") else ()
    lines = [_first(home)]
    for job in jobs:
        variables = [f"{name}={word(value)}" for name, value in home.environment.items()]
        command = " ".join([*variables, *map(word, (*ionice, *home.command(job.name)))])
        lines.append(disk_bytes(f"{calendar(job.when)} {command}"))
        if job.at_login:
            lines.append(disk_bytes(f"@reboot {command}"))  # cron knows no login
    lines.append(_last(home))
    return b"\n".join(lines) + b"\n"


def current(home: Home, whole: bytes) -> bytes:
    """Our lines as they stand in a crontab; empty where there are none. Raises UsageError when a mark is missing."""
    start = _at(whole, _first(home))
    end = _at(whole, _last(home))
    if start < 0 and end < 0:
        return b""
    if start < 0 or end < start:
        raise UsageError(
            f"the crontab has only one of the two marks of '{home.marker}'",
            hint="take that line and ours beside it away with `crontab -e`, then try again",
        )
    return whole[start : end + len(_last(home)) + 1]


def installing(home: Home, jobs: Sequence[Job]) -> Plan:
    """Put our lines in the place of those that are there, else below all others."""
    whole = crontab()
    old, new = current(home, whole), block(home, jobs)
    if old == new:
        return Plan()
    gap = b"" if not whole or whole.endswith(b"\n") else b"\n"
    return Plan(calls=(Call(("crontab", "-"), whole.replace(old, new, 1) if old else whole + gap + new),))


def removing(home: Home) -> Plan:
    """Take our lines out; a crontab that held nothing else goes as well."""
    whole = crontab()
    old = current(home, whole)
    if not old:
        return Plan()
    rest = whole.replace(old, b"", 1)
    return Plan(calls=(Call(("crontab", "-"), rest) if rest else Call(("crontab", "-r")),))


def _first(home: Home) -> bytes:
    return f"# >>> {home.marker}: `brain schedule remove` takes it away >>>".encode()


def _last(home: Home) -> bytes:
    return f"# <<< {home.marker} <<<".encode()


def _at(whole: bytes, line: bytes) -> int:
    """Where a line begins, -1 for nowhere."""
    found = re.search(rb"^" + re.escape(line) + rb"$", whole, re.MULTILINE)
    return found.start() if found else -1


def calendar(when: Every | Daily) -> str:
    """The time as crontab(5) writes it."""
    if isinstance(when, Daily):
        return f"{when.minute} {when.hour} * * *"
    if when.minutes < 60:
        return f"*/{when.minutes} * * * *"
    return "0 * * * *" if when.minutes == 60 else f"0 */{when.minutes // 60} * * *"


def word(text: str) -> str:
    """A word for the shell that cron starts.

    To cron a ``%`` ends the command and a line cannot go on, so a word with such letters is spelt in octal. Raises
    UsageError for what the shell cannot spell so: a final newline.
    """
    data = disk_bytes(text)
    if not re.search(rb"[%\x00-\x1f\x7f]", data):
        return shlex.quote(text)
    if text.endswith("\n"):
        raise UsageError(f"cron cannot be told of {text!r}: it ends in a newline", hint="give it a plainer name")
    plain = frozenset(b"/._" + string.ascii_letters.encode() + string.digits.encode())
    spelt = "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in data)
    return f"\"$(printf '{spelt}')\""
