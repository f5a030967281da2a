"""Where does a file of the box lie on this machine? By rules: a folder there is a folder here."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_DRIVE = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_ANOTHER_DRIVE = re.compile(r"[:\\]")


@dataclass(frozen=True, slots=True)
class _Folder:
    r"""A folder of some system. Windows' ones begin with a drive or ``\\``; their letter case is ignored."""

    text: str
    windows: bool
    parts: tuple[str, ...]

    @classmethod
    def named(cls, text: str) -> _Folder:
        windows = bool(_DRIVE.match(text))
        return cls(text, windows, _parts(text, windows))

    def below(self, path: str) -> tuple[str, ...] | None:
        """The names below this folder that lead to a path; None where it lies elsewhere, or leads out again."""
        if bool(_DRIVE.match(path)) != self.windows:
            return None
        parts = _parts(path, self.windows)
        rest = parts[len(self.parts) :]
        if tuple(map(self._compared, parts[: len(self.parts)])) != tuple(map(self._compared, self.parts)):
            return None
        return None if ".." in rest else rest

    def joined(self, names: Sequence[str]) -> str | None:
        """The path of something below; None where a name would lead elsewhere on that system."""
        if self.windows and any(_ANOTHER_DRIVE.search(name) for name in names):
            return None
        mark = "\\" if self.windows else "/"
        return mark.join((self.text.rstrip("/\\") if self.parts else self.text, *names))

    def _compared(self, name: str) -> str:
        name = unicodedata.normalize("NFC", name)
        return name.casefold() if self.windows else name


def _parts(path: str, windows: bool) -> tuple[str, ...]:
    if windows:
        path = path.replace("\\", "/")
    return tuple(part for part in path.split("/") if part not in ("", "."))


class PathRules:
    """Translates paths of the box into paths of this machine and back.

    Args:
        rules: (folder there, folder here); ``~`` is expanded in the latter. Of several that fit, the longest holds.
    """

    def __init__(self, rules: Iterable[tuple[str, str]]) -> None:
        pairs = [
            (_Folder.named(there), _Folder.named(os.path.expanduser(here)))  # noqa: PTH111 - as the user spells it
            for there, here in rules
        ]
        self._there = sorted(pairs, key=lambda pair: -len(pair[0].parts))
        self._here = sorted(pairs, key=lambda pair: -len(pair[1].parts))

    def __bool__(self) -> bool:
        return bool(self._there)

    def here(self, path: str) -> str | None:
        """Where a file of the box would lie here; None where no rule says so. Nothing is looked up."""
        for there, here in self._there:
            names = there.below(path)
            if names is not None:
                return here.joined(names)
        return None

    def there(self, path: str) -> str | None:
        """Where a path of this machine would lie on the box; None where no rule says so."""
        expanded = os.path.expanduser(path)  # noqa: PTH111
        for there, here in self._here:
            names = here.below(expanded)
            if names is not None:
                return there.joined(names)
        return None

    def file(self, path: str) -> Path | None:
        """The file of this machine that a path of the box stands for, in either Unicode form; None where it is none."""
        here = self.here(path)
        if here is None:
            return None
        for form in dict.fromkeys((here, *(unicodedata.normalize(form, here) for form in ("NFC", "NFD")))):
            try:
                if os.path.isfile(form):  # noqa: PTH113
                    return Path(form)
            except ValueError:  # a NUL, or half a character
                return None
        return None
