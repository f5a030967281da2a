"""What an evaluation found, and under which conditions: every question's values are kept, means are made later."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .. import __version__
from ..analysis import ANALYZER_VERSION
from ..config import Settings
from ..types import MODES
from .measures import Difference, difference, mean
from .questions import Half, in_half
from .sizes import Cost, Size
from .stages import ARMS


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
    """One set of questions under every system: grep, public peers, the stages and modes of a search.

    ``values`` by system, measure and question id. ``groups`` by question id. ``primary`` is the measure that
    systems are compared by. ``notices`` say what must be known before believing the numbers. ``costs`` by system,
    ``readings`` by way of looking and question id: empty where they were not asked for.
    """

    name: str
    documents: int
    chunks: int
    primary: str
    values: Mapping[str, Mapping[str, Mapping[str, float]]]
    groups: Mapping[str, tuple[str, ...]]
    provenance: Provenance
    notices: tuple[str, ...] = ()
    costs: Mapping[str, Cost] = field(default_factory=dict)
    readings: Mapping[str, Mapping[str, Size]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over one group of questions; the group 'all' is every one.

    ``means`` by system and measure. ``regrets``, for every mode that is made of the arms, is how far the better arm's
    primary measure lies above its: negative where fusion gains.
    """

    group: str
    questions: int
    means: Mapping[str, Mapping[str, float]]
    better_arm: str
    regrets: Mapping[str, Difference]


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
    arm = {question: evaluation.values[better][primary][question] for question in questions}
    regrets: dict[str, Difference] = {
        mode: difference(arm, evaluation.values[mode][primary])
        for mode in MODES
        if mode not in ARMS and mode in evaluation.values
    }
    return Summary(group, len(questions), means, better, regrets)


def provenance(settings: Settings, embedder: str, data: str) -> Provenance:
    """The conditions that hold now, for these settings and data."""
    fusion = {**asdict(settings.fusion), "late": settings.late}
    rerank = settings.models.reranker if settings.rerank else None
    deciding = (sorted(fusion.items()), settings.adjustments, rerank, settings.reranking, settings.decompose)
    return Provenance(
        version=__version__,
        commit=commit_of(Path(__file__)),
        data=data,
        embedder=embedder,
        analyzer=str(ANALYZER_VERSION),
        settings=digest([repr(deciding).encode("utf-8")]),
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
