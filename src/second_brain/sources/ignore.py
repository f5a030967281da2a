"""The paths that the user wants left out.

Git's ignore rules: ``.gitignore`` in every folder, ``.git/info/exclude``, and ``.indexignore``, which has the
same syntax and is for this index alone. pathspec translates one pattern to a regular expression. The order
of decision is ours, because only the walker knows that a folder was passed over, and git never looks
into such a folder again:

1. ``.indexignore``, from the entry's own folder upwards, then ``.gitignore`` likewise, then
   ``info/exclude``. So a ``!drafts/`` in ``.indexignore`` brings back what git leaves out.
2. In one file the last pattern that matches the entry itself decides.

If the source's root lies in a repository, the files of the folders above it hold too, up to the repository's
top. The user's global excludes file (``core.excludesFile``) is not read: it belongs to git, not to a folder.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from .paths import compose, joined, nearest_with
from .reading import FileTooLarge, read_regular

GIT_FILE = b".gitignore"
INDEX_FILE = b".indexignore"
MAX_IGNORE_BYTES = 256 * 2**10

Patterns: TypeAlias = "tuple[tuple[Callable[[str], object | None], bool], ...]"
"""Matchers of a whole path and whether a match means "leave out", the last line of the file first."""

_TRIMMED = re.compile(r"(?:\\.|[^\\])*?(?= *\Z)", re.DOTALL)
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": "!-.:-@[-`{-~",
    "space": " \t\n\r\f\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


@lru_cache(maxsize=512)
def compile_patterns(text: str) -> Patterns:
    """The patterns of an ignore file's text. Lines that git would not understand match nothing."""
    rules = [rule for line in compose(text).split("\n") if (rule := _rule(line.removesuffix("\r")))]
    compiled = []
    for leaves_out, group in groupby(reversed(rules), key=lambda rule: rule[1]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # "[[]", git's way to write a bracket
            compiled.append((re.compile("|".join(regex for regex, _ in group)).fullmatch, leaves_out))
    return tuple(compiled)


def verdict(patterns: Patterns, path: str) -> bool | None:
    """Whether the patterns leave out (True) or bring back (False) this very path; None if none matches.

    ``path`` is relative to the patterns' folder; that of a folder ends in ``/``. What they say of the folders
    above it does not count.
    """
    for matches, leaves_out in patterns:
        if matches(path):
            return leaves_out
    return None


def covers(patterns: Patterns, path: str) -> bool:
    """Whether the patterns match the file or a folder above it; the decision nearest to the file counts."""
    for end in range(len(path), 0, -1):
        if end == len(path) or path[end - 1] == "/":
            decision = verdict(patterns, path[:end])
            if decision is not None:
                return decision
    return False


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that hold in one folder: those of its own files and of the folders above it.

    ``prefix`` is the path from the repository's top to the source's root. A layer is the length of its
    folder's path from the top, and its patterns; innermost first.
    """

    prefix: str = ""
    index: tuple[tuple[int, Patterns], ...] = ()
    git: tuple[tuple[int, Patterns], ...] = ()

    def within(self, folder: str, *, git: str = "", index: str = "") -> IgnoreRules:
        """These rules and the texts of the two files in ``folder`` (from the root; '' or ends in ``/``)."""
        depth = len(self.prefix) + len(folder)
        return IgnoreRules(
            self.prefix,
            ((depth, compile_patterns(index)), *self.index) if index else self.index,
            ((depth, compile_patterns(git)), *self.git) if git else self.git,
        )

    def exclude(self, path: str) -> bool:
        """Whether an entry is left out, given that no folder above it is. A folder's path ends in ``/``."""
        full = self.prefix + path
        for layers in (self.index, self.git):
            for depth, patterns in layers:
                decision = verdict(patterns, full[depth:])
                if decision is not None:
                    return decision
        return False


def rules_above(root: bytes, problems: list[str]) -> IgnoreRules:
    """The rules of the git repository around ``root``, without those in the root folder itself.

    There are none when the root is in no repository, or when the repository leaves the root itself out:
    whoever adds an ignored folder as a source wants its files.
    """
    root = os.path.realpath(root)
    top = nearest_with(root, b".git")
    if top is None:
        return IgnoreRules()
    rules = IgnoreRules().within("", git=ignore_text(_exclude_file(top, problems), problems))
    folder, prefix = top, ""
    for name in os.path.relpath(root, top).split(os.sep.encode()) if root != top else ():
        rules = rules.within(
            prefix,
            git=ignore_text(joined(folder, GIT_FILE), problems),
            index=ignore_text(joined(folder, INDEX_FILE), problems),
        )
        folder = joined(folder, name)
        prefix += compose(name.decode("utf-8", "replace")) + "/"
        if rules.exclude(prefix):
            return IgnoreRules()
    return IgnoreRules(prefix, rules.index, rules.git)


def ignore_text(path: bytes, problems: list[str]) -> str:
    """The text of an ignore file; '' when there is none or, with a line in ``problems``, it cannot be read.

    As in git, a link is not followed. A pipe of that name is no ignore file.
    """
    try:
        return read_regular(path, MAX_IGNORE_BYTES).decode("utf-8-sig", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, FileTooLarge) as error:
        problems.append(f"its rules are not applied: {error}")
        return ""


def _rule(line: str) -> tuple[str, bool] | None:
    """A line as a regular expression for a whole path and whether it leaves out; None if it says nothing.

    pathspec's expressions also match what lies below a match. To make each match an entry itself, a final
    ``**`` is written as ``**/?*``. The other changes are where pathspec 1.1 differs from git 2.39:
    only spaces are trimmed, ``***`` is ``**``, ``[:alpha:]`` is a class, ``[!a]`` never is a slash.
    """
    trimmed = _TRIMMED.match(line)
    if trimmed is None or line.startswith("#"):
        return None
    line = re.sub(r"\\?(\s)\Z", r"[\1]", trimmed[0])
    line = re.sub(r"\*{3,}", "**", line)
    line = re.sub(r"\[:(\w+):\]", lambda found: _CLASSES.get(found[1], found[0]), line)
    line = re.sub(r"(^!?|/)\*\*(/?)\Z", r"\1**/?*\2", line)
    line = re.sub(r"(^!?|/)\*(/?)\Z", r"\1?*\2", line)
    try:
        regex, leaves_out = GitIgnoreSpecPattern.pattern_to_regex(line)
        if regex is None or leaves_out is None:
            return None
        regex = regex.replace("?P<ps_d>", "?:")  # many are joined, and a group's name must be unique
        regex = re.sub(r"\[\^(?=[^]])", "[^/", regex)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(regex)
    except (ValueError, re.error):
        return None
    return f"(?:{regex})", leaves_out


def _exclude_file(top: bytes, problems: list[str]) -> bytes:
    """Where ``info/exclude`` is. In a work tree or submodule ``.git`` is a file that names the folder."""
    git = joined(top, b".git")
    if not os.path.isdir(git):
        pointer = ignore_text(git, problems).partition("gitdir:")[2]
        git = joined(top, pointer.strip().encode("utf-8"))
        git = joined(git, ignore_text(joined(git, b"commondir"), problems).strip().encode("utf-8"))
    return joined(git, b"info", b"exclude")
