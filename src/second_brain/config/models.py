"""Reads ``models.yaml``: which model plays which role."""

from __future__ import annotations

from typing import Any

from .files import SettingsFile
from .settings import ModelSettings


def models(file: SettingsFile) -> ModelSettings:
    """The models that the file names."""
    keys = file.mapping((), file.result.value, ("embedder", "reranker", "chat"), "models.yaml")
    chosen: dict[str, Any] = {}
    for role, value in keys.items():
        name = file.scalar((role,), value, str, "the name of a model, or none")
        chosen[role] = "" if name == "none" else name
    if chosen.get("embedder") == "":
        raise file.error(("embedder",), "'embedder' is 'none'", "allowed: e5-small (the default) or another embedder")
    return ModelSettings(**chosen)
