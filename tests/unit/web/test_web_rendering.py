"""Markdown as inert HTML, quickly, whatever stands in it."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any

import pytest

from second_brain.records import Note, StoredDocument
from second_brain.servers.web.links import Leads
from second_brain.servers.web.parts import LENGTH
from second_brain.servers.web.rendering import Rendered, Style, plain, rendered
from second_brain.servers.web.sanitizing import CLASSES, harmless
from second_brain.servers.web.visible import visible

MOMENT = datetime(2031, 5, 1, tzinfo=UTC)
DOCUMENT = StoredDocument(
    1, "s/a.md", "s", "/v/a.md", "", "", "markdown", "note", "A", MOMENT, MOMENT, "", "public", "en", "", "", (), (),
    {}, (),
)  # fmt: skip


def render(text: str, **style: Any) -> Rendered:
    leads = Leads(
        Note(DOCUMENT, text, (), (), ()), lambda written: f"/file/s/a.md?of={written}" if "." in written else ""
    )
    return rendered(text, 0, len(text), leads, lambda name: name, Style(**style))


class _Acting(HTMLParser):
    """Collects what a page of a note must not hold: elements, attributes and addresses that act or ask elsewhere."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style", "iframe", "object", "embed", "form", "input", "button", "svg", "math", "link",
                   "meta", "base", "video", "audio", "source", "template", "select", "textarea"):  # fmt: skip
            self.found.append(tag)
        for name, value in attrs:
            text = (value or "").strip().lower()
            if name.startswith("on") or name in ("style", "srcset", "formaction", "srcdoc", "background", "ping"):
                self.found.append(f"{tag} {name}")
            if name in ("href", "src") and not text.startswith(("/", "#", "http://", "https://", "mailto:")):
                self.found.append(f"{tag} {name}={value}")
            if tag == "img" and name == "src" and not text.startswith("/file/"):
                self.found.append(f"img src={value}")
            if name == "id" and not text.startswith("at-"):
                self.found.append(f"id={value}")
            if name == "class" and not {word.removeprefix("n-") for word in text.split()} <= CLASSES:
                self.found.append(f"class={value}")


def acting(html: str) -> list[str]:
    """What acts in this HTML."""
    parser = _Acting()
    parser.feed(html)
    return parser.found


HOSTILE = [
    "<script>alert(1)</script>",
    "<ScRiPt\n>alert(1)</sCript\n>",
    "<img src=x onerror=alert(1)>",
    "<img\nsrc=https://h.example/a.png\nonerror=alert(1)>",
    '<img alt="a>b" src="https://h.example/a.png">',
    "<image src=https://h.example/a.png>",
    "<svg onload=alert(1)><script>alert(1)</script><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "<math><mtext></p><style><img src=x onerror=alert(1)></style></mtext></math>",
    '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    "<iframe src=https://h.example></iframe><object data=x></object><embed src=x>",
    "<form action=https://h.example><input name=token><button>ok</button></form>",
    "<a href=javascript:alert(1)>x</a> <a href='  java\tscript:alert(1)'>y</a>",
    "<a href=\"&#106;avascript:alert(1)\">x</a> <a href='data:text/html,<script>1</script>'>y</a>",
    "[x](javascript:alert(1)) [y](<java script:alert(1)>) [z](JaVaScRiPt:alert(1)) [v](vbscript:x)",
    "[x](data:text/html;base64,PHNjcmlwdD4=) ![x](data:image/svg+xml,<svg/onload=alert(1)>)",
    "[x](file:///etc/passwd) ![y](file:///etc/passwd) ![z](//h.example/a.png) [w](\\\\host\\share)",
    "![x](https://h.example/a.png?token=1) ![[https://h.example/a.png]]",
    '!["onerror=alert(1) x](https://h.example/a.png) ![a](a.png"onload="x)',
    "<div id=main class='top menu n-callout' style='position:fixed' onclick=alert(1)>x</div>",
    "<meta http-equiv=refresh content='0;url=https://h.example'><base href=https://h.example>",
    "<link rel=stylesheet href=https://h.example/a.css>",
    "<video src=https://h.example/v.mp4 autoplay></video><audio src=x></audio><source srcset=x>",
    "<details open ontoggle=alert(1)><summary>x</summary></details>",
    "<template><script>1</script></template><textarea><img src=x onerror=alert(1)></textarea>",
    "<!--><img src=x onerror=alert(1)>--> <![CDATA[<script>]]>alert(1)",
    '> [!note"onclick=x] <img src=x onerror=alert(1)>',
    '```"><script>alert(1)</script>\ncode </code></pre><script>alert(1)</script>\n```',
    '[^"><script>]\n\n[^"><script>]: <script>alert(1)</script>',
    "| <script>alert(1)</script> |\n|---|\n| <img src=x onerror=alert(1)> |",
    "$<script>alert(1)</script>$ $$</code><img src=x onerror=alert(1)>$$ `<script>`",
    '#<script>alert(1)</script> #a"onclick=alert(1) https://h.example/"onmouseover=alert(1)',
    '[[<script>alert(1)</script>]] [[a|<img src=x onerror=alert(1)>]] ![[a"onerror=x.png]]',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_a_note_acts(text: str) -> None:
    """No element, handler or address of a note does anything, and no picture asks another host."""
    for style in ({}, {"here": (0, len(text))}, {"anchors": False}):
        assert acting(render(text, **style).html) == []


def test_the_check_of_these_tests_finds_what_acts() -> None:
    """What is fed to it as it is, it finds."""
    assert acting("<script>") == ["script"]
    assert acting("<img src=https://h.example onerror=x>") == ["img src=https://h.example", "img onerror"]
    assert acting('<a href="javascript:x" id="main" class="top">')


def test_pictures_of_other_hosts_are_named_and_not_loaded() -> None:
    """Their host stands in their place; with leave they are loaded, and nothing else changes."""
    text = '![a boat](https://h.example/a.png) <img src="https://i.example/b.png"> ![[c.png|300]]'
    without = render(text)
    assert without.hosts == ("h.example", "i.example")
    assert re.findall(r"<img[^>]*>", without.html) == [
        '<img src="/file/s/a.md?of=c.png" alt="" loading="lazy" width="300">'
    ]
    assert 'title="https://h.example/a.png">h.example: a boat</span>' in without.html
    assert render(text, remote_images=True).html.count("<img") == 3


def test_sanitizing_alone_takes_pictures_of_other_hosts_away() -> None:
    """Also those that no reading of the note's text would find."""
    assert harmless('<img title=">" src="https://h.example/a.png" alt="x">') == '<img title="&gt;" alt="x">'
    assert harmless("<p title='<img src=\"https://h.example/a.png\">'>x</p>").count("&quot;") == 2


N = LENGTH
HEAVY = {
    "links": "[a](b) " * (N // 7),
    "wikilinks": "[[a]] " * (N // 6),
    "pictures": "![](http://a.b/c) " * (N // 17),
    "emphasis": "*a* " * (N // 4),
    "one line": "x" * N,
    "elements": "<div>" * (N // 5),
    "formatting elements": "<b><i>" * 500 + "<p>x" * (N // 4),
    "cells": "|" * 2000 + "\n" + "|-" * 2000 + "|\n" + "|\n" * (N // 2),
    "rows": "|a" * 100 + "|\n" + "|-" * 100 + "|\n" + ("|a" * 100 + "|\n") * (N // 202),
    "quotes": ">" * N,
    "quotes by line": "".join(">" * 90 + "a\n" for _ in range(N // 91)),
    "lists": "".join(" " * i + "- a\n" for i in range(400)),
    "tags": "#a " * (N // 3),
    "brackets": "[" * N,
    "nested links": "[" * (N // 8) + "](x)" * (N // 8),
    "backticks": "`" * (N - 1) + " `",
    "footnotes": "[^a]" * (N // 4) + "\n\n[^a]: x",
    "callouts": "> [!note] a\n\n" * (N // 13),
    "headings": "# a\n" * (N // 4),
    "directions": "\u202e" * N,
    "entities": "&lt;" * (N // 4),
    "attributes": "<a " + "x=y " * (N // 4) + ">",
    "pictures in HTML": "<img src=http://a.b>" * (N // 20),
    "open comments": "<!-- " * (N // 5),
}


@pytest.mark.parametrize("text", HEAVY.values(), ids=HEAVY)
def test_a_heavy_part_is_written_in_seconds(text: str) -> None:
    """Each takes below 0.5 s by itself; the bound is wide, as quadratic work would take minutes."""
    begun = time.perf_counter()
    made = render(text, here=(10, 500))
    assert time.perf_counter() - begun < 10
    assert acting(made.html) == []


def test_text_that_is_nested_too_deep_is_shown_as_it_is() -> None:
    """With the reason."""
    made = render(">" * 200 + "a")
    assert made.problem == "nested deeper than 100 levels"
    assert made.html.startswith("<pre")


def test_unclosed_elements_become_text_when_there_are_many() -> None:
    """A browser is slow with thousands of elements within each other."""
    assert render("<div>" * 2000 + "end").html.count("<div>") <= 101


def test_what_is_not_seen_is_shown() -> None:
    """Direction marks, zero width, control and tag characters; joiners are spelling."""
    assert visible("a\u202eb\u200bc\x1bd\U000e0041") == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩d⟨U+E0041⟩"
    assert visible("नि\u200dस 👩\u200d🚒 می\u200cخواهم\t\n") == "नि\u200dस 👩\u200d🚒 می\u200cخواهم\t\n"
    html = render("a\u202eb [c\u202ed](https://x.example/\u202e) `\u202e` <b title='\u202e'>x</b>").html
    assert "\u202e" not in html
    assert "a⟨U+202E⟩b" in html


def test_what_obsidian_shows_is_shown() -> None:
    """Callouts, tasks, tables, tags, footnotes, math, code, strikethrough, bare addresses."""
    html = render(
        "# A\n\n> [!warning]- Not **now**\n> body `x`\n\n- [x] done\n- [ ] open\n\n| a | b |\n|--:|---|\n"
        "| 1 | #tag/b |\n\n$e^x$ ~~old~~[^1] https://x.example/a?b=c. #123\n\n[^1]: a note\n\n"
        "```py extra\nif a < b: #no\n```\n",
        title="A",
    ).html
    for piece in (
        '<details class="n-callout n-warning"',
        '<summary class="n-title">Not now</summary>',
        'class="n-task n-done" role="img" aria-label="read.done"',
        '<th class="n-right">a</th>',
        '<a class="n-tag" href="/?tag=tag%2Fb"',
        '<code class="n-math">e^x</code>',
        "<del>old</del>",
        '<a href="#at-fn-1"',
        'id="at-fn-1"',
        '<a class="n-out" href="https://x.example/a?b=c"',
        'data-lang="py"',
        "if a &lt; b: #no",
        " #123</p>",
    ):
        assert piece in html, piece
    assert "<h2" not in html  # the page says the title already


def test_the_passage_that_is_meant_is_pointed_out_by_offsets_in_characters() -> None:
    """Japanese and emoji before it do not shift it; of a list only the items that it holds."""
    text = "# 題 🚢\n\n最初の段落。\n\n- 一\n- 二 pump\n- 三\n\n最後。"
    start = text.index("二") - 2
    html = render(text, here=(start, start + 8)).html
    assert re.findall(r'<(\w+)[^>]*class="n-here"[^>]*>([^<]*)', html) == [("li", "二 pump")]
    assert html.count('id="at-here"') == 1
    assert f'id="at-{text.index("最後")}"' in html


def test_the_outline_leads_to_headings() -> None:
    """Also to one that is pointed out, and to each of two with the same words."""
    text = "# T\n\n## Part\n\na\n\n## Part\n\nb\n\n###   \n"
    made = render(text, here=(text.index("## Part"), text.index("a\n")), title="T")
    assert [(heading.level, heading.text) for heading in made.outline] == [(2, "Part"), (2, "Part")]
    assert made.outline[0].anchor == "at-here"
    for heading in made.outline:
        assert made.html.count(f'id="{heading.anchor}"') == 1


def test_plain_text_points_out_the_very_characters() -> None:
    """Code is shown as it is, with a mark around what is meant; a span beyond it marks nothing."""
    html = plain("if a < b:\n    c()\n", 100, language="python", here=(105, 108)).html
    assert '<code>if a <mark id="at-here" class="n-here">&lt; b</mark>:' in html
    assert "<mark" not in plain("if a < b:\n", 100, here=(10, 20)).html
