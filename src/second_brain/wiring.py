"""Turns names in settings into objects: adapters are found by entry points, ours like anybody's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from .config import Settings, SourceSettings
from .errors import ConfigError
from .protocols import Chunker, Embedder, Parser, Source
from .types import Document, Item

MEDIA_TYPES = {"text/markdown": "markdown"}
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


def source(settings: SourceSettings, every: tuple[SourceSettings, ...]) -> Source:
    """The source that the settings describe. Files below another source's root belong to that one."""
    others = tuple(other.path for other in every if other.name != settings.name)
    more = {"commits": settings.commits} if settings.commits else {}
    made: Source = load("sources", settings.kind)(
        settings.name, settings.path, include=settings.include, exclude=settings.exclude, skip_dirs=others, **more
    )
    return made


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
    """The embedder that models.yaml names; nothing is loaded yet."""
    made: Embedder = load("embedders", settings.models.embedder)(cache_dir)
    return made
