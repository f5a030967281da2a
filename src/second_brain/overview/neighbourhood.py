"""Which notes are near this one by links, and which stand out: hubs, orphans, links that lead nowhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from ..clearance import VisibleLinks
from ..index.sqlite import outlines
from ..index.sqlite.counting import leads_to_a_note
from ..index.sqlite.outlines import Outline

MOST_NODES = 2_000
"""A drawing holds at most so many; the page says what it leaves out."""

DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Node:
    """A dot of a drawing. ``folder`` is the first one below its source; ``degree`` counts its neighbours in all.

    ``distance`` is how many links it is away from where the drawing begins, -1 where it begins nowhere.
    """

    name: str
    title: str
    source: str
    type: str
    folder: str
    degree: int
    distance: int = -1


@dataclass(frozen=True, slots=True)
class Drawing:
    """What a map shows: nodes, the most important first, and edges as pairs of places in them.

    ``labels``: what each edge says, '' for a plain link. ``left_out`` counts the nodes that did not fit.
    """

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]
    labels: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Loose:
    """A link that leads nowhere, as written; ``start`` is its offset in the note, -1 in its properties."""

    uri: str
    title: str
    written: str
    start: int


class LinkGraph:
    """Every document that a view shows, and which of them link to which. Made once, then asked from many threads.

    Cost: for 39,000 documents with 78,000 links 0.5 s of one core; a question then takes some milliseconds.
    """

    def __init__(self, visible: VisibleLinks) -> None:
        database, filter = visible.index.database, visible.filter
        with database.snapshot():
            found = outlines.outlines(database, filter)
            pairs = outlines.joined(database)
            loose = outlines.loose_links(database, filter)
            led = visible.led_elsewhere()
        self.documents: Mapping[int, Outline] = {outline.key: outline for outline in found}
        self._keys = {outline.uri: outline.key for outline in found}
        pairs = [pair for pair in pairs if pair[0] in self.documents and pair[1] in self.documents]
        for link in led:
            if link.target is None:
                title = self.documents[self._keys[link.source]].title
                loose.append((link.source, title, link.written, link.start))
            elif link.target != link.source:
                pairs.append((self._keys[link.source], self._keys[link.target]))
        self.into: dict[int, list[int]] = defaultdict(list)
        self.out: dict[int, list[int]] = defaultdict(list)
        for source, target in dict.fromkeys(pairs):
            self.out[source].append(target)
            self.into[target].append(source)
        self._loose = sorted(loose, key=itemgetter(0, 3, 2)) if led else loose  # they come in order

    @cached_property
    def loose(self) -> tuple[Loose, ...]:
        """Links to notes that lead nowhere, by uri and place."""
        return tuple(Loose(*entry) for entry in self._loose if leads_to_a_note(entry[2]))

    def degree(self, key: int) -> int:
        """How many documents a document is linked with."""
        return self._degrees.get(key, 0)

    @cached_property
    def _degrees(self) -> Mapping[int, int]:
        linked = self.into.keys() | self.out.keys()
        return {key: len({*self.into.get(key, ()), *self.out.get(key, ())}) for key in linked}

    @cached_property
    def hubs(self) -> list[tuple[Outline, int, int]]:
        """Documents with how many link to them and how many they link to, those that most link to first."""
        found = [
            (outline, len(self.into.get(key, ())), len(self.out.get(key, ())))
            for key, outline in self.documents.items()
        ]
        linked = [entry for entry in found if entry[1]]
        return sorted(linked, key=lambda entry: (-entry[1], -entry[2], entry[0].uri))

    @cached_property
    def orphans(self) -> list[Outline]:
        """Notes that nothing links to and that link to nothing, the newest first."""
        found = [
            outline
            for key, outline in self.documents.items()
            if outline.kind == "markdown" and key not in self.into and key not in self.out
        ]
        return sorted(found, key=lambda outline: (outline.day, outline.uri), reverse=True)

    def around(self, uri: str, *, depth: int = 1, most: int = MOST_NODES) -> Drawing:
        """The documents up to ``depth`` links away in either direction; of too many the nearest, then the most linked.

        Empty when the view does not show the document.
        """
        if uri not in self._keys:
            return Drawing((), ())
        distances = {self._keys[uri]: 0}
        edge = [self._keys[uri]]
        for step in range(1, depth + 1):
            reached = {near for key in edge for near in (*self.out.get(key, ()), *self.into.get(key, ()))}
            edge = sorted(reached - distances.keys())
            distances.update((key, step) for key in edge)
        return self._drawn(distances, most)

    @cached_property
    def whole(self) -> Drawing:
        """The documents that are linked with any, the most linked ones of too many."""
        return self._drawn(dict.fromkeys(self._degrees, -1), MOST_NODES)

    def _drawn(self, distances: Mapping[int, int], most: int) -> Drawing:
        ordered = sorted(distances, key=lambda key: (distances[key], -self.degree(key), self.documents[key].uri))
        chosen = ordered[:most]
        places = {key: place for place, key in enumerate(chosen)}
        edges = [
            (places[key], places[target]) for key in chosen for target in self.out.get(key, ()) if target in places
        ]
        return Drawing(
            tuple(self._node(key, distances[key]) for key in chosen), _undirected(edges), (), len(ordered) - len(chosen)
        )

    def _node(self, key: int, distance: int) -> Node:
        outline = self.documents[key]
        folder, _, file = outline.uri.partition("/")[2].partition("/")
        return Node(
            outline.uri, outline.title, outline.source, outline.type, folder if file else "", self.degree(key), distance
        )


def _undirected(edges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple(dict.fromkeys((min(edge), max(edge)) for edge in edges))
