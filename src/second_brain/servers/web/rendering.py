"""Markdown as HTML for a page: what Obsidian shows, with an anchor at each block, and nothing in it that acts.

The parser's events are written as HTML of our own; HTML that stands in a note comes along, and all of it goes through
``sanitizing``. An element's identifier is the offset of its block in the note, so that a passage can be led to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape, unescape
from typing import Any, TypeAlias
from urllib.parse import urlencode, urlsplit

from ...errors import ParseError
from ...parsing.commonmark import read_events
from ...parsing.tags import TAG
from ...parsing.text import code_points
from .links import Lead, Leads
from .sanitizing import CLASSES, ID_PREFIX, harmless
from .visible import encoded, visible

MOST_EVENTS = 150_000
"""Pieces of a text that are written out; a text with more is shown as it is."""

MOST_EMBEDS = 10
"""Notes that are shown within another."""

MOST_NESTED = 100
"""Elements within each other in the HTML of a note: browsers are slow with thousands."""

Embed: TypeAlias = Callable[[Lead], str]
"""The HTML of a note that is shown within another, '' for none."""

Words: TypeAlias = Callable[[str], str]

_CALLOUT = re.compile(r"[>\s]*\[!([\w-]+)\]([+-]?)[ \t]*([^\n]*)\n?")
_IN_TEXT = re.compile(rf"(?P<url>https?://[^\s<>\"'`）」』、。]*[^\s<>\"'`）」』、。.,;:!?)\]])|{TAG.pattern}")
_IMAGE = re.compile(r"<img\b([^>]*)>", re.IGNORECASE)
_ELEMENT = re.compile(r"<(/?)(?!(?:br|hr|img|wbr|col|p|li|td|th|tr)\b)[a-z]", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_SIZE = re.compile(r"(?:.*\|)?\s*(\d{1,4})(?:x(\d{1,4}))?\s*")
_MARKS = re.compile(r"[*_`~=]{1,3}|\[\[(?:[^\]|]*\|)?|\]\]")
_INLINE = {
    "Emphasis": "em",
    "Strong": "strong",
    "Strikethrough": "del",
    "Superscript": "sup",
    "Subscript": "sub",
}
_ALIGNED = {"Right": ' class="n-right"', "Center": ' class="n-center"'}
_KINDS = {
    "hint": "tip", "important": "tip", "summary": "abstract", "tldr": "abstract", "check": "success", "done": "success",
    "help": "question", "faq": "question", "caution": "warning", "attention": "warning", "fail": "failure",
    "missing": "failure", "error": "danger", "cite": "quote",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Heading:
    """An entry of the outline. ``anchor`` is the identifier of its element."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """HTML that may stand in a page, and what is in it. ``hosts`` are those of pictures that were not loaded.

    ``problem`` is why the text is shown as it is, '' where it is not.
    """

    html: str
    outline: tuple[Heading, ...] = ()
    hosts: tuple[str, ...] = ()
    problem: str = ""


@dataclass(slots=True)
class Style:
    """How a text is shown: ``here`` is the span to point out, ``title`` that of the page, not to be said twice."""

    here: tuple[int, int] | None = None
    title: str = ""
    remote_images: bool = False
    anchors: bool = True
    embed: Embed | None = None


def rendered(text: str, start: int, end: int, leads: Leads, words: Words, style: Style) -> Rendered:
    """``text[start:end]`` as HTML. Offsets and spans count from the beginning of ``text``.

    Cost: some 0.4 s for 100,000 characters of nothing but links.
    """
    body = text[start:end]
    try:
        events = read_events(body, most=MOST_EVENTS)
    except ParseError as error:
        return plain(body, start, problem=str(error))
    place = code_points(body, start, (offset for _, span in events for offset in (span["start"], span["end"])))
    writer = _Writer(body.encode(), place, leads, words, style)
    html = writer.written(events)
    return Rendered(
        harmless(html, remote_images=style.remote_images), tuple(writer.outline), tuple(sorted(writer.hosts))
    )


def plain(
    body: str, start: int, *, language: str = "", problem: str = "", here: tuple[int, int] | None = None
) -> Rendered:
    """A text as it is, line breaks and all."""
    begin, end = (max(0, min(len(body), place - start)) for place in here or (0, 0))
    html = _escaped(body[:begin])
    if here and begin < end:
        html += f'<mark id="{ID_PREFIX}here" class="n-here">{_escaped(body[begin:end])}</mark>'
        html += _escaped(body[end:])
    else:
        html = _escaped(body)
    named = f' data-lang="{_escaped(language)}"' if language else ""
    return Rendered(f'<pre class="n-code" tabindex="0"{named}><code>{html}</code></pre>', problem=problem)


def _escaped(text: str) -> str:
    return escape(visible(text))


class _Writer:
    """One pass over the events. What closes an element waits on a stack: markup, or what is to be done then."""

    def __init__(self, data: bytes, place: Callable[[int], int], leads: Leads, words: Words, style: Style) -> None:
        self.outline: list[Heading] = []
        self.hosts: set[str] = set()
        self._data = data
        self._place = place
        self._leads = leads
        self._words = words
        self._style = style
        self._out: list[str] = []
        self._closing: list[str | Callable[[], None]] = []
        self._ids: set[str] = set()
        self._pointed_until = self._passed_until = -1
        self._anchor = ""
        self._collected: list[str] | None = None  # the words of a heading
        self._picture: list[str] | None = None  # the words of an image
        self._code = self._links = self._embeds = self._nested = 0
        self._sides: Sequence[str] = ()
        self._cell = 0
        self._in_head = False

    def written(self, events: Sequence[tuple[Any, Any]]) -> str:
        """The HTML of all events."""
        for event, span in events:
            begin = span["start"]
            if isinstance(event, str):
                self._bare(event, begin)
                continue
            ((name, value),) = event.items()
            if name == "Start":
                tag, details = (value, None) if isinstance(value, str) else next(iter(value.items()))
                self._start(tag, details, begin, span["end"])
            elif name == "End":
                self._end()
            elif begin >= self._passed_until:
                self._piece(name, value)
        return "".join(self._out)

    # -- pieces ----------------------------------------------------------------------------------------------

    def _bare(self, event: str, begin: int) -> None:
        if self._picture is not None:
            self._picture.append(" ")
        elif event == "Rule":
            self._out.append("<hr>\n")
        elif begin >= self._passed_until:
            self._out.append("<br>\n" if event == "HardBreak" else "\n")
            if self._collected is not None:
                self._collected.append(" ")

    def _piece(self, name: str, value: Any) -> None:
        if self._picture is not None:
            self._picture.append(str(value))
            return
        if self._collected is not None and name in ("Text", "Code", "InlineMath"):
            self._collected.append(value)
        if name == "Text":
            self._out.append(_escaped(value) if self._code or self._links else _with_links(value))
        elif name == "Code":
            self._out.append(f"<code>{_escaped(value)}</code>")
        elif name == "InlineMath":
            self._out.append(f'<code class="n-math">{_escaped(value)}</code>')
        elif name == "DisplayMath":
            self._out.append(f'<code class="n-math n-block-math">{_escaped(value)}</code>')
        elif name in ("Html", "InlineHtml"):
            self._html(visible(value))
        elif name == "FootnoteReference":
            self._out.append(f'<sup class="n-ref"><a href="#{ID_PREFIX}fn-{_slug(value)}">{_escaped(value)}</a></sup>')
        elif name == "TaskListMarker":
            done = " n-done" if value else ""
            label = _escaped(self._words("read.done" if value else "read.open"))
            self._out.append(f'<span class="n-task{done}" role="img" aria-label="{label}"></span>')

    def _html(self, text: str) -> None:
        """HTML of the note. Behind too many elements that were never closed it is shown as text."""
        for found in _ELEMENT.finditer(text):
            self._nested += -1 if found[1] else 1
        self._out.append(_escaped(text) if self._nested > MOST_NESTED else _IMAGE.sub(self._image_in_html, text))

    def _image_in_html(self, match: re.Match[str]) -> str:
        values = {found[1].lower(): found[2] or found[3] or found[4] or "" for found in _ATTRIBUTE.finditer(match[1])}
        return self._image(self._leads.by_address(unescape(values.get("src", ""))), unescape(values.get("alt", "")))

    # -- elements --------------------------------------------------------------------------------------------

    def _start(self, tag: str, details: Any, begin: int, end: int) -> None:
        if self._picture is not None or (begin < self._passed_until and tag != "Paragraph"):
            self._closing.append("")
        elif tag in _INLINE:
            self._open(f"<{_INLINE[tag]}>", f"</{_INLINE[tag]}>")
        elif tag == "Link":
            self._link(self._leads.at(self._place(begin), details["dest_url"], wiki=_is_wiki(details)))
        elif tag == "Image":
            self._picture = []
            lead = self._leads.at(self._place(begin), details["dest_url"], wiki=_is_wiki(details))
            self._closing.append(partial(self._end_picture, lead))
        elif tag in ("Table", "TableHead", "TableRow", "TableCell"):
            self._table(tag, details, begin, end)
        else:
            self._block(tag, details, begin, end)

    def _end(self) -> None:
        closing = self._closing.pop()
        if not isinstance(closing, str):
            closing()
        elif self._picture is None:
            self._out.append(closing)

    def _block(self, tag: str, details: Any, begin: int, end: int) -> None:
        if tag == "Paragraph":
            self._open(f"<p{self._identity(begin, end)}>", "</p>\n")
        elif tag == "Heading":
            self._collected = []
            level = int(details["level"][1])
            self._closing.append(partial(self._end_heading, level, begin, len(self._out)))
            self._out.append("")  # the opening, when it is known what it says
        elif tag == "BlockQuote":
            self._quote(begin, end)
        elif tag == "CodeBlock":
            named = details.get("Fenced", "").split() if isinstance(details, dict) else []
            language = f' data-lang="{_escaped(named[0][:30])}"' if named else ""
            self._code += 1
            self._out.append(f'<pre class="n-code" tabindex="0"{language}{self._identity(begin, end)}><code>')
            self._closing.append(self._end_code)
        elif tag == "List":
            first = f' start="{details}"' if details not in (None, 1) else ""
            self._open("<ul>" if details is None else f"<ol{first}>", "</ul>\n" if details is None else "</ol>\n")
        elif tag == "Item":
            self._open(f"<li{self._identity(begin, end, whole=True)}>", "</li>\n")
        elif tag == "FootnoteDefinition":
            own = self._unique(f"fn-{_slug(details)}")
            self._open(f'<div class="n-footnote"{own}><sup>{_escaped(details)}</sup> ', "</div>\n")
        else:
            self._closing.append("")

    def _table(self, tag: str, details: Any, begin: int, end: int) -> None:
        if tag == "Table":
            self._sides = details
            self._open('<div class="n-scroll" tabindex="0"><table>', "</tbody></table></div>\n")
        elif tag == "TableHead":
            self._cell, self._in_head = 0, True
            self._open("<thead><tr>", "</tr></thead><tbody>\n")
        elif tag == "TableRow":
            self._cell, self._in_head = 0, False
            self._open(f"<tr{self._identity(begin, end, whole=True)}>", "</tr>\n")
        else:
            name = "th" if self._in_head else "td"
            side = self._sides[self._cell] if self._cell < len(self._sides) else ""
            self._cell += 1
            self._open(f"<{name}{_ALIGNED.get(side, '')}>", f"</{name}>")

    def _quote(self, begin: int, end: int) -> None:
        found = _CALLOUT.match(self._data[begin : min(end, begin + 1000)].decode("utf-8", "replace"))
        if not found:
            self._open("<blockquote>", "</blockquote>\n")
            return
        kind = _KINDS.get(found[1].lower(), found[1].lower())
        title = _escaped(_MARKS.sub("", found[3]).strip() or found[1].replace("-", " ").capitalize())
        self._passed_until = begin + len(found[0].encode())
        classes = f'class="n-callout n-{kind if kind in CLASSES else "note"}"{self._identity(begin, begin + 1)}'
        if found[2]:
            unfolded = " open" if found[2] == "+" else ""
            self._open(f'<details {classes}{unfolded}><summary class="n-title">{title}</summary>', "</details>\n")
        else:
            self._open(f'<div {classes}><p class="n-title">{title}</p>', "</div>\n")

    def _link(self, lead: Lead) -> None:
        self._links += 1
        self._out.append(_opening(lead))
        self._closing.append(partial(self._end_link, "</a>" if lead.href else "</span>"))

    def _end_link(self, closing: str) -> None:
        self._links -= 1
        self._out.append(closing)

    def _end_code(self) -> None:
        self._code -= 1
        self._out.append("</code></pre>\n")

    def _end_heading(self, level: int, begin: int, position: int) -> None:
        text = " ".join("".join(self._collected or ()).split())
        self._collected = None
        name = f"h{min(level + 1, 6)}"
        identity = self._identity(begin, begin + 1)
        if level == 1 and not self.outline and text.casefold() == self._style.title.casefold():
            del self._out[position:]  # the page says it above already
            self._out.append(f"<span{identity}></span>")
            return
        self._out[position] = f"<{name}{identity}>"
        self._out.append(f"</{name}>\n")
        if text and self._style.anchors:
            self.outline.append(Heading(level, visible(text), ID_PREFIX + self._anchor))

    def _end_picture(self, lead: Lead) -> None:
        words, self._picture = " ".join("".join(self._picture or ()).split()), None
        if lead.kind != "note":
            self._out.append(self._image(lead, words))
            return
        shown = ""
        if self._style.embed is not None and self._embeds < MOST_EMBEDS:
            self._embeds += 1
            shown = self._style.embed(lead)
        name = _escaped(words or lead.title)
        link = f"{_opening(lead)}{name}</a>"
        self._out.append(f'<div class="n-embed"><div class="n-title">{link}</div>{shown}</div>' if shown else link)

    def _image(self, lead: Lead, words: str) -> str:
        """A picture of the vault; of one elsewhere who would be asked for it."""
        size = _SIZE.fullmatch(words)
        alt = _escaped("" if size else words)
        sides = f' width="{size[1]}"' + (f' height="{size[2]}"' if size[2] else "") if size else ""
        picture = f'<img src="{escape(lead.href)}" alt="{alt}" loading="lazy"{sides}>'
        if lead.kind == "file":
            return picture
        if lead.kind == "out":
            host = urlsplit(lead.href).hostname or ""
            self.hosts.add(host)
            if self._style.remote_images:
                return picture
            shown = _escaped(host) + (f": {alt}" if alt else "")
            return f'<span class="n-remote" title="{_escaped(lead.href[:300])}">{shown}</span>'
        return f'<span class="n-missing" title="{_escaped(lead.title)}">{alt or _escaped(lead.title)}</span>'

    # -- what elements share ---------------------------------------------------------------------------------

    def _open(self, opening: str, closing: str) -> None:
        self._out.append(opening)
        self._closing.append(closing)

    def _identity(self, begin: int, end: int, *, whole: bool = False) -> str:
        """The attributes of a block: its anchor, and whether it is pointed out.

        ``whole``: it is only where it begins in the span that is pointed out, as what holds other blocks is.
        """
        if not self._style.anchors:
            return ""
        start = self._place(begin)
        pointed = ""
        here = self._style.here
        if here and begin >= self._pointed_until and start < here[1] and (start >= here[0] or not whole):
            stop = self._place(end) if end > begin + 1 else start + 1
            if stop > here[0]:
                self._pointed_until = end
                pointed = ' class="n-here"'
                if own := self._unique("here"):
                    return own + pointed
        return self._unique(str(start)) + pointed

    def _unique(self, name: str) -> str:
        """The attribute of an identifier, once."""
        self._anchor = name
        if name in self._ids:
            return ""
        self._ids.add(name)
        return f' id="{name}"'


def _opening(lead: Lead) -> str:
    """The tag that opens a link. What leads nowhere is no link, and says so."""
    if lead.href:
        outside = ' class="n-out"' if lead.kind == "out" else ""
        return f'<a href="{escape(lead.href)}"{outside}>'
    return f'<span class="n-{lead.kind}" title="{_escaped(lead.title[:300])}">'


def _with_links(text: str) -> str:
    """Text with its tags and bare addresses as links."""
    if "#" not in text and "://" not in text:
        return _escaped(text)
    out = []
    last = 0
    for found in _IN_TEXT.finditer(text):
        name = "" if found["url"] else found[2].rstrip("/")
        if not found["url"] and (not name or name.isdecimal()):
            continue
        end = found.end() if found["url"] else found.start() + 1 + len(name)
        out.append(_escaped(text[last : found.start()]))
        shown = _escaped(text[found.start() : end])
        if found["url"]:
            out.append(f'<a class="n-out" href="{escape(encoded(found["url"]))}">{shown}</a>')
        else:
            out.append(f'<a class="n-tag" href="/?{escape(urlencode({"tag": name}))}">{shown}</a>')
        last = end
    return "".join((*out, _escaped(text[last:])))


def _is_wiki(details: Any) -> bool:
    return isinstance(details["link_type"], dict)


def _slug(name: str) -> str:
    return "".join(char if char.isalnum() else f"-{ord(char):x}-" for char in name[:100])
