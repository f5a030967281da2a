r"""What clients send as what tools take: lenient where the meaning is plain, one clear sentence where it is not.

Clients send ``"5"`` for 5, ``"true"``, ``"[\"a\"]"`` for a list, and null for what they leave out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from ..errors import UsageError


class Arguments:
    """The arguments of one call. Each reader takes what it knows; ``nothing_else`` refuses what nobody took."""

    def __init__(self, given: Mapping[str, Any] | None, known: Sequence[str]) -> None:
        self._given = {key: value for key, value in (given or {}).items() if value is not None}
        for key in self._given:
            if key not in known:
                near = get_close_matches(key, known, 1)
                meant = f"did you mean '{near[0]}'? " if near else ""
                raise UsageError(
                    f"there is no argument '{key}'", hint=f"{meant}arguments: {', '.join(known) or 'none'}"
                )

    def text(self, key: str, default: str = "", *, needed: bool = False) -> str:
        """A text; numbers are taken as written."""
        value = self._given.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise UsageError(f"'{key}' is {_kind(value)}, expected a text")
        text = str(value).strip()
        if needed and not text:
            raise UsageError(f"'{key}' is missing", hint=f"give '{key}' as a text")
        return text

    def number(self, key: str, default: int, *, low: int, high: int) -> int:
        """A whole number; what is above ``high`` counts as ``high``."""
        value = self._given.get(key, default)
        if isinstance(value, str):
            try:
                value = float(value.strip())
            except ValueError:
                raise UsageError(f"'{key}' is '{value[:40]}', expected a whole number from {low} to {high}") from None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= low or _is_broken(value):
            raise UsageError(f"'{key}' is {str(value)[:40]}, expected a whole number from {low} to {high}")
        return int(min(value, high))

    def flag(self, key: str, default: bool = False) -> bool:
        """Yes or no."""
        value = self._given.get(key, default)
        if isinstance(value, bool):
            return value
        word = str(value).strip().lower()
        if word in ("true", "1", "yes", "on"):
            return True
        if word in ("false", "0", "no", "off", ""):
            return False
        raise UsageError(f"'{key}' is '{word[:40]}', expected true or false")

    def texts(self, key: str, *, commas: bool = True) -> tuple[str, ...]:
        """A list of texts; a text alone and a JSON list in a text are understood, and commas if they are none."""
        value = self._given.get(key, [])
        if isinstance(value, str):
            text = value.strip()
            if text.startswith("["):
                try:
                    value = json.loads(text)
                except ValueError:
                    value = text
            if isinstance(value, str):
                value = text.split(",") if commas else [text]
        if not isinstance(value, list) or not all(isinstance(entry, (str, int, float)) for entry in value):
            raise UsageError(f"'{key}' is {_kind(value)}, expected a list of texts")
        return tuple(str(entry).strip() for entry in value if str(entry).strip())

    def objects(self, key: str) -> list[dict[str, Any]]:
        """A list of objects, at least one."""
        value = self._given.get(key)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                value = None
        if isinstance(value, dict):
            value = [value]
        if not isinstance(value, list) or not value or not all(isinstance(entry, dict) for entry in value):
            raise UsageError(f"'{key}' is {_kind(value)}, expected a list of objects")
        return value

    def choice(self, key: str, allowed: Sequence[str], default: str) -> str:
        """One of a few words."""
        word = self.text(key, default).lower()
        if word not in allowed:
            near = get_close_matches(word, allowed, 1)
            meant = f"; did you mean '{near[0]}'?" if near else ""
            raise UsageError(f"'{key}' is '{word[:40]}', expected one of: {', '.join(allowed)}{meant}")
        return word

    def moment(self, key: str) -> datetime | None:
        """A day or time in ISO form, local where it names no zone."""
        text = self.text(key)
        if not text:
            return None
        try:
            found = datetime.fromisoformat(text)
        except ValueError:
            raise UsageError(f"'{key}' is '{text[:40]}', expected a day like 2031-05-02") from None
        if found.tzinfo:
            return found
        try:
            return found.astimezone()
        except (ValueError, OverflowError, OSError):  # years that the system's clock functions do not know
            return found.replace(tzinfo=UTC)


def _is_broken(number: float) -> bool:
    return abs(number) < 1e15 and number != int(number)


def _kind(value: object) -> str:
    if value is None:
        return "missing"
    return {"dict": "an object", "list": "a list", "str": "a text", "bool": "true or false"}.get(
        type(value).__name__, type(value).__name__
    )
