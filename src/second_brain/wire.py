"""What brains say to each other over HTTP: the requests, the answers, and errors that arrive as what they were.

Values of ``types`` and ``records`` travel as JSON objects of their fields, numbers at full precision: what is decoded
equals what was encoded. Requests are checked to the last key. Not for: how they travel (``servers.api``, ``remote``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import inspect

from . import errors
from .errors import Ambiguous, BrainError, Busy, GenerationMismatch, NotAllowed, NotFound, UsageError
from .records import StoredDocument
from .types import Filter, Hit, Json, Mode, SearchResult, SourceReport

T = TypeVar("T")

PREFIX = "/api/v1"

GENERATION = "Brain-Generation"
VERSION = "Brain-Version"
INDEX = "Brain-Index"
"""Headers of every response: which generation of which index answered, by which version."""

CONSUMER = "Brain-Consumer"
CONSUMER_VERSION = "Brain-Consumer-Version"
EXPECTS = "Brain-Expects"
PRIVACY = "Brain-Privacy"
"""Headers of a request: who asks, the only generation whose answer it takes ('' or absent: any), and the highest label
that it wants to see, never beyond its token's."""

NDJSON = "application/x-ndjson"

InputType: TypeAlias = Literal["query", "document"]


# -- requests and answers ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What ``Brain.search`` takes. ``now`` is aware, and absent the moment of the answer on the server's clock.

    ``collections`` narrows to the sources of these; empty means all.
    """

    query: str
    mode: Mode = "hybrid"
    limit: int = 10
    filter: Filter = field(default_factory=Filter)
    now: datetime | None = None
    per_document: int | None = 2
    condensed: bool = False
    strict: bool = False
    cursor: str = ""
    collections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchAnswer(SearchResult):
    """A result, and for each passage's id in it the shortest beginning that names no other."""

    short_ids: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, result: SearchResult, short_ids: Mapping[str, str]) -> SearchAnswer:
        """Both as one value."""
        return cls(**{f.name: getattr(result, f.name) for f in fields(SearchResult)}, short_ids=short_ids)

    @property
    def result(self) -> SearchResult:
        """The result alone, equal to the one that was sent."""
        return SearchResult(**{f.name: getattr(self, f.name) for f in fields(SearchResult)})


@dataclass(frozen=True, slots=True)
class Said:
    """An error as it travels. ``choices`` are what an ambiguous name may mean."""

    kind: str
    message: str
    hint: str = ""
    choices: tuple[str, ...] = ()
    retry_after_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Failed:
    """The body of every response with a status of 400 and above."""

    error: Said


@dataclass(frozen=True, slots=True)
class StreamLine:
    """One line of a streamed answer: a hit and its short id, or at the end the rest of the result, or an error."""

    hit: Hit | None = None
    short_id: str = ""
    result: SearchAnswer | None = None
    error: Said | None = None


@dataclass(frozen=True, slots=True)
class LinksRequest:
    """Names of documents, as ``Brain.get`` takes them."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LinksAnswer:
    """For each name the documents that it links to, in the order of its links, each once; of unknown names nothing."""

    links: Mapping[str, tuple[StoredDocument, ...]]


@dataclass(frozen=True, slots=True)
class RemoteSource:
    """A source of the server, as far as others need to know it."""

    name: str
    kind: str
    path: str
    privacy: str


@dataclass(frozen=True, slots=True)
class EmbeddingsRequest:
    """Texts for the server's embedder, in the form that OpenAI's endpoint made common.

    ``model`` '' takes what there is; another than the server's is refused. ``tokens`` asks for what late interaction
    compares as well.
    """

    input: str | tuple[str, ...]
    model: str = ""
    input_type: InputType = "document"
    tokens: bool = False
    encoding_format: Literal["float"] = "float"


@dataclass(frozen=True, slots=True)
class Embedding:
    """One vector. ``tokens``: of a document the bits of its tokens, of a query rows of float32, in base64 by row."""

    index: int
    embedding: tuple[float, ...]
    tokens: bytes | None = None
    token_count: int = 0
    object: Literal["embedding"] = "embedding"


@dataclass(frozen=True, slots=True)
class EmbeddingsAnswer:
    """``model`` is the embedder's identity; vectors of different ones are never compared."""

    data: tuple[Embedding, ...]
    model: str
    dimensions: int
    late: bool
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """A question and candidates, in the form of Cohere, Jina and others. ``top_n`` None: all of them."""

    query: str
    documents: tuple[str, ...]
    model: str = ""
    top_n: int | None = None


@dataclass(frozen=True, slots=True)
class RerankScore:
    """The score of ``documents[index]``, higher for better."""

    index: int
    relevance_score: float


@dataclass(frozen=True, slots=True)
class RerankAnswer:
    """The best first."""

    results: tuple[RerankScore, ...]
    model: str


@dataclass(frozen=True, slots=True)
class SyncEntry:
    """A file of a source: its place below the source's root, BLAKE2b-128 of its bytes in hex (``Blob.hash``), and when
    it was changed last, in nanoseconds since 1970.
    """

    path: str
    hash: str
    modified_ns: int = 0


@dataclass(frozen=True, slots=True)
class SyncFile:
    """The bytes of a file, in base64, and when it was changed last, in nanoseconds since 1970."""

    path: str
    hash: str
    modified_ns: int
    data: bytes


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """One step of bringing a source of another machine up to date; each may be repeated.

    First ``manifest``: what the source holds, all of it where ``complete``, or some of it. Then ``files`` with the
    bytes that were wanted. When nothing of a complete manifest is wanted any more, what it does not name is forgotten,
    but for what lies below ``unlisted``, and what is new is indexed; ``run`` asks how that stands.

    Whoever sends names itself in ``worker``: what one was told to bring, others are not asked for until it is overdue.
    ``origin`` names the folder that is sent, the same for all who send it; two folders cannot be one source. ``prune``:
    believe it when most of a source is gone.
    """

    source: str
    kind: str = "markdown"
    worker: str = ""
    manifest: tuple[SyncEntry, ...] = ()
    complete: bool = False
    files: tuple[SyncFile, ...] = ()
    prune: bool = False
    privacy: str = ""
    origin: str = ""
    unlisted: tuple[str, ...] = ()
    run: str = ""


RunState: TypeAlias = Literal["", "queued", "running", "done", "failed", "unknown"]
"""How an indexing run stands; '' where none is needed, ``unknown`` one that was forgotten when the server ended."""


@dataclass(frozen=True, slots=True)
class SyncAnswer:
    """``wanted`` are the paths to send; ``elsewhere`` those that another worker is bringing just now, or that come
    later: ask for them again.

    ``stored`` counts the files that were taken, ``refused`` says which were not, and why. ``gone`` were forgotten;
    ``kept`` were not, for ``problem`` says why so much is not believed. ``run`` names the run that indexes what is new,
    ``state`` is how it stands, ``problem`` why it failed. ``report`` is what indexing did, None where nothing was to be
    indexed or it is not done; ``waiting`` passages are found by word and wait for a vector. ``root`` is where the
    source lies on the server.
    """

    wanted: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    stored: int = 0
    refused: Mapping[str, str] = field(default_factory=dict)
    gone: int = 0
    kept: int = 0
    run: str = ""
    state: RunState = ""
    problem: str = ""
    report: SourceReport | None = None
    waiting: int = 0
    root: str = ""


# -- JSON ----------------------------------------------------------------------------------------------------


def encode(value: Any) -> bytes:
    """A value as JSON. Bytes become base64; half a character, which JSON cannot hold, becomes U+FFFD."""
    try:
        return msgspec.json.encode(value, enc_hook=_spelled)
    except UnicodeEncodeError:
        return msgspec.json.encode(_mended(msgspec.to_builtins(value, enc_hook=_spelled)))


def _spelled(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} has no form in JSON")


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {_mended(key): _mended(inner) for key, inner in value.items()}
    return [_mended(inner) for inner in value] if isinstance(value, list) else value


def decode(data: bytes, type: type[T], *, strict: bool = False) -> T:
    """A value of a type from JSON. ``strict`` refuses keys that the type does not have (for what others ask of us).

    Raises UsageError that names what was found and what was expected, and where.
    """
    try:
        if strict:
            _refuse_unknown(msgspec.json.decode(data), inspect.type_info(type), "")
        return msgspec.json.decode(data, type=type, dec_hook=_read)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        place = where.rstrip("`").lstrip(".")
        at = f"'{place}': " if place else ""
        raise UsageError(f"{at}{what[:1].lower()}{what[1:300]}", hint=_expected(type, place)) from error
    except (msgspec.DecodeError, RecursionError) as error:
        what = "a text in it holds half a character (a lone surrogate)" if _is_json(data) else str(error)
        raise UsageError(f"the body is not JSON: {what}", hint="send one JSON object in UTF-8") from error


def _is_json(data: bytes) -> bool:
    """Whether it is JSON for those who take lone surrogates."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def _expected(type: Any, place: str) -> str:
    """What stands at a place where that is no plain type, or ''."""
    shape: Any = inspect.type_info(type)
    for name in place.replace("[...]", "").split("."):
        fields = {entry.name: entry for entry in shape.fields} if isinstance(shape, inspect.DataclassType) else {}
        if name not in fields:
            break
        shape = fields[name].type
    kinds = shape.types if isinstance(shape, inspect.UnionType) else (shape,)
    if any(isinstance(kind, inspect.DateTimeType) for kind in kinds):
        return "a time is like 2031-05-02T00:00:00Z"
    if isinstance(shape, inspect.DataclassType):
        return "fields: " + ", ".join(entry.name for entry in shape.fields)
    return f"one of: {', '.join(map(str, shape.values))}" if isinstance(shape, inspect.LiteralType) else ""


def _read(type: type[Any], value: Any) -> Any:
    if type is Path:
        return Path(value)
    raise NotImplementedError(f"{type.__name__} is not read from JSON")


def _refuse_unknown(value: Json, shape: inspect.Type, place: str) -> None:
    """Raise UsageError for the first key that the shape does not know."""
    if isinstance(shape, inspect.UnionType):
        shape = next((inner for inner in shape.types if isinstance(inner, _NESTED)), shape)
    if isinstance(shape, inspect.DataclassType) and isinstance(value, dict):
        known = {entry.name: entry.type for entry in shape.fields}
        for key, inner in value.items():
            if key not in known:
                near = get_close_matches(key, known, 1)
                meant = f"did you mean '{near[0]}'? " if near else ""
                where = f" in '{place}'" if place else ""
                raise UsageError(f"there is no field '{key[:80]}'{where}", hint=f"{meant}fields: {', '.join(known)}")
            _refuse_unknown(inner, known[key], f"{place}.{key}" if place else key)
    elif isinstance(shape, inspect.VarTupleType | inspect.ListType) and isinstance(value, list):
        for position, inner in enumerate(value):
            _refuse_unknown(inner, shape.item_type, f"{place}[{position}]")


_NESTED = (inspect.DataclassType, inspect.VarTupleType, inspect.ListType)


# -- errors --------------------------------------------------------------------------------------------------

_STATUS: Mapping[type[BrainError], int] = {
    NotFound: 404,
    Ambiguous: 409,
    GenerationMismatch: 409,
    NotAllowed: 403,
    UsageError: 400,
    Busy: 429,
    errors.MissingExtra: 501,
    errors.DeadlineMissed: 504,
    errors.ModelError: 502,
    errors.DiskFull: 507,
    errors.StorageError: 503,
    BrainError: 500,
}
"""By the nearest class above an error's own."""


def raised(error: BrainError) -> tuple[int, bytes]:
    """Status and body of an error."""
    status = next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)
    return status, encode(Failed(spoken(error)))


def spoken(error: BrainError) -> Said:
    """An error in the form that travels."""
    kind = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == errors.__name__)
    choices = tuple(error.candidates) if isinstance(error, Ambiguous) else ()
    wait_s = error.retry_after_s if isinstance(error, Busy) else 0.0
    return Said(kind, str(error), error.hint, choices, wait_s)


def error_of(status: int, body: bytes) -> BrainError:
    """The error that a response is: of the class that was raised, or the nearest that its status allows."""
    try:
        return heard(decode(body, Failed).error, status)
    except UsageError:
        words = " ".join(body[:200].decode("utf-8", "replace").split())
        return heard(Said("", f"HTTP {status}: {words}"), status)


def heard(said: Said, status: int = 500) -> BrainError:
    """The error that was spoken; ``status`` decides where its kind is not known here."""
    kind = _kinds().get(said.kind)
    if kind is Ambiguous:
        return Ambiguous(said.message, list(said.choices), hint=said.hint)
    if kind is Busy or (kind is None and status in (429, 503)):
        return Busy(said.message, retry_after_s=said.retry_after_s or 1.0, hint=said.hint)
    if kind is None or kind is errors.MissingExtra:  # the extra is missing there, not here
        kind = {401: NotAllowed, 403: NotAllowed, 404: NotFound}.get(status, UsageError if status < 500 else BrainError)
    return kind(said.message, hint=said.hint)


@cache
def _kinds() -> dict[str, type[BrainError]]:
    def below(kind: type[BrainError]) -> Iterator[type[BrainError]]:
        yield kind
        for inner in kind.__subclasses__():
            yield from below(inner)

    return {kind.__name__: kind for kind in below(BrainError) if kind.__module__ == errors.__name__}
