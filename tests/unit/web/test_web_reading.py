"""Notes and sessions to read."""

from __future__ import annotations

import json
import re
import time
from html import unescape
from itertools import pairwise
from typing import Any

import pytest

from second_brain.servers.web.conversation import exchanges
from second_brain.servers.web.parts import LENGTH, beginnings, part_at

NOTES = {
    "pump.md": "---\ntype: Runbook\ntags: [ops]\naliases: [P1]\nowner: {name: Mina, since: 2031}\nweight: 12\n---\n"
    "# Pump\n\nFirst words.\n\n## Valve\n\nThe valve sticks, see [[log#Monday|the log]] and [[absent]].\n\n"
    "## Log\n\n![[log]]\n\n![](pictures/boat.png) ![](https://h.example/a.png) ![](missing.png)\n",
    "log.md": "# Log\n\n## Monday\n\nWe opened the pump. The [[pump]] was dry.\n\n## Tuesday\n\nNothing.\n",
    "pictures/boat.png": b"\x89PNG\r\n\x1a\n",
}


@pytest.fixture
def indexed(notes: Any) -> Any:
    notes.index(NOTES)
    return notes


def test_a_note_is_shown_with_all_that_stands_around_it(indexed: Any, web: Any) -> None:
    """Text, outline, properties, links both ways with their words, and names that lead nowhere yet."""
    page = web.get("/note/notes/pump.md")
    assert page.status == 200
    assert page.text.count("<h1") == 1
    for words in (
        "First words.",
        "Runbook",
        "name: Mina, since: 2031",
        "weight 12",
        "Aliases P1",
        "Linked from 1 Log …We opened the pump. The pump was dry.…",
        "Links to 1 Log …The valve sticks, see the log and absent.…",
        "Not written yet 1 absent",
    ):
        assert words in page.words, words
    assert '<span class="n-missing" title="absent">absent</span>' in page.text
    assert 'href="/note/notes/log.md?heading=Monday#at-here"' in page.text
    assert '<a href="#at-' in page.text
    assert "/?tag=ops" in page.text


def test_other_names_lead_to_the_one_address(indexed: Any, web: Any) -> None:
    """Title, alias and path do; what is asked of the note goes along."""
    answer = web.get("/note/P1?at=3-9")
    assert (answer.status, answer.headers["location"]) == (303, "/note/notes/pump.md?at=3-9")


def test_an_embedded_note_is_shown_in_place(indexed: Any, web: Any) -> None:
    """Its text, without anchors of its own; not the notes within it."""
    text = web.get("/note/notes/pump.md").text
    embed = re.search(
        r'<div class="n-embed">.*?</div>\s*</p>|<div class="n-embed">.*?Nothing\..*?</div>', text, re.DOTALL
    )
    assert embed is not None
    assert "We opened the pump" in embed[0]
    assert "id=" not in embed[0].split("n-title")[1]


def test_a_heading_in_the_address_is_pointed_out(indexed: Any, web: Any) -> None:
    """Letter case and punctuation do not matter, as in Obsidian."""
    text = web.get("/note/notes/log.md?heading=tuesday!").text
    assert re.search(r'<h3 id="at-here" class="n-here">Tuesday', text)


def test_pictures_come_from_the_vault_and_only_where_a_note_shows_them(indexed: Any, web: Any) -> None:
    """Sandboxed, of a type that is known, as a note names them; nothing else below the root, nothing outside."""
    (indexed.root / "secret.png").write_bytes(b"x")
    (indexed.root.parent / "outside.png").write_bytes(b"x")
    text = web.get("/note/notes/pump.md").text
    address = re.search(r'<img src="(/file/[^"]*)"', text)[1].replace("&amp;", "&")
    answer = web.get(address)
    assert (answer.status, answer.body[:4], answer.headers["content-type"]) == (200, b"\x89PNG", "image/png")
    assert "sandbox" in answer.headers["content-security-policy"]
    for name in ("secret.png", "../outside.png", "pump.md", "missing.png", "", "pictures/../secret.png", "/etc/passwd"):
        assert web.get(f"/file/notes/pump.md?of={name}").status == 404, name
    assert "n-missing" in text


@pytest.mark.parametrize("name", ["../outside.png", "/etc/hostname", "link.png", ".hidden/a.png", "big.png", "a\0.png"])
def test_no_file_outside_of_the_source_is_sent_whatever_a_note_says(notes: Any, web: Any, name: str) -> None:
    """Neither above the root, nor by a link, nor from a hidden folder, nor what is too large."""
    from second_brain.servers.web import files

    (notes.root.parent / "outside.png").write_bytes(b"x")
    (notes.root / ".hidden").mkdir()
    (notes.root / ".hidden" / "a.png").write_bytes(b"x")
    (notes.root / "link.png").symlink_to(notes.root.parent / "outside.png")
    with (notes.root / "big.png").open("wb") as file:
        file.truncate(files.LARGEST + 1)
    notes.index({"a.md": f"![]({name}) ![[{name}]]"})
    assert web.get(f"/file/notes/a.md?of={name.replace(chr(0), '%00')}").status == 404


def test_a_picture_is_found_by_its_name_alone(notes: Any, web: Any) -> None:
    """As Obsidian finds it, anywhere in the vault; blanks and Japanese in its name too."""
    notes.write({"files/deep/船 1.webp": b"RIFF"})
    notes.index({"sub/a.md": "![[船 1.webp]] ![](../files/deep/%E8%88%B9%201.webp)"})
    addresses = re.findall(r'<img src="(/file/[^"]*)"', web.get("/note/notes/sub/a.md").text)
    assert len(addresses) == 2
    for address in addresses:
        assert web.get(address.replace("&amp;", "&")).body == b"RIFF"


def test_pictures_of_other_hosts_wait_for_leave(indexed: Any, site: Any) -> None:
    """Their host is named; leave holds for one note and one visitor, and only these hosts are let in."""
    web = site.owner()
    page = web.get("/note/notes/pump.md")
    assert "h.example" in page.words
    assert 'src="https://h.example' not in page.text
    leave = re.search(r'href="([^"]*images=[^"]*)"', page.text)[1]
    allowed = web.get(leave)
    assert '<img src="https://h.example/a.png"' in allowed.text
    assert "img-src 'self' data: https://h.example http://h.example;" in allowed.headers["content-security-policy"]
    assert 'src="https://h.example' not in web.get("/note/notes/pump.md?images=1").text
    assert 'src="https://h.example' not in site.owner().get(leave).text


def test_a_host_that_is_none_adds_nothing_to_the_policy(notes: Any, web: Any) -> None:
    """A note cannot write the page's policy."""
    notes.index({"a.md": "![](https://h;script-src%20*/a.png) ![](<https://a b;script-src 'unsafe-inline'/x.png>)"})
    leave = re.search(r'href="([^"]*images=[^"]*)"', web.get("/note/notes/a.md").text)
    answer = web.get(leave[1]) if leave else web.get("/note/notes/a.md")
    assert answer.headers["content-security-policy"].count("script-src") == 1


def test_a_changed_and_a_deleted_note_are_told_while_they_are_read(indexed: Any, web: Any) -> None:
    """Nothing happened: 204. The file changed, the index followed, the note went: each in words."""
    version = re.search(r'data-version="(\w+)"', web.get("/note/notes/log.md").text)[1]
    fresh = f"/fresh/notes/log.md?was={version}"
    assert web.get(fresh).status == 204
    (indexed.root / "log.md").write_text("# Log\n\nAnother text.\n")
    assert "the file changed since it was indexed" in web.get(fresh).words
    indexed.sync()
    assert "This note was changed. Show it anew" in web.get(fresh).words
    (indexed.root / "log.md").unlink()
    assert "the file is gone" in web.get(fresh).words
    indexed.sync()
    assert "not in the index any more" in web.get(fresh).words
    assert web.get("/note/notes/log.md").status == 404


def test_a_name_that_several_notes_have_lists_them(notes: Any, web: Any) -> None:
    """Each leads to its own address."""
    notes.index({"a/x.md": "one", "b/x.md": "two"})
    page = web.get("/note/x")
    assert page.status == 300
    assert 'href="/note/notes/a/x.md"' in page.text
    assert 'href="/note/notes/b/x.md"' in page.text


def test_odd_names_have_addresses(notes: Any, web: Any) -> None:
    """Question marks, hashes, percent signs, quotation marks and Japanese in file names."""
    name = '100% "why?" #1 船\'.md'
    notes.index({name: "The very text.", "b.md": '[[100% "why?" #1 船\']]'})
    link = unescape(re.search(r'class="hit-link" href="([^"]*)"', web.get("/?q=very+text").text)[1])
    assert link.endswith("#at-here")
    assert "The very text." in web.get(link.removesuffix("#at-here")).text


def test_a_long_note_comes_in_parts_and_whole_as_text(notes: Any, web: Any) -> None:
    """The part in which a passage lies is shown; one line of 5 MB too, in time."""
    body = "# Long\n\n" + "A paragraph of words.\n\n" * 12_000 + "## The end\n\nThe needle is here.\n"
    line = "x" * 5_000_000 + " the last word"
    notes.index({"long.md": body, "line.md": line})
    start = body.index("The needle")
    page = web.get(f"/note/notes/long.md?at={start}-{start + 10}")
    assert "The needle is here." in page.text
    assert '<p id="at-here" class="n-here">The needle is here.' in page.text
    assert "Part 5 of 5" in page.words
    assert "The needle" not in web.get("/note/notes/long.md").text
    begun = time.perf_counter()
    page = web.get("/note/notes/line.md")
    assert time.perf_counter() - begun < 10
    assert "Part 1 of 84" in page.words
    assert "the last word" in web.get("/note/notes/line.md?part=84").text
    raw = web.get("/raw/notes/line.md")
    assert raw.body.decode() == line
    assert raw.headers["content-type"] == "text/plain; charset=utf-8"
    assert "sandbox" in raw.headers["content-security-policy"]


def test_a_note_of_a_hundred_thousand_links_is_shown_in_time(notes: Any, web: Any) -> None:
    """Those beside the text are cut, with how many there are."""
    notes.index({"many.md": "# Many\n\n" + "".join(f"[[n{number % 300}]]\n" for number in range(100_000))})
    notes.index({f"n{number}.md": f"# N {number}\n\n[[many]]" for number in range(60)})
    begun = time.perf_counter()
    page = web.get("/note/notes/many.md")
    assert time.perf_counter() - begun < 10
    assert "Linked from 60" in page.words
    assert "and 20 more" in page.words


def test_hostile_properties_are_rows_of_text(notes: Any, web: Any) -> None:
    """Aliases of YAML within each other, thousands of keys, deep nesting, markup: bounded, and text."""
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{chr(98 + step)}: &{chr(98 + step)} [{', '.join(f'*{chr(97 + step)}' for _ in range(9))}]\n"
        for step in range(8)
    )
    many = "".join(f"key{number}: <script>{number}</script>\n" for number in range(5000))
    deep = "deep: " + "[" * 90 + "]" * 90 + "\n"
    notes.index(
        {"a.md": f"---\n{bomb}---\nBody a", "b.md": f"---\n{many}---\nBody b", "c.md": f"---\n{deep}---\nBody c"}
    )
    begun = time.perf_counter()
    pages = [web.get(f"/note/notes/{name}.md") for name in "abc"]
    assert time.perf_counter() - begun < 10
    for name, page in zip("abc", pages, strict=True):
        assert page.status == 200
        assert f"Body {name}" in page.text
        assert len(page.text) < 100_000
        assert "<script>0" not in page.text


def test_parts_break_at_blank_lines_outside_of_code() -> None:
    """Together they are the whole text; a text without a place to break is broken anyway."""
    code = "```\n" + "line\n\n" * 12_000 + "```\n\n"
    text = "Some words.\n\n" * 4_000 + code + "Other words.\n\n" * 1_000
    begins = beginnings(text, 0)
    assert begins[0] == 0
    assert all(0 < after - before <= LENGTH for before, after in pairwise(begins))
    assert text[begins[1] - 2 : begins[1]] == "\n\n"
    assert begins[1] <= text.index("```")
    assert beginnings("x" * (2 * LENGTH + 1), 0) == [0, LENGTH, 2 * LENGTH]
    assert [part_at([0, 10, 20], offset) for offset in (0, 9, 10, 25)] == [0, 0, 1, 2]


SESSION = (
    "## 1 · 2031-05-01 09:00 · Why?\n\n**User:** Why?\n\n## 7 · not a heading\n\n**Assistant:** Because.\n\nMore.\n\n"
    "$ make test\n$ make\n\nedit a.py\n\nerror: no rule\n\n"
    "**Assistant:** Look:\n\n```sh\n$ not a deed\n\n## 9 · nor this\n```\n\n"
    "## 2 · Thanks\n\n**User:** Thanks\n\n"
)


def test_a_session_is_read_as_exchanges_and_turns() -> None:
    """Only headings with the next number count, and what is said in code is not done."""
    talks = exchanges(SESSION)
    assert [(talk.number, talk.time, talk.question, len(talk.turns)) for talk in talks] == [
        (1, "2031-05-01 09:00", "Why?", 4),
        (2, "", "Thanks", 1),
    ]
    assert [(turn.who, turn.count) for turn in talks[0].turns] == [
        ("user", 0), ("assistant", 0), ("deeds", 4), ("assistant", 0),
    ]  # fmt: skip


def test_a_session_is_shown_as_a_conversation(notes: Any, web: Any) -> None:
    """Who said what, deeds folded; a hit within them unfolds them."""
    log = notes.root.parent / "log"
    log.mkdir()
    lines = [
        {"type": "user", "message": {"role": "user", "content": "Why does <b>it</b> fail?"}},
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "id": "m1",
                "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "grep needle <log>"}},
                ],
            },
        },
    ]
    common = {"sessionId": "s1", "cwd": "/boats/pump", "timestamp": "2031-05-01T09:00:00Z"}
    (log / "s1.jsonl").write_text("".join(json.dumps({**common, **line}) + "\n" for line in lines))
    notes.brain.add(log, name="log", kind="claude-session-jsonl")
    notes.brain.sync()
    page = web.get("/note/log/s1.jsonl")
    assert "You Why does it fail? Agent I look. 1 step" in page.words
    assert '<details class="deeds"><summary>' in page.text
    assert "$ grep needle &lt;log&gt;" in page.text
    text = notes.brain.get("log/s1.jsonl").text
    start = text.index("needle")
    pointed = web.get(f"/note/log/s1.jsonl?at={start}-{start + 6}").text
    assert '<details class="deeds" open>' in pointed
    assert '<mark id="at-here" class="n-here">needle</mark>' in pointed


def test_ways_out_are_links_only(indexed: Any, site: Any) -> None:
    """To Obsidian by the name of the vault; to an editor for browsers on this machine; no folder without a screen."""
    (indexed.root / ".obsidian").mkdir()
    web = site.owner()
    text = web.get("/note/notes/pump.md?at=30-40").text
    assert 'href="obsidian://open?vault=notes&amp;file=pump.md"' in text
    assert re.search(r'href="vscode://file/.*/notes/pump\.md:\d+"', text)
    web.address = "192.0.2.7"
    assert "vscode:" not in web.get("/note/notes/pump.md").text


def test_only_the_owner_on_this_machine_has_a_folder_shown(
    indexed: Any, site: Any, monkeypatch: Any, tmp_path: Any
) -> None:
    """The file manager gets the folder, never the file."""
    told = tmp_path / "told"
    program = tmp_path / "xdg-open"
    program.write_text(f'#!/bin/sh\necho "$@" > {told}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.setattr("sys.platform", "linux")
    guest, far, web = site.guest("secret"), site.owner(), site.owner()
    far.address = "192.0.2.7"
    assert guest.post("/folder/notes/pump.md").status == 400
    assert far.post("/folder/notes/pump.md").status == 400
    assert web.post("/folder/notes/pump.md", x_forwarded_for="192.0.2.7").status == 400
    assert web.post("/folder/notes/pump.md", {"csrf": ""}).status == 403
    assert not told.exists()
    assert web.post("/folder/notes/pump.md").status == 303
    for _ in range(100):
        if told.exists() and told.read_text():
            break
        time.sleep(0.05)
    assert told.read_text().strip() == str(indexed.root)
