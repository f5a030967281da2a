"""What a question asks for, as a plan: which searches, where, and which documents first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from ..analysis import query_terms
from ..index.sqlite.facets import count_facets
from ..index.sqlite.lookups import called, oldest_date
from ..index.sqlite.store import SqliteIndex
from ..records import Counts
from ..sources.paths import normalize_relative
from ..types import Filter, Query
from ..understanding import Known, Understanding, understand
from .decomposition import decompose

NOWHERE = ("",)
"""As ``Filter.uris``: no document has this uri."""

_MOST_SPECIFIC = 2
"""A name that more documents answer to names none of them."""

_WORDS = re.compile(r"[^\W_](?:[\w'’.-]*\w)?")
_LONGEST_NAME = 4
"""Words, or a twelfth of a Japanese sentence's characters."""
_LONGEST_UNSPACED = 12
_UNSPACED_RUN = re.compile(r"[^\x00-\x7f]{2,40}")
_HIRAGANA = re.compile(r"[ぁ-ゖー]+")

Decompose = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Part:
    """One search: what for, where, in which time first (None: no time was named), and whom or what it names."""

    text: str
    filter: Filter
    when: Filter | None = None
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The question as a whole, and its parts where it has several. ``understood`` says in words how it was read."""

    whole: Part
    parts: tuple[Part, ...] = ()
    recent: bool = False
    understood: tuple[str, ...] = ()

    @property
    def by_date(self) -> bool:
        """Whether fields alone were named: then there is nothing to rank by."""
        return not query_terms(self.whole.text).terms and bool(self.understood)


def read(query: Query, index: SqliteIndex, parts: Decompose | None) -> Plan:
    """The plan for a question. ``parts`` takes it apart where that is wanted."""
    known = _known(query, index)
    understanding = understand(query.text, query.now, known=known)
    whole = _part(understanding, query.filter, index)
    said = list(understanding.said)
    texts = parts(whole.text) if parts else decompose(whole.text) if whole.when else ()
    made = [_part(understand(text, query.now, known=known), whole.filter, index) for text in texts]
    times = {part.when for part in made if part.when}
    if len(times) > 1 or (times and parts and len(texts) > 1):
        whole = replace(whole, when=None)  # each time belongs to its part; one that holds them all says nothing
    if whole.when or (times and parts and len(texts) > 1):
        said.append("documents of that time come first")
    if not parts or len(texts) < 2:
        return Plan(whole, (), understanding.recent, tuple(said))
    said.append("asked in parts: " + " | ".join(texts))
    if not times:
        made = [replace(part, when=whole.when) for part in made]
    named = (_named(text, index, whole.filter) for text in texts)
    made = [replace(part, named=names) for part, names in zip(made, named, strict=True)]
    return Plan(whole, tuple(made), understanding.recent, tuple(said))


def by_rules(index: SqliteIndex, filter: Filter) -> Decompose:
    """Takes a question apart by ``decomposition``'s rules, with the names that are in the index."""

    def take_apart(text: str) -> tuple[str, ...]:
        names: set[str] | None = None

        def known(name: str) -> bool:
            nonlocal names
            if names is None:  # looked up at once, and only where a rule asks for names
                found = called(index.database, _candidates(text), filter)
                names = {name for name, uris in found.items() if len(uris) <= _MOST_SPECIFIC}
            return name in names

        return decompose(text, known)

    return take_apart


def _part(understanding: Understanding, base: Filter, index: SqliteIndex) -> Part:
    filter = narrowed(base, understanding.filter)
    if understanding.when == (None, None):
        return Part(understanding.text, filter)
    when = narrowed(filter, replace(Filter(), since=understanding.when[0], until=understanding.when[1]))
    # A time from which nothing is has nothing to lift.
    return Part(understanding.text, filter, when if index.recent(when, 1) else None)


def narrowed(base: Filter, more: Filter) -> Filter:
    """What both filters let through, as far as fields and times say."""
    both: dict[str, object] = {}
    for name in ("sources", "kinds", "types", "projects", "languages"):
        first, second = getattr(base, name), getattr(more, name)
        shared = tuple(value for value in second if not first or value.lower() in {own.lower() for own in first})
        both[name] = shared or first
        if second and not shared:
            both["uris"] = NOWHERE
    path = more.path_prefix
    if path and not PurePath(path).is_absolute():
        path = normalize_relative(path)
    if base.path_prefix and path and not path.startswith(base.path_prefix):
        both["uris"] = NOWHERE
    return replace(
        base,
        **both,  # type: ignore[arg-type]  # names of fields, values of their types
        titles=tuple(dict.fromkeys((*base.titles, *more.titles))),
        tags=tuple(dict.fromkeys((*base.tags, *more.tags))),
        since=max(filter(None, (base.since, more.since)), default=None),
        until=min(filter(None, (base.until, more.until)), default=None),
        path_prefix=path or base.path_prefix,
    )


def _known(query: Query, index: SqliteIndex) -> Known:
    """What fields may name, counted only where there may be one; and since when there are documents."""
    oldest = oldest_date(index.database, query.filter)
    if ":" not in query.text and "：" not in query.text:
        return Known(oldest=oldest)
    facets = count_facets(index.database, query.filter)
    return Known(
        sources=_values(facets.sources),
        kinds=_values(facets.kinds),
        types=_values(facets.types),
        projects=_values(facets.projects),
        languages=_values(facets.languages),
        tags=_values(facets.tags),
        oldest=oldest,
    )


def _values(counts: Counts) -> tuple[str, ...]:
    return tuple(value for value, _ in counts)


def _named(text: str, index: SqliteIndex, filter: Filter) -> tuple[str, ...]:
    """The documents that names in a text stand for, those of the longest names first; at most three."""
    found = called(index.database, _candidates(text), filter)
    uris: dict[str, None] = {}
    for name in sorted(found, key=lambda name: (-len(name), name)):
        if len(found[name]) <= _MOST_SPECIFIC:
            uris.update(dict.fromkeys(found[name]))
    return tuple(uris)[:3]


def _candidates(text: str) -> Sequence[str]:
    """What in a text may be a name: up to four words, up to twelve characters without spaces."""
    words = _WORDS.findall(text)
    names = [
        " ".join(words[start : start + count])
        for count in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - count + 1)
        # A single word at the beginning has its capital from the sentence.
        if count > 1 or start > 0 or not words[0].isascii()
    ]
    for run in _UNSPACED_RUN.findall(text):
        for count in range(2, _LONGEST_UNSPACED + 1):
            names.extend(run[start : start + count] for start in range(len(run) - count + 1))
    return [name for name in dict.fromkeys(names) if _is_name(name)]


def _is_name(text: str) -> bool:
    """Whether a word can be a name in a sentence: with a capital where there are any, not only hiragana."""
    if text.isascii():
        return any(char.isupper() for char in text)
    return not _HIRAGANA.fullmatch(text)
