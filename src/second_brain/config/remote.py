"""Reads ``remote`` of ``settings.yaml``: the brain on another machine, and where its files lie on this one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath, PureWindowsPath
from typing import TypeVar

from .files import SettingsFile, address, number, shown, variable, whole
from .settings import RemoteSettings

T = TypeVar("T")

KEYS = ("url", "token", "paths", "expects", "cache_mb", "timeout_s", "name")
_NAME = re.compile(r"[^\W_][\w.\-]{0,63}")


def remote(file: SettingsFile) -> RemoteSettings:
    """The brain elsewhere. Raises ConfigError."""
    value = file.result.value
    value = value.get("remote") if isinstance(value, dict) else None
    keys = file.mapping(("remote",), value, KEYS, "remote")
    plain = RemoteSettings()

    def scalar(key: str, convert: Callable[[str], T], allowed: str, default: T) -> T:
        return file.scalar(("remote", key), keys[key], convert, allowed) if key in keys else default

    if "token" in keys and not str(keys["token"]).startswith("$"):
        raise file.error(
            ("remote", "token"), "'token' holds no name of a variable", "write `token: $BRAIN_TOKEN`, and set that"
        )
    return RemoteSettings(
        url=scalar("url", address, "http://... or https://...", plain.url).rstrip("/"),
        key_variable=scalar("token", variable, "the name of an environment variable, like $BRAIN_TOKEN", ""),
        paths=_paths(file, keys.get("paths")),
        expects=scalar("expects", str, "the name of a generation, like g3", plain.expects),
        cache_mb=scalar("cache_mb", whole, "a whole number of megabytes, 0 to keep nothing", plain.cache_mb),
        timeout_s=scalar("timeout_s", number(0.0), "a number of seconds above 0", plain.timeout_s),
        name=scalar("name", _called, "letters, digits, '.', '-' and '_'", plain.name),
    )


def _paths(file: SettingsFile, value: object) -> tuple[tuple[str, str], ...]:
    """(folder there, folder here), as they are written. Relative ones would mean something else in each process."""
    if value is None:
        return ()
    place = ("remote", "paths")
    if not isinstance(value, dict):
        raise file.error(place, "'paths' is no mapping", "expected lines like `/data/vault: ~/vault`")
    for there, here in value.items():
        if not isinstance(here, str):
            raise file.error((*place, there), f"'{there}' is {shown(here)}", "expected a folder of this machine")
        if not _absolute(there) or not (_absolute(here) or here.startswith("~")):
            raise file.error((*place, there), f"'{there}: {here}' is relative", "write both folders from the root")
    return tuple(value.items())


def _absolute(path: str) -> bool:
    return PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()


def _called(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(text)
    return text
