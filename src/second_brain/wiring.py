"""Turns names in settings into objects: adapters are found by entry points, ours like anybody's."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .config import SESSION_KINDS as SESSION_KINDS
from .config import EndpointSettings, Settings, SourceSettings
from .errors import ConfigError, UsageError
from .protocols import ChatModel, Chunker, Embedder, Parser, Reranker, Source
from .types import Document, Item

if TYPE_CHECKING:
    from .index.qdrant.collections import Collections
    from .index.sqlite.store import SqliteIndex

_OFFICE = "application/vnd.openxmlformats-officedocument"
MEDIA_TYPES = {
    "text/markdown": "markdown",
    "application/x-transcript+jsonl": "transcript",
    "text/x-code": "code",
    "text/x-code-notes": "code-notes",
    "text/x-git-commit": "commit",
    "application/x-canvas": "canvas",
    "application/x-base": "base",
    "application/pdf": "pdf",
    "text/html": "html",
    "application/epub+zip": "epub",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    f"{_OFFICE}.wordprocessingml.document": "docx",
    f"{_OFFICE}.presentationml.presentation": "pptx",
    f"{_OFFICE}.spreadsheetml.sheet": "xlsx",
}
"""Which parser reads a media type."""


@cache
def _adapters(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"second_brain.{group}")}


def names(group: str) -> list[str]:
    """The names that settings may use in a group."""
    return sorted(_adapters(group))


def load(group: str, name: str) -> Callable[..., Any]:
    """The class or function behind a name. Raises ConfigError naming what there is."""
    point = _adapters(group).get(name)
    if point is None:
        raise ConfigError(
            f"'{name}' is not one of the {group} that are installed",
            hint=f"use one of: {', '.join(names(group))}",
        )
    adapter: Callable[..., Any] = point.load()
    return adapter


def kind_of(path: Path, environment: Mapping[str, str]) -> str:
    """The kind of source that a folder is by its place: that of an agent's own store of sessions, else ``markdown``."""
    for kind in sorted(SESSION_KINDS):
        if any(path == root or path.is_relative_to(root) for root in _default_roots(kind, environment)):
            return kind
    return "markdown"


def default_root(kind: str, environment: Mapping[str, str]) -> Path:
    """Where sources of this kind are if nobody says so. Raises UsageError when there is nothing."""
    roots = _default_roots(kind, environment)
    for root in roots:
        if root.exists():
            return root
    tried = " and ".join(str(root) for root in roots)
    raise UsageError(
        f"a source of kind '{kind}' needs a path" + (f": there is nothing at {tried}" if roots else ""),
        hint=f"brain add PATH --kind {kind}",
    )


def takes_files(kind: str) -> bool:
    """Whether a single file may be a source of this kind."""
    return bool(getattr(load("sources", kind), "takes_files", False))


def _default_roots(kind: str, environment: Mapping[str, str]) -> tuple[Path, ...]:
    find: Callable[[Mapping[str, str]], tuple[Path, ...]] | None = getattr(load("sources", kind), "default_roots", None)
    return find(environment) if find else ()


def source(setting: SourceSettings, settings: Settings) -> Source:
    """The source that one entry of the settings describes. Files below another source's root belong to that one."""
    others = tuple(other.path for other in settings.sources if other.name != setting.name)
    making = load("sources", setting.kind)
    more = {"commits": setting.commits} if setting.commits else {}
    if more and "commits" not in signature(making).parameters:
        raise ConfigError(
            f"source '{setting.name}' of kind '{setting.kind}' has no commits to index",
            hint="in sources.yaml say `kind: repo`, or leave `commits:` out",
        )
    made: Source = making(
        setting.name, setting.path, include=setting.include, exclude=setting.exclude, skip_dirs=others, **more
    )
    from .sources.archive import Archived  # searches need neither
    from .sources.sessions import SessionFolder

    if isinstance(made, SessionFolder) and setting.archive and not made.exhaustive:
        return Archived(made, archive_folder(setting, settings), setting.archive_limit_mb * 1_000_000)
    return made


def archive_folder(setting: SourceSettings, settings: Settings) -> Path:
    """Where the copies are that are kept of a source's logs, beside the index."""
    return settings.index.parent / "archive" / setting.name


def received_folder(source: str, settings: Settings) -> Path:
    """Where the files of a source are that another machine sends, beside the index."""
    return settings.index.parent / "received" / source


@cache
def _parser(name: str) -> Parser:
    made: Parser = load("parsers", name)()
    return made


@cache
def _chunker(name: str) -> Chunker:
    made: Chunker = load("chunkers", name)()
    return made


def parser(item: Item) -> Parser:
    """The parser for an item, by its media type."""
    return _parser(MEDIA_TYPES.get(item.media_type, item.media_type))


def chunker(document: Document) -> Chunker:
    """The chunker for a document, by its kind."""
    return _chunker(document.kind)


def embedder(settings: Settings, cache_dir: Path) -> Embedder:
    """The embedder that models.yaml names; nothing is loaded yet.

    Raises ModelError for an endpoint that was never reached and cannot be reached now.
    """
    named = settings.models.embedder
    made: Embedder
    if isinstance(named, EndpointSettings):
        make = load("embedders", "http")
        made = make(cache_dir, named.url, named.model, key=_key(named), timeout_s=named.timeout_s)
    else:
        made = load("embedders", named)(cache_dir)
    return made


def embedder_of(identity: str, cache_dir: Path) -> Embedder | None:
    """The embedder that is installed and has this identity, whatever models.yaml names; nothing is loaded yet."""
    for name in names("embedders"):
        with suppress(Exception):  # somebody's adapter may be broken
            made: Embedder = load("embedders", name)(cache_dir)
            if made.identity == identity:
                return made
    return None


def reranker(settings: Settings) -> Reranker | None:
    """The cross-encoder that models.yaml names, None without one or with ``$BRAIN_RERANK=0``; nothing is loaded yet."""
    named = settings.models.reranker
    if named is None or not settings.rerank:
        return None
    made: Reranker
    if isinstance(named, EndpointSettings):
        made = load("rerankers", "http")(named.url, named.model, key=_key(named))
    else:
        made = load("rerankers", "hub")(named, settings.model_cache)
    return made


def fetch(settings: Settings) -> list[str]:
    """Download what is named and lives on the hub; the names. Raises MissingExtra, ModelError."""
    if not isinstance(settings.models.reranker, str):
        return []
    load("rerankers", "hub")(settings.models.reranker, settings.model_cache).fetch()
    return [settings.models.reranker]


def chat(settings: Settings) -> ChatModel | None:
    """The chat model that models.yaml names, None without one; nothing is sent yet."""
    named = settings.models.chat
    if named is None:
        return None
    made: ChatModel = load("chats", "openai")(named.url, named.model, key=_key(named))
    return made


def index(settings: Settings, *, collections: Callable[[], Mapping[str, tuple[str, ...]]] | None = None) -> SqliteIndex:
    """The index of placed settings: the file alone, or with a copy in Qdrant; nothing is asked of that yet.

    ``collections`` tells the sources of each collection at any later time; None means those of ``settings``.

    Raises:
        ConfigError: the variable for Qdrant's key is not set.
    """
    if settings.qdrant is None:
        from .index.sqlite.store import SqliteIndex

        return SqliteIndex(settings.index)
    from .index.qdrant.store import QdrantIndex

    made = QdrantIndex(
        settings.index,
        settings.qdrant,
        generation=settings.generation,
        dimensions=lambda: embedder(settings, settings.model_cache).dimensions,
        collections=collections or (lambda: settings.collections),
        key=_variable("settings.yaml", settings.qdrant.key_variable, settings.qdrant.place),
    )
    weakref.finalize(made, made.client.close)  # of a generation that is let go of, see generations.following
    return made


def backend_collections(settings: Settings) -> Collections | None:
    """What Qdrant holds under our prefix, for whoever makes, promotes and drops generations; None without Qdrant.

    Raises ConfigError when the variable for its key is not set.
    """
    if settings.qdrant is None:
        return None
    from .index.qdrant.client import Client
    from .index.qdrant.collections import Collections

    key = _variable("settings.yaml", settings.qdrant.key_variable, settings.qdrant.place)
    return Collections(Client(settings.qdrant, key), settings.qdrant)


def _key(endpoint: EndpointSettings) -> str:
    """The endpoint's key. Raises ConfigError when its variable is not set."""
    return _variable("models.yaml", endpoint.key_variable, endpoint.url)


def _variable(file: str, name: str, place: str) -> str:
    """The value of a variable that a settings file takes a key from, '' for no name. Raises ConfigError."""
    value = os.environ.get(name, "") if name else ""
    if name and not value:
        raise ConfigError(
            f"{file} takes the key for {place} from ${name}, which is not set",
            hint=f"set {name}, or leave `key:` out",
        )
    return value
