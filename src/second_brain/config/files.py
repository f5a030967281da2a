"""Reads one settings file so that whatever is wrong is named with file, line, the value found and those allowed."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from ..errors import ConfigError
from ..sources.paths import absolute
from ..types import Json
from ..yaml_nodes import YamlError, YamlResult, load_yaml

T = TypeVar("T")


def as_named(path: str | os.PathLike[str]) -> Path:
    """The absolute path in clean text whatever the locale, ``~`` expanded, links left as the user names them."""
    return Path(absolute(Path(path).expanduser()).decode("utf-8", "surrogateescape"))


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One settings file, read; complaints name it and the line."""

    path: Path
    result: YamlResult

    def error(self, place: tuple[str | int, ...], problem: str, hint: str = "") -> ConfigError:
        """A complaint about what stands at ``place`` (keys and positions from the top)."""
        line = self.result.lines.get(place) or self.result.lines.get(place[:-1]) or 1
        return ConfigError(f"{self.path}:{line}: {problem}", hint=hint)

    def named(self, path: str) -> Path:
        """A path as it stands in the file: a relative one starts beside it, wherever `brain` is called from."""
        return as_named(self.path.parent / Path(path).expanduser())

    def mapping(self, place: tuple[str | int, ...], value: Json, allowed: tuple[str, ...], of: str) -> dict[str, Json]:
        """``value`` as a mapping with allowed keys only."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(place, f"{of} is {shown(value)}", f"expected keys: {', '.join(allowed)}")
        for key in value:
            if key not in allowed:
                near = get_close_matches(key, allowed, 1)
                meant = f"did you mean '{near[0]}'? " if near else ""
                raise self.error((*place, key), f"unknown key '{key}' in {of}", f"{meant}allowed: {', '.join(allowed)}")
        return value

    def scalar(self, place: tuple[str | int, ...], value: Json, convert: Callable[[str], T], allowed: str) -> T:
        """``value`` converted from text; what cannot be converted is named with what is allowed."""
        key = place[-1]
        if not isinstance(value, str):
            raise self.error(place, f"'{key}' is {shown(value)}", f"allowed: {allowed}")
        try:
            return convert(value)
        except (ValueError, KeyError) as error:
            raise self.error(place, f"'{key}' is '{value}'", f"allowed: {allowed}") from error

    def texts(self, place: tuple[str | int, ...], value: Json) -> tuple[str, ...]:
        """``value`` as a list of texts; one text is a list of one."""
        if value is None:
            return ()
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(entry, str) for entry in values):
            raise self.error(place, f"'{place[-1]}' holds {shown(value)}", "allowed: a list of patterns like '*.md'")
        return tuple(str(entry) for entry in values)


def shown(value: Json) -> str:
    """A value as a complaint names it."""
    if value is None:
        return "empty"
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    return f"'{value}'"


def read(path: Path) -> SettingsFile:
    """The file; an empty one where there is none. Raises ConfigError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return SettingsFile(path, YamlResult(None, {}, ()))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start} is not UTF-8", hint="save the file as UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})", hint="check its permissions") from error
    try:
        result = load_yaml(text)
    except YamlError as error:
        raise ConfigError(f"{path}:{error.line}: {error.problem}", hint="correct that line") from error
    if result.warnings:
        raise ConfigError(f"{path}: {result.warnings[0]}", hint="keep one of the two")
    return SettingsFile(path, result)


def number(low: float, inclusive: bool = False) -> Callable[[str], float]:
    """Converts a number above ``low``."""

    def convert(text: str) -> float:
        value = float(text)
        if not (value > low or (inclusive and value == low)) or value == float("inf"):
            raise ValueError(text)
        return value

    return convert


def half_life(text: str) -> float:
    """A number of days above 0; ``none`` is infinite: what has it does not age."""
    return math.inf if text.lower() == "none" else number(0.0)(text)


def choice(*allowed: str) -> Callable[[str], str]:
    """Converts one of these words, letter case ignored."""

    def convert(text: str) -> str:
        text = text.lower()
        if text not in allowed:
            raise ValueError(text)
        return text

    return convert


def share(text: str) -> float:
    """A number from 0 to 1."""
    value = number(0.0, inclusive=True)(text)
    if value > 1:
        raise ValueError(text)
    return value


def whole(text: str) -> int:
    """A whole number from 0."""
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value


def positive(text: str) -> int:
    """A whole number from 1."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def address(text: str) -> str:
    """An ``http`` or ``https`` address of a server, without name and password."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise ValueError(text)
    return text


def variable(text: str) -> str:
    """The name of an environment variable, with or without ``$``."""
    name = text.removeprefix("$")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(text)
    return name


def write_atomically(file: Path, text: str) -> None:
    """Write a text file so that a reader sees the old one or the new one, whatever happens. Links are followed."""
    target = file.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    handle, temporary = tempfile.mkstemp(prefix=".brain-", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
