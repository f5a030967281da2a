"""Answers a question: read it, search as often as it takes, and make one answer of what comes back.

    question -> plan -> lists -> (newer first, cross-encoder) -> neighbours merged, copies folded -> page
             -> hubs rolled up, confidence

A hybrid question without fields and words of time gets the retriever's own order, whatever else stands around it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from ..errors import BrainError, UsageError
from ..index.sqlite.lookups import passage
from ..protocols import ChatModel, Embedder
from ..retrieval import Retriever
from ..types import Explanation, Filter, Hit, Mode, Query, SearchResult, Signal
from .asking import Asked
from .condensing import Group, condense
from .confidence import DOUBTFUL, LOOKED_AT, confidence, measure
from .cursors import Place, decode, encode, query_digest
from .expansion import wider
from .listing import Dated
from .lists import HitList, Interleaved, Lifted, Retrieved
from .reading import Part, Plan, by_rules, read
from .reranking import Reranking
from .rollup import roll_up
from .values import unknown_values

NEWER_AMONG = 30
"""Of so many first hits newer ones are preferred where the question asks for what is newer."""

OLD_COUNTS = 0.7
HALF_WAY_DAYS = 90.0
"""Where newer is wished a document of today counts 1, one of so many days ago half the way down to ``OLD_COUNTS``."""


NOTHING_WELL = "nothing matches well"
"""How the notice begins that tells of a confidence below ``DOUBTFUL``."""

LEAD = 2
WORSE = 0.3
"""Where a part is answered with so much less confidence than the whole question, the question was hardly several: so
many hits of the whole come before the turns of the parts."""


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers over one index.

    ``retriever`` makes every single search. ``reranking`` is the cross-encoder's stage. ``chat`` yields the chat model
    that may take agentic questions apart; None: rules do.
    """

    retriever: Retriever
    reranking: Reranking
    chat: Callable[[], ChatModel | None] | None = None

    def search(self, query: Query, cursor: str = "") -> SearchResult:
        """One page of the answer.

        Args:
            query: with the filter of the asker; ``limit`` is the page.
            cursor: of an earlier page of the same question, '' for the first.

        Raises:
            UsageError: the cursor belongs to another question, the index has changed since, or the cross-encoder that
                ordered the first page does not answer.
            StorageError, ModelError: no retriever could answer.
        """
        known = self.retriever.index.state(query.filter)
        place = decode(cursor, query, known) if cursor else Place(query_digest(query), known[:12], query.now)
        answering = _Answering(self, replace(query, now=place.now), place)
        with answering.watch("read"):
            plan = answering.read()
        return answering.answer(plan)


@dataclass(slots=True)
class _Answering:
    """One page being made."""

    own: Answerer
    query: Query
    place: Place
    searches: list[Retrieved] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    spent: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def watch(self, stage: str) -> Iterator[None]:
        """Wall time by stage, in milliseconds."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.spent[stage] = self.spent.get(stage, 0.0) + (time.perf_counter() - started) * 1000

    @property
    def agentic(self) -> bool:
        return self.query.mode == "agentic"

    def read(self) -> Plan:
        """The plan for the question."""
        index = self.own.retriever.index
        if not self.agentic:
            return read(self.query, index, None)
        rules = by_rules(index, self.query.filter)
        if self.own.chat is None:
            return read(self.query, index, rules)
        asked = Asked(self.own.chat, rules)
        plan = read(self.query, index, asked)
        self.notices.extend(asked.notices)
        return plan

    def answer(self, plan: Plan) -> SearchResult:
        """The page."""
        if plan.by_date:
            return self._result(plan, self.query.mode, *self._page(Dated(self.own.retriever.index, plan.whole.filter)))
        window = self._window(plan)
        whole = self._search(plan.whole.text, plan.whole.filter, window)
        ordered = _Reordered(self._list(plan, whole, window), window, partial(self._reordered, plan))
        page, more = self._page(ordered)
        mode: Mode = whole.result.mode
        if self.agentic and mode == "hybrid":
            mode = "agentic"
        result = self._result(plan, mode, page, more)
        with self.watch("confidence"):
            chance = self._chance(plan.whole.text, plan.whole.filter, ordered.first(LOOKED_AT))
        first_page = not self.place.shown
        if first_page and result.hits:
            with self.watch("roll up"):
                result = replace(result, rolled_up=self._rolled_up(plan, whole, result.hits))
        if first_page and result.hits and chance is not None and chance < DOUBTFUL:
            doubt = f"{NOTHING_WELL} (confidence {chance:.2f}): these are the nearest"
            result = replace(result, notices=(doubt, *result.notices))
        return replace(result, confidence=chance, timings_ms=self._timings())

    # -- lists -------------------------------------------------------------------------------------------

    def _window(self, plan: Plan) -> int:
        """How many first hits may change places after they were found."""
        window = NEWER_AMONG if plan.recent else 0
        reranks = self.place.reranked if self.place.shown else self.own.reranking.wanted
        return max(window, self.own.reranking.settings.candidates) if reranks else window

    def _search(self, text: str, filter: Filter, window: int = 0, *, per_document: int | None = 0) -> Retrieved:
        """A single search to be; ``per_document`` 0 is the question's own cap."""
        asked = self.query
        # Some hits will go into others, and one more than a page holds says whether there is another.
        limit = max(window, 2 * asked.limit if asked.condensed else asked.limit + 1)
        cap = asked.per_document if per_document == 0 else per_document
        mode: Mode = "hybrid" if self.agentic else asked.mode
        found = Retrieved(self.own.retriever, Query(text, asked.now, limit, mode, filter, cap))
        self.searches.append(found)
        return found

    def _list(self, plan: Plan, whole: Retrieved, window: int) -> HitList:
        """Everything that was asked for as one list."""
        cap = self.query.per_document
        first = self._dated(plan.whole, whole, window)
        if not plan.parts:
            return Lifted(first, _Later(partial(self._wider, plan, whole)), cap) if self.agentic else first
        # The whole question first: it is right about one of its parts more often than a part is about itself.
        lists = [first, *(self._part(part, window) for part in plan.parts)]
        return Interleaved(lists, cap, 0 if self._well_parted(plan, lists) else LEAD)

    def _well_parted(self, plan: Plan, lists: Sequence[HitList]) -> bool:
        """Whether each part that names nobody is answered about as well as the whole."""
        with self.watch("confidence"):
            chances = [
                self._chance(part.text, part.filter, ranked.first(LOOKED_AT)) or 0.0
                for part, ranked in zip((plan.whole, *plan.parts), lists, strict=True)
                if not part.named or part is plan.whole
            ]
        return all(chance >= chances[0] - WORSE for chance in chances[1:])

    def _dated(self, part: Part, found: Retrieved, window: int) -> HitList:
        """What lies in the time that a question names comes first."""
        if part.when is None:
            return found
        return Lifted(self._search(part.text, part.when, window), found, self.query.per_document)

    def _part(self, part: Part, window: int) -> HitList:
        """The hits of a part; the notes whose names it holds come first."""
        found = self._dated(part, self._search(part.text, part.filter, window), window)
        if not part.named:
            return found
        named = self._search(part.text, replace(part.filter, uris=part.named), per_document=1)
        return Lifted(named, found, self.query.per_document)

    def _wider(self, plan: Plan, whole: Retrieved) -> HitList:
        """What other words find, for a question that found less than was asked for."""
        part = plan.whole
        text = wider(self.own.retriever.index, part.text, part.named, whole.first(1), part.filter)
        return self._search(text, part.filter)

    def _reordered(self, plan: Plan, hits: list[Hit]) -> list[Hit]:
        """The first hits, newer ones higher where that was wished, then as the cross-encoder orders them."""
        if plan.recent:
            hits = _newer_first(hits, self.query)
        if self.place.shown and not self.place.reranked:
            return hits
        with self.watch("rerank"):
            ordered, refused = self.own.reranking.order(plan.whole.text, hits)
        reranked = self.own.reranking.wanted and not refused
        if self.place.shown and not reranked:
            raise UsageError(
                f"the first page was reranked and this one cannot be: {refused or 'there is no reranker now'}",
                hint="search again without a cursor",
            )
        self.place = replace(self.place, reranked=reranked)
        if refused:
            self.notices.append(refused)
        return ordered

    # -- the page ----------------------------------------------------------------------------------------

    def _page(self, ranked: HitList) -> tuple[list[Group], bool]:
        """The hits of this page, and whether there are more: what earlier pages showed is taken out first."""
        limit = self.query.limit
        need = sum(self.place.shown) + limit + 1
        while True:
            hits = ranked.first(need)
            left = list(hits)
            for shown in self.place.shown:
                gone = {member for group in self._groups(left)[:shown] for member in group.members}
                left = [hit for position, hit in enumerate(left) if position not in gone]
            groups = self._groups(left)
            used = sum(len(group.members) for group in groups)
            if len(hits) < need or (len(groups) == limit and used < len(left)):
                return groups, used < len(left)
            need *= 2

    def _groups(self, hits: Sequence[Hit]) -> list[Group]:
        limit = self.query.limit
        if self.query.condensed:
            return condense(hits, limit, partial(passage, self.own.retriever.index.database))
        return [Group.alone(hit, position) for position, hit in enumerate(hits[:limit])]

    def _result(self, plan: Plan, mode: Mode, groups: Sequence[Group], more: bool) -> SearchResult:
        before = sum(self.place.shown)
        hits = tuple(replace(group.hit, rank=before + rank) for rank, group in enumerate(groups, start=1))
        cursors = [encode(self.place.after(count)) for count in range(1, len(hits) + 1)]
        if hits and not more:
            cursors[-1] = ""
        searched = [search.results[0] for search in self.searches if search.results]
        notices = [notice for result in searched for notice in result.notices]
        if not hits:
            notices = [*unknown_values(self.own.retriever.index, plan.whole.filter), *notices]
        return SearchResult(
            self.query.text,
            mode,
            hits,
            tuple(dict.fromkeys((*self.notices, *notices))),
            self._timings(),
            understood=plan.understood,
            cursor=cursors[-1] if cursors else "",
            cursors=tuple(cursors),
        )

    def _timings(self) -> dict[str, float]:
        timings = dict(self.spent)
        for search in self.searches:
            for result in search.results:
                for stage, spent in result.timings_ms.items():
                    timings[stage] = timings.get(stage, 0.0) + spent
        return timings

    # -- what stands around it ---------------------------------------------------------------------------

    def _chance(self, text: str, filter: Filter, hits: Sequence[Hit], without: str = "") -> float | None:
        """How probable it is that one of the first hits answers."""
        if not hits:
            return 0.0
        try:
            evidence = measure(self.own.retriever.index, self._embedder(), text, hits, filter, without=without)
            return confidence(evidence)
        except BrainError:  # a part of the index that the hits did not need: they are worth more than their chance
            return None

    def _embedder(self) -> Embedder | None:
        """The embedder whose vectors were compared, None where none were."""
        if self.searches[0].result.mode == "lexical":
            return None
        try:
            return self.own.retriever.embedder()
        except BrainError:
            return None

    def _rolled_up(self, plan: Plan, whole: Retrieved, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        part = plan.whole

        def chance(child: Hit, hub: str) -> float:
            return self._chance(part.text, part.filter, [child], hub) or 0.0

        return roll_up(self.own.retriever, replace(whole.query, filter=part.filter), hits, chance)


@dataclass(slots=True)
class _Reordered:
    """A list whose first hits were put into another order, once."""

    ranked: HitList
    window: int
    order: Callable[[list[Hit]], list[Hit]]
    _head: list[Hit] | None = None

    def first(self, count: int) -> list[Hit]:
        """See ``HitList``."""
        hits = self.ranked.first(max(count, self.window))
        if not self.window:
            return hits
        if self._head is None:
            self._head = self.order(list(hits[: self.window]))
        return [*self._head, *hits[self.window :]]


@dataclass(slots=True)
class _Later:
    """A list that is made when it is first asked for."""

    make: Callable[[], HitList]
    _made: HitList | None = None

    def first(self, count: int) -> list[Hit]:
        """See ``HitList``."""
        if self._made is None:
            self._made = self.make()
        return self._made.first(count)


def _newer_first(hits: Sequence[Hit], query: Query) -> list[Hit]:
    """The hits with a mild preference for newer ones."""
    preferred = []
    for hit in hits:
        days = max(0.0, (query.now - hit.date).total_seconds() / 86_400)
        factor = OLD_COUNTS + (1 - OLD_COUNTS) * 0.5 ** (days / HALF_WAY_DAYS)
        signal = Signal("newer", "multiply", factor, f"{days:.0f} days old, newer was asked for")
        explanation = Explanation((*hit.explanation.signals, signal))
        preferred.append(replace(hit, score=round(explanation.replay(), 9), explanation=explanation))
    return sorted(preferred, key=lambda hit: (-hit.score, hit.id))
