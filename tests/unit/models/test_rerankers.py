"""Cross-encoders: one behind HTTP, one made here for fastembed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from second_brain.errors import DeadlineMissed, ModelError
from second_brain.models.rerank import HttpReranker, HubReranker
from second_brain.protocols import Reranker
from second_brain.testing.loopback import Answer, Asked, Loopback

TEXTS = ("about owls", "pump pump", "the pump")


def by_words(asked: Asked) -> list[dict[str, float]]:
    """How often each text says 'pump', best first, as servers answer."""
    texts = asked.body.get("documents") or asked.body["texts"]
    scored = [{"index": index, "score": float(text.count("pump"))} for index, text in enumerate(texts)]
    return sorted(scored, key=lambda entry: -entry["score"])


def test_the_common_form_is_spoken():
    """Query, documents and model go out; the scores come back in the order of the texts."""

    def respond(asked: Asked) -> Answer:
        return Answer({"results": [{"index": e["index"], "relevance_score": e["score"]} for e in by_words(asked)]})

    with Loopback(respond).running() as server:
        reranker = HttpReranker(server.url + "/v1", "m", key="k")
        assert isinstance(reranker, Reranker)
        assert reranker.score("pump?", TEXTS, deadline_s=20).tolist() == [0, 2, 1]
        assert reranker.score("pump?", (), deadline_s=20).tolist() == []
    (asked,) = server.asked
    assert (asked.path, asked.body) == ("/v1/rerank", {"query": "pump?", "documents": list(TEXTS), "model": "m"})


def test_the_form_of_text_embeddings_inference_is_found_out_once():
    """It refuses `documents` and names `texts`; from then on that is used."""

    def respond(asked: Asked) -> Answer:
        if "texts" not in asked.body:
            return Answer({"error": "missing field `texts`"}, 422)
        return Answer(by_words(asked))

    with Loopback(respond).running() as server:
        reranker = HttpReranker(server.url + "/rerank")
        for _ in range(2):
            assert reranker.score("pump?", TEXTS, deadline_s=20).tolist() == [0, 2, 1]
    assert [sorted(asked.body) for asked in server.asked] == [["documents", "query"], *[["query", "texts"]] * 2]


@pytest.mark.parametrize(
    "body",
    [
        {"results": [{"index": 0, "score": 1.0}]},
        {"results": [{"index": i, "score": None} for i in range(3)]},
        {"results": [{"index": i, "score": float("nan")} for i in range(3)]},
        {"results": [{"index": i + 1, "score": 1.0} for i in range(3)]},
        {"results": [{"index": i - 1, "score": 1.0} for i in range(3)]},
        {"error": "x"},
        "no",
    ],
)
def test_an_answer_that_lacks_scores_is_an_error(body):
    """Never a score that was made up."""
    with Loopback(lambda asked: Answer(body)).running() as server, pytest.raises(ModelError):
        HttpReranker(server.url).score("q", TEXTS, deadline_s=20)


def test_a_slow_endpoint_misses_the_deadline():
    """The caller goes on without it."""
    slow = Answer({"results": []}, delay_s=3)
    with Loopback(lambda asked: slow).running() as server, pytest.raises(DeadlineMissed):
        HttpReranker(server.url).score("q", TEXTS, deadline_s=0.3)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder's folder: its score of a pair is how many of the ids are that of 'pump'."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    folder = tmp_path_factory.mktemp("tiny")
    (folder / "onnx").mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "pump", "owls", "about", "the"]
    tokenizer = Tokenizer(WordLevel({word: id for id, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    (folder / "special_tokens_map.json").write_text(json.dumps(special))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 64, **special}))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    nodes = [
        helper.make_node("Equal", ["input_ids", "pump"], ["is_pump"]),
        helper.make_node("Cast", ["is_pump"], ["as_float"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["as_float", "axes"], ["logits"], keepdims=1),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
    constants = [
        numpy_helper.from_array(np.array(4, dtype=np.int64), "pump"),
        numpy_helper.from_array(np.array([1], dtype=np.int64), "axes"),
    ]
    graph = helper.make_graph(nodes, "tiny", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(folder / "onnx" / "model.onnx"))
    return folder


def test_a_cross_encoder_of_the_hub_is_loaded_and_scores(tiny, tmp_path):
    """Through fastembed, from files that are there; more texts than a batch, one score each."""
    reranker = HubReranker("Xenova/ms-marco-MiniLM-L-6-v2", tmp_path, folder=tiny)
    assert isinstance(reranker, Reranker)
    assert reranker.score("the", TEXTS, deadline_s=60).tolist() == [0, 2, 1]
    assert reranker.score("the", TEXTS * 3, deadline_s=60).tolist() == [0, 2, 1] * 3
    assert reranker.score("the", (), deadline_s=60).tolist() == []
    with pytest.raises(DeadlineMissed, match="scored 0 of 3"):
        reranker.score("the", TEXTS, deadline_s=-1)


def test_a_model_that_is_not_here_is_not_fetched_for_a_search(tmp_path):
    """The error says how to fetch it; nothing is downloaded meanwhile."""
    reranker = HubReranker("Xenova/ms-marco-MiniLM-L-6-v2", tmp_path)
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        reranker.score("q", TEXTS, deadline_s=5)
    assert "brain models --fetch" in caught.value.hint
