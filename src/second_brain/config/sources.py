"""Reads ``sources.yaml``: what is read, under which name and label."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from ..types import Json
from .files import SettingsFile, choice, half_life, number, positive, shown, whole
from .settings import DEFAULT_PRIVACY, NAME, SourceSettings

T = TypeVar("T")

SOURCE_KEYS = (
    "name",
    "kind",
    "path",
    "privacy",
    "weight",
    "include",
    "exclude",
    "half_life_days",
    "archive",
    "archive_limit_mb",
    "commits",
)


def sources(file: SettingsFile, labels: tuple[str, ...]) -> tuple[SourceSettings, ...]:
    """The sources that the file lists, in its order."""
    value = file.result.value
    prefix: tuple[str | int, ...] = ()
    if isinstance(value, dict):
        value, prefix = file.mapping((), value, ("sources",), "the file").get("sources"), ("sources",)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise file.error(prefix, f"the sources are {shown(value)}", "expected a list, each entry with name and path")
    found: list[SourceSettings] = []
    for position, entry in enumerate(value):
        place = (*prefix, position)
        keys = file.mapping(place, entry, SOURCE_KEYS, f"source {position + 1}")
        for needed in ("name", "path"):
            if not keys.get(needed):
                raise file.error(place, f"source {position + 1} has no '{needed}'", f"keys: {', '.join(SOURCE_KEYS)}")
        found.append(_source(file, place, keys, labels))
        if any(other.name == found[-1].name for other in found[:-1]):
            raise file.error(place, f"two sources are named '{found[-1].name}'", "give one of them another name")
        if any(other.path == found[-1].path for other in found[:-1]):
            raise file.error(place, f"two sources have the path {found[-1].path}", "remove one of them")
    return tuple(found)


def _source(
    file: SettingsFile, place: tuple[str | int, ...], keys: Mapping[str, Json], labels: tuple[str, ...]
) -> SourceSettings:
    def scalar(key: str, convert: Callable[[str], T], allowed: str, default: T) -> T:
        return file.scalar((*place, key), keys[key], convert, allowed) if key in keys else default

    return SourceSettings(
        name=scalar("name", _source_name, "letters, digits, '.', '-', '_' and inner spaces, at most 64", ""),
        kind=scalar("kind", str, "the kind of a source", "markdown"),
        path=scalar("path", file.named, "a folder", file.path.parent),
        privacy=scalar("privacy", choice(*labels), ", ".join(labels), default_privacy(labels)),
        weight=scalar("weight", number(0.0), "a number above 0, 1 for no change", None),
        include=file.texts((*place, "include"), keys.get("include")),
        exclude=file.texts((*place, "exclude"), keys.get("exclude")),
        half_life_days=scalar(
            "half_life_days",
            half_life,
            "a number of days above 0, or none",
            None,
        ),
        archive=scalar("archive", choice("on", "off"), "on, off", "on") == "on",
        archive_limit_mb=scalar("archive_limit_mb", positive, "a whole number of megabytes from 1", 2000),
        commits=scalar("commits", whole, "how many commit messages to read, 0 for none", 0),
    )


def default_privacy(labels: tuple[str, ...]) -> str:
    """The label of a source that names none."""
    return DEFAULT_PRIVACY if DEFAULT_PRIVACY in labels else labels[-1]


def _source_name(text: str) -> str:
    if not NAME.fullmatch(text) or text != text.strip():
        raise ValueError(text)
    return text
