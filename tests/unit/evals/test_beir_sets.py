"""Sets in BEIR form: reading them, indexing them as the product does, asking them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from second_brain.analysis import index_terms
from second_brain.config import ModelSettings, Settings
from second_brain.errors import UsageError
from second_brain.evals.beir import index_corpus, load_beir, plain_document
from second_brain.evals.questions import Question, half, silent
from second_brain.evals.sets import run_sets
from second_brain.evals.systems import Plan
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.models.hashing import HashingEmbedder
from second_brain.protocols import Vectors
from second_brain.types import MODES

DOCUMENTS = (
    {"_id": "1", "title": "", "text": "def mount(disk):\n    # attach the disk\n    return attach(disk)"},
    {"_id": "2", "title": "Rain", "text": "The rainy season begins in June.\n\nIt ends in July."},
    {"_id": "c/3", "title": "", "text": "梅雨は六月に始まる。"},
    {"_id": "4", "title": "Only a title", "text": ""},
    {"_id": "5", "title": "", "text": " "},
)
QUERIES = (
    {"_id": "q1", "text": "attach a disk"},
    {"_id": "q2", "text": "when does the rainy season begin"},
    {"_id": "q3", "text": "梅雨はいつ始まる"},
    {"_id": "unjudged", "text": "anything"},
)
QRELS = "query-id\tcorpus-id\tscore\nq1\t1\t1\nq2\t2\t2\nq2\t4\t0\nq3\tc/3\t1\n"


def write_set(folder: Path, documents: Sequence[object] = DOCUMENTS, qrels: str = QRELS) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("corpus.jsonl", documents), ("queries.jsonl", QUERIES)):
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_text("".join(lines), encoding="utf-8")
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The embedder that needs no model."""
    return Settings(
        home=tmp_path, index=tmp_path / "i", model_cache=tmp_path / "m", models=ModelSettings(embedder="hashing")
    )


# -- reading -------------------------------------------------------------------------------------------------


def test_set_is_read_with_its_judgements(tmp_path: Path) -> None:
    """Questions without a judgement are left out, grades of 0 are none."""
    corpus = load_beir(write_set(tmp_path / "tiny"))
    assert corpus.name == "tiny"
    assert corpus.documents["2"] == ("Rain", DOCUMENTS[1]["text"])
    assert corpus.questions == (
        Question("q1", "attach a disk", {"1": 1}),
        Question("q2", "when does the rainy season begin", {"2": 2}),
        Question("q3", "梅雨はいつ始まる", {"c/3": 1}),
    )
    assert corpus.notices == ()


def test_header_of_the_judgements_may_be_missing(tmp_path: Path) -> None:
    """Without it the first line is a judgement like the others; the files differ, and so does their hash."""
    with_header = load_beir(write_set(tmp_path / "a" / "tiny"))
    without = load_beir(write_set(tmp_path / "b" / "tiny", qrels=QRELS.partition("\n")[2]))
    assert without.questions == with_header.questions
    assert without.data != with_header.data


@pytest.mark.parametrize("qrels", ["q1\t1\t1\nq2\t2\n", "q1\t1\t1\nq2\t2\thigh\n", "h\th\th\nq1 1 1\n"])
def test_wrong_judgement_is_named(tmp_path: Path, qrels: str) -> None:
    """File, line, and what was expected."""
    with pytest.raises(UsageError, match=r"qrels\.tsv:2: expected query, document and a whole number"):
        load_beir(write_set(tmp_path / "tiny", qrels=qrels))


@pytest.mark.parametrize("row", [{"text": "no id"}, {"_id": "1"}, {"_id": "1", "text": None}, ["_id"], "text"])
def test_wrong_document_is_named(tmp_path: Path, row: object) -> None:
    """File and line."""
    with pytest.raises(UsageError, match=r"corpus\.jsonl:2: expected an object with '_id' and 'text'"):
        load_beir(write_set(tmp_path / "tiny", [DOCUMENTS[0], row]))


def test_judgement_of_an_unknown_document_is_told(tmp_path: Path) -> None:
    """It can never be found, which lowers every value: the reader must know."""
    corpus = load_beir(write_set(tmp_path / "tiny", qrels=QRELS + "q1\tgone\t1\n"))
    assert corpus.notices == ("1 judgements name documents that the corpus lacks: they count as not found",)


def test_class_and_language_of_a_question_may_be_told(tmp_path: Path) -> None:
    """Under ``metadata``; results are broken down by them."""
    folder = write_set(tmp_path / "tiny")
    rows = [{**QUERIES[0], "metadata": {"class": "code", "lang": "en"}}, {**QUERIES[1], "metadata": {"lang": "en"}}]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert [question.groups for question in load_beir(folder).questions] == [("code", "en"), ("en",)]


# -- documents -----------------------------------------------------------------------------------------------


def test_text_is_never_read_as_markdown() -> None:
    """A comment of code is no heading; each paragraph is a block, and all of them are the text."""
    text = "# comment\nx = 1\n\n\n    indented\n  \nlast"
    document = plain_document("set", "7", "", text)
    assert document.text == text
    assert [(section.level, section.start, section.end) for section in document.sections] == [(0, 0, len(text))]
    assert [text[block.start : block.end] for block in document.blocks] == [
        "# comment\nx = 1\n",
        "    indented\n",
        "last",
    ]


def test_id_of_a_document_is_not_searched() -> None:
    """The index searches file names too; '7' or 'x' would answer to every question that holds it."""
    document = plain_document("set", "7", "", "text")
    assert index_terms(document.uri.rpartition("/")[2]) == ""


def test_documents_of_a_set_of_code_are_code() -> None:
    """Fusion weighs meaning more for code, so the set must be told from prose."""
    assert plain_document("cosqa-dev", "7", "", "x = 1").kind == "code"
    assert plain_document("jsquad-ja", "7", "", "x = 1").kind == "markdown"


def test_newlines_are_those_of_every_document() -> None:
    """``Document.text`` promises ``\\n``."""
    assert plain_document("set", "7", "", "a\r\nb\rc").text == "a\nb\nc"


# -- indexing ------------------------------------------------------------------------------------------------


class Counting(HashingEmbedder):
    """Counts the documents that it embeds."""

    count = 0

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.count += len(texts)
        return super().embed_documents(texts)


def test_only_what_changed_is_written_and_embedded(tmp_path: Path) -> None:
    """The same corpus again costs no vector; a changed text costs its own; what is gone is gone."""
    embedder = Counting()
    index = SqliteIndex(tmp_path / "index.db")
    try:
        corpus = load_beir(write_set(tmp_path / "tiny"))
        assert index_corpus(index, corpus, embedder, silent) == ()
        assert (embedder.count, index.stats().documents) == (4, 4)  # the blank one holds nothing to find
        index_corpus(index, corpus, embedder, silent)
        assert embedder.count == 4
        fewer = load_beir(write_set(tmp_path / "tiny", [{**DOCUMENTS[0], "text": "changed"}, *DOCUMENTS[1:3]]))
        index_corpus(index, fewer, embedder, silent)
        assert (embedder.count, index.stats().documents) == (5, 3)
    finally:
        index.close()


# -- asking --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tiny", "cosqa-dev"])
def test_every_system_answers_a_set(tmp_path: Path, settings: Settings, name: str) -> None:
    """Words find these documents at once, in every script, prose or code; documents are counted, not chunks."""
    write_set(tmp_path / "sets" / name)
    (result,) = run_sets(tmp_path / "sets", cache=tmp_path / "cache", settings=settings)
    assert (result.name, result.documents, result.chunks, result.primary) == (name, 5, 4, "nDCG@10")
    assert list(result.values) == ["grep", "lexical", "dense", "fused", "adjusted", *MODES[2:]]
    assert result.values["lexical"]["MRR@10"] == {"q1": 1.0, "q2": 1.0, "q3": 1.0}
    assert result.values["hybrid"]["Recall@5"] == {"q1": 1.0, "q2": 1.0, "q3": 1.0}


def test_long_document_counts_once(tmp_path: Path, settings: Settings) -> None:
    """Many chunks of one document that answer do not push the others out of the list."""
    long = {"_id": "long", "title": "", "text": "\n\n".join(f"disk {n} " + "attach a disk " * 80 for n in range(30))}
    write_set(tmp_path / "sets" / "tiny", [long, *DOCUMENTS])
    (result,) = run_sets(tmp_path / "sets", cache=tmp_path / "cache", settings=settings)
    assert result.chunks > 20
    assert result.values["lexical"]["hit@8"]["q1"] == 1.0


def test_second_evaluation_of_a_set_is_equal(tmp_path: Path, settings: Settings) -> None:
    """From the cache come the same numbers, to the last digit."""
    write_set(tmp_path / "sets" / "tiny")
    first, second = (run_sets(tmp_path / "sets", cache=tmp_path / "cache", settings=settings) for _ in range(2))
    assert [asdict(replace(result, costs={})) for result in first] == [
        asdict(replace(result, costs={})) for result in second
    ]
    kept = {path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert {"index.db", "queries.npz"} <= kept


def test_fusion_of_the_settings_is_what_is_measured(tmp_path: Path, settings: Settings) -> None:
    """With all the weight on one arm, hybrid finds what that arm finds."""
    write_set(tmp_path / "sets" / "tiny")
    lexical_only = replace(settings, fusion=replace(settings.fusion, method="convex", dense_weight=0.0))
    (result,) = run_sets(tmp_path / "sets", cache=tmp_path / "cache", settings=lexical_only)
    assert result.values["hybrid"]["MRR@10"] == result.values["lexical"]["MRR@10"]
    assert result.provenance.fusion["dense_weight"] == 0.0


def test_sets_are_chosen_by_name(tmp_path: Path, settings: Settings) -> None:
    """Folders that hold no set are passed over; a name that is not there is an error that lists those which are."""
    for name in ("b-set", "a-set"):
        write_set(tmp_path / "sets" / name)
    (tmp_path / "sets" / "notes").mkdir()
    options = {"cache": tmp_path / "cache", "settings": settings}
    assert [result.name for result in run_sets(tmp_path / "sets", **options)] == ["a-set", "b-set"]  # type: ignore[arg-type]
    assert [result.name for result in run_sets(tmp_path / "sets", names=["b-set"], **options)] == ["b-set"]  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="'c-set'") as caught:
        run_sets(tmp_path / "sets", names=["c-set"], settings=settings)
    assert caught.value.hint == "sets there: a-set, b-set"
    with pytest.raises(UsageError, match="holds no retrieval set"):
        run_sets(tmp_path / "sets" / "notes", settings=settings)


def test_half_that_is_not_asked_has_no_values(tmp_path: Path, settings: Settings) -> None:
    """Who chooses on one half does not even see the other; the set's hash stays that of the whole."""
    write_set(tmp_path / "sets" / "tiny")
    options = {"cache": tmp_path / "cache", "settings": settings}
    (whole,) = run_sets(tmp_path / "sets", **options)  # type: ignore[arg-type]
    (held,) = run_sets(tmp_path / "sets", plan=Plan(half="held"), **options)  # type: ignore[arg-type]
    wanted = {id for id in ("q1", "q2", "q3") if half(id) == "held"}
    assert set(held.groups) == set(held.values["hybrid"]["nDCG@10"]) == wanted
    assert {whole.values["hybrid"]["nDCG@10"][id] for id in wanted} == set(held.values["hybrid"]["nDCG@10"].values())
    assert held.provenance == whole.provenance
