"""Review: what a person might want to put right. Nothing here changes a note, and nothing is merged."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from ...errors import BrainError, UsageError
from ...memory.file import MemoryFile
from ...overview import contradictions
from ...overview.comparing import compared
from ...overview.kept import MOST, Kept, Stamp, stamp_of
from ...overview.review import Pair, Sketches
from ...types import Filter
from .map import LINK_GRAPHS
from .page import Page, Visit, with_query
from .paging import sheet, show_sheet

if TYPE_CHECKING:
    from ...clearance import VisibleLinks

PAIRS = 25
"""Pairs of like notes on a sheet."""

ROWS = 10
"""Of each other list on the page itself."""

AT_ONCE_S = 0.25
"""A page waits so long for the pairs; then it comes without, and its script asks for them."""

logger = logging.getLogger("second_brain.servers")


@dataclass(slots=True)
class Finding:
    """Pairs being found in a thread of their own: of which state, how far, and the pairs at the end."""

    stamp: Stamp
    done: int = 0
    total: int = 0
    pairs: list[Pair] | None = None
    problem: str = ""
    ended: threading.Event = field(default_factory=threading.Event)


class Ended(Exception):
    """The process waits for its threads: nobody will read what this one finds."""


class Likenesses:
    """The pairs of each view, found anew when its index changed. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sketches: dict[str, Sketches] = {}
        self._found: dict[Filter, Finding] = {}

    def of(self, visible: VisibleLinks) -> Finding:
        """The pairs, or how far they are; if need be the search for them begins with this."""
        stamp = stamp_of(visible)
        with self._lock:
            finding = self._found.pop(visible.filter, None)
            if finding is None or finding.stamp != stamp or finding.problem:
                finding = Finding(stamp)
                sketches = self._sketches.setdefault(str(visible.index.path), Sketches())
                threading.Thread(target=_find, args=(sketches, visible, finding), name="likenesses").start()
            self._found[visible.filter] = finding
            while len(self._found) > MOST:
                del self._found[next(iter(self._found))]
            return finding


def _find(sketches: Sketches, visible: VisibleLinks, finding: Finding) -> None:
    def progress(done: int, total: int) -> None:
        if not threading.main_thread().is_alive():
            raise Ended
        finding.done, finding.total = done, total

    try:
        finding.pairs = sketches.pairs(visible, progress=progress)
    except Ended:
        finding.problem = "the server ended"
    except BrainError as error:
        finding.problem = str(error)
    except Exception:
        logger.exception("likenesses")
        finding.problem = "the notes could not be compared; the server's log says why"
    finally:
        finding.ended.set()


@dataclass(frozen=True, slots=True)
class Contradictions:
    """What does not fit, of all kinds that the index alone shows."""

    outdated: list[contradictions.Outdated]
    sides: list[contradictions.OneSided]
    lessons: list[contradictions.NamedLesson]
    names: list[contradictions.SharedName]


def _contradictions(visible: VisibleLinks) -> Contradictions:
    graph = LINK_GRAPHS.of(visible)
    return Contradictions(
        contradictions.outdated(graph),
        contradictions.one_sided(visible, graph),
        contradictions.retired_lessons(visible, graph),
        contradictions.shared_names(visible, graph),
    )


LIKENESSES = Likenesses()
CONTRADICTIONS: Kept[Contradictions] = Kept(_contradictions)


def show_review(visit: Visit) -> Response:
    """The page: the beginning of every list."""
    lists = _lists(visit)
    finding = _finding(visit)
    return visit.show(
        "review.html", lists={name: found[:ROWS] for name, found in lists.items()},
        counts={name: len(found) for name, found in lists.items()}, **_alike(visit, finding),
    )  # fmt: skip


def show_alike(visit: Visit) -> Response:
    """The pairs alone, or how far they are, for the page's script."""
    return visit.show("review-alike.html", **_alike(visit, _finding(visit)))


def show_list(visit: Visit) -> Response:
    """One list whole, page by page. Raises NotFound for another one."""
    return show_sheet(visit, "review-list.html", _lists(visit))


def show_comparison(visit: Visit) -> Response:
    """Two notes side by side. Raises NotFound and Ambiguous as reading does."""
    left, right = (visit.brain.get(_named(visit, name)) for name in ("a", "b"))
    return visit.show(
        "compare.html", left=left.document, right=right.document, comparison=compared(left.text, right.text)
    )


def _named(visit: Visit, argument: str) -> str:
    name = visit.argument(argument)
    if not name:
        raise UsageError("two notes are compared, and one is not named", hint="/review leads to pairs of like notes")
    return name


def _finding(visit: Visit) -> Finding:
    finding = LIKENESSES.of(visit.brain.visible())
    finding.ended.wait(AT_ONCE_S)
    return finding


def _alike(visit: Visit, finding: Finding) -> dict[str, Any]:
    return {
        "finding": finding,
        "pairs": None if finding.pairs is None else sheet(finding.pairs, visit.argument("alike"), PAIRS),
        "pairs_url": lambda number: with_query("/review", alike=number) + "#alike",
        "compare_url": lambda pair: with_query("/review/compare", a=pair.first.uri, b=pair.second.uri),
    }


def _lists(visit: Visit) -> dict[str, Sequence[Any]]:
    found = CONTRADICTIONS.of(visit.brain.visible())
    lists: dict[str, Sequence[Any]] = {
        "outdated": found.outdated, "sides": found.sides, "lessons": found.lessons, "names": found.names,
    }  # fmt: skip
    graph = visit.house.graph
    if graph is not None and not visit.brain.clearance:  # the knowledge graph has no privacy labels
        roots = [graph.parent, *(source.path for source in visit.brain.sources())]
        lists["facts"] = contradictions.lost_facts(MemoryFile(graph).read(), roots)
    return lists


PAGES = (
    Page("/review", show_review),
    Page("/review/alike", show_alike, part=True),
    Page("/review/compare", show_comparison),
    Page("/review/{which}", show_list),
)
