"""Questions with their right answers, the two halves into which every set falls, and asking them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from ..errors import UsageError

Half: TypeAlias = Literal["tune", "held"]
"""Settings are chosen on 'tune'; what is claimed is measured on 'held'."""

NOW = datetime(2026, 9, 1, tzinfo=UTC)
"""When questions are asked, so that nothing ages between two evaluations."""


def silent(stage: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the grade of each document that answers it (1 or more; 0 and unlisted answer nothing).

    ``groups`` are what results are broken down by, for instance its class and its language.
    """

    id: str
    text: str
    relevant: Mapping[str, int]
    groups: tuple[str, ...] = ()


def read_lines(file: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that are not blank, with their numbers from 1.

    Raises:
        UsageError: the file cannot be read.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{file} cannot be read: {error}",
            hint="run it in a clone of second-brain, or name your own questions with --golden and --vault",
        ) from error
    # Not splitlines(): JSON may hold U+2028 as it is.
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def half(question_id: str) -> Half:
    """The half that a question belongs to, by a hash of its id: the same on every machine and for ever."""
    digest = hashlib.blake2b(question_id.encode("utf-8"), digest_size=1).digest()
    return "held" if digest[0] & 1 else "tune"


def in_half(question_id: str, wanted: Half | None) -> bool:
    """Whether the question counts; None wants both halves."""
    return wanted is None or half(question_id) == wanted
