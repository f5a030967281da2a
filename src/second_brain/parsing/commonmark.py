"""Where a Markdown text has headings, blocks and links; the only place that knows CommonMark.

pulldown-cmark reads (through ``pyromark``, imported nowhere else) and yields events with byte ranges. Ranges
nest like the text does, so that neither a stack nor the end events are needed: a block on top level is
whatever begins behind the end of the last one.

Obsidian's ``%%comments%%`` are text like any other here: they are searched, and links in them count, as they
do in Obsidian.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

from pyromark import Markdown, Options

from ..errors import ParseError
from ..types import Block, Link, Section
from .links import markdown_link, wikilink
from .text import code_points

MAX_BLOCKS = 200_000
"""Blocks told apart in one text; what follows is one block more. A change log of 12 MB has 160,000."""

MAX_LINKS = 20_000
"""Links kept of one text: no note has more, and a hostile megabyte holds 200,000."""

MAX_WORDS = 300
"""Characters kept of the plain text of a heading or a link."""

MAX_NESTING = 100
"""Quotes and lists within each other, in one line; more is an attack or an accident."""

Span: TypeAlias = "tuple[int, int]"
Events: TypeAlias = "Iterator[tuple[Any, Any]]"
"""Pairs of a bare name or a dict of one key, and the range: {"start": ..., "end": ...} in bytes."""

_MARKDOWN = Markdown(
    options=Options.ENABLE_TABLES
    | Options.ENABLE_FOOTNOTES
    | Options.ENABLE_STRIKETHROUGH
    | Options.ENABLE_TASKLISTS
    | Options.ENABLE_MATH
    | Options.ENABLE_WIKILINKS
)
_KINDS = {
    "Paragraph": "paragraph",
    "Heading": "heading",
    "BlockQuote": "quote",
    "CodeBlock": "code",
    "Table": "table",
    "HtmlBlock": "html",
    "FootnoteDefinition": "footnote",
}
_CALLOUT = re.compile(r" {0,3}>[ \t]*\[!")

# pulldown-cmark visits every open container for every line that goes on with a paragraph: depth times lines.
# 20,000 quote marks before as many lines take 0.2 s, 200,000 of each 24 s.
_DEEP_FROM = 50_000
_DEEP = re.compile(rf"^(?:[ \t]*(?:>|[-+*][ \t]|\d{{1,9}}[.)][ \t])){{{MAX_NESTING}}}|^[ \t>]{{1000}}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Structure:
    """Sections, blocks and links of a text, in order, in code points.

    A block's kind is heading, paragraph, item (of a list on top level), code, table, quote, callout, html,
    footnote, rule, or definition (what CommonMark reads and does not show). ``opaque`` spans are code, math,
    HTML and links, where a ``#`` is no tag; they do not overlap.
    """

    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]
    links: tuple[Link, ...] = ()
    opaque: tuple[Span, ...] = ()
    warnings: tuple[str, ...] = ()


def read_structure(text: str, start: int = 0) -> Structure:
    """The structure of ``text[start:]``; offsets count from the beginning of ``text``.

    Headings within quotes, lists and fences open no section. Text that is nested deeper than
    ``MAX_NESTING``, or that the parser fails on, is read as plain paragraphs, with a warning.
    Cost: linear; some 0.1 ms for 2 kB. Hostile text of 16 MB takes up to 10 s and 1.3 GB.
    """
    body = text[start:]
    if len(body) > _DEEP_FROM and (deep := _DEEP.search(body)):
        line = text.count("\n", 0, start + deep.start()) + 1
        return _plain(text, start, f"line {line}: nested deeper than {MAX_NESTING} levels; read as plain text")
    walk = _Walk()
    try:
        walk.follow(_MARKDOWN.events_with_range(body))
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust's, which is no Exception
            raise
        return _plain(text, start, f"the Markdown parser failed ({error}); read as plain text")
    place = code_points(body, start, walk.offsets())
    blocks, sections = _layout(text, start, walk.blocks, place)
    links = tuple(link for found in walk.links if (link := found.link(place(found.start))))
    opaque = tuple((place(begin), place(end)) for begin, end in walk.opaque)
    return Structure(sections, blocks, links, opaque, tuple(walk.warnings()))


def read_events(body: str, *, most: int) -> list[tuple[Any, Any]]:
    """The events of a Markdown text in order, for who writes it in another form.

    Raises ParseError where it is nested deeper than ``MAX_NESTING``, has more than ``most`` events (a table of few
    characters may have millions of cells), or the parser fails on it.
    """
    if _DEEP.search(body):
        raise ParseError(f"nested deeper than {MAX_NESTING} levels")
    try:
        events = list(islice(_MARKDOWN.events_with_range(body), most + 1))
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust's, which is no Exception
            raise
        raise ParseError(f"the Markdown parser failed ({error})") from error
    if len(events) > most:
        raise ParseError(f"more than {most:,} pieces")
    return events


@dataclass(slots=True)
class _FoundBlock:
    """A block on top level, in bytes; ``words`` are the pieces of a heading's plain text."""

    kind: str
    start: int
    end: int
    level: int = 0
    words: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _FoundLink:
    """A link with its address as written, in bytes; ``words`` are the pieces of its text."""

    address: str
    start: int
    end: int
    is_wikilink: bool
    is_embed: bool
    words: list[str] = field(default_factory=list)

    def link(self, start: int) -> Link | None:
        make = wikilink if self.is_wikilink else markdown_link
        return make(self.address, _joined(self.words), start, embed=self.is_embed)


class _Walk:
    """One pass over the events, keeping bytes."""

    def __init__(self) -> None:
        self.blocks: list[_FoundBlock] = []
        self.links: list[_FoundLink] = []
        self.opaque: list[Span] = []
        self._passed_over = 0
        self._stopped = False
        self._top_end = self._list_end = self._item_end = 0
        self._heading = _FoundBlock("heading", 0, 0)
        self._open_links: list[_FoundLink] = []

    def follow(self, events: Events) -> None:
        open_links = self._open_links
        for event, span in events:
            begin = span["start"]
            if event.__class__ is str:
                if event == "Rule":
                    self._top(begin, span["end"], "rule")
                    continue
                words = " "  # a line break
            else:
                ((name, value),) = event.items()
                if name == "Start":
                    self._start(value, begin, span["end"])
                    if len(self.blocks) > MAX_BLOCKS:
                        self.blocks.pop()
                        self._stopped = True
                        break
                    continue
                if name == "End":
                    continue
                if name != "Text":
                    self._hide(begin, span["end"])
                    if name != "Code" and name != "InlineMath" and name != "DisplayMath":
                        continue
                words = value
            if begin < self._heading.end:
                self._heading.words.append(words)
            while open_links and begin >= open_links[-1].end:
                open_links.pop()
            for link in open_links:
                link.words.append(words)

    def warnings(self) -> Iterator[str]:
        if self._passed_over:
            yield f"only the first {MAX_LINKS} links are kept, of {MAX_LINKS + self._passed_over}"
        if self._stopped:
            yield f"only the first {MAX_BLOCKS} blocks are told apart; the rest has no headings and links"

    def offsets(self) -> Iterator[int]:
        """Every byte offset that was kept."""
        for block in self.blocks:
            yield block.start
            yield block.end
        for link in self.links:
            yield link.start
        for span in self.opaque:
            yield from span

    def _start(self, tag: str | dict[str, Any], begin: int, end: int) -> None:
        name: str
        value: Any
        name, value = (tag, None) if isinstance(tag, str) else next(iter(tag.items()))
        if name == "Link" or name == "Image":
            self._hide(begin, end)
            self._link(value, begin, end, is_embed=name == "Image")
        elif name == "List":
            if begin >= self._top_end:
                self._top_end, self._list_end, self._item_end = end, end, begin
        elif name == "Item":
            if self._item_end <= begin < self._list_end:
                self._item_end = end
                self.blocks.append(_FoundBlock("item", begin, end))
        elif name in _KINDS:
            if name == "CodeBlock" or name == "HtmlBlock":
                self._hide(begin, end)
            if self._top(begin, end, _KINDS[name]) and name == "Heading":
                self._heading = self.blocks[-1]
                self._heading.level = int(value["level"][1])

    def _top(self, begin: int, end: int, kind: str) -> bool:
        """Keep a block if it is on top level."""
        if begin < self._top_end:
            return False
        self._top_end = end
        self.blocks.append(_FoundBlock(kind, begin, end))
        return True

    def _link(self, value: dict[str, Any], begin: int, end: int, *, is_embed: bool) -> None:
        if value["link_type"] in ("Autolink", "Email"):
            return
        if len(self.links) == MAX_LINKS:
            self._passed_over += 1
            return
        link = _FoundLink(value["dest_url"], begin, end, isinstance(value["link_type"], dict), is_embed)
        self.links.append(link)
        while self._open_links and begin >= self._open_links[-1].end:
            self._open_links.pop()
        if len(self._open_links) < 2:  # a picture in a link; deeper nesting would make the texts quadratic
            self._open_links.append(link)

    def _hide(self, begin: int, end: int) -> None:
        """Note a span in which ``#`` is no tag; spans that touch become one."""
        if not self.opaque or begin > self.opaque[-1][1]:
            self.opaque.append((begin, end))
        elif end > self.opaque[-1][1]:
            self.opaque[-1] = (self.opaque[-1][0], end)


def _layout(
    text: str, start: int, found: list[_FoundBlock], place: Callable[[int], int]
) -> tuple[tuple[Block, ...], tuple[Section, ...]]:
    """Blocks from the beginnings of their lines, without blanks at their ends; and the sections that they make."""
    blocks: list[Block] = []
    headings: list[tuple[int, int, str]] = []
    last = start
    for item in found:
        begin = max(last, text.rfind("\n", last, place(item.start)) + 1)
        end = begin + len(text[begin : place(item.end)].rstrip())
        if end == begin:
            continue
        if begin > last and not text[last:begin].isspace():
            blocks.append(_definition(text, last, begin))
        kind = "callout" if item.kind == "quote" and _CALLOUT.match(text, begin) else item.kind
        blocks.append(Block(kind, begin, end))
        if item.level:
            headings.append((begin, item.level, _joined(item.words)))
        last = end
    if text[last:].strip():
        blocks.append(_definition(text, last, len(text)))
    return tuple(blocks), _sections(text, start, blocks, headings)


def _definition(text: str, begin: int, end: int) -> Block:
    """What stands between two blocks: link definitions, for which there is no event."""
    gap = text[begin:end]
    content = gap.lstrip()
    begin = end - len(content)
    return Block("definition", begin, begin + len(content.rstrip()))


def _sections(text: str, start: int, blocks: list[Block], headings: list[tuple[int, int, str]]) -> tuple[Section, ...]:
    sections: list[Section] = []
    ends = [begin for begin, _, _ in headings] + [len(text)]
    if blocks and blocks[0].start < ends[0]:
        sections.append(Section(0, (), start, ends[0]))
    above: list[tuple[int, str]] = []
    for (begin, level, words), end in zip(headings, ends[1:], strict=True):
        while above and above[-1][0] >= level:
            above.pop()
        above.append((level, words))
        sections.append(Section(level, tuple(name for _, name in above), begin, end))
    return tuple(sections)


def _joined(words: list[str]) -> str:
    """The pieces as one line of at most ``MAX_WORDS`` characters."""
    return " ".join("".join(words).split())[:MAX_WORDS]


def _plain(text: str, start: int, warning: str) -> Structure:
    """Paragraphs between blank lines, in one section."""
    blocks: list[Block] = []
    begin = at = start
    for line in [*text[start:].split("\n"), ""]:
        if not line.strip():
            if at > begin:
                blocks.append(Block("paragraph", begin, at - 1))
            begin = at + len(line) + 1
        at += len(line) + 1
    sections = (Section(0, (), start, len(text)),) if blocks else ()
    return Structure(sections, tuple(blocks), warnings=(warning,))
