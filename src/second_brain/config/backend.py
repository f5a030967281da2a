"""Reads ``index``, ``qdrant``, ``collections`` and ``default_collection`` of ``settings.yaml``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..index.qdrant.settings import QdrantSettings
from .files import SettingsFile, address, choice, positive, shown, variable, whole
from .settings import DEFAULT_COLLECTION

BACKENDS = ("sqlite", "qdrant")
KEYS = ("url", "path", "key", "prefix", "quantization", "shards", "replicas", "timeout_s")

_NAME = re.compile(r"(?!.*-g[0-9]+$)[a-z0-9][a-z0-9_-]{0,47}")
_ALLOWED = "small letters, digits, '_' and '-', not ending like a generation ('-g2')"


def qdrant(file: SettingsFile) -> QdrantSettings | None:
    """Where Qdrant is, None with ``index: sqlite``. Raises ConfigError."""
    value = file.result.value
    general = value if isinstance(value, dict) else {}
    backend = "sqlite"
    if "index" in general:
        backend = file.scalar(("index",), general["index"], choice(*BACKENDS), ", ".join(BACKENDS))
    keys = file.mapping(("qdrant",), general.get("qdrant"), KEYS, "qdrant")
    plain = QdrantSettings()

    def scalar(key: str, convert: Callable[[str], Any], allowed: str, default: Any) -> Any:
        return file.scalar(("qdrant", key), keys[key], convert, allowed) if key in keys else default

    if "key" in keys and not str(keys["key"]).startswith("$"):
        raise file.error(
            ("qdrant", "key"), "'key' holds no name of a variable", "write `key: $QDRANT_KEY`, and set that"
        )
    settings = QdrantSettings(
        url=scalar("url", address, "http://... or https://...", "").rstrip("/"),
        path=scalar("path", file.named, "a folder", None),
        key_variable=scalar("key", variable, "the name of an environment variable, like $QDRANT_KEY", ""),
        prefix=scalar("prefix", _named, _ALLOWED, plain.prefix),
        quantization=scalar("quantization", choice("none", "scalar", "binary"), "none, scalar, binary", "none"),
        shards=scalar("shards", whole, "a whole number, 0 for Qdrant's own choice", plain.shards),
        replicas=scalar("replicas", positive, "a whole number from 1", plain.replicas),
        timeout_s=scalar("timeout_s", positive, "a whole number of seconds from 1", plain.timeout_s),
    )
    if backend == "sqlite":
        return None
    if bool(settings.url) == (settings.path is not None):
        both = "both" if settings.url else "neither"
        raise file.error(
            ("qdrant",) if keys else ("index",),
            f"'index: qdrant' needs `url` or `path` below `qdrant:`, found {both}",
            "write `qdrant:` and below it `url: http://127.0.0.1:6333` (a server) or `path: ~/qdrant` (this process)",
        )
    return settings


def collections(file: SettingsFile) -> Mapping[str, tuple[str, ...]]:
    """The names of sources by collection, as written. Raises ConfigError."""
    value = file.result.value
    value = value.get("collections") if isinstance(value, dict) else None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise file.error(
            ("collections",), f"'collections' is {shown(value)}", "expected lines like `team: [handbook, minutes]`"
        )
    found: dict[str, tuple[str, ...]] = {}
    holder: dict[str, str] = {}
    for name, sources in value.items():
        file.scalar(("collections", name), name, _named, _ALLOWED)
        found[name] = file.texts(("collections", name), sources)
        for source in found[name]:
            if holder.setdefault(source, name) != name:
                raise file.error(
                    ("collections", name),
                    f"source '{source}' is in '{holder[source]}' and in '{name}'",
                    "each source belongs to one collection",
                )
    return found


def default_collection(file: SettingsFile) -> str:
    """The collection of every source that is in no other. Raises ConfigError."""
    value = file.result.value
    if not isinstance(value, dict) or "default_collection" not in value:
        return DEFAULT_COLLECTION
    return file.scalar(("default_collection",), value["default_collection"], _named, _ALLOWED)


def _named(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(text)
    return text
