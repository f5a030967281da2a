"""The change of a client's settings: planned on the text as it is, shown, written unless the file changed meanwhile."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..config import write_atomically
from ..errors import ConfigError, MissingExtra, UsageError
from ..types import Json
from .clients import NAME, Client, Place
from .json_text import NotJson, with_member, without_member

BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Change:
    """A file's text before and after; None where there is no file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def needed(self) -> bool:
        """Whether there is anything to write."""
        return (self.after or "") != (self.before or "") or (self.after is None and self.before is not None)

    def diff(self) -> str:
        """The change as a unified diff."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(keepends=True),
            (self.after or "").splitlines(keepends=True),
            str(self.path) if self.before is not None else "/dev/null",
            str(self.path) if self.after is not None else "/dev/null",
            n=2,
        )
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)

    def write(self) -> None:
        """Write the file at once, or remove it. Raises ConfigError where somebody changed it since it was read."""
        if text_of(self.path) != self.before:
            raise ConfigError(
                f"{self.path} was changed by another program since it was read", hint="type the command again"
            )
        try:
            if self.after is None:
                self.path.unlink()
            else:
                write_atomically(self.path, self.after)
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be written ({error.strerror})", hint="check its folder") from error


def settings_file(client: Client, place: Place, project: Path | None) -> Path:
    """The file that holds the entry: the user's, or that of a project's folder."""
    if project is None:
        return client.file(place)
    if not client.project_file:
        raise UsageError(f"{client.title} has no settings of a single folder", hint="leave --project out")
    if not project.is_dir():
        raise UsageError(f"{project} is no folder", hint="give the project's folder")
    return project / client.project_file


def adding(client: Client, file: Path, command: str, arguments: Sequence[str]) -> Change:
    """The change that adds our entry, or brings it up to date. Raises ConfigError where the file cannot be read."""
    before = text_of(file)
    entry = client.entry(command, tuple(arguments))
    return Change(file, before, _edited(file, before or "", client.path, entry))


def removing(client: Client, file: Path) -> Change:
    """The change that takes our entry out; none where there is none."""
    before = text_of(file)
    return Change(file, before, "" if before is None else _edited(file, before, client.path, None))


def _edited(file: Path, text: str, path: tuple[str, ...], entry: dict[str, Json] | None) -> str:
    if file.suffix == ".toml":
        return _edited_toml(file, text, path, entry)
    head, text = (BOM, text[1:]) if text.startswith(BOM) else ("", text)
    try:
        if entry is None:
            return head + without_member(text, path, NAME)
        return head + with_member(text, path, NAME, entry)
    except NotJson as error:
        raise ConfigError(
            f"{file}: {error}", hint="correct the file first: its own program cannot read it either"
        ) from error


def _edited_toml(file: Path, text: str, path: tuple[str, ...], entry: dict[str, Json] | None) -> str:
    try:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError
    except ImportError as error:
        raise MissingExtra("changing a TOML file", "mcp") from error
    try:
        document = tomlkit.parse(text)
        (name,) = path
        if entry is None:
            servers = document.get(name)
            if not isinstance(servers, dict) or NAME not in servers:
                return text
            del servers[NAME]
            left = tomlkit.dumps(document)
            return left[:-1] if left.endswith("\n\n") else left  # the blank line that stood before our table
        servers = document.setdefault(name, tomlkit.table(is_super_table=True))
        table = servers.get(NAME, tomlkit.table())
        for key, value in entry.items():
            table[key] = value
        servers[NAME] = table
        return tomlkit.dumps(document)
    except (TOMLKitError, AttributeError, TypeError) as error:
        raise ConfigError(
            f"{file}: {error}", hint="correct the file first: its own program cannot read it either"
        ) from error


def text_of(file: Path) -> str | None:
    """The file's text with its line ends as they are, None without a file."""
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: byte {error.start} is not UTF-8", hint="save the file as UTF-8") from error
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror})", hint="check its permissions") from error
