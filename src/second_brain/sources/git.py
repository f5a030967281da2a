"""What git knows of a repository; the only place that runs it.

A repository may be anybody's, and its configuration can name programs that git would run (hooks, a file system
monitor, diff drivers, a pager, what shows signatures). Nothing is asked here that needs one, and each is turned off
besides; nothing is fetched. A folder of another user is refused by git itself.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from ..errors import SourceError

TIMEOUT_S: Final = 120.0

_SAFE: Final = (
    *("--no-pager", "--no-replace-objects"),
    *("-c", "core.fsmonitor=", "-c", f"core.hooksPath={os.devnull}", "-c", "log.showSignature=false"),
    *("-c", "core.quotePath=false", "-c", "i18n.logOutputEncoding=utf-8", "-c", "protocol.allow=never"),
)
_ENVIRONMENT: Final = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
_FIELDS: Final = "%H%x00%P%x00%an%x00%ae%x00%ct%x00%B%x00"


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit: ``sha`` in full, ``message`` with its subject as first line."""

    sha: str
    author: str
    when: datetime
    message: str


def tracked(root: bytes, source: str) -> set[bytes]:
    """The paths, below ``root``, of the files that git keeps there. Raises SourceError."""
    return set(_git(root, source, "ls-files", "-z").split(b"\0")) - {b""}


def commits(root: bytes, source: str, limit: int) -> list[Commit]:
    """The newest commits of what is checked out, newest first, without merges that say nothing. Raises SourceError.

    Costs some 10 ms and 20 µs a commit.
    """
    if not _git(root, source, "rev-parse", "-q", "--verify", "HEAD", allowed=(0, 1, 128)).strip():
        return []  # nothing was committed yet
    output = _git(
        root, source, "log", f"--max-count={limit}", "--no-ext-diff", f"--format=tformat:{_FIELDS}", "HEAD", "--"
    )
    return list(_commits(output))


def changed_files(root: bytes, source: str, shas: list[str]) -> dict[str, list[str]]:
    """For each commit the files that it changed, each behind a letter for how: ``M src/a.py``. Raises SourceError."""
    found: dict[str, list[str]] = {}
    output = _git(
        *(root, source, "log", "--no-walk=unsorted", "--stdin", "--no-ext-diff", "--no-textconv", "--no-renames"),
        *("--no-relative", "--no-color", "--name-status", "-z", "--format=tformat:%x01%H"),
        given="\n".join(shas).encode() + b"\n",
    )
    for part in output.split(b"\x01")[1:]:
        sha, *pairs = (piece.decode("utf-8", "replace").strip("\n") for piece in part.split(b"\0"))
        pairs = [piece for piece in pairs if piece]
        found[sha] = [f"{how} {path}" for how, path in zip(pairs[::2], pairs[1::2], strict=False)]
    return found


def _commits(output: bytes) -> Iterator[Commit]:
    fields = output.decode("utf-8", "replace").split("\0")
    for start in range(0, len(fields) - 6, 6):
        sha, parents, name, address, seconds, message = fields[start : start + 6]
        message = message.strip()
        lines = message.split("\n")
        if not message or (" " in parents and len(lines) == 1 and message.startswith("Merge ")):
            continue
        yield Commit(sha.strip(), f"{name} <{address}>", datetime.fromtimestamp(int(seconds), UTC), message)


def _git(
    root: bytes, source: str, command: str, *arguments: str, given: bytes = b"", allowed: tuple[int, ...] = (0,)
) -> bytes:
    shown = root.decode("utf-8", "backslashreplace")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | _ENVIRONMENT
    try:
        done = subprocess.run(
            ["git", *_SAFE, command, *arguments],
            cwd=root,
            env=environment,
            input=given,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError as error:
        if not os.path.isdir(root):
            raise SourceError(
                f"source '{source}': {shown} does not exist", hint="plug in or mount its disk, or correct its path"
            ) from error
        raise SourceError(
            f"source '{source}': the program git is not installed", hint="install git, or use `kind: code`"
        ) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SourceError(f"source '{source}': git did not answer in {shown}: {error}") from error
    if done.returncode not in allowed:
        said = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
        raise SourceError(
            f"source '{source}': git {command} failed in {shown}: {said}",
            hint="give the folder of a git repository, or use `kind: code`",
        )
    return done.stdout
