"""The product as systems: its modes, and the stages on the way to a hybrid answer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from ..answering.packing import packed
from ..config import Settings
from ..errors import UsageError
from ..library import Brain
from ..protocols import Embedder, TokenEmbedder
from ..ranking.adjust import Adjustments
from ..types import MODES, Mode
from .answers import Asking, Engine, Found, Place, capped

ARMS: tuple[Mode, ...] = ("lexical", "dense")
"""What hybrid is made of, and must not fall below."""

AGENTS: Mode = "agentic"
"""How agents ask."""

NONE = Adjustments(weights={}, half_lives={}, withdrawn=1.0, stale=1.0)
"""A document's kind, age and status count nothing."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A mode, with token comparison, adjustments (kind, source, age, status) and cross-encoder, or without."""

    mode: Mode
    late: bool
    adjusted: bool
    rerank: bool

    def applied(self, settings: Settings) -> Settings:
        """The settings under which a search in this mode is this stage."""
        changed = replace(settings, late=self.late, rerank=self.rerank)
        if self.adjusted:
            return changed
        sources = tuple(replace(source, weight=None, half_life_days=None) for source in settings.sources)
        return replace(changed, adjustments=NONE, sources=sources)


def stages(settings: Settings, *, tokens: bool, steps: bool = True) -> dict[str, Stage]:
    """The stages by name, in the order of a table.

        lexical, dense    what fusion is made of
        fused             words and vectors
        late              and what they found compared token by token, where the embedder has token vectors
        adjusted          and a document's kind, source, age and status
        reranked          and the cross-encoder, where one is configured
        hybrid, ...       the modes as they are delivered: hybrid is the last of the stages above

    Args:
        settings: which of them there are.
        tokens: whether the embedder has token vectors.
        steps: False leaves the modes only.
    """
    late, rerank = settings.late and tokens, settings.rerank and settings.models.reranker is not None
    found = {str(mode): Stage(mode, late, True, rerank) for mode in ARMS}
    if steps:
        found["fused"] = Stage("hybrid", late=False, adjusted=False, rerank=False)
        if late:
            found["late"] = Stage("hybrid", late, adjusted=False, rerank=False)
        found["adjusted"] = Stage("hybrid", late, adjusted=True, rerank=False)
        if rerank:
            found["reranked"] = Stage("hybrid", late, adjusted=True, rerank=True)
    return found | {mode: Stage(mode, late, True, rerank) for mode in MODES if mode not in ARMS}


class Subject(Brain):
    """A brain under evaluation: an index that is there, settings as given, an embedder that is loaded already."""

    def __init__(self, settings: Settings, embedder: Embedder) -> None:
        super().__init__(settings)
        self._given = embedder

    def embedder(self) -> Embedder:
        """The one that was given."""
        return self._given


def search_engines(
    settings: Settings,
    embedder: Embedder,
    asking: Asking,
    held: ExitStack,
    *,
    steps: bool = True,
    modes: Sequence[Mode] = MODES,
) -> dict[str, Engine]:
    """The stages as systems, by name; equal ones are one engine.

    Args:
        settings: name the index, and which stages there are.
        embedder: embeds the questions.
        asking: how they are asked.
        held: closes the indexes.
        steps: False leaves the modes only.
        modes: those of them that are wanted.
    """
    engines: dict[Stage, Engine] = {}
    named = stages(settings, tokens=isinstance(embedder, TokenEmbedder), steps=steps)
    named = {name: stage for name, stage in named.items() if name not in MODES or name in modes}
    for stage in named.values():
        if stage not in engines:
            brain = held.enter_context(Subject(stage.applied(settings), embedder))
            engines[stage] = search_engine(brain, stage.mode, asking)
    return {name: engines[stage] for name, stage in named.items()}


def search_engine(brain: Brain, mode: Mode, asking: Asking) -> Engine:
    """A brain as a system; what an agent reads is the packed answer.

    The engine raises UsageError when a question was answered in another mode.
    """

    def ask(question: str) -> Found:
        result = brain.search(
            question,
            limit=asking.limit,
            mode=mode,
            now=asking.now,
            per_document=asking.per_document,
            condensed=asking.condensed,
        )
        if result.mode != mode:
            raise UsageError(
                f"'{question[:60]}' was to be answered in mode {mode}, the answer came from mode {result.mode}:"
                f" {'; '.join(result.notices) or 'no reason given'}",
                hint="measure again when the embedder works and every chunk has its vector",
            )
        places = capped((Place(hit.uri, hit.start, hit.end) for hit in result.hits), asking)
        return Found(places, lambda: packed(result).text)

    return ask
