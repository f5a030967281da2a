"""Retrieval: which rankings run, how they become one, what the reader is told."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import ClassVar

import numpy as np
import pytest

from second_brain import ingest
from second_brain.analysis import query_terms
from second_brain.chunking.markdown import MarkdownChunker
from second_brain.errors import IndexLocked, ModelError, StorageError
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.models.hashing import HashingEmbedder
from second_brain.parsing.markdown import MarkdownParser
from second_brain.ranking.adjust import SourceRules
from second_brain.ranking.fusion import FusionSettings
from second_brain.records import Removal, Replacement, Unread
from second_brain.retrieval import Retriever, _Question, _Watch
from second_brain.types import RETRIEVED as MODES
from second_brain.types import Blob, Filter, Item, Query

NOW = datetime(2031, 5, 2, 12, tzinfo=UTC)


class Sections(MarkdownChunker):
    """Every section is a passage, however small."""

    together = 0.0


def change(uri: str, text: str, privacy: str = "") -> Replacement:
    item = Item(uri, uri.partition("/")[0], f"/{uri}", "text/markdown", "1", NOW, len(text))
    (document,) = MarkdownParser().parse(Blob(item, text.encode("utf-8")))
    return Replacement(item, text, ((document, tuple(Sections().chunk(document))),))


class Corpus:
    """An index of texts and the retriever over it."""

    def __init__(self, path) -> None:
        self.index = SqliteIndex(path)
        self.embedder: HashingEmbedder = HashingEmbedder()
        self.loaded = 0

    def put(self, *, embed: bool = True, **texts: str) -> None:
        """Write texts by name; ``source__name`` is the note of another source than ``n``."""
        for name, text in texts.items():
            source, _, rest = name.rpartition("__")
            self.put_at(f"{source or 'n'}/{rest}.md", text)
        if embed:
            self.embed()

    def put_at(self, uri: str, text: str) -> None:
        source = uri.partition("/")[0]
        self.index.put_source(source, "markdown", f"/{source}")
        self.index.write(source, [change(uri, text)])

    def embed(self) -> None:
        ingest.embed(self.index, self.embedder, progress=lambda *report: None)

    def load(self) -> HashingEmbedder:
        self.loaded += 1
        return self.embedder

    def search(self, text: str, *, fusion=FusionSettings(), rules=None, late=True, **query):
        retriever = Retriever(self.index, self.load, fusion, rules or {}, late)
        return retriever.search(Query(text, **{"now": NOW, **query}))

    def found(self, text: str, **query) -> list[str]:
        return [hit.title for hit in self.search(text, **query).hits]


@pytest.fixture
def corpus(tmp_path) -> Iterator[Corpus]:
    made = Corpus(tmp_path / "index.db")
    yield made
    made.index.close()


@pytest.fixture
def birds(corpus) -> Corpus:
    """Notes about birds, of two sources, dated and withdrawn."""
    corpus.put(
        heron="---\ndate: 2031-04-02\n---\nA heron stood at the weir. 鷺が堰に立つ。\n",
        owl="---\ndate: 2030-05-02\n---\nThe owl and the heron nest above the shed.\n",
        gannet="---\nstatus: deprecated\n---\nNo heron here, a gannet.\n",
        other__heron="# Another heron\n\nThe heron of another vault.\n",
        kelp="Kelp dries in two days.\n",
    )
    return corpus


class Tokens(HashingEmbedder):
    """Each word is a token with 64 bits of its own; a question's rows are the signs of its words."""

    def encode_documents(self, texts: Sequence[str]) -> tuple[np.ndarray, list[np.ndarray]]:
        return self.embed_documents(texts), [np.packbits(self.signs(text) > 0, axis=1) for text in texts]

    def encode_query(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        return self.embed_queries([text])[0], self.signs(text) / 8

    @staticmethod
    def signs(text: str) -> np.ndarray:
        words = [word.strip(".,#").casefold() for word in text.split()]
        rows = [np.random.default_rng(list(word.encode())).choice((-1, 1), 64) for word in words]
        return np.array(rows, dtype=np.float32)


RULES = {"n": SourceRules(weight=0.8, half_life_days=30.0), "other": SourceRules(weight=1.5)}


# -- scores --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fusion", [FusionSettings(), FusionSettings("rrf"), FusionSettings(dense_weight=0.9)])
@pytest.mark.parametrize("mode", MODES)
def test_the_explanation_replays_to_the_score(birds, mode, fusion):
    """Every signal is there: retrievers, source weight, age, status; hits are in order of score."""
    result = birds.search("heron weir", mode=mode, fusion=fusion, rules=RULES)
    assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)
    for hit in result.hits:
        assert hit.explanation.replay() == pytest.approx(hit.score, abs=1e-9)
    signals = {hit.uri: {signal.name for signal in hit.explanation.signals} for hit in result.hits}
    retrievers = {"lexical", "dense"} if mode == "hybrid" else {mode}
    assert signals["n/gannet.md"] - {"lexical", "dense"} == {"source weight", "age", "status"}
    assert signals["other/heron.md"] == retrievers | {"source weight"}


def test_age_counts_from_the_now_of_the_query(birds):
    """The same question at the same moment has the same scores; a half-life later they are half."""
    first = birds.search("heron", mode="lexical", rules=RULES)
    again = birds.search("heron", mode="lexical", rules=RULES)
    assert first.hits == again.hits
    later = birds.search("heron", mode="lexical", rules=RULES, now=NOW + timedelta(days=30))
    halves = {hit.uri: hit.score for hit in later.hits}
    for hit in first.hits:
        assert halves[hit.uri] == pytest.approx(hit.score * (0.5 if hit.source == "n" else 1.0), abs=1e-8)


def test_weights_ages_and_status_change_the_order(birds):
    """A year is twelve half-lives: the owl falls behind; what its author withdrew counts half."""
    assert birds.search("gannet", mode="lexical").hits[0].explanation.signals[-1].name == "status"
    assert birds.found("nest weir", mode="lexical") == ["owl", "heron"]
    assert birds.found("nest weir", mode="lexical", rules=RULES) == ["heron", "owl"]
    assert birds.found("heron", mode="lexical", rules={"other": SourceRules(weight=9.0)})[0] == "Another heron"


def test_equal_scores_are_ordered_by_chunk_id(corpus):
    """Twenty equal notes come in the same order in every mode and for every limit."""
    for number in range(20):
        corpus.put_at(f"n/{number:02}/same.md", "the same heron")
    corpus.embed()
    for mode in MODES:
        every = [hit.id for hit in corpus.search("heron", mode=mode, limit=20).hits]
        assert every == sorted(every)
        for limit in (5, 10, 15):
            assert [hit.id for hit in corpus.search("heron", mode=mode, limit=limit).hits] == every[:limit]


class Elsewhere(HashingEmbedder):
    """Takes every question for one about the weir."""

    def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        return super().embed_queries(["weir"] * len(texts))


@pytest.mark.parametrize("method", ["convex", "rrf"])
def test_the_order_of_insertion_does_not_matter(tmp_path, method):
    """The same notes written in another order give the same hits with the same scores, ties and all."""
    texts = {f"n/{number}/note.md": f"heron {number % 9}" for number in range(60)}
    texts |= {f"n/far/{number}/note.md": f"{number} weir" * 3 for number in range(90)}
    texts |= {f"n/equal/{number}/note.md": "alone among the reeds" for number in range(12)}
    answers = []
    for seed in (1, 2):
        corpus = Corpus(tmp_path / f"{seed}.db")
        for uri in random.Random(seed).sample(sorted(texts), len(texts)):
            corpus.put_at(uri, texts[uri])
        corpus.embed()
        corpus.embedder = Elsewhere()
        questions = ("heron 3 reeds", "weir", "heron weir alone", "reeds")
        results = [
            corpus.search(text, limit=limit, fusion=FusionSettings(method)) for text in questions for limit in (10, 40)
        ]
        answers.append([[(hit.id, hit.score) for hit in result.hits] for result in results])
        corpus.index.close()
    assert answers[0] == answers[1]


def test_a_word_that_most_notes_hold_still_finds(corpus):
    """It tells little, but where nothing tells more, under a filter or in a small vault, it is what there is."""
    corpus.put(**{f"a{number}": f"heron {number}" for number in range(30)}, few__a="heron", few__b="weir")
    assert corpus.found("heron weir", mode="lexical", limit=40)[0] == "b"
    assert len(corpus.found("heron weir", mode="lexical", limit=40)) == 32
    assert sorted(corpus.found("heron weir", mode="lexical", filter=Filter(sources=("few",)))) == ["a", "b"]
    assert len(corpus.found("heron zebra", mode="lexical", filter=Filter(sources=("n",)), limit=40)) == 30


def test_what_was_found_by_the_beginning_of_a_word_counts_as_found(corpus):
    """Words of the question that the index does not hold are looked for as beginnings, in the hybrid order too."""
    for number in range(120):
        corpus.put_at(f"n/{number}.md", f"something else {number}")
    corpus.put(pump="The hydroelectric pump at the weir.")
    (lexical,) = corpus.search("hydroelec", mode="lexical").hits
    hits = corpus.search("hydroelec", mode="hybrid").hits
    assert hits[0].uri == lexical.uri
    assert next(signal for signal in hits[0].explanation.signals if signal.name == "lexical").value > 0


# -- tokens --------------------------------------------------------------------------------------------------


@pytest.fixture
def compared(corpus) -> Corpus:
    """Notes about birds, with token codes."""
    corpus.embedder = Tokens()
    corpus.put(
        heron="A heron stood at the weir.", owl="The owl and the heron nest above the shed.", kelp="Kelp dries fast."
    )
    return corpus


@pytest.mark.parametrize("fusion", [FusionSettings(), FusionSettings("rrf"), FusionSettings(late_weight=1.0)])
def test_tokens_are_the_third_signal_of_a_hybrid_search(compared, fusion):
    """It is explained like the others, and the explanation replays to the score; other modes do without."""
    result = compared.search("heron weir", fusion=fusion)
    assert (result.mode, result.hits[0].title, result.notices) == ("hybrid", "heron", ())
    assert "late" in result.timings_ms
    for hit in result.hits:
        assert {signal.name for signal in hit.explanation.signals} >= {"dense", "late"}
        assert hit.explanation.replay() == pytest.approx(hit.score, abs=1e-9)
    for mode in ("lexical", "dense"):
        (signal,) = compared.search("heron weir", mode=mode).hits[0].explanation.signals
        assert signal.name == mode


def test_the_late_score_is_the_mean_of_the_best_matches(compared):
    """Both words of the question stand in the first note, one in the second, none in the third."""
    hits = compared.search("heron weir", fusion=FusionSettings(late_weight=1.0)).hits
    scores = {hit.title: hit.score for hit in hits}
    assert scores["heron"] == pytest.approx(1.0, abs=1e-6)
    assert 0.5 < scores["owl"] < 0.9
    assert scores["kelp"] < 0.5


def test_tokens_are_not_compared_when_they_are_switched_off(compared):
    """The two other signals answer as if there were no codes; the next embedding run drops them."""
    without = compared.search("heron weir", late=False)
    assert {signal.name for hit in without.hits for signal in hit.explanation.signals} == {"lexical", "dense"}
    ingest.embed(compared.index, compared.embedder, progress=lambda *report: None, late=False)
    assert compared.index.database.value("SELECT count(*) FROM token") == 0
    again = compared.search("heron weir", late=False)
    assert [(hit.id, hit.score) for hit in again.hits] == [(hit.id, hit.score) for hit in without.hits]


def test_passages_embedded_while_it_was_off_get_their_codes_at_the_next_run(compared):
    """Until then they are ranked by the other signals, not held back, and a notice says so."""
    ingest.embed(compared.index, compared.embedder, progress=lambda *report: None, late=False)
    compared.put(embed=False, gannet="A gannet at the weir.")
    ingest.embed(compared.index, compared.embedder, progress=lambda *report: None, late=False)
    result = compared.search("gannet weir")
    assert result.hits[0].title == "gannet"
    (notice,) = result.notices
    assert "4 of the 4 passages looked at have no token codes yet" in notice
    report = ingest.embed(compared.index, compared.embedder, progress=lambda *report: None)
    assert (report.embedded, report.waiting) == (4, 0)
    result = compared.search("gannet weir")
    assert result.notices == ()
    assert all("late" in {signal.name for signal in hit.explanation.signals} for hit in result.hits)


def test_equal_passages_are_ordered_by_chunk_id_also_by_their_tokens(corpus):
    """Forty equal notes among others have one score."""
    corpus.embedder = Tokens()
    for number in range(40):
        corpus.put_at(f"n/{number:02}/same.md", "the same heron")
        corpus.put_at(f"n/{number:02}/other.md", f"another heron {number} " * (number + 1))
    corpus.embed()
    hits = corpus.search("the same heron", limit=80, per_document=None).hits
    same = [hit for hit in hits if hit.title == "same"]
    assert len(same) == 40
    assert len({hit.score for hit in same}) == 1
    assert [hit.id for hit in same] == sorted(hit.id for hit in same)


# -- quotes --------------------------------------------------------------------------------------------------


def test_a_hit_is_an_exact_quote_with_its_place(corpus):
    """Text, offsets and line are those of the file's text, headings from the outermost down."""
    text = "---\ntags: [bird]\n---\n# 鳥 🙂\n\nAbout birds.\n\n## Heron\n\nA heron at the weir.\n\n## Owl\n\nAn owl.\n"
    corpus.put(note=text)
    (hit,) = corpus.search("weir", mode="lexical").hits
    assert (hit.text, hit.line, hit.heading_path) == ("## Heron\n\nA heron at the weir.", 8, ("鳥 🙂", "Heron"))
    assert text[hit.start : hit.end] == hit.text
    assert (hit.uri, hit.path, hit.title, hit.tags, hit.source) == ("n/note.md", "/n/note.md", "鳥 🙂", ("bird",), "n")
    assert (hit.kind, hit.type, hit.date, hit.status, hit.privacy) == ("markdown", "note", NOW, "", "")


def test_a_document_has_two_hits_at_most_unless_asked(corpus):
    """The cap keeps the best of a document; None lifts it."""
    corpus.put(long="\n\n".join(f"## Part {number}\n\nheron {number}" for number in range(9)), short="heron x y z")
    assert sorted(corpus.found("heron", mode="lexical")) == ["long", "long", "short"]
    assert corpus.found("heron", mode="lexical", per_document=1).count("long") == 1
    assert corpus.found("heron", mode="lexical", per_document=None).count("long") == 9
    assert len(corpus.found("heron", mode="lexical", per_document=None, limit=4)) == 4


@pytest.mark.parametrize("mode", MODES)
def test_the_cap_never_makes_the_list_short(corpus, mode):
    """A long document with a thousand better passages does not hide the ten that hold the word once."""
    corpus.put_at("n/long.md", "\n\n".join(f"## heron heron\n\nheron heron {number}" for number in range(1000)))
    for number in range(10):
        corpus.put_at(f"n/{number}.md", f"many words of other things, and then one heron, and more words {number}")
    corpus.embed()
    hits = corpus.search("heron", mode=mode).hits
    assert len(hits) == 10
    assert len({hit.uri for hit in hits}) == 9


def test_fewer_documents_than_the_limit_end_the_search(corpus):
    """All of the index was looked at; the list is as long as the cap allows."""
    corpus.put(a="\n\n".join(f"## Part {number}\n\nheron {number}" for number in range(300)), b="heron")
    assert sorted(corpus.found("heron", mode="hybrid", limit=10)) == ["a", "a", "b"]


# -- in one piece ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["lexical", "hybrid"])
def test_a_quoted_phrase_is_kept_whole(corpus, mode):
    """Passages that hold it come first, however often others hold its words; these follow."""
    corpus.put(
        apart="gate or weir or " * 30,
        whole="Many words of other things that are far away from all this, and then the weir gate, and more of them.",
        withdrawn="---\nstatus: deprecated\n---\nAn old note of the weir gate and of much else, long and dull.\n",
        neither="An owl.",
    )
    result = corpus.search('when was the "weir gate" mended', mode=mode)
    titles = [hit.title for hit in result.hits]
    assert set(titles[:2]) == {"whole", "withdrawn"}
    assert titles[2] == "apart"
    for hit in result.hits:
        assert ("phrase" in {signal.name for signal in hit.explanation.signals}) == (hit.title in titles[:2])
        assert hit.explanation.replay() == pytest.approx(hit.score, abs=1e-9)
    assert corpus.found("when was the weir gate mended", mode=mode)[0] == "apart"


def test_a_phrase_is_found_behind_thousands_of_its_words(corpus):
    """It is asked for by itself, so that what only holds the words takes no place of it."""
    for note in range(20):
        corpus.put_at(
            f"n/many-{note}.md", "\n\n".join(f"## {part}\n\ngate or weir or gate or weir" for part in range(20))
        )
    corpus.put(embed=False, whole="Of the weir gate and of " + "many other things " * 60)
    assert corpus.found('"weir gate"', mode="lexical")[0] == "whole"
    assert corpus.found('"weir gate" "of the weir"', mode="lexical")[0] == "whole"


def test_of_several_phrases_more_are_better(corpus):
    """A passage that holds both stands above one that holds one."""
    corpus.put(
        one="weir gate weir gate weir gate", both="the shed door and, far from it, the weir gate", none="weir shed"
    )
    assert corpus.found('"weir gate" "shed door"', mode="lexical") == ["both", "one", "none"]


def test_a_message_of_a_program_lifts_what_holds_it_whole(corpus):
    """Also where the words around it are nearer to another note."""
    corpus.put(
        log="E: read timed out after handshake\nretry later, the boat and its box are far away " + "and so on " * 5,
        talk="The boat, its box, the read, the handshake after which all timed out, and the boat box once more.",
    )
    assert corpus.found("why did the boat box say read timed out so soon after handshake", mode="lexical")[0] == "talk"
    hits = corpus.search("why did the boat box say\nerror: read timed out after handshake", mode="lexical").hits
    assert hits[0].title == "log"
    assert "whole" in {signal.name for signal in hits[0].explanation.signals}
    assert "whole" not in {signal.name for signal in hits[1].explanation.signals}


# -- across scripts ----------------------------------------------------------------------------------------------


class Scripts(HashingEmbedder):
    """Words by a dictionary, so that two languages can mean the same; texts of one script are near each other."""

    MEANS: ClassVar = {"鷺": "heron", "堰": "weir", "梟": "owl", "小屋": "shed"}

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        same = [" ".join(self.MEANS.get(word, word) for word in text.split()) for text in texts]
        vectors = super().embed_documents(same)
        for vector, text in zip(vectors, texts, strict=True):
            vector[0 if text.isascii() else 1] += 1.5
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def two_scripts(corpus) -> Corpus:
    """Ten notes in each of two scripts, of which one in the other script answers."""
    corpus.embedder = Scripts()
    corpus.put_at("n/answer.md", "鷺 と 堰")
    for number in range(12):
        corpus.put_at(f"n/{number}.md", f"kelp number {number} dries by the heron")
        corpus.put_at(f"n/ja-{number}.md", f"海藻 {number} 番 は 乾く")
    corpus.embed()
    return corpus


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_an_answer_in_another_script_is_found(two_scripts, mode):
    """Though all notes in the question's own script are nearer as such, and it can hold none of the words."""
    assert two_scripts.search("heron weir", mode=mode, limit=3).hits[0].uri == "n/answer.md"


def test_what_it_was_credited_with_is_told(two_scripts):
    """The explanation names the words that it could not hold; it still replays."""
    hit = two_scripts.search("heron weir").hits[0]
    assert [signal.name for signal in hit.explanation.signals] == ["dense", "expected words"]
    assert hit.explanation.replay() == pytest.approx(hit.score, abs=1e-9)


def test_hidden_notes_do_not_move_the_scripts(two_scripts):
    """How far scripts lie apart is told from what the asker may see."""
    public = Filter(privacy=("",))
    before = two_scripts.search("heron weir", mode="dense", filter=public)
    for number in range(30):
        two_scripts.put_at(f"n/secret-{number}.md", f"---\nprivacy: secret\n---\n鷺 堰 {number}")
    two_scripts.embed()
    after = two_scripts.search("heron weir", mode="dense", filter=public)
    assert [(hit.id, hit.score) for hit in after.hits] == [(hit.id, hit.score) for hit in before.hits]


# -- what cannot run -----------------------------------------------------------------------------------------


class Failing(HashingEmbedder):
    """Embeds documents; queries raise what it is told."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        raise self.error


@pytest.mark.parametrize("error", [ModelError("the model is damaged"), RuntimeError("the model is damaged")])
def test_without_the_embedder_the_words_answer(birds, error):
    """A hybrid search says that it is half one; a dense search has nothing to say and raises."""
    birds.embedder = Failing(error)
    result = birds.search("weir", mode="hybrid")
    assert (result.mode, [hit.title for hit in result.hits]) == ("lexical", ["heron"])
    assert any("search by meaning is not available" in notice for notice in result.notices)
    assert any("the model is damaged" in notice for notice in result.notices)
    with pytest.raises(ModelError, match="the model is damaged"):
        birds.search("weir", mode="dense")


def test_an_embedder_that_cannot_be_loaded_is_one_that_fails(birds):
    """Whatever its package raises."""

    def load() -> HashingEmbedder:
        raise ImportError("no module named 'other'")

    result = Retriever(birds.index, load).search(Query("weir", NOW))
    assert (result.mode, [hit.title for hit in result.hits]) == ("lexical", ["heron"])
    assert any("no module named 'other'" in notice for notice in result.notices)


def test_without_the_terms_the_vectors_answer(birds):
    """A lexical search that fails is never zero results: the hybrid one says so, the lexical one raises."""
    birds.index.database.rows("DROP TABLE vocabulary")
    result = birds.search("weir", mode="hybrid")
    assert (result.mode, result.hits[0].title) == ("dense", "heron")
    assert any("lexical search failed" in notice for notice in result.notices)
    with pytest.raises(StorageError):
        birds.search("weir", mode="lexical")


def test_a_locked_index_is_an_error(birds):
    """Waiting is not answering."""

    class Locked(Failing):
        pass

    birds.embedder = Locked(IndexLocked("another process"))
    with pytest.raises(IndexLocked):
        birds.search("weir", mode="hybrid")


def test_before_the_first_vector_the_words_answer(corpus):
    """The result says which mode answered, and that there are no vectors yet; no model is loaded."""
    corpus.put(embed=False, heron="A heron at the weir.")
    for mode in ("hybrid", "dense"):
        result = corpus.search("weir", mode=mode)
        assert (result.mode, [hit.title for hit in result.hits]) == ("lexical", ["heron"])
        assert result.notices == ("no vectors yet: searched by word only; run `brain embed`",)
    assert corpus.loaded == 0
    assert corpus.search("weir", mode="lexical").notices == ()


def test_vectors_of_another_embedder_are_not_compared(birds):
    """Both names are told, and what to type."""
    birds.embedder = HashingEmbedder(dimensions=384)
    for mode in ("hybrid", "dense"):
        result = birds.search("weir", mode=mode)
        assert (result.mode, [hit.title for hit in result.hits]) == ("lexical", ["heron"])
        (notice,) = result.notices
        assert "'hashing-256/1'" in notice
        assert "'hashing-384/1'" in notice
        assert "brain embed" in notice


def test_chunks_that_wait_are_told(birds):
    """They are found by word meanwhile."""
    birds.put(embed=False, new="A new avocet.")
    result = birds.search("avocet")
    assert (result.mode, result.hits[0].title) == ("hybrid", "new")
    assert result.notices == ("1 passages have no vector yet and were searched by word only; run `brain embed`",)


def test_a_lexical_search_loads_no_model(birds):
    """Nor does a question without words."""
    birds.search("heron", mode="lexical")
    birds.search("???", mode="hybrid")
    assert birds.loaded == 0
    birds.search("heron", mode="hybrid")
    assert birds.loaded == 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", ["", "   ", "\n", "???", "。、", "🙂", '"', "-", "( )", "\ufeff", "\0"])
def test_a_question_without_words_has_no_hits_and_a_hint(birds, mode, text):
    """The same in every mode: nothing is found by chance."""
    result = birds.search(text, mode=mode)
    assert result.hits == ()
    (notice,) = result.notices
    assert "type some words" in notice


def test_nothing_found_is_an_empty_answer_without_excuse(birds):
    """Also under a filter that lets nothing through, in every mode."""
    assert birds.search("zebra", mode="lexical").hits == birds.search("zebra", mode="lexical").notices == ()
    for mode in MODES:
        result = birds.search("heron", mode=mode, filter=Filter(tags=("nowhere",)))
        assert (result.hits, result.mode) == ((), mode)


# -- while others write --------------------------------------------------------------------------------------


def test_a_note_removed_during_the_search_is_no_hit(birds):
    """The lexical ranking found it; before the answer is made, another process removes it."""

    class Meddling(HashingEmbedder):
        def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
            birds.index.write("n", [Removal("n/heron.md")])
            birds.put(embed=False, news="Something else entirely.")
            return super().embed_queries(texts)

    birds.embedder = Meddling()
    result = birds.search("weir")
    assert "heron" not in [hit.title for hit in result.hits if hit.source == "n"]
    assert all(
        "weir" not in signal.name and signal.name == "dense"
        for hit in result.hits
        for signal in hit.explanation.signals
        if signal.operation == "add"
    )


# -- notes on hits -------------------------------------------------------------------------------------------


def test_a_hit_says_what_its_reader_must_know(corpus):
    """Withdrawn by its author, past the day to which it holds, or not readable when last indexed."""
    corpus.put(
        a="---\nstatus: Superseded\n---\nheron a",
        b="---\nstale_after: 2031-05-02\n---\nheron b",
        c="---\nstale_after: 2031-05-03\n---\nheron c",
        d="heron d",
    )
    item = change("n/d.md", "heron d").item
    corpus.index.write("n", [Unread(item, "no permission", retry=True)])
    notes = {hit.title: hit.notes for hit in corpus.search("heron").hits}
    assert notes == {
        "a": ("its author marked it superseded",),
        "b": ("stale since 2031-05-02",),
        "c": (),
        "d": ("could not be read when last indexed: no permission",),
    }


def test_the_time_of_each_stage_is_told(birds):
    """In milliseconds; a lexical search spends none on vectors."""
    assert set(birds.search("heron").timings_ms) >= {"understand", "lexical", "embed", "dense", "fuse", "quote"}
    assert not {"embed", "dense"} & set(birds.search("heron", mode="lexical").timings_ms)
    assert all(spent >= 0 for spent in birds.search("heron").timings_ms.values())


@pytest.mark.parametrize("mode", MODES)
def test_a_note_that_the_query_names_comes_first(corpus, mode):
    """Title, alias or file name, in any letter case and width, however often others hold the words."""
    corpus.put(
        kernel="---\naliases: [ＫＲＮ９]\n---\nThe part of a system that talks to the machine.\n",
        listing="# OpenCL\n\n" + "kernel krn9 kernel krn9 " * 20,
    )
    for query in ("kernel", "KERNEL", "krn9"):
        best = corpus.search(query, mode=mode).hits[0]
        assert best.title == "kernel"
        assert "name" in {signal.name for signal in best.explanation.signals}
        assert best.explanation.replay() == pytest.approx(best.score, abs=1e-9)
    assert "kernel" not in corpus.found("kernel", mode=mode, filter=Filter(path_prefix="listing"))


@pytest.mark.parametrize("mode", MODES)
def test_a_note_that_others_call_so_comes_first(corpus, mode):
    """By the text of links to it; what bears the name itself stays above it."""
    corpus.put(
        kernel="The part of a system that talks to the machine.",
        listing="# OpenCL\n\n" + "heart of the machine, heart of the machine. " * 20,
        hub="See the [[kernel|Heart of the Machine]].",
    )
    ingest.resolve_links(corpus.index, "n")
    best = corpus.search("heart of the machine", mode=mode).hits[0]
    assert best.title == "kernel"
    assert ("name", "links to it say so") in {(signal.name, signal.detail) for signal in best.explanation.signals}
    corpus.put(own="# Heart of the machine\n\nA song.")
    assert corpus.found("heart of the machine", mode=mode)[:2] == ["Heart of the machine", "kernel"]


def test_a_chunk_that_waits_for_its_vector_is_not_held_against(corpus):
    """While few notes have vectors, the note that holds all the words stays first."""
    corpus.put(near="Owls and sheds and weirs, of which nobody asked.")
    corpus.put(embed=False, exact="The heron stood at the weir near the shed at noon.")
    assert corpus.found("heron weir shed noon")[0] == "exact"


def test_words_that_no_note_holds_are_told(birds):
    """The nearest in meaning are shown, and are said to be just that."""
    result = birds.search("qwzxv")
    assert result.hits
    assert "no note holds these words; these are the nearest in meaning" in result.notices


@pytest.mark.parametrize("mode", MODES)
def test_what_may_not_be_seen_changes_no_notice_and_no_scale(corpus, mode):
    """Secret notes that wait for a vector are not counted, nor are the words that only they hold."""
    for number in range(9):
        corpus.put_at(f"n/{number}.md", f"A heron and a weir {number}")
    corpus.embed()
    public = Filter(privacy=("public",))
    corpus.index.relabel("n", lambda own: "public")
    terms = query_terms("heron zebra")
    query = Query("heron zebra", NOW, mode=mode, filter=public)
    retriever = Retriever(corpus.index, corpus.load)
    before = retriever.search(query)

    def bound_of(query: Query) -> float:
        return retriever._lexical(_Question(query, terms, _Watch(), corpus.index.searching()), 10).bound

    bound = bound_of(query)
    for number in range(5):
        corpus.put(embed=False, **{f"secret__{number}": f"zebra weir {number}"})
    corpus.index.relabel("secret", lambda own: "secret")
    after = retriever.search(query)
    assert after.notices == before.notices
    assert {hit.uri for hit in after.hits} == {hit.uri for hit in before.hits}
    assert corpus.index.terms.frequencies(terms.terms, public) == {"heron": 9, "zebra": 0}
    assert bound_of(Query("heron zebra", NOW)) > bound
    for hit in after.hits:
        assert all(signal.value <= 1.0 for signal in hit.explanation.signals)


def test_few_long_documents_do_not_make_a_search_long(corpus, monkeypatch):
    """Two notes under a cap of two yield four hits: no deeper search follows, and the question is embedded once."""
    for name in "ab":
        corpus.put_at(f"n/{name}.md", "\n\n".join(f"## Part {number}\n\nheron {number}" for number in range(300)))
    corpus.embed()
    depths: list[int] = []
    dense = corpus.index.dense
    monkeypatch.setattr(
        corpus.index, "dense", lambda v, f, depth, **more: depths.append(depth) or dense(v, f, depth, **more)
    )
    assert sorted(corpus.found("heron")) == ["a", "a", "b", "b"]
    assert depths in ([100], [100, 800])
    corpus.put(**{f"c{number}": "another" for number in range(8)})

    class Counting(HashingEmbedder):
        calls = 0

        def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
            self.calls += 1
            return super().embed_queries(texts)

    corpus.embedder = Counting()
    depths.clear()
    assert len(corpus.found("heron")) == 10
    assert depths == [100, 800]
    assert corpus.embedder.calls == 1


def test_ranks_have_no_gap_when_a_hit_goes_away(birds, monkeypatch):
    """A chunk that is removed between ranking and quoting leaves the ranks of the others in a row."""
    chunks = birds.index.chunks

    def without_first(keys):
        birds.index.write("n", [Removal("n/heron.md")])
        return chunks(keys)

    monkeypatch.setattr(birds.index, "chunks", without_first)
    hits = birds.search("heron weir", mode="lexical").hits
    assert [hit.rank for hit in hits] == [1, 2, 3]
