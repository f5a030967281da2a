"""Reads ``settings.yaml``: what holds for the whole brain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..answering.settings import RerankSettings
from ..ranking.adjust import Adjustments
from ..ranking.fusion import FusionSettings
from .files import SettingsFile, choice, half_life, number, positive, share, shown
from .settings import PRIVACY_LABELS

KEYS = (
    "privacy",
    "see",
    "redact",
    "fusion",
    "ranking",
    "late",
    "rerank",
    "decompose",
    "allowed_roots",
    "public_hosts",
    "schedule",
    "remote",
    "index",
    "qdrant",
    "collections",
    "default_collection",
)


def privacy_labels(file: SettingsFile) -> tuple[str, ...]:
    """The labels, least private first."""
    keys = file.mapping((), file.result.value, KEYS, "settings.yaml")
    labels = tuple(label.lower() for label in file.texts(("privacy",), keys.get("privacy"))) or PRIVACY_LABELS
    if len(set(labels)) != len(labels):
        raise file.error(("privacy",), "a privacy label is listed twice", "list each once, least private first")
    return labels


def see(file: SettingsFile, labels: tuple[str, ...]) -> str:
    """The highest label that the command line shows unless it is told otherwise; '' for everything."""
    value = file.result.value
    if not isinstance(value, dict) or "see" not in value:
        return ""
    return file.scalar(("see",), value["see"], choice(*labels), ", ".join(labels))


def allowed_roots(file: SettingsFile) -> tuple[Path, ...]:
    """Folders below which an agent may let things be indexed."""
    return tuple(file.named(text) for text in _texts(file, "allowed_roots"))


def public_hosts(file: SettingsFile) -> tuple[str, ...]:
    """Names by which `brain serve` is reached from outside, besides this machine's own."""
    return tuple(text.lower() for text in _texts(file, "public_hosts"))


def _texts(file: SettingsFile, key: str) -> tuple[str, ...]:
    value = file.result.value
    return file.texts((key,), value.get(key)) if isinstance(value, dict) else ()


def redact(file: SettingsFile) -> bool:
    """Whether secrets are masked in what is kept."""
    value = file.result.value
    if not isinstance(value, dict) or "redact" not in value:
        return True
    return file.scalar(("redact",), value["redact"], choice("on", "off"), "on, off") == "on"


FUSION_KEYS = (
    "method",
    "dense_weight",
    "code_dense_weight",
    "late_weight",
    "dense_weight_beside_late",
    "code_late_weight",
    "rrf_k",
)


def fusion(file: SettingsFile) -> FusionSettings:
    """How rankings become one."""
    value = file.result.value
    value = value.get("fusion") if isinstance(value, dict) else None
    keys = file.mapping(("fusion",), value, FUSION_KEYS, "fusion")
    chosen: dict[str, Any] = {}
    if "method" in keys:
        chosen["method"] = file.scalar(("fusion", "method"), keys["method"], choice("convex", "rrf"), "convex, rrf")
    for key in FUSION_KEYS[1:-1]:
        if key in keys:
            chosen[key] = file.scalar(("fusion", key), keys[key], share, "a number from 0 to 1")
    if "rrf_k" in keys:
        chosen["rrf_k"] = file.scalar(("fusion", "rrf_k"), keys["rrf_k"], positive, "a whole number from 1")
    return FusionSettings(**chosen)


def late(file: SettingsFile) -> bool:
    """Whether tokens are compared."""
    value = file.result.value
    if not isinstance(value, dict) or "late" not in value:
        return True
    return file.scalar(("late",), value["late"], choice("on", "off"), "on, off") == "on"


def reranking(file: SettingsFile) -> RerankSettings:
    """How a cross-encoder is used."""
    value = file.result.value
    value = value.get("rerank") if isinstance(value, dict) else None
    keys = file.mapping(("rerank",), value, ("deadline_ms", "candidates"), "rerank")
    chosen = RerankSettings()
    if "deadline_ms" in keys:
        wait = file.scalar(("rerank", "deadline_ms"), keys["deadline_ms"], positive, "a whole number from 1")
        chosen = replace(chosen, deadline_ms=wait)
    if "candidates" in keys:
        most = chosen.candidates
        count = file.scalar(("rerank", "candidates"), keys["candidates"], positive, f"1 to {most}")
        if count > most:
            raise file.error(("rerank", "candidates"), f"'candidates' is '{count}'", f"allowed: 1 to {most}")
        chosen = replace(chosen, candidates=count)
    return chosen


def decompose(file: SettingsFile) -> str:
    """What takes agentic questions apart."""
    value = file.result.value
    if not isinstance(value, dict) or "decompose" not in value:
        return "rules"
    return file.scalar(("decompose",), value["decompose"], choice("rules", "chat"), "rules, chat")


RANKING_KEYS = ("weights", "half_life_days", "withdrawn", "stale")


def adjustments(file: SettingsFile) -> Adjustments:
    """How scores follow from what a document is. What is named for a kind or type is added to what holds already."""
    value = file.result.value
    value = value.get("ranking") if isinstance(value, dict) else None
    keys = file.mapping(("ranking",), value, RANKING_KEYS, "ranking")

    def by_kind(key: str, convert: Callable[[str], float], allowed: str) -> dict[str, float]:
        named = keys.get(key) or {}
        place = ("ranking", key)
        if not isinstance(named, dict):
            raise file.error(place, f"'{key}' is {shown(named)}", "expected a kind or type, and a number for each")
        return {name.lower(): file.scalar((*place, name), each, convert, allowed) for name, each in named.items()}

    def factor(key: str, default: float) -> float:
        return file.scalar(("ranking", key), keys[key], share, "a number from 0 to 1") if key in keys else default

    plain = Adjustments()
    weights = by_kind("weights", number(0.0), "a number above 0, 1 for no change")
    half_lives = by_kind("half_life_days", half_life, "a number of days above 0, or none")
    return Adjustments(
        weights={**plain.weights, **weights},
        half_lives={**plain.half_lives, **half_lives},
        withdrawn=factor("withdrawn", plain.withdrawn),
        stale=factor("stale", plain.stale),
    )
