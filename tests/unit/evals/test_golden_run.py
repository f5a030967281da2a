"""The golden set: reading it, and asking it of a small vault."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from second_brain.chunking.markdown import MarkdownChunker
from second_brain.config import ModelSettings, Settings
from second_brain.errors import UsageError
from second_brain.evals.golden import load_golden, run_golden, run_own
from second_brain.evals.questions import Question
from second_brain.evals.results import summarize
from second_brain.evals.systems import Plan
from second_brain.types import MODES

LINE: dict[str, Any] = {
    "id": "g01",
    "query": "how often should the heap be turned",
    "lang": "en",
    "class": "plain",
    "relevant": [{"path": "garden/compost.md", "heading": "Turning", "grade": 2}, {"path": "daily.md", "grade": 1}],
    "note": "every second week",
}


@pytest.fixture
def golden(tmp_path: Path) -> Callable[..., Path]:
    """Writes lines (objects or raw text) to a file."""

    def write(*lines: Any) -> Path:
        file = tmp_path / "golden.jsonl"
        texts = (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
        file.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return file

    return write


def test_questions_are_read_with_their_class_and_language(golden: Callable[..., Path]) -> None:
    """One object a line; blank lines are nothing; of two entries for one note the higher grade holds."""
    twice = [{"path": "a.md", "heading": "X", "grade": 1}, {"path": "a.md", "grade": 3}]
    second = {**LINE, "id": "g02", "lang": "ja", "class": "cross", "relevant": twice}
    assert load_golden(golden(LINE, "", second)) == (
        Question("g01", LINE["query"], {"garden/compost.md": 2, "daily.md": 1}, ("plain", "en")),
        Question("g02", LINE["query"], {"a.md": 3}, ("cross", "ja")),
    )


def test_class_and_language_need_not_be_named(golden: Callable[..., Path]) -> None:
    """Questions of one's own have the classes that one likes, or none."""
    bare = {"id": "x", "query": "q", "relevant": [{"path": "a.md", "grade": 1}]}
    questions = load_golden(golden(bare, {**bare, "id": "y", "class": "mine", "lang": "fr"}))
    assert [question.groups for question in questions] == [(), ("mine", "fr")]


def test_line_separators_within_a_text_do_not_break_the_line(golden: Callable[..., Path]) -> None:
    """JSON may hold U+2028 unescaped."""
    (question,) = load_golden(golden({**LINE, "query": "one\u2028two"}))
    assert question.text == "one\u2028two"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"class": ""}, "'class' is \"\", expected some text"),
        ({"lang": None}, "'lang' is null, expected some text"),
        ({"query": " "}, "'query' is \" \", expected some text"),
        ({"id": 7}, "'id' is 7, expected some text"),
        ({"relevant": []}, "'relevant' is not a list of at least one note"),
        ({"relevant": ["a.md"]}, "an entry of 'relevant' is not an object"),
        ({"relevant": [{"path": "a.md", "grade": 0}]}, "'grade' is 0, expected 1 or more"),
        ({"relevant": [{"path": "a.md", "grade": True}]}, "'grade' is true, expected 1 or more"),
        ({"relevant": [{"path": "a.md"}]}, "'grade' is null"),
        ({"relevant": [{"path": "a.md", "grade": 1, "heading": 3}]}, "'heading' is 3"),
        ({"relevant": [{"path": "a.md", "grade": 1, "title": "A"}]}, "an entry of 'relevant' is not an object"),
        ({"language": "en"}, "unknown key 'language'"),
    ],
)
def test_wrong_line_is_named(golden: Callable[..., Path], change: dict[str, Any], complaint: str) -> None:
    """The message has the file, the line, what was found and what was expected."""
    file = golden({**LINE, "id": "g00"}, {**LINE, **change})
    with pytest.raises(UsageError) as caught:
        load_golden(file)
    assert str(caught.value).startswith(f"{file}:2: {complaint}")


@pytest.mark.parametrize("line", ["{", "[]", "3"])
def test_line_that_is_no_object_is_named(golden: Callable[..., Path], line: str) -> None:
    """Broken JSON, and JSON of another kind."""
    with pytest.raises(UsageError, match=r"golden\.jsonl:1: "):
        load_golden(golden(line))


def test_two_questions_of_one_id_are_refused(golden: Callable[..., Path]) -> None:
    """An id tells the half, and results apart."""
    with pytest.raises(UsageError, match=r"golden\.jsonl:2: .*'g01'"):
        load_golden(golden(LINE, LINE))


def test_empty_and_missing_files_are_named(golden: Callable[..., Path], tmp_path: Path) -> None:
    """Neither is an evaluation with no questions."""
    with pytest.raises(UsageError, match="holds no question"):
        load_golden(golden(""))
    with pytest.raises(UsageError, match=r"none\.jsonl cannot be read"):
        load_golden(tmp_path / "none.jsonl")


# -- running it ----------------------------------------------------------------------------------------------

NOTES = {
    "garden/compost.md": "# Compost\n\nTurn the heap every second week and keep it damp.\n",
    "garden/roses.md": "# Roses\n\nPrune the roses in February.\n",
    "home/boiler.md": "# Boiler\n\nError E119 means that the pressure is low.\n",
    "料理/味噌汁.md": "# 味噌汁\n\n味噌は火を止めてから溶く。\n",
}
QUESTIONS = (
    {
        "id": "g01",
        "query": "turn the compost heap",
        "lang": "en",
        "class": "plain",
        "relevant": [{"path": "garden/compost.md", "grade": 2}],
    },
    {
        "id": "g02",
        "query": "E119",
        "lang": "en",
        "class": "identifier",
        "relevant": [{"path": "home/boiler.md", "grade": 2}],
    },
    {
        "id": "g03",
        "query": "味噌を溶く",
        "lang": "ja",
        "class": "plain",
        "relevant": [{"path": "料理/味噌汁.md", "grade": 2}, {"path": "garden/roses.md", "grade": 1}],
    },
)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Four notes."""
    for path, text in NOTES.items():
        file = tmp_path / "vault" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path / "vault"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A user's settings with the embedder that needs no model."""
    return Settings(
        home=tmp_path / "home",
        index=tmp_path / "home" / "index.db",
        model_cache=tmp_path / "models",
        models=ModelSettings(embedder="hashing"),
    )


def test_every_system_answers_from_the_vault(
    golden: Callable[..., Path], vault: Path, settings: Settings, tmp_path: Path
) -> None:
    """Paths below the vault are compared, whatever their script; words find these notes at once."""
    result = run_golden(golden(*QUESTIONS), vault, settings=settings)
    assert list(result.values) == ["grep", "lexical", "dense", "fused", "adjusted", *MODES[2:]]
    assert (result.name, result.documents, result.chunks, result.primary) == ("golden", 4, 4, "nDCG@5")
    assert result.notices == ()
    assert result.values["lexical"]["MRR@10"] == {"g01": 1.0, "g02": 1.0, "g03": 1.0}
    assert result.values["grep"]["hit@8"] == {"g01": 1.0, "g02": 1.0, "g03": 1.0}
    assert result.groups == {"g01": ("plain", "en"), "g02": ("identifier", "en"), "g03": ("plain", "ja")}
    assert [(s.group, s.questions) for s in summarize(result)] == [
        ("all", 3), ("plain", 2), ("identifier", 1), ("en", 2), ("ja", 1),
    ]  # fmt: skip
    assert result.provenance.embedder.startswith("hashing")


def test_neither_home_nor_index_of_the_user_is_touched(
    golden: Callable[..., Path], vault: Path, settings: Settings, tmp_path: Path
) -> None:
    """With no index named, nothing is left behind; a file that names sources is not even read."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "sources.yaml").write_text("sources: [nonsense", encoding="utf-8")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    file = golden(*QUESTIONS)
    run_golden(file, vault, settings=settings)
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path != file}
    assert after.keys() == before.keys()
    assert after[tmp_path / "home" / "sources.yaml"] == before[tmp_path / "home" / "sources.yaml"]


def test_named_index_is_kept_and_brought_up_to_date(
    golden: Callable[..., Path], vault: Path, settings: Settings, tmp_path: Path
) -> None:
    """The next evaluation reads only what changed, and says that the data are others."""
    index = tmp_path / "eval" / "index.db"
    first = run_golden(golden(*QUESTIONS), vault, index=index, settings=settings)
    again = run_golden(golden(*QUESTIONS), vault, index=index, settings=settings)
    assert asdict(replace(again, costs={})) == asdict(replace(first, costs={}))
    (vault / "garden" / "roses.md").write_text("# Roses\n\nNothing to prune.\n", encoding="utf-8")
    changed = run_golden(golden(*QUESTIONS), vault, index=index, settings=settings)
    assert index.is_file()
    assert changed.documents == 4
    assert changed.provenance.data != first.provenance.data


def test_another_chunker_is_measured_at_once(
    golden: Callable[..., Path], vault: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is kept, but nothing of what a former chunker made of files that are as they were."""
    (vault / "long.md").write_text("# Long\n\n" + "A sentence about the sea. " * 400, encoding="utf-8")
    index = tmp_path / "eval" / "index.db"
    before = run_golden(golden(*QUESTIONS), vault, index=index, settings=settings, plan=Plan(timed=False))
    whole = MarkdownChunker.chunk
    monkeypatch.setattr(MarkdownChunker, "chunk", lambda self, document: whole(self, document)[:1])
    after = run_golden(golden(*QUESTIONS), vault, index=index, settings=settings, plan=Plan(timed=False))
    assert (before.documents, after.documents, after.chunks) == (5, 5, 5)
    assert before.chunks > 8


def test_other_fusion_is_other_settings(golden: Callable[..., Path], vault: Path, settings: Settings) -> None:
    """The result tells under which settings it came to be."""
    file = golden(*QUESTIONS)
    first = run_golden(file, vault, settings=settings)
    second = run_golden(
        file, vault, settings=replace(settings, fusion=replace(settings.fusion, method="rrf", rrf_k=10))
    )
    assert first.provenance.settings != second.provenance.settings
    assert second.provenance.fusion["method"] == "rrf"
    assert first.provenance.data == second.provenance.data


def test_answer_that_the_vault_lacks_is_named(golden: Callable[..., Path], vault: Path, settings: Settings) -> None:
    """A golden set with a dead path would only look like bad retrieval."""
    wrong = {**QUESTIONS[0], "relevant": [{"path": "garden/kompost.md", "grade": 1}]}
    with pytest.raises(UsageError, match=r"'g01' is answered by 'garden/kompost\.md'.*4 notes"):
        run_golden(golden(wrong), vault, settings=settings)


def test_missing_vault_is_an_error(golden: Callable[..., Path], settings: Settings, tmp_path: Path) -> None:
    """A folder that is not there cannot be measured."""
    with pytest.raises(UsageError, match="nowhere"):
        run_golden(golden(*QUESTIONS), tmp_path / "nowhere", settings=settings)


def test_questions_in_beir_form_are_asked_about_a_vault(vault: Path, settings: Settings, tmp_path: Path) -> None:
    """The ids of documents are the paths of notes."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "E119", "metadata": {"lang": "en"}}\n')
    (folder / "qrels.tsv").write_text("q1\thome/boiler.md\t1\n")
    result = run_golden(folder, vault, settings=settings, plan=Plan(timed=False))
    assert (result.name, result.values["lexical"]["MRR@10"], result.groups) == ("mine", {"q1": 1.0}, {"q1": ("en",)})
    assert result.costs == {}


def test_costs_and_readings_are_measured_on_request(
    golden: Callable[..., Path], vault: Path, settings: Settings
) -> None:
    """Every system has its time and tokens; a search reads less than the files that grep names."""
    result = run_golden(golden(*QUESTIONS), vault, settings=settings, plan=Plan(readings=True))
    assert result.costs.keys() == result.values.keys()
    assert all(cost.questions == 3 and cost.p95_ms >= cost.p50_ms > 0 for cost in result.costs.values())
    assert 20 < result.costs["hybrid"].tokens < 2_000
    sizes = {way: found["g02"] for way, found in result.readings.items()}
    note = len(NOTES["home/boiler.md"].encode())
    assert next(iter(sizes)) == "one search"
    assert sizes["and its best note"].bytes == sizes["one search"].bytes + note
    assert sizes["grep: ten files"].bytes == sizes["grep: all files"].bytes == note
    assert sizes["grep: lines, ten files"].bytes == len(
        "vault/home/boiler.md:3:Error E119 means that the pressure is low.\n"
    )


# -- the user's own index ------------------------------------------------------------------------------------


def test_questions_are_asked_about_the_users_own_index(golden: Callable[..., Path], notes: Any, tmp_path: Path) -> None:
    """Labels are paths below a source, or uris; nothing is indexed anew."""
    notes.index(NOTES)
    notes.write({"garden/new.md": "# New\n\nThe compost heap again.\n"})
    labelled = {**QUESTIONS[1], "relevant": [{"path": "notes/home/boiler.md", "grade": 2}]}
    result = run_own(golden(QUESTIONS[0], labelled), notes.brain, now=datetime.now(UTC))
    assert result.documents == 4
    assert result.values["lexical"]["MRR@10"] == {"g01": 1.0, "g02": 1.0}
    assert result.values["grep"]["MRR@10"] == {"g01": 1.0, "g02": 1.0}


def test_path_that_two_sources_have_needs_a_uri(golden: Callable[..., Path], notes: Any, tmp_path: Path) -> None:
    """The message lists them."""
    notes.index({"home/boiler.md": "# Boiler\n\nE119\n"})
    other = tmp_path / "other" / "home"
    other.mkdir(parents=True)
    (other / "boiler.md").write_text("# Boiler\n\nE119\n")
    notes.brain.add(other.parent, name="other")
    notes.brain.sync()
    notes.brain.embed()
    with pytest.raises(UsageError, match=r"'g02'.*several.*notes/home/boiler\.md, other/home/boiler\.md|other/home"):
        run_own(golden(QUESTIONS[1]), notes.brain, now=datetime.now(UTC))
