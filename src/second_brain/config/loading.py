"""Finds the settings files of a home and the environment's variables, and reads them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..errors import ConfigError
from .backend import collections, default_collection, qdrant
from .files import as_named, read
from .general import (
    adjustments,
    allowed_roots,
    decompose,
    fusion,
    late,
    privacy_labels,
    public_hosts,
    redact,
    reranking,
    see,
)
from .models import models
from .remote import remote
from .schedule import schedule
from .settings import Settings
from .sources import sources

APP = "second-brain"
OLDER_NAMES = {
    "BRAIN_INDEX": "VAULT_INDEX_DB",
    "BRAIN_MODEL_CACHE": "VAULT_MODEL_CACHE",
    "BRAIN_RERANK": "VAULT_RERANK",
}
"""Variables of an earlier system that are honoured when ours are not set."""


def load(
    home: str | os.PathLike[str] | None = None,
    *,
    index: str | os.PathLike[str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings of ``home`` (default ``$BRAIN_HOME``, else the platform's folder), see ``Brain.open``."""
    variables = os.environ if environment is None else environment
    own_home = home or variables.get("BRAIN_HOME") or None
    folder = as_named(own_home) if own_home else _platform("config")
    index_path = index or _variable(variables, "BRAIN_INDEX")
    if not index_path:
        # A home of one's own comes with an index of one's own: two homes never mix.
        index_path = (folder if own_home else _platform("data")) / "index.db"
    cache = _variable(variables, "BRAIN_MODEL_CACHE") or _platform("cache") / "models"
    general = read(folder / "settings.yaml")
    labels = privacy_labels(general)
    settings = Settings(
        home=folder,
        index=as_named(index_path),
        model_cache=as_named(cache),
        models=models(read(folder / "models.yaml"), labels),
        fusion=fusion(general),
        adjustments=adjustments(general),
        late=late(general),
        privacy_labels=labels,
        see=see(general, labels),
        redact=redact(general),
        allowed_roots=allowed_roots(general),
        public_hosts=public_hosts(general),
        schedule=schedule(general),
        remote=remote(general),
        qdrant=qdrant(general),
        named_collections=collections(general),
        default_collection=default_collection(general),
        reranking=reranking(general),
        decompose=decompose(general),
        rerank=_switch("BRAIN_RERANK", _variable(variables, "BRAIN_RERANK") or "1"),
    )
    return replace(settings, sources=sources(read(settings.sources_file), labels))


def stamp(home: Path) -> tuple[tuple[int, int] | None, ...]:
    """Something that changes whenever a settings file of the home does: time and size of each."""

    def one(name: str) -> tuple[int, int] | None:
        try:
            found = (home / name).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    return tuple(map(one, ("settings.yaml", "models.yaml", "sources.yaml")))


def _platform(kind: str) -> Path:
    import platformdirs

    folder = {
        "config": platformdirs.user_config_path,
        "data": platformdirs.user_data_path,
        "cache": platformdirs.user_cache_path,
    }[kind]
    return folder(APP, appauthor=False)


def _variable(variables: Mapping[str, str], name: str) -> str:
    return variables.get(name) or variables.get(OLDER_NAMES[name]) or ""


def _switch(name: str, value: str) -> bool:
    if value.lower() in ("1", "true", "yes", "on"):
        return True
    if value.lower() in ("0", "false", "no", "off"):
        return False
    raise ConfigError(f"${name} is '{value}'", hint=f"set {name} to 0 or 1")
