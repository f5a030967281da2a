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
    "folded", "also_in", "via",
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
    assert "The valve torque is 42 Nm." in answer["hits"][0]["text"]


def test_json_is_one_object_of_stated_form(brain: Brain, indexed: Path) -> None:
    """Hits in rank order, paths absolute, times with offset, text an exact quote."""
    outcome = brain("search", "pump", "--json")
    assert outcome.out.count("\n") == 1
    answer = json.loads(outcome.out)
    assert set(answer) == {
        "query", "mode", "generation", "understood", "confidence", "hits", "rolled_up", "notices", "cursor",
    }  # fmt: skip
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
    assert outcome.err.startswith("note: no note has the tag 'sea'; there are ops/pumps\n")
    assert "nothing found\n  try it without the filters" in outcome.err
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


def test_a_budget_gives_text_for_an_agent(brain: Brain, indexed: Path) -> None:
    """Framed, quoted line by line, within the budget; with --json the same as excerpts."""
    outcome = brain("search", "valve torque", "--budget", 300)
    assert outcome.code == 0
    assert outcome.out.splitlines()[0].startswith("Quoted from the user's notes.")
    assert "> The valve torque is 42 Nm. See [[log]]." in outcome.out.splitlines()
    answer = json.loads(brain("search", "valve torque", "--budget", 300, "--json").out)
    assert answer["tokens"] <= 300
    assert answer["shown"] == sum(not excerpt["via"] for excerpt in answer["excerpts"])
    small = brain("search", "valve torque", "--budget", 10)
    assert small.code == 1
    assert "too small" in small.err


def test_a_cursor_turns_the_page(brain: Brain, indexed: Path) -> None:
    """Until there is none; with other words it is an error with a hint."""
    pages, cursor = [], ()
    while True:
        answer = json.loads(brain("search", "pump", "-n", 1, "--json", *cursor).out)
        pages += [(hit["rank"], hit["uri"]) for hit in answer["hits"]]
        if not answer["cursor"]:
            break
        cursor = ("--cursor", answer["cursor"])
    assert [rank for rank, _ in pages] == list(range(1, len(pages) + 1))
    assert len({uri for _, uri in pages}) == 3
    wrong = brain("search", "valve", "-n", 1, *cursor)
    assert wrong.code == 1
    assert "belongs to another question" in wrong.err


def test_fields_and_parts_are_said_on_stderr(brain: Brain, indexed: Path) -> None:
    """How the question was read is about the result, not part of it."""
    outcome = brain("search", "pump type:log")
    assert outcome.out.startswith("1. Log")
    assert "'type:log' read as the type 'log'" in outcome.err.splitlines()
    parts = brain("search", "What is the valve torque? Where is the pump log?", "--mode", "agentic", "--json")
    assert json.loads(parts.out)["understood"] == ["asked in parts: What is the valve torque? | Where is the pump log?"]


def test_copies_and_children_of_hubs_are_shown(brain: Brain, indexed: Path) -> None:
    """What is folded stands under its hit, and after the hits what a hub links to, with the hub's title."""
    (indexed / "ops" / "copy.md").write_text((indexed / "ops" / "log.md").read_text())
    (indexed / "Pumps MOC.md").write_text("# Pumps MOC\n\n[[pump]] [[2031-03-01]] [[log]] [[copy]] [[missing]]\n")
    brain("index", "--quiet")
    lines = brain("search", "pump", "replaced", "--mode", "lexical").out.splitlines()
    assert "    the same also in: notes/ops/log.md" in lines or "    the same also in: notes/ops/copy.md" in lines
    assert any(line.endswith("via Pumps MOC") for line in brain("search", "pumps moc", "-n", 1).out.splitlines())


def test_strict_hides_what_was_withdrawn(brain: Brain, indexed: Path) -> None:
    """Without it, it is only ranked lower."""
    (indexed / "old.md").write_text("---\nstatus: deprecated\n---\n# Old pump\n\npump pump\n")
    brain("index", "--quiet")
    assert "old.md" in paths(brain, "pump")
    assert "old.md" not in paths(brain, "pump", "--strict")
