"""All systems asked the same questions: the values, what the answers cost, and under which conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..config import Settings
from ..index.sqlite.store import SqliteIndex
from ..protocols import Embedder, Progress
from ..types import MODES, Mode
from .answers import Answers, Asking, Engine, Place, gather
from .caching import CachingEmbedder
from .grep import grep_engine
from .measures import measure
from .peers import peer_engines
from .questions import Half, Question, in_half
from .results import Evaluation, provenance
from .sizes import costs, readings
from .stages import AGENTS, search_engines

Judge: TypeAlias = Callable[[Sequence[Question], Answers], dict[str, dict[str, float]]]
"""Questions and what was found for them, to the values by measure and question id."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is wanted of an evaluation.

    ``half``: only these questions. ``steps``: the stages before hybrid's answer too. ``modes``: only these of the
    modes. ``peers``: public peers too.
    ``timed``: what a question costs. ``readings``: what an agent reads for it, way by way.
    """

    half: Half | None = None
    steps: bool = True
    modes: tuple[Mode, ...] = MODES
    peers: bool = False
    timed: bool = True
    readings: bool = False


def by_document(questions: Sequence[Question], answers: Answers) -> dict[str, dict[str, float]]:
    """The measures of ranked documents; ``relevant`` of a question names them by uri."""
    run = {id: [place.document for place in places] for id, places in answers.items()}
    return measure({question.id: question.relevant for question in questions}, run)


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions about the documents of an index that is up to date.

    ``texts`` is what grep looks through, ``documents`` how many there are, ``primary`` the measure that systems are
    compared by, ``data`` the hash of questions and documents.
    """

    name: str
    questions: Sequence[Question]
    texts: Mapping[Place, str]
    documents: int
    primary: str
    data: str
    asking: Asking = Asking()
    judge: Judge = by_document
    notices: tuple[str, ...] = ()


def evaluate(
    asked: QuestionSet,
    settings: Settings,
    embedder: Embedder,
    plan: Plan,
    progress: Progress,
    *,
    remembered: CachingEmbedder | None = None,
) -> Evaluation:
    """Ask every system every question.

    Args:
        asked: the questions.
        settings: name the index, and say how it is searched.
        embedder: of the index's vectors.
        plan: what is wanted.
        progress: told what is being done.
        remembered: embeds the questions where nothing is timed.

    Raises:
        UsageError: a question was answered in another mode than the one that is measured.
        MissingExtra: ir-measures, or a peer, is not installed.
    """
    questions = [question for question in asked.questions if in_half(question.id, plan.half)]
    with ExitStack() as held:
        index = held.enter_context(closing(SqliteIndex(settings.index)))
        engines = _systems(asked, index, settings, remembered or embedder, plan, held)
        answers = gather(engines, questions, asked.name, progress)
        agents: dict[str, Engine] = {}
        if plan.timed or plan.readings:
            agents_way = replace(asked, asking=asked.asking.as_an_agent())
            agents = _systems(agents_way, index, settings, embedder, plan, held, warm=False)
        return Evaluation(
            name=asked.name,
            documents=asked.documents,
            chunks=index.chunk_count(),
            primary=asked.primary,
            values={system: asked.judge(questions, found) for system, found in answers.items()},
            groups={question.id: question.groups for question in questions},
            provenance=provenance(settings, embedder.identity, asked.data),
            notices=asked.notices,
            costs=costs(agents, questions, asked.name, progress) if plan.timed else {},
            readings=readings(agents[AGENTS], engines["grep"], asked.texts, questions, progress)
            if plan.readings
            else {},
        )


def _systems(
    asked: QuestionSet,
    index: SqliteIndex,
    settings: Settings,
    embedder: Embedder,
    plan: Plan,
    held: ExitStack,
    *,
    warm: bool = True,
) -> dict[str, Engine]:
    """By name, in the order of a table. ``warm``: grep may remember what it found for words."""
    peers = peer_engines(index, embedder, asked.asking, held) if plan.peers else {}
    return {
        "grep": grep_engine(asked.texts, asked.asking, remembers=warm),
        **peers,
        **search_engines(settings, embedder, asked.asking, held, steps=plan.steps, modes=plan.modes),
    }
