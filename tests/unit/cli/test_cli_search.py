from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from running_brain import Brain

from second_brain.types import Explanation, Signal

HIT_KEYS = {
    "rank", "score", "id", "uri", "path", "title", "heading_path", "source", "kind", "type", "date", "status",
    "tags", "privacy", "start", "end", "line", "text", "notes", "project", "language",
    "folded", "via",
}  # fmt: skip


def paths(brain: Brain, *arguments: object) -> list[str]:
    """The notes that a search finds, in order, each once."""
    outcome = brain("search", "--json", *arguments)
    assert (outcome.code, outcome.err) == (0, "")
    return list(dict.fromkeys(Path(hit["path"]).name for hit in json.loads(outcome.out)["hits"]))


def test_words_need_no_quotes(brain: Brain, indexed: Path) -> None:
    """``brain search valve torque`` is one query."""
    outcome = brain("search", "valve", "torque", "--json")
    answer = json.loads(outcome.out)
    assert answer["query"] == "valve torque"
    assert answer["hits"][0]["heading_path"] == ["Pump room", "Valves"]


def test_json_is_one_object_of_stated_form(brain: Brain, indexed: Path) -> None:
    """Hits in rank order, paths absolute, times with offset, text an exact quote."""
    outcome = brain("search", "pump", "--json")
    assert outcome.out.count("\n") == 1
    answer = json.loads(outcome.out)
    assert set(answer) == {"query", "mode", "hits", "notices"}
    assert answer["mode"] == "hybrid"
    assert [hit["rank"] for hit in answer["hits"]] == list(range(1, len(answer["hits"]) + 1))
    for hit in answer["hits"]:
        assert set(hit) == HIT_KEYS
        note = Path(hit["path"]).read_text(encoding="utf-8")
        assert note[hit["start"] : hit["end"]] == hit["text"]
        assert note[: hit["start"]].count("\n") + 1 == hit["line"]
        assert hit["date"][-6] in "+-"


def test_explained_signals_replay_to_the_score(brain: Brain, indexed: Path) -> None:
    """--explain adds the signals, in order; replaying them yields the score."""
    answer = json.loads(brain("search", "pump", "--json", "--explain").out)
    for hit in answer["hits"]:
        signals = tuple(Signal(**signal) for signal in hit["explanation"])
        assert round(Explanation(signals).replay(), 9) == hit["score"]


def test_people_see_where_when_and_why(brain: Brain, indexed: Path) -> None:
    """Title and heading, path and line, date, source and type, and the quote."""
    outcome = brain("search", "torque", "-n", 1)
    assert outcome.out.splitlines() == [
        "1. Pump room › Valves",
        f"   {indexed}/ops/pump.md:10  2031-05-02  notes/runbook  #ops/pumps",
        "    The valve torque is 42 Nm. See [[log]].",
    ]
    assert outcome.err == ""


def test_people_see_how_a_score_came_to_be(brain: Brain, indexed: Path) -> None:
    """A table of signals whose last score is that of the hit."""
    explained = brain("search", "torque", "-n", 1, "--explain").out.splitlines()
    score = json.loads(brain("search", "torque", "-n", 1, "--json").out)["hits"][0]["score"]
    assert explained[3].split() == ["signal", "value", "score", "detail"]
    assert explained[4].split()[0] == "lexical"
    assert f"{score:.4f}" in explained[-1].split()


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (("--type", "runbook"), ["pump.md"]),
        (("--type", "runbook", "--type", "log"), ["pump.md", "log.md"]),
        (("--tag", "ops"), ["pump.md"]),
        (("--tag", "ops", "--tag", "sea"), []),
        (("--path-prefix", "日記/"), ["2031-03-01.md"]),
        (("--since", "2031-05-01"), ["pump.md"]),
        (("--until", "2031-04-01", "--since", "2031-03-02"), ["log.md"]),
        (("--source", "notes", "--type", "log"), ["log.md"]),
    ],
)
def test_filters_say_what_counts(brain: Brain, indexed: Path, filters: tuple[str, ...], found: list[str]) -> None:
    """Nothing else is returned, however well it answers."""
    assert sorted(paths(brain, "pump", "排水ポンプ", *filters)) == sorted(found)


def test_one_note_may_be_capped_or_not(brain: Brain, indexed: Path) -> None:
    """--per-document 1 gives each note once, 0 as often as it answers."""
    answers = {
        cap: json.loads(brain("search", "pump", "room", "intro", "--json", "--per-document", cap).out)["hits"]
        for cap in (0, 1)
    }
    assert len({hit["uri"] for hit in answers[1]}) == len(answers[1])
    assert len(answers[0]) > len(answers[1])


def test_an_unknown_source_is_an_error_with_those_that_exist(brain: Brain, indexed: Path) -> None:
    """Not an empty answer."""
    outcome = brain("search", "pump", "--source", "noets", "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out)["error"]["type"] == "NotFound"
    assert "sources: notes" in outcome.err


def test_an_empty_answer_says_what_could_be_done(brain: Brain, indexed: Path) -> None:
    """Exit code 0, nothing on stdout, advice on stderr that fits the question."""
    outcome = brain("search", "zebra", "--mode", "lexical", "--tag", "sea")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.startswith("nothing found\n  try it without the filters")
    assert "filters" not in brain("search", "zebra", "--mode", "lexical").err


def test_an_empty_index_says_how_to_fill_it(brain: Brain) -> None:
    """The first search of a new user."""
    outcome = brain("search", "pump")
    assert (outcome.code, outcome.out) == (0, "")
    assert "type `brain add ~/notes`" in outcome.err
    assert all(line.startswith("note: ") for line in outcome.err.splitlines())


@pytest.mark.parametrize("query", ["???", "。、", "🙂", '"'])
def test_a_query_without_words_is_answered(brain: Brain, indexed: Path, query: str) -> None:
    """No error; the reader is told, and nothing else is advised."""
    for mode in ("lexical", "hybrid"):
        outcome = brain("search", query, "--mode", mode)
        assert (outcome.code, outcome.out) == (0, "")
        assert outcome.err == "note: the query holds no word to search for: type some words\n"


@pytest.mark.parametrize("query", ["", "   "])
def test_an_empty_query_is_wrong_usage(brain: Brain, indexed: Path, query: str) -> None:
    """A variable of a script that was never set is not answered with silence."""
    outcome = brain("search", query)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: the query is empty\n")


def test_missing_vectors_are_told_once_and_only_where_they_would_count(brain: Brain, indexed: Path) -> None:
    """Who asks by word only is not sent to `brain embed`; who asks by meaning is, by the notice."""
    assert "brain embed" not in brain("search", "zebra", "--mode", "lexical").err
    brain("index", "--no-embed", "--rebuild")
    (indexed / "new.md").write_text("# New\n\na heron\n", encoding="utf-8")
    brain("index", "--no-embed")
    assert "brain embed" not in brain("search", "zebra", "--mode", "lexical").err
    assert brain("search", "zebra").err.count("brain embed") == 1


def test_a_long_query_comes_from_standard_input(brain: Brain, indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``brain search - < log``: the system limits how long an argument may be."""
    text = "valve torque\n" + "noise " * 40_000
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode() + b"\xff")))
    assert paths(brain, "-")[0] == "pump.md"


def test_a_changed_note_is_marked(brain: Brain, indexed: Path) -> None:
    """The quote is what was indexed; the reader learns that the file says something else now."""
    (indexed / "ops/pump.md").write_text("# Pump room\n\nnew\n", encoding="utf-8")
    outcome = brain("search", "torque", "-n", 1)
    assert "    note: the file changed since it was indexed" in outcome.out


def test_timings_are_told_on_request(brain: Brain, indexed: Path) -> None:
    """On stderr, with the global option."""
    assert "lexical " in brain("-v", "search", "torque").err


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (("--mode", "lexcial", "x"), "Did you mean 'lexical'?"),
        (("--since", "2x", "x"), "'2x' is not a time. Write 2031-05-02, 2031-05-02T09:30, "),
        (("x", "-n"), "see `brain search --help`"),
        (("--since", "2031-05-02", "--until", "2031-05-01", "x"), "give the earlier time to --since"),
        (("-n", "0", "x"), "range"),
        (("-n", "many", "x"), "not a valid integer"),
        ((), "QUERY"),
        (("--limt", "3", "x"), "--limit"),
        (("--dry-run",), "brain search -- --dry-run"),
        (("x", "--home", "y"), "brain --home ..."),
    ],
)
def test_wrong_usage_says_what_is_right(brain: Brain, arguments: tuple[str, ...], advice: str) -> None:
    """Exit code 2, one line of error, one of advice, and the same for programs."""
    outcome = brain("search", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert advice in outcome.err
    assert outcome.err.startswith("error: ")
    assert json.loads(brain("search", "--json", *arguments).out)["error"]["type"] == "WrongUsage"


def test_pasted_text_that_begins_with_a_dash_is_a_question(brain: Brain, indexed: Path) -> None:
    """No option holds white space: a list item or a line of a log needs no ``--``, wherever the options stand."""
    for arguments in (
        ("- valve torque", "--json"),
        ("--json", "--torque: 42 Nm\n--valve"),
        ("--json", "--", "-v torque"),
    ):
        outcome = brain("search", *arguments)
        assert (outcome.code, outcome.err) == (0, "")
        assert json.loads(outcome.out)["hits"][0]["title"] == "Pump room"


def test_words_that_begin_with_a_dash_follow_two_dashes(brain: Brain, indexed: Path) -> None:
    """``--json`` behind ``--`` is a word to search for, not an option."""
    outcome = brain("search", "--", "--json", "torque")
    assert outcome.code == 0
    assert outcome.out.startswith("1. Pump room")
