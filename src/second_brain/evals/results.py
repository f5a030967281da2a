"""What an evaluation found, and under which conditions: every question's values are kept, means are made later."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from .. import __version__
from ..analysis import ANALYZER_VERSION
from ..config import Settings
from ..errors import UsageError
from .measures import Difference, difference, mean
from .questions import Half, in_half

ARMS = ("lexical", "dense")
"""What hybrid is made of, and must not fall below."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The conditions of an evaluation: where all of them are equal, so are the values.

    ``commit`` ends in '+' when tracked files differed from it, and is '' outside of a git checkout. ``data`` is
    BLAKE2b-128 of questions and documents, in hex; ``settings`` that of the settings that decide an order, which
    are spelt out in ``fusion``.
    """

    version: str
    commit: str
    data: str
    embedder: str
    analyzer: str
    settings: str
    fusion: Mapping[str, str | float | int]
    machine: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One set of questions under every system: grep where it can answer, and the modes of a search.

    ``values`` by system, measure and question id. ``groups`` by question id. ``primary`` is the measure that
    systems are compared by. ``notices`` say what must be known before believing the numbers.
    """

    name: str
    documents: int
    chunks: int
    primary: str
    values: Mapping[str, Mapping[str, Mapping[str, float]]]
    groups: Mapping[str, tuple[str, ...]]
    provenance: Provenance
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over one group of questions; the group 'all' is every one.

    ``means`` by system and measure. ``regret`` is how far the better arm's primary measure lies above hybrid's:
    negative where fusion gains.
    """

    group: str
    questions: int
    means: Mapping[str, Mapping[str, float]]
    better_arm: str
    regret: Difference


def summarize(evaluation: Evaluation, half: Half | None = None) -> tuple[Summary, ...]:
    """Means over all questions and over each group, of one half or of both (None).

    Groups follow in the order in which questions name them: first all first groups, then all second ones.
    """
    chosen = [question for question in evaluation.groups if in_half(question, half)]
    members: dict[str, list[str]] = {"all": chosen}
    for position in range(max((len(evaluation.groups[question]) for question in chosen), default=0)):
        for question in chosen:
            for group in evaluation.groups[question][position : position + 1]:
                members.setdefault(group, []).append(question)
    return tuple(_summary(evaluation, group, questions) for group, questions in members.items())


def _summary(evaluation: Evaluation, group: str, questions: Sequence[str]) -> Summary:
    primary = evaluation.primary
    means = {
        system: {name: mean(values[question] for question in questions) for name, values in measures.items()}
        for system, measures in evaluation.values.items()
    }
    better = max(ARMS, key=lambda arm: means[arm][primary])
    arm, hybrid = (evaluation.values[system][primary] for system in (better, "hybrid"))
    regret = difference({question: arm[question] for question in questions}, hybrid)
    return Summary(group, len(questions), means, better, regret)


def compare(
    before: Evaluation,
    after: Evaluation,
    *,
    system: str = "hybrid",
    measure: str | None = None,
    half: Half | None = None,
) -> Difference:
    """What a change brought: ``after - before`` in one system and measure (the primary one), by question.

    Raises:
        UsageError: the two were not measured on the same data.
    """
    if before.provenance.data != after.provenance.data:
        raise UsageError(
            f"'{before.name}' was measured on data {before.provenance.data[:8]}, '{after.name}' on"
            f" {after.provenance.data[:8]}: their difference means nothing",
            hint="measure both on the same questions and documents",
        )
    name = measure or after.primary
    old, new = (evaluation.values[system][name] for evaluation in (before, after))
    return difference({question: value for question, value in new.items() if in_half(question, half)}, old)


def read_evaluations(file: Path) -> list[Evaluation]:
    """The evaluations that ``brain eval --json`` wrote.

    Raises:
        UsageError: the file is something else.
    """
    try:
        written = json.loads(file.read_text(encoding="utf-8"))["evaluations"]
        names = [field.name for field in fields(Evaluation)]
        return [
            Evaluation(
                **{name: entry[name] for name in names}
                | {
                    "groups": {question: tuple(groups) for question, groups in entry["groups"].items()},
                    "provenance": Provenance(**entry["provenance"]),
                    "notices": tuple(entry["notices"]),
                }
            )
            for entry in written
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{file} holds no evaluations ({type(error).__name__}: {error})",
            hint=f"write it with `brain eval --json > {file}`",
        ) from error


def provenance(settings: Settings, embedder: str, data: str) -> Provenance:
    """The conditions that hold now, for these settings and data."""
    fusion = {**asdict(settings.fusion), "late": settings.late}
    return Provenance(
        version=__version__,
        commit=commit_of(Path(__file__)),
        data=data,
        embedder=embedder,
        analyzer=str(ANALYZER_VERSION),
        settings=digest([repr(sorted(fusion.items())).encode("utf-8")]),
        fusion=fusion,
        machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors,"
        f" Python {platform.python_version()}",
    )


def digest(parts: Iterable[bytes]) -> str:
    """BLAKE2b-128 of the parts, each told apart from the next, in hex."""
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        hasher.update(len(part).to_bytes(8, "big"))
        hasher.update(part)
    return hasher.hexdigest()


def commit_of(file: Path) -> str:
    """The commit of the checkout that tracks ``file``, with '+' when tracked files differ; else ''."""

    def git(*arguments: str) -> str:
        command = ["git", "--no-optional-locks", *arguments]
        return subprocess.run(command, cwd=file.parent, capture_output=True, text=True, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", file.name)
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return ""
