"""What eval/README.md says of the golden questions and the example vault, checked against both.

Words are compared by a measure of this file's own, not by the product's analyzer: English words by their first
five letters, without function words; Japanese by pairs of neighbouring characters of which at least one is a kanji
or katakana.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from pathspec import GitIgnoreSpec

ROOT = Path(__file__).parents[3]
VAULT = ROOT / "example-vault"
GOLDEN = ROOT / "eval" / "golden.jsonl"
README = ROOT / "eval" / "README.md"

END_OF_THE_NOTES = datetime(2026, 9, 1, tzinfo=UTC)
"""The notes end in August 2026; 'stale' means stale on this day."""

STILL_TO_BE_WRITTEN = {"Mame outboard"}
"""The one link that leads nowhere, as in any vault."""

HARD_OVERLAP = 0.10
"""At most this share of a hard question's words or pairs stands in the passage that answers it."""

VERBATIM_WORDS = 5
VERBATIM_CHARACTERS = 9
"""A question that shares a run of this length with a note was copied from it."""

FUNCTION_WORDS = frozenset(
    re.split(
        r"\s+",
        """a about after all already am an and any are as at be been before being but by can can't could did didn't do
        does doesn't don't for from had has have having he her here him his how i if in into is isn't it its just may
        me might most must my no not of on only or our out own said same she should so some than that the their them
        then there these they this those to up us was wasn't we were what when where which while who why will with
        would yet you your""",
    )
)

QUESTIONS: list[dict[str, Any]] = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
each_question = pytest.mark.parametrize("question", QUESTIONS, ids=[question["id"] for question in QUESTIONS])
each_hard = pytest.mark.parametrize(
    "question",
    [question for question in QUESTIONS if question["class"] == "hard"],
    ids=[question["id"] for question in QUESTIONS if question["class"] == "hard"],
)


@cache
def notes() -> dict[str, str]:
    """The text of each note that is not hidden, by its path below the vault."""
    hidden = GitIgnoreSpec.from_lines((VAULT / ".indexignore").read_text(encoding="utf-8").splitlines())
    found = {
        unicodedata.normalize("NFC", path.relative_to(VAULT).as_posix()): path.read_text(encoding="utf-8")
        for path in sorted(VAULT.rglob("*.md"))
    }
    return {name: text for name, text in found.items() if not hidden.match_file(name)}


def frontmatter(text: str) -> dict[str, Any] | None:
    """The properties of a note, empty when it has none, None when they are broken."""
    block = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    if not block:
        return {}
    try:
        return dict(yaml.load(block[1], Loader=yaml.BaseLoader))
    except yaml.YAMLError:
        return None


def body(text: str) -> str:
    return re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)


def sections(text: str) -> list[tuple[str, str]]:
    """Heading and text up to the next heading of any level, the heading's own line included."""
    found: list[tuple[str, list[str]]] = [("", [])]
    fenced = False
    for line in body(text).split("\n"):
        fenced ^= line.lstrip().startswith("```")
        heading = None if fenced else re.match(r"#{1,6} +(.+)", line)
        if heading:
            found.append((heading[1].strip(), []))
        found[-1][1].append(line)
    return [(heading, "\n".join(lines)) for heading, lines in found]


def passage(label: dict[str, Any]) -> str:
    """The section that a label names, or the whole note, under the note's title."""
    text = notes()[label["path"]]
    if "heading" not in label:
        return text
    title = next((heading for heading, _ in sections(text) if heading), "")
    return f"{title}\n{dict(sections(text))[label['heading']]}"


def is_content(character: str) -> bool:
    name = unicodedata.name(character, "")
    return name.startswith(("CJK UNIFIED", "KATAKANA LETTER")) or character == "々"


def features(text: str, language: str) -> set[str]:
    """What of a text counts as content: English words cut to five letters, or Japanese pairs of characters."""
    if language == "en":
        words = re.findall(r"[a-z0-9][a-z0-9'-]*", text.lower().replace("’", "'"))
        return {re.sub(r"'s?$", "", word)[:5] for word in words if word not in FUNCTION_WORDS}
    runs = re.findall(r"[\u3005\u3040-\u30ff\u4e00-\u9fff]+", text)
    pairs = {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
    return {pair for pair in pairs if any(map(is_content, pair))}


def overlap(question: dict[str, Any], text: str) -> float:
    """The share of a question's content that stands in a text."""
    wanted = features(question["query"], question["lang"])
    return len(wanted & features(text, question["lang"])) / len(wanted)


def closest(question: dict[str, Any]) -> float:
    """The overlap with the closest of the passages that answer."""
    return max(overlap(question, passage(label)) for label in question["relevant"] if label["grade"] == 2)


def is_japanese(text: str) -> bool:
    letters = re.findall(r"[A-Za-z\u3040-\u30ff\u4e00-\u9fff]", body(text))
    return sum(not letter.isascii() for letter in letters) > len(letters) / 2


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


# Questions ------------------------------------------------------------------------------------------------


def test_questions_are_numbered_once_each() -> None:
    """The ids are g01 to g60, in order."""
    assert [question["id"] for question in QUESTIONS] == [f"g{number:02}" for number in range(1, 61)]


def test_counts_of_questions_are_those_of_the_readme() -> None:
    """The table in eval/README.md holds the questions of each class in each language, and their sums."""
    counts = Counter((question["class"], question["lang"]) for question in QUESTIONS)
    rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \| (\d+) \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    stated = {name: (int(english), int(japanese), int(both)) for name, english, japanese, both in rows}
    classes = ("plain", "hard", "named", "identifier", "cross")
    columns = {name: (counts[name, "en"], counts[name, "ja"]) for name in classes}
    found = {name: (english, japanese, english + japanese) for name, (english, japanese) in columns.items()}
    found["all"] = tuple(sum(column) for column in zip(*found.values(), strict=True))
    assert stated == found
    assert found["all"] == (40, 20, 60)
    assert found["hard"] == (8, 4, 12)
    assert found["cross"] == (2, 2, 4)


@each_question
def test_question_has_the_stated_form(question: dict[str, Any]) -> None:
    """Keys, grades and the one label a note are as in eval/README.md, and something answers."""
    assert question.keys() == {"id", "query", "lang", "class", "relevant", "note"}
    assert all(label.keys() <= {"path", "heading", "grade"} for label in question["relevant"])
    grades = [label["grade"] for label in question["relevant"]]
    assert set(grades) <= {1, 2}
    assert 1 <= grades.count(2) <= 3
    paths = [label["path"] for label in question["relevant"]]
    assert len(set(paths)) == len(paths)
    assert is_japanese(question["query"]) == (question["lang"] == "ja") or question["class"] == "identifier"


@each_question
def test_labels_lead_to_notes_and_headings(question: dict[str, Any]) -> None:
    """Every note that a label names is in the index, and holds its heading exactly once."""
    for label in question["relevant"]:
        assert label["path"] in notes()
        if "heading" in label:
            headings = [heading for heading, _ in sections(notes()[label["path"]])]
            assert headings.count(label["heading"]) == 1, headings


@each_hard
def test_hard_question_shares_almost_no_words_with_its_answer(question: dict[str, Any]) -> None:
    """At most a tenth of its words or pairs of characters stands in the passage that answers it."""
    assert closest(question) <= HARD_OVERLAP


@each_hard
def test_hard_question_is_not_answered_by_counting_words(question: dict[str, Any]) -> None:
    """Some note that answers nothing shares more of the question's words than the passage that does."""
    labelled = {label["path"] for label in question["relevant"]}
    others = [overlap(question, text) for path, text in notes().items() if path not in labelled]
    assert max(others) > closest(question)


def test_plain_questions_share_more_words_than_hard_ones() -> None:
    """The classes differ by what they are named for, in both languages; plain ones are still in other words."""
    for language in ("en", "ja"):
        of_class = {
            name: [closest(q) for q in QUESTIONS if q["lang"] == language and q["class"] == name]
            for name in ("plain", "hard")
        }
        assert mean(of_class["hard"]) < 0.05
        assert 3 * mean(of_class["hard"]) < mean(of_class["plain"]) < 0.5


@each_question
def test_question_is_not_copied_from_a_note(question: dict[str, Any]) -> None:
    """No run of words or characters of a question stands in the vault, but for error texts and commands."""
    if question["class"] == "identifier":
        return
    if question["lang"] == "en":
        words = re.findall(r"[a-z0-9']+", question["query"].lower())
        runs = [" ".join(words[at : at + VERBATIM_WORDS]) for at in range(len(words) - VERBATIM_WORDS + 1)]
        vault = [" ".join(re.findall(r"[a-z0-9']+", text.lower())) for text in notes().values()]
    else:
        query = question["query"]
        runs = [query[at : at + VERBATIM_CHARACTERS] for at in range(len(query) - VERBATIM_CHARACTERS + 1)]
        vault = list(notes().values())
    assert runs
    assert [run for run in runs if any(run in text for text in vault)] == []


@each_question
def test_only_named_questions_name_somebody(question: dict[str, Any]) -> None:
    """A title or alias of a people note, or any capitalised word within an English question, marks class 'named'."""
    people = {path: frontmatter(text) or {} for path, text in notes().items() if path.startswith("people/")}
    names = {str(alias) for properties in people.values() for alias in properties.get("aliases", [])} | {"Aoife"}
    names |= {name.removesuffix("さん") for name in names} - {"船長", "機関長", "経理", "Chief"}
    named = [name for name in names - {"船長", "機関長", "経理", "Chief"} if name in question["query"]]
    assert bool(named) == (question["class"] == "named")
    if question["class"] in {"plain", "hard", "cross"}:
        assert re.findall(r"(?<=[\w,] )[A-Z]\w+", question["query"]) == []


@each_question
def test_question_has_distractors(question: dict[str, Any]) -> None:
    """At least three notes that answer nothing share words with a question that is not hard or an identifier."""
    if question["class"] in {"hard", "identifier"}:
        return
    labelled = {label["path"] for label in question["relevant"]}
    sharing = [path for path, text in notes().items() if path not in labelled and overlap(question, text) > 0]
    assert len(sharing) >= 3


@each_question
def test_cross_question_is_answered_in_the_other_language(question: dict[str, Any]) -> None:
    """No note in the question's own language answers a 'cross' question; every other question has one that does."""
    answering = [is_japanese(passage(label)) for label in question["relevant"] if label["grade"] == 2]
    assert ((question["lang"] == "ja") not in answering) == (question["class"] == "cross")


# The vault ------------------------------------------------------------------------------------------------


def test_vault_is_of_the_stated_size() -> None:
    """Sixty-five notes are indexed, 22 of them Japanese; three hold more than 6,000 characters."""
    assert len(notes()) == 65
    assert sum(map(is_japanese, notes().values())) == 22
    assert sum(len(text) > 6_000 for text in notes().values()) == 3


def test_indexignore_hides_the_template() -> None:
    """The template with its placeholders is in the vault and not among the notes."""
    assert "{{date}}" in (VAULT / "templates" / "daily.md").read_text(encoding="utf-8")
    assert not any(path.startswith("templates/") for path in notes())
    assert not any("{{" in text for text in notes().values())


def test_one_note_has_broken_properties_and_some_have_none() -> None:
    """A bare colon in a title breaks one block of properties; five notes have none at all."""
    properties = {path: frontmatter(text) for path, text in notes().items()}
    assert [path for path, found in properties.items() if found is None] == ["books/slow-boats.md"]
    assert sum(found == {} for found in properties.values()) == 5


def test_fifteen_notes_are_typed() -> None:
    """Each has type, title, description, tags, status and who wrote it when, with an offset."""
    typed = {path: found for path, text in notes().items() if (found := frontmatter(text)) and "type" in found}
    assert len(typed) == 15
    for path, found in typed.items():
        assert {"title", "description", "tags", "status", "generated"} <= found.keys(), path
        assert datetime.fromisoformat(found["generated"]["at"]).tzinfo, path
        cited = set(re.findall(r"\[\^(\w+)\](?!:)", notes()[path]))
        assert cited == {source["id"] for source in found.get("sources", [])}, path


def test_sources_within_the_vault_exist() -> None:
    """A source that is a path leads to a note."""
    for path, text in notes().items():
        for source in (frontmatter(text) or {}).get("sources", []):
            if not source["resource"].startswith("https://"):
                assert source["resource"].removeprefix("/") in notes(), path


def test_one_note_is_deprecated_and_one_is_stale() -> None:
    """The deprecated decision and its successor name each other; the fares of 2025 have run out."""
    properties = {path: found for path, text in notes().items() if (found := frontmatter(text))}
    deprecated = [path for path, found in properties.items() if found.get("status") == "deprecated"]
    assert deprecated == ["decisions/0002-nightly-dump-to-the-nas.md"]
    assert properties[deprecated[0]]["superseded_by"] == "[[0005-pull-backups-from-maruse]]"
    assert properties["decisions/0005-pull-backups-from-maruse.md"]["supersedes"] == "[[0002-nightly-dump-to-the-nas]]"
    stale = [
        path
        for path, found in properties.items()
        if "stale_after" in found and datetime.fromisoformat(found["stale_after"]) <= END_OF_THE_NOTES
    ]
    assert stale == ["reference/fare-table-2025.md"]


def test_old_answers_answer_no_question() -> None:
    """Neither the deprecated nor the stale note is a label, so that ranking it first costs."""
    labelled = {label["path"] for question in QUESTIONS for label in question["relevant"]}
    assert labelled.isdisjoint({"decisions/0002-nightly-dump-to-the-nas.md", "reference/fare-table-2025.md"})


def test_links_lead_somewhere() -> None:
    """Every wikilink leads to a note, its heading or its block, but for the one note that is still to be written."""
    by_name = {Path(path).stem.casefold(): path for path in notes()}
    assert len(by_name) == len(notes())
    astray = set()
    for path, text in notes().items():
        for target, anchor in re.findall(r"\[\[([^]|#\\]+)(?:#([^]|\\]+))?", text):
            found = by_name.get(target.rpartition("/")[2].casefold())
            if found is None:
                astray.add(target)
            elif anchor.startswith("^"):
                assert re.search(rf"(?m) {re.escape(anchor)}$", notes()[found]), (path, anchor)
            elif anchor:
                assert anchor in [heading for heading, _ in sections(notes()[found])], (path, anchor)
    assert astray == STILL_TO_BE_WRITTEN


def test_every_note_is_on_a_hub_or_a_day() -> None:
    """The two maps of content link to every note that is not a daily one."""
    hubs = notes()["Home.md"] + notes()["目次.md"]
    apart = {"Home.md", "目次.md", "meetings/2025-03-12 dry dock budget.md"}
    missing = [
        path
        for path in notes()
        if path not in apart and not path.startswith("daily/") and f"[[{Path(path).stem}" not in hubs
    ]
    assert missing == []


@pytest.mark.parametrize(("file", "count"), [("multi.jsonl", 48), ("paraphrases.jsonl", 70)])
def test_labels_of_the_other_sets_lead_to_notes(file: str, count: int) -> None:
    """As many questions as the README says, each with an id of its own."""
    lines = (ROOT / "eval" / file).read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    assert len({question["id"] for question in questions}) == len(questions) == count
    paths = {entry["path"] for question in questions for entry in question["relevant"]}
    assert [path for path in sorted(paths) if not (VAULT / path).is_file()] == []
