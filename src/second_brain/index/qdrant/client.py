"""The one place that knows qdrant-client: calls that local mode and a server share, with errors of ours.

What goes in and out is plain: names, numbers, and the JSON of Qdrant's REST API as mappings.
"""

from __future__ import annotations

import json
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from ...errors import BackendAway, BrainError, MissingExtra
from .retrying import Patience, retried
from .settings import QdrantSettings

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

T = TypeVar("T")
Conditions: TypeAlias = "Mapping[str, Any]"
"""A filter in the form of Qdrant's REST API."""

OWNER = "index"
"""The entry of a collection's metadata that names the catalogue whose points it holds."""

PREFIX = "prefix"
"""The entry that tells where its name was cut: ``my-team-vault-g1`` may be of ``my`` or of ``my-team``."""

IN_MEMORY = ":memory:"
"""The path of a local mode that keeps nothing on disk."""

HOLDER = "held-by.json"
"""In the folder of local mode, who has it open: qdrant-client's own lock does not say."""

QUICK = Patience(tries=2, first_s=0.05, within_s=1.0)
"""For what somebody waits for: once more at most and not after a time-out, for the catalogue answers then."""

SCROLLED = 10_000
"""Ids that are read at once."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a collection holds: dense vectors as (width, distance) by name, names of sparse vectors, and whose it is.

    ``owner`` and ``prefix`` are '' of collections that others made.
    """

    dense: Mapping[str, tuple[int, str]]
    sparse: tuple[str, ...]
    owner: str = ""
    prefix: str = ""

    def said(self) -> str:
        """In words: ``dense 'dense' (384, Cosine); sparse 'terms'``."""
        dense = ", ".join(
            f"'{name}' ({width}, {distance})" if name else f"without a name ({width}, {distance})"
            for name, (width, distance) in sorted(self.dense.items())
        )
        sparse = ", ".join(f"'{name}'" for name in self.sparse)
        return f"dense vectors {dense or 'none'}; sparse vectors {sparse or 'none'}"


@dataclass(frozen=True, slots=True)
class Asking:
    """One ranking that is asked for: ``query`` is a dense vector, or a sparse one as (indices, values)."""

    using: str
    query: Sequence[float] | tuple[Sequence[int], Sequence[float]]
    conditions: Conditions
    limit: int


class _Folder:
    """A folder that this process has open in local mode, for all clients of it: only one may open it."""

    def __init__(self, opened: QdrantClient) -> None:
        self.opened = opened
        self.users = 1
        self.turn = threading.RLock()
        """Local mode keeps plain lists and dicts: one call at a time."""


_folders: dict[Path, _Folder] = {}
_folders_lock = threading.Lock()


class Client:
    """A connection to a server, or a folder (or memory, path ``:memory:``) in local mode. Safe to use from threads.

    Opened at the first call, closed with its last reference. Clients of one folder in a process share it. Every method
    raises BackendAway when Qdrant does not answer in time or refuses, or when another process holds the folder;
    MissingExtra when qdrant-client is not installed.
    """

    def __init__(self, settings: QdrantSettings, key: str = "") -> None:
        self.settings = settings
        self._key = key
        self._client: QdrantClient | None = None
        self._closing: Callable[[], object] = lambda: None
        self._opening = threading.Lock()
        self._turn: threading.RLock | None = None

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of ours that no other process may open meanwhile."""
        return self.settings.path is not None

    def close(self) -> None:
        """Close it; a folder is free for others then. It opens again when it is used; what is in memory stays."""
        with self._opening:
            if str(self.settings.path) != IN_MEMORY:
                self._closing()
                self._client = None

    # -- collections -------------------------------------------------------------------------------------

    def collections(self) -> set[str]:
        """The names of all collections; aliases are not among them."""
        answer = self._call(lambda client: client.get_collections())
        return {each.name for each in answer.collections}

    def aliases(self) -> dict[str, str]:
        """The collection that each alias leads to, by alias."""
        answer = self._call(lambda client: client.get_aliases())
        return {each.alias_name: each.collection_name for each in answer.aliases}

    def shape(self, name: str) -> Shape | None:
        """What a collection holds, None if there is none of this name."""
        if name not in self.collections():
            return None
        config = self._call(lambda client: client.get_collection(name)).config
        vectors = config.params.vectors or {}
        named = vectors if isinstance(vectors, dict) else {"": vectors}
        dense = {key: (int(each.size), str(each.distance.value)) for key, each in named.items()}
        metadata = config.metadata or {}
        sparse = tuple(sorted(config.params.sparse_vectors or {}))
        return Shape(dense, sparse, str(metadata.get(OWNER, "")), str(metadata.get(PREFIX, "")))

    def create(self, name: str, shape: Shape, indexed: Mapping[str, str], settings: QdrantSettings) -> None:
        """Make a collection, with an index for each field of the payload that is named with its kind."""
        models = rest_models()
        vectors = {
            key: models.VectorParams(size=width, distance=models.Distance(distance), on_disk=True)
            for key, (width, distance) in shape.dense.items()
        }
        quantization: Any = None
        if settings.quantization == "scalar":
            scalar = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
            quantization = models.ScalarQuantization(scalar=scalar)
        elif settings.quantization == "binary":
            quantization = models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
        self._call(
            lambda client: client.create_collection(
                name,
                vectors_config=vectors,
                sparse_vectors_config={key: models.SparseVectorParams() for key in shape.sparse},
                quantization_config=quantization,
                shard_number=settings.shards or None,
                replication_factor=settings.replicas if settings.replicas > 1 else None,
                on_disk_payload=True,
                metadata={OWNER: shape.owner, PREFIX: settings.prefix},
            )
        )
        if self.is_local:
            return  # it has none
        for field, kind in indexed.items():
            schema = models.PayloadSchemaType(kind)
            self._call(partial(_make_index, name, field, schema))

    def sign(self, name: str, owner: str) -> None:
        """Write another owner on a collection."""
        metadata = {OWNER: owner, PREFIX: self.settings.prefix}
        self._call(lambda client: client.update_collection(name, metadata=metadata))

    def drop(self, name: str) -> None:
        """Delete a collection with all that it holds."""
        self._call(lambda client: client.delete_collection(name))

    def point_aliases(self, targets: Mapping[str, str]) -> None:
        """Lead each alias to a collection, wherever it led before: all at once."""
        models = rest_models()
        changes: list[Any] = []
        known = self.aliases()
        for alias, name in targets.items():
            if alias in known:
                changes.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
            create = models.CreateAlias(collection_name=name, alias_name=alias)
            changes.append(models.CreateAliasOperation(create_alias=create))
        self._call(lambda client: client.update_collection_aliases(changes))

    # -- points ------------------------------------------------------------------------------------------

    def upsert(self, name: str, points: Sequence[Mapping[str, Any]], patience: Patience = QUICK) -> None:
        """Write points whole, each in place of one with its id; returns when they can be found."""
        models = rest_models()
        structs = [models.PointStruct.model_validate(point) for point in points]
        self._call(lambda client: client.upsert(name, structs, wait=True), patience)

    def delete(self, name: str, ids: Sequence[str], patience: Patience = QUICK) -> None:
        """Delete the points with these ids; others are not missed."""
        selector = rest_models().PointIdsList(points=list(ids))
        self._call(lambda client: client.delete(name, selector, wait=True), patience)

    def count(self, name: str) -> int:
        """How many points there are, exactly."""
        return int(self._call(lambda client: client.count(name, exact=True)).count)

    def ids(self, name: str) -> Iterator[str]:
        """The id of every point."""
        offset: Any = None
        while True:
            page, offset = self._call(partial(_page, name, offset), Patience())
            yield from (str(each.id) for each in page)
            if offset is None:
                return

    def ranked(self, name: str, askings: Sequence[Asking]) -> list[list[tuple[str, float]]]:
        """The answers, as (id, score), best first. On a server quantized vectors are compared anew at full width."""
        models = rest_models()
        requests = [
            models.QueryRequest(
                query=models.SparseVector(indices=list(asking.query[0]), values=list(asking.query[1]))
                if isinstance(asking.query, tuple)
                else list(asking.query),
                using=asking.using,
                filter=models.Filter.model_validate(asking.conditions) if asking.conditions else None,
                limit=asking.limit,
                params=None if self.is_local or isinstance(asking.query, tuple) else _thorough(asking.limit),
                with_payload=False,
                with_vector=False,
            )
            for asking in askings
        ]
        answers = self._call(lambda client: client.query_batch_points(name, requests), QUICK)
        return [[(str(point.id), float(point.score)) for point in answer.points] for answer in answers]

    def payloads(self, name: str, ids: Sequence[str], field: str) -> dict[str, Any]:
        """One field of the payload of these points, by id; a point without it is left out."""
        found = self._call(
            lambda client: client.retrieve(name, list(ids), with_payload=[field], with_vectors=False), QUICK
        )
        return {str(each.id): each.payload[field] for each in found if each.payload and field in each.payload}

    # -- calls -------------------------------------------------------------------------------------------

    def _call(self, call: Callable[[QdrantClient], T], patience: Patience = QUICK) -> T:
        try:
            if not self.is_local:
                return retried(lambda: call(self._opened()), _passing, patience)
            client = self._opened()
            with self._turn or nullcontext():
                return call(client)
        except BrainError:
            raise
        except Exception as error:
            raise self._translated(error) from error

    def _opened(self) -> QdrantClient:
        with self._opening:
            if self._client is None:
                self._client = self._open()
            return self._client

    def _open(self) -> QdrantClient:
        try:
            from qdrant_client import QdrantClient
        except ImportError as error:
            raise MissingExtra("index: qdrant", "qdrant") from error
        settings = self.settings
        if settings.path is not None:
            if str(settings.path) == IN_MEMORY:
                self._turn = threading.RLock()
                return open_local(IN_MEMORY)
            folder = _take(settings.path)
            self._turn = folder.turn
            self._closing = weakref.finalize(self, _let_go, settings.path)
            return folder.opened
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a key over http: the guide says so
            client = QdrantClient(
                url=settings.url, api_key=self._key or None, timeout=settings.timeout_s, check_compatibility=False
            )
        self._closing = weakref.finalize(self, client.close)
        return client

    def _translated(self, error: Exception) -> BackendAway:
        place = self.settings.place
        said = _said(error)
        if _status(error) in (401, 403):
            return BackendAway(
                f"Qdrant at {place} refuses the key ({said})",
                hint="set `qdrant: key:` in settings.yaml to $VARIABLE, whose value may read and write",
            )
        if _passing(error) is not None:
            return BackendAway(
                f"Qdrant at {place} does not answer ({said})",
                hint="start it, or correct `qdrant: url:` in settings.yaml; nothing that was indexed is lost",
            )
        return BackendAway(f"Qdrant at {place} refuses ({said})", hint="its own log says more")


def _take(path: Path) -> _Folder:
    """The open folder. Raises BackendAway while another process has it."""
    with _folders_lock:
        folder = _folders.get(path)
        if folder is not None:
            folder.users += 1
            return folder
        try:
            folder = _folders[path] = _Folder(open_local(str(path)))
        except RuntimeError as error:
            raise BackendAway(
                f"{path}: {_holder(path)} has Qdrant's folder open, and local mode lets in one process at a time",
                hint="stop that process, or run a Qdrant server and set `qdrant: url:` in settings.yaml",
            ) from error
        with suppress(OSError):
            (path / HOLDER).write_text(json.dumps({"pid": os.getpid()}), encoding="utf-8")
        return folder


def _let_go(path: Path) -> None:
    """Close the folder if nobody in this process uses it any more."""
    with _folders_lock:
        folder = _folders[path]
        folder.users -= 1
        if not folder.users:
            del _folders[path]
            with suppress(OSError):
                (path / HOLDER).unlink(missing_ok=True)
            folder.opened.close()


def _holder(path: Path) -> str:
    """Who has the folder open, as far as they have said so."""
    try:
        pid = int(json.loads((path / HOLDER).read_text(encoding="utf-8"))["pid"])
        os.kill(pid, 0)
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
    return f"process {pid}"


def _make_index(name: str, field: str, schema: Any, client: QdrantClient) -> object:
    return client.create_payload_index(name, field, schema)


def _page(name: str, offset: Any, client: QdrantClient) -> tuple[list[Any], Any]:
    return client.scroll(name, limit=SCROLLED, offset=offset, with_payload=False, with_vectors=False)


def open_local(path: str) -> QdrantClient:
    """Local mode over a folder, or in memory. Raises RuntimeError while another process has the folder open."""
    from qdrant_client import QdrantClient

    if _is_held(Path(path)):  # qdrant-client finds out only after it has read everything, and leaves a file open
        raise RuntimeError(f"{path} is open in another process")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of large folders: the guide says so
        if path == IN_MEMORY:
            return QdrantClient(IN_MEMORY)
        return QdrantClient(path=path, force_disable_check_same_thread=True)


def _is_held(folder: Path) -> bool:
    """Whether somebody has the lock that qdrant-client takes of a folder."""
    import portalocker  # comes with qdrant-client, whose lock this is

    try:
        with (folder / ".lock").open("r+") as file:
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
            portalocker.unlock(file)
    except OSError:
        return False  # there is none yet, or it says itself what is wrong with it
    except portalocker.exceptions.LockException:
        return True
    return False


def rest_models() -> Any:
    """The values of Qdrant's REST API, as qdrant-client checks them."""
    try:
        from qdrant_client import models
    except ImportError as error:
        raise MissingExtra("index: qdrant", "qdrant") from error
    return models


def _thorough(limit: int) -> Any:
    """Search wider than Qdrant would by itself: what it overlooks no later step can bring back."""
    models = rest_models()
    return models.SearchParams(
        hnsw_ef=max(256, 2 * limit), quantization=models.QuantizationSearchParams(rescore=True, oversampling=3.0)
    )


def _passing(error: Exception) -> float | None:
    """Seconds to wait at least before another try; None where another try would end the same way."""
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException

    if isinstance(error, ResourceExhaustedResponse):
        return float(error.retry_after_s)
    if isinstance(error, ResponseHandlingException):
        return 0.0  # no answer, or half of one
    status = _status(error)
    return 0.0 if status is not None and (status >= 500 or status in (408, 429)) else None


def _status(error: Exception) -> int | None:
    from qdrant_client.http.exceptions import UnexpectedResponse

    return error.status_code if isinstance(error, UnexpectedResponse) else None


def _said(error: Exception) -> str:
    """The reason in one line."""
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    if isinstance(error, ResponseHandlingException):
        inner = error.source
        return f"{inner}" if str(inner) else type(inner).__name__
    if isinstance(error, UnexpectedResponse):
        with suppress(Exception):
            return f"{error.status_code}, {error.structured()['status']['error']}"
        return f"{error.status_code} {error.reason_phrase}"
    return f"{type(error).__name__}: {error}".splitlines()[0]
