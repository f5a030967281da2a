"""Reads ``settings.yaml``: what holds for the whole brain."""

from __future__ import annotations

from typing import Any

from ..ranking.fusion import FusionSettings
from .files import SettingsFile, choice, positive, share
from .settings import PRIVACY_LABELS

KEYS = ("privacy", "fusion", "late")


def privacy_labels(file: SettingsFile) -> tuple[str, ...]:
    """The labels, least private first."""
    keys = file.mapping((), file.result.value, KEYS, "settings.yaml")
    labels = tuple(label.lower() for label in file.texts(("privacy",), keys.get("privacy"))) or PRIVACY_LABELS
    if len(set(labels)) != len(labels):
        raise file.error(("privacy",), "a privacy label is listed twice", "list each once, least private first")
    return labels


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
