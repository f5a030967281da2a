"""Groups FM, MD, LK, FN, WK, EN, FQ, CJ and ID of the failure cases as a user meets them: indexed, searched, read.

Their inputs lie in one folder that is indexed once; what changes files has a folder of its own. ID-5 waits for a
source of code. What parser, source and analyzer owe to each case alone is in the files of the groups.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import unicodedata
from datetime import UTC, datetime
from pathlib import Path

import pytest

from second_brain import Brain, ingest, wiring
from second_brain.errors import Ambiguous, StorageError
from second_brain.types import MODES, Filter

FQ_NOTE = "Don't use multi-agent mode: why? see std::map & 50% (v2)"

SYMBOLS = [
    ("os.path.join", "call os.path.join on it", "join the os group, its path is long"),
    ("3.50.7", "needs SQLite 3.50.7 at least", "7 of 50 took 3 days"),
    ("--dry-run", "try it with --dry-run first", "a dry river; run home"),
    ("C++", "the C++ way of things", "the C way of things"),
    ("C#", "the C# path of things", "the C path of things"),
    (".env", "put it into .env please", "the env of the shell"),
    ("node.js", "written for node.js only", "a node of the js graph"),
    ("a->b", "follow a->b here", "from a to b here"),
    ("x::y", "call x::y here", "plot x over y here"),
    ("/usr/lib", "look into /usr/lib first", "the lib in usr"),
]

LONG_NAME = "あ" * 84 + ".md"

FILES: dict[str, str | bytes] = {
    "fm/pump.md": "---\ntitle: Pump room: weekly check\ntags: [ops]\n---\nValve torque is 42 Nm.\n",
    "fm/typed.md": "---\ntitle: 2031-04-05\ntags: [2031, true, 1.10]\nversion: 1.10\non: no\n---\nTyped body.\n",
    "fm/templates/daily.md": "---\ncreated: {{date}}\n---\n# {{title}}\nCheck the pump.\n",
    "fm/k.md": b"\xef\xbb\xbf---\ntitle: Kelp farm\ntags: [sea]\n---\nKelp body\n",
    "fm/a1.md": b"---\r\ntitle: A1\r\n---\r\nx",
    "fm/a2.md": "---\ntitle: A2\n---",
    "fm/a3.md": "---  \ntitle: A3\n---\t\nx",
    "fm/twice.md": "---\ntags: [first]\ntags: [second]\n---\nTwice bodied.\n",
    "fm/tabbed.md": "---\n\ttitle: Tabbed\n---\nTabbed bodied.\n",
    "md/setup.md": "# Setup\n\n```sh\n# mount disk\nmount /dev/x1\n```\nThen reboot.\n",
    "md/picture.md": "The bluepump is here.\n\n![p](data:image/png;base64," + "QUJD" * 500_000 + ")\n",
    "lk/table.md": "| a | b |\n|---|---|\n| a | [[Pump A\\|pump]] |\n\nAnd [[Pump A|pump]] in prose.\n",
    "lk/Pump A.md": "The first pump.\n",
    "lk/a/todo.md": "Todo of a.\n",
    "lk/b/deep/todo.md": "Todo of b.\n",
    "lk/b/deep/src.md": "[[todo]] and [[lk/a/todo]]\n",
    "lk/in/encoded.md": "[x](People/Mika%20Ono.md), [y](<Plan (old).md>), [z](../Notes%20(CC).md#Part%202)\n",
    "lk/in/People/Mika Ono.md": "Mika.\n",
    "lk/in/Plan (old).md": "The plan.\n",
    "lk/Notes (CC).md": "## Part 2\n\nCC.\n",
    "lk/Large Pump.md": "---\naliases: [LP-9, 大型ポンプ]\n---\nThe large one.\n",
    "lk/aliases.md": "[[lp-9]], [[large pump]], [[大型ポンプ]]\n",
    **{f"lk/{name}.md": f"Steps of {name}.\n" for name in ("断水手順", "停電手順", "🚰", "On-Off switch")},
    "fn/50% plan #2 [draft].md": "Odd name one.\n",
    "fn/a?b&c=d.md": "Odd name two.\n",
    "fn/会議 メモ.md": "Odd name three.\n",
    f"fn/{LONG_NAME}": "Longest name.\n",
    "fn/Sub/n.md": "In the folder Sub.\n",
    "wk/pkg/.gitignore": "build/\n",
    "wk/pkg/build/o.md": "Built walrus.\n",
    "wk/pkg/tools/build/o.md": "Built walrus.\n",
    "wk/pkg/src/build.md": "Written walrus.\n",
    "wk/loop/n.md": "Looped narwhal.\n",
    "wk/temp/n.md": "Kept beluga.\n",
    **{
        f"wk/temp/{name}": "Temporary beluga.\n"
        for name in ("n.md.tmp", ".#n.md", "n.md~", "4913", ".n.md.swp", ".trash/old.md", ".obsidian/workspace.json")
    },
    **{f"en/good/{number:02}.md": f"Good tariff {number}.\n" for number in range(99)},
    "en/good/bad.md": b"Bad tariff \x96 42\n",
    "en/photo.md": random.Random(3).randbytes(300_000),
    "en/picture.md": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(17) + b"\x00\x00\x00\x00IEND",
    "en/.DS_Store": b"\x00\x00\x00\x01Bud1",
    "fq/note.md": FQ_NOTE + "\n",
    "cj/1.md": "第二倉庫の排水ポンプを月曜に交換した\n",
    "cj/2a.md": "来週の会議は中止\n",
    "cj/2b.md": "地下の排水を確認\n",
    "cj/2c.md": "서버를 다시 시작했다\n",
    "cj/2d.md": "检查设备状态\n",
    "cj/2e.md": "金庫の鍵を替えた\n",
    "cj/4.md": "再実行gen-zk42後に50件を確認\n",
    "cj/5a.md": "ＡＰＩ設計書\n",
    "cj/5b.md": "ﾃﾞｰﾀ移行\n",
    "cj/5c.md": "第１２回\n",
    "cj/5d.md": "api design\n",
    "cj/5e.md": "データの移行\n",
    "cj/5f.md": "12回目\n",
    **{
        f"cj/7{number}{form}.md": unicodedata.normalize(form, f"{word} here\n")
        for number, word in enumerate(("impôt", "ガス"))
        for form in ("NFC", "NFD")
    },
    "cj/9a.md": "São Paulo\n",
    "cj/9b.md": "un caffè\n",
    "cj/9c.md": "die Straße\n",
    "cj/9d.md": "がき\n",
    "cj/9e.md": "かき\n",
    "id/exact.md": "```python\ndef atomic_write_json(path, value):\n    replace(path, encode(value))\n```\n",
    "id/part1.md": "atomic bombs\n",
    "id/part2.md": "how to write json by hand\n",
    "id/camel1.md": "parseHttpResponse\n",
    "id/camel2.md": "HTTPServerV2\n",
    **{f"id/symbol-{number}-right.md": f"{right}\n" for number, (_, right, _) in enumerate(SYMBOLS)},
    **{f"id/symbol-{number}-near.md": f"{near}\n" for number, (_, _, near) in enumerate(SYMBOLS)},
}
"""The inputs by path. Files that are not made of bytes are added by the fixture."""


@pytest.fixture(scope="module")
def vault(make_notes, tmp_path_factory):
    """All inputs, indexed and embedded once; ``vault.report`` is what the sync said."""
    made = make_notes(tmp_path_factory.mktemp("whole"))
    made.write(FILES)
    (made.root / "wk" / "loop" / "up").symlink_to("..")
    (made.root / "wk" / "self").symlink_to(".")
    os.mkfifo(made.root / "wk" / "p.md")
    (made.root / "wk" / "zero.md").symlink_to("/dev/zero")
    before = Path.cwd()
    os.chdir(made.root / "wk")  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.md")
        os.chdir(before)
        made.report = made.index()
        with made.brain:
            yield made


def links(vault, name: str) -> list[tuple[str, str, str]]:
    """(as written, path of the target, text) of each link of a note."""
    found = vault.brain.get(f"notes/{name}").links
    return [(link.written, str(link.target).removeprefix("notes/"), link.text) for link in found]


def document(vault, name: str):
    return vault.brain.get(f"notes/{name}").document


# -- FM ------------------------------------------------------------------------------------------------------


def test_fm_1_bare_colon_in_a_title(vault):
    """Found, with its title and tags; one warning with file and line; nothing else was hurt."""
    (hit,) = vault.brain.search("valve torque", mode="lexical").hits
    assert (hit.title, hit.tags) == ("Pump room: weekly check", ("ops",))
    (warning,) = [warning for warning in vault.report.warnings if "pump.md" in warning]
    assert warning.startswith(f"{vault.root / 'fm' / 'pump.md'}: line 2: ")
    assert vault.brain.get("Pump room: weekly check").document.uri == "notes/fm/pump.md"


def test_fm_2_dates_numbers_and_booleans_stay_text(vault):
    """Title, tags and properties as written; a tag filter finds them so; JSON takes them."""
    note = document(vault, "fm/typed.md")
    assert (note.title, note.tags) == ("2031-04-05", ("2031", "true", "1.10"))
    assert json.loads(json.dumps(dict(note.metadata))) == {"version": "1.10", "on": "no"}
    for tag in note.tags:
        assert vault.found("typed body", filter=Filter(tags=(tag,))) == ["fm/typed.md"]
    assert vault.found("typed body", filter=Filter(tags=("1.1",))) == []


def test_fm_4_unfilled_placeholders(vault):
    """A template is a note like any other."""
    assert "fm/templates/daily.md" in vault.found("check the pump")


def test_fm_5_byte_order_mark(vault):
    """Title and tag are read, no mark is in the text, the file is untouched."""
    note = vault.brain.get("Kelp farm")
    assert (note.document.uri, note.document.tags) == ("notes/fm/k.md", ("sea",))
    assert "\ufeff" not in note.text
    assert (vault.root / "fm" / "k.md").read_bytes() == FILES["fm/k.md"]


def test_fm_6_fences_of_every_sort(vault):
    """All three titles are read, and the note without a body is found by its title."""
    for title in ("A1", "A2", "A3"):
        assert vault.brain.get(title).document.uri == f"notes/fm/{title.lower()}.md"
        assert vault.found(title)[0] == f"fm/{title.lower()}.md"


def test_fm_8_duplicate_keys_and_tabs(vault):
    """Both bodies are found; the last of two keys wins, with a warning."""
    assert vault.found("twice bodied")[0] == "fm/twice.md"
    assert vault.found("tabbed bodied")[0] == "fm/tabbed.md"
    assert document(vault, "fm/twice.md").tags == ("second",)
    assert document(vault, "fm/tabbed.md").title == "Tabbed"
    assert sum("twice.md" in warning for warning in vault.report.warnings) == 1


# -- MD ------------------------------------------------------------------------------------------------------


def test_md_1_comments_in_a_fence(vault):
    """The hit is the whole section; no section is named by the comment."""
    (hit,) = vault.brain.search("mount disk reboot", mode="lexical").hits
    assert (hit.title, hit.heading_path) == ("Setup", ("Setup",))
    assert hit.text == str(FILES["md/setup.md"]).rstrip()


def test_md_3_inline_pictures(vault):
    """The sentence is found in one of at most three chunks, the blob by nobody."""
    (hit,) = vault.brain.search("bluepump", mode="lexical").hits
    assert (hit.uri, len(hit.text) < 200) == ("notes/md/picture.md", True)
    assert vault.found("QUJDQUJD") == []
    index = vault.brain.index
    assert index.database.value("SELECT chunks FROM document WHERE uri = 'notes/md/picture.md'") <= 3


def test_md_4_giant_files(notes):
    """12 MB without inner headings are found to the end; 30 MB are named as above the limit."""
    log = "# Changes\n\n" + "".join(f"- Fixed fault {number} of the pump room\n" for number in range(300_000))
    notes.write({"CHANGELOG.md": log + "\nendmarker-zeta\n", "big.md": "lorem " * 5_000_000 + "\n\nendmarker-eta\n"})
    report = notes.sync()
    (failure,) = report.failures
    assert (failure.uri, failure.kind) == ("notes/big.md", "too-large")
    assert "30,000,01" in failure.message
    (hit,) = notes.brain.search("endmarker-zeta", mode="lexical").hits
    assert hit.text.endswith("endmarker-zeta")
    assert len(hit.text) < 1500
    assert hit.line + hit.text.count("\n") == log.count("\n") + 2


def test_md_6_a_move_embeds_nothing_and_an_edit_only_what_it_touches(notes):
    """Counted over the whole product, by the vectors that wait."""
    sections = [f"## Part {number}\n\n{'The pump of this part is fine. ' * 20}\n\n" for number in range(30)]
    notes.index({"old/rooms.md": "# Rooms\n\n" + "".join(sections)})
    assert notes.brain.status().embedded == 30
    (notes.root / "old").rename(notes.root / "new")
    notes.sync()
    assert (notes.brain.status().documents, notes.brain.status().waiting) == (1, 0)
    sections[3] = sections[3].replace("fine", "broken")
    notes.write({"new/rooms.md": "# Rooms\n\n" + "".join(sections)})
    notes.sync()
    assert notes.brain.status().waiting == 1


# -- LK ------------------------------------------------------------------------------------------------------


def test_lk_1_escaped_pipe_in_tables(vault):
    """Two edges to the note, each with its text, and back."""
    assert links(vault, "lk/table.md") == [("Pump A", "lk/Pump A.md", "pump")] * 2
    assert [link.source for link in vault.brain.get("lk/Pump A").backlinks] == ["notes/lk/table.md"] * 2


def test_lk_2_two_notes_of_one_name(vault):
    """The path is exact, the name means the note beside; who reads by name is shown both."""
    assert [target for _, target, _ in links(vault, "lk/b/deep/src.md")] == ["lk/b/deep/todo.md", "lk/a/todo.md"]
    with pytest.raises(Ambiguous) as caught:
        vault.brain.get("todo")
    assert caught.value.candidates == ["notes/lk/a/todo.md", "notes/lk/b/deep/todo.md"]


def test_lk_4_percent_encoded_markdown_links(vault):
    """Three edges, the heading apart."""
    found = vault.brain.get("lk/in/encoded").links
    assert [(link.target, link.anchor) for link in found] == [
        ("notes/lk/in/People/Mika Ono.md", ""),
        ("notes/lk/in/Plan (old).md", ""),
        ("notes/lk/Notes (CC).md", "Part 2"),
    ]


def test_lk_5_aliases_and_letter_case(notes):
    """All three lead to the note, until a file takes the name of the alias; then back again."""
    for name in ("lk/Large Pump.md", "lk/aliases.md"):
        notes.index({name: FILES[name]})
    found = notes.brain.get("lk/aliases").links
    assert [(link.target, bool(link.by_alias)) for link in found] == [
        ("notes/lk/Large Pump.md", True),
        ("notes/lk/Large Pump.md", False),
        ("notes/lk/Large Pump.md", True),
    ]
    notes.index({"LP-9.md": "A file of that name.\n"})
    assert notes.brain.get("lk/aliases").links[0].target == "notes/LP-9.md"
    (notes.root / "LP-9.md").unlink()
    notes.sync()
    assert notes.brain.get("lk/aliases").links[0].target == "notes/lk/Large Pump.md"
    for name in ("lp-9", "large pump", "大型ポンプ"):
        assert notes.brain.get(name).document.uri == "notes/lk/Large Pump.md"


@pytest.mark.parametrize("name", ["断水手順", "停電手順", "🚰", "On-Off switch"])
def test_lk_8_names_without_ascii_letters(vault, name):
    """Each is its own document, read by its name, its uri and the id of its chunk."""
    assert vault.brain.get(name).document.uri == f"notes/lk/{name}.md"
    note = vault.brain.get(f"notes/lk/{name}.md")
    assert note.text == f"Steps of {name}.\n"
    (id,) = (id for id, uri in chunk_ids(vault.brain) if uri == f"notes/lk/{name}.md")
    assert vault.brain.get(id).document.uri == f"notes/lk/{name}.md"


def chunk_ids(brain) -> list[tuple[str, str]]:
    return brain.index.database.rows("SELECT c.id, d.uri FROM chunk c JOIN document d ON d.key = c.document")


# -- FN ------------------------------------------------------------------------------------------------------


def test_fn_1_a_name_in_decomposed_and_composed_unicode(notes):
    """One document throughout, the new text wins, either form reads it, its vector stays."""
    composed, decomposed = "Café.md", unicodedata.normalize("NFD", "Café.md")
    notes.index({decomposed: "gannet"})
    (notes.root / decomposed).rename(notes.root / composed)
    report = notes.sync()
    assert (report.unchanged, report.added, report.deleted) == (1, 0, 0)
    assert notes.brain.status().waiting == 0
    notes.index({composed: "avocet"})
    assert (notes.found("avocet"), notes.found("gannet")) == ([composed], [])
    for name in (composed, decomposed, str(notes.root / composed)):
        note = notes.brain.get(name)
        assert (note.text, note.notes, note.document.path) == ("avocet", (), str(notes.root / composed))
    assert notes.brain.status().documents == 1


def test_fn_3_a_rename_that_changes_only_case(notes):
    """One row with the new case; where the disk keeps case apart, two files stay two."""
    notes.index({"Finance/a.md": "gannet"})
    (notes.root / "Finance").rename(notes.root / "finance")
    notes.sync()
    assert [note.uri for note in notes.brain.recent()] == ["notes/finance/a.md"]
    assert notes.brain.status().waiting == 0
    if not (notes.root / "FINANCE").exists():
        notes.index({"finance/A.md": "avocet"})
        assert (notes.found("gannet"), notes.found("avocet")) == (["finance/a.md"], ["finance/A.md"])
        assert notes.brain.get("finance/A.md").text == "avocet"


def test_fn_4_every_listed_uri_reads_back_its_own_text(vault):
    """Whatever characters it holds, for each note of the vault."""
    listed = vault.brain.recent(limit=1_000)
    assert len(listed) == vault.brain.status().documents
    for note in listed:
        read = vault.brain.get(note.uri)
        assert read.document.uri == note.uri
        if note.uri.startswith("notes/fn/"):
            assert read.text == (vault.root / note.uri.removeprefix("notes/")).read_text(encoding="utf-8")


def test_fn_7_a_name_of_255_bytes(notes):
    """Found, read, and followed when it changes."""
    notes.index({LONG_NAME: "gannet"})
    notes.index({LONG_NAME: "avocet"})
    assert (notes.found("avocet"), notes.found("gannet")) == ([LONG_NAME], [])
    assert notes.brain.get("あ" * 84).text == "avocet"


def test_fn_8_a_folder_as_filter(vault):
    """One stored form, with ``/``; the filter finds what lies in the folder, by both of its paths."""
    below = ("fn/Sub/", "notes/fn/Sub/", "./fn/Sub", "fn//Sub/./n", f"{vault.root}/fn/Sub/", f"{vault.root}//fn/./Sub")
    for prefix in (*below, "fn\\Sub\\") if os.sep == "\\" else below:
        assert vault.found("folder", filter=Filter(path_prefix=prefix)) == ["fn/Sub/n.md"]


def test_fn_8_a_folder_as_filter_in_either_unicode_form(notes):
    """Below the source and on disk, whichever form the disk has and whichever is typed."""
    folders = {form: unicodedata.normalize(form, f"ガス {form}") for form in ("NFC", "NFD")}
    notes.index({f"{folder}/n.md": "gannet" for folder in folders.values()})
    for form in ("NFC", "NFD"):
        for typed in ("NFC", "NFD"):
            path = unicodedata.normalize(typed, f"{folders[form]}/")
            for prefix in (path, f"{notes.root}/{path}"):
                found = notes.found("gannet", filter=Filter(path_prefix=prefix))
                assert found == [f"ガス {form}/n.md"]


# -- WK ------------------------------------------------------------------------------------------------------


def test_wk_1_trailing_slash_in_a_nested_gitignore(vault):
    """Both folders are left out, the file of that name is in."""
    assert vault.found("walrus") == ["wk/pkg/src/build.md"]


def test_wk_3_links_in_circles(vault):
    """The note is there once."""
    assert [hit.uri for hit in vault.brain.search("narwhal", mode="lexical").hits] == ["notes/wk/loop/n.md"]


def test_wk_5_pipes_sockets_and_devices(vault):
    """Passed over and counted: a pipe, a socket, three links."""
    assert sum(vault.report.skipped.values()) >= 5
    assert vault.brain.index.database.value("SELECT count(*) FROM item WHERE uri LIKE 'notes/wk/_.md'") == 0


def test_wk_6_an_unreadable_folder(make_notes):
    """The others are updated, the folder is named, its notes are kept and found, and read again when it opens."""
    base = Path(tempfile.mkdtemp())  # pytest's own folder is closed to other users
    base.chmod(0o755)
    notes = make_notes(base)
    try:
        notes.index({"a.md": "gannet", "locked/b.md": "avocet", "locked/c.md": "curlew"})
        inner = wiring.source(notes.brain.sources()[0], notes.brain.settings)
        (notes.root / "locked").chmod(0)
        notes.write({"a.md": "gannet, changed"})
        report = sync_unprivileged(notes.brain, inner)
        assert (report.changed, report.deleted, report.kept) == (1, 0, 2)
        assert [(failure.uri, failure.kind) for failure in report.failures] == [("notes/locked/", "walk")]
        assert (notes.found("changed"), notes.found("avocet")) == (["a.md"], ["locked/b.md"])
        (notes.root / "locked").chmod(0o755)
        (notes.root / "locked" / "c.md").unlink()
        report = notes.sync()
        assert (report.unchanged, report.deleted, report.kept, report.failures) == (2, 1, 0, ())
    finally:
        notes.brain.close()
        (notes.root / "locked").chmod(0o755)
        shutil.rmtree(base)


def sync_unprivileged(brain, source):
    """Sync with a listing that is made without root's rights."""

    class Unprivileged:
        name, kind, exhaustive = source.name, source.kind, source.exhaustive

        def scan(self):
            root = os.geteuid() == 0
            if root:
                os.seteuid(65534)
            try:
                return source.scan()
            finally:
                if root:
                    os.seteuid(0)

        def read(self, item):
            return source.read(item)

    reading = ingest.Reading(wiring.parser, wiring.chunker, brain.settings.label)
    return ingest.sync(
        brain.index, [Unprivileged()], reading, now=lambda: datetime.now(UTC), progress=lambda *report: None
    ).sources[0]


@pytest.mark.parametrize("count", [1, 60])
def test_wk_7_a_source_inside_another(notes, count):
    """One hit for each note, however many move to the inner source, with its label; removed, the outer has them."""
    notes.index({"n.md": "gannet"} | {f"sub/{number}.md": f"avocet {number}" for number in range(count)})
    notes.brain.add(notes.root / "sub", name="sub", privacy="secret")
    outer, inner = notes.brain.sync().sources
    assert (outer.deleted, outer.kept, outer.unavailable, inner.added) == (count, 0, "", count)
    assert notes.brain.status().waiting == 0
    hits = notes.brain.search("avocet", mode="lexical", limit=100).hits
    assert sorted(hit.uri for hit in hits) == sorted(f"sub/{number}.md" for number in range(count))
    assert {hit.privacy for hit in hits} == {"secret"}
    assert notes.brain.remove("sub") == count
    notes.brain.sync()
    assert len(notes.found("avocet", limit=100)) == count
    assert (notes.root / "sub" / "0.md").exists()


def test_wk_9_editor_temp_files(notes, vault):
    """While an editor saves only the note is a document, and its save is a change, not a move."""
    assert vault.found("beluga") == ["wk/temp/n.md"]
    notes.index({"n.md": "gannet", ".n.md.swp": "x"})
    notes.write({"n.md.tmp": "avocet", "n.md~": "gannet", "4913": ""})
    assert notes.sync().unchanged == 1
    (notes.root / "n.md.tmp").rename(notes.root / "n.md")
    report = notes.sync()
    assert (report.changed, report.moved, report.added, report.deleted) == (1, 0, 0, 0)
    assert [note.uri for note in notes.brain.recent()] == ["notes/n.md"]
    assert notes.brain.get("n").text == "avocet"


# -- EN ------------------------------------------------------------------------------------------------------


def test_en_1_one_file_with_a_bad_byte(vault):
    """A hundred documents; the bad byte is a replacement character, named with its line."""
    assert len(vault.found("tariff", limit=200)) == 100
    assert vault.brain.get("en/good/bad").text == "Bad tariff \ufffd 42\n"
    assert sum("bad.md: line 1: byte 0x96" in warning for warning in vault.report.warnings) == 1


def test_en_3_binary_files_with_the_name_of_a_note(vault):
    """One line each, no chunk, nothing to find."""
    failures = [(failure.uri, failure.kind) for failure in vault.report.failures]
    assert failures == [("notes/en/photo.md", "binary"), ("notes/en/picture.md", "binary")]
    assert vault.found("IHDR") == []
    assert vault.brain.status().failures == 2


def test_en_5_a_locale_without_utf8(notes):
    """The same chunks, links and answers under ``LC_ALL=C`` as under UTF-8."""
    notes.write({"保管庫/会議 メモ.md": "排水ポンプを交換した [[鍵]]", "鍵.md": "# 鍵\n\n金庫", "か\u3099.md": "濁点"})
    program = (
        "import json, sys; from second_brain import Brain\n"
        "with Brain.open(sys.argv[1], index=sys.argv[2], environment={}) as brain:\n"
        "    brain.sync(); brain.embed()\n"
        "    hits = brain.search('排水', mode='hybrid').hits\n"
        "    links = brain.get('会議 メモ').links\n"
        "    chunks = brain.index.database.rows('SELECT id, context FROM chunk ORDER BY id')\n"
        "print(json.dumps([[(h.id, h.score, h.path, h.notes) for h in hits], [l.target for l in links], chunks]))"
    )
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHONUTF8"))}
    answers = []
    for locale in ({"PYTHONUTF8": "1"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}):
        command = [sys.executable, "-c", ascii_only(program), str(notes.home), str(notes.home / f"{len(answers)}.db")]
        done = subprocess.run(command, env={**plain, **locale}, capture_output=True, check=True)
        answers.append(json.loads(done.stdout))
    assert answers[0] == answers[1]
    hits, targets, chunks = answers[0]
    assert [notes_ for _, _, _, notes_ in hits] == [[]] * 3
    assert (targets, len(chunks)) == (["notes/鍵.md"], 3)


def ascii_only(program: str) -> str:
    """The program with every other character as an escape: it stands on a command line of any locale."""
    return program.encode("ascii", "backslashreplace").decode("ascii")


# -- FQ ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
@pytest.mark.parametrize("asked", [*(word for word in FQ_NOTE.split() if word != "&"), FQ_NOTE])
def test_fq_1_each_word_of_a_note_finds_it(vault, mode, asked):
    """No error, and the note is returned for each."""
    assert "fq/note.md" in vault.found(asked, mode=mode, limit=200)


@pytest.mark.parametrize("asked", ["NOT found", "AND gate", "to be or not", "NEAR(pump", "pump OR", "title:pump", "^x"])
def test_fq_1_operators_are_words(vault, asked):
    """No error in any mode."""
    for mode in MODES:
        assert vault.brain.search(asked, mode=mode).mode == mode


def test_fq_3_a_failing_lexical_search_is_told(notes):
    """Hits by meaning with a notice, or an error; never an empty success."""
    notes.index({"a.md": "gannet"})
    notes.brain.index.database.rows("DROP TABLE vocabulary")
    result = notes.brain.search("gannet")
    assert [hit.title for hit in result.hits] == ["a"]
    assert any("lexical search failed" in notice for notice in result.notices)
    with pytest.raises(StorageError):
        notes.brain.search("gannet", mode="lexical")


@pytest.mark.parametrize("asked", ["", "   ", "???", "。、", "🙂", '"'])
def test_fq_4_blank_and_punctuation(vault, asked):
    """An empty list with a hint, the same in every mode."""
    for mode in MODES:
        result = vault.brain.search(asked, mode=mode)
        assert result.hits == ()
        assert any("type some words" in notice for notice in result.notices)


def test_fq_5_a_pasted_log_as_query(notes, vault):
    """200 KB on an empty and on a full index: an answer by every means, for as few terms as a question may have."""
    line = '2031-05-01T12:00:{:06d} ERROR worker-{:x} /srv/app/{}.py parseHttp{}Response "valve torque"\n'
    log = "".join(line.format(number, number * 7919, number, number) for number in range(2_200))
    assert len(log) > 200_000
    for brain in (notes.brain, vault.brain):
        for mode in MODES:
            result = brain.search(log, mode=mode)
            assert bool(result.hits) == (brain is vault.brain)
            assert not any("failed" in notice for notice in result.notices)
    assert "fm/pump.md" in vault.found(log, limit=50)


# -- CJ ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param("排水ポンプ", ["1"], id="cj_1"),
        pytest.param("倉庫", ["1"], id="cj_1"),
        pytest.param("交換", ["1"], id="cj_1"),
        pytest.param("来週の会議", ["2a"], id="cj_2"),
        pytest.param("中止", ["2a"], id="cj_2"),
        pytest.param("排水", ["1", "2b"], id="cj_2"),
        pytest.param("서버", ["2c"], id="cj_2"),
        pytest.param("设备", ["2d"], id="cj_2"),
        pytest.param("鍵", ["2e"], id="cj_2"),
        pytest.param("gen-zk42", ["4"], id="cj_4"),
        pytest.param("zk42", ["4"], id="cj_4"),
        pytest.param("50件", ["4"], id="cj_4"),
        pytest.param("api", ["5a", "5d"], id="cj_5"),
        pytest.param("ＡＰＩ", ["5a", "5d"], id="cj_5"),
        pytest.param("データ", ["5b", "5e"], id="cj_5"),
        pytest.param("ﾃﾞｰﾀ", ["5b", "5e"], id="cj_5"),
        pytest.param("12回", ["5c", "5f"], id="cj_5"),
        pytest.param("１２回", ["5c", "5f"], id="cj_5"),
        pytest.param("imp\u00f4t", ["70NFC", "70NFD"], id="cj_7"),
        pytest.param("impo\u0302t", ["70NFC", "70NFD"], id="cj_7"),
        pytest.param("ガス", ["71NFC", "71NFD"], id="cj_7"),
        pytest.param("カ\u3099ス", ["71NFC", "71NFD"], id="cj_7"),
        pytest.param("sao", ["9a"], id="cj_9"),
        pytest.param("caffe", ["9b"], id="cj_9"),
        pytest.param("strasse", ["9c"], id="cj_9"),
        pytest.param("がき", ["9d"], id="cj_9"),
        pytest.param("かき", ["9e"], id="cj_9"),
    ],
)
def test_cj_1_to_9_words_of_every_script_are_found(vault, asked, expected):
    """By word alone, with the right notes first, whatever form of the characters is asked for."""
    found = vault.found(asked, limit=50)
    assert {name.removeprefix("cj/").removesuffix(".md") for name in found[: len(expected)]} == set(expected)


def test_cj_7_both_forms_find_the_same(vault):
    """Composed or decomposed, the same ids with the same scores."""
    for word in ("imp\u00f4t", "ガス"):
        answers = [
            [(hit.id, hit.score) for hit in vault.brain.search(unicodedata.normalize(form, word), mode="lexical").hits]
            for form in ("NFC", "NFD")
        ]
        assert answers[0] == answers[1] != []


# -- ID ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", ["atomic_write_json", "atomic_write", "write_json"])
def test_id_1_snake_case(vault, asked):
    """The exact note is first, notes that share a part only below."""
    assert vault.found(asked)[0] == "id/exact.md"


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("HttpResp", "camel1"),
        ("http response", "camel1"),
        ("parsehttpresponse", "camel1"),
        ("parseHttp", "camel1"),
        ("HttpResponse", "camel1"),
        ("server v2", "camel2"),
        ("httpserver", "camel2"),
    ],
)
def test_id_2_camel_case(vault, asked, first):
    """Parts, the whole in lower case and beginnings of parts are found."""
    assert vault.found(asked)[0] == f"id/{first}.md"


@pytest.mark.parametrize("asked", [asked for asked, _, _ in SYMBOLS])
def test_id_3_dots_flags_and_symbols(vault, asked):
    """The right note first: what holds the very form is above what holds its parts."""
    number = [symbol for symbol, _, _ in SYMBOLS].index(asked)
    assert vault.found(asked)[0] == f"id/symbol-{number}-right.md"


# -- all at once ---------------------------------------------------------------------------------------------


def test_a_second_sync_of_everything_changes_nothing(vault):
    """Nothing is read again, nothing waits, the same failures are named, the index is sound."""
    before = sorted(chunk_ids(vault.brain))
    report = vault.sync()
    assert (report.added, report.changed, report.moved, report.deleted, report.kept) == (0, 0, 0, 0, 0)
    assert {failure.uri for failure in report.failures} == {failure.uri for failure in vault.report.failures}
    assert sorted(chunk_ids(vault.brain)) == before
    assert vault.brain.status().waiting == 0


def test_an_index_made_anew_gives_the_same_answers(vault, tmp_path):
    """Scores of an index that was written once are those of one that was written again into itself."""
    questions = ("pump", "排水", "atomic_write", "tariff 42")
    settings = vault.brain.settings
    with Brain.open(settings.home, index=tmp_path / "fresh.db", environment={}) as fresh:
        fresh.sync()
        fresh.embed()
        vault.brain.sync(rebuild=True)
        vault.brain.embed()
        for mode in MODES:
            for text in questions:
                assert [(hit.id, hit.score) for hit in fresh.search(text, mode=mode).hits] == [
                    (hit.id, hit.score) for hit in vault.brain.search(text, mode=mode).hits
                ]
