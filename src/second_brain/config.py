"""Reads the settings: ``sources.yaml``, ``models.yaml``, ``settings.yaml`` and the environment.

Everything has a default, so that nothing need be configured. What is wrong is named with file, line, the
value found and the values allowed. When a source is added or removed, only its own lines of ``sources.yaml``
change: comments, order and spelling of the rest stay.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from .errors import ConfigError, UsageError
from .index.lock import file_lock
from .ranking.fusion import FusionSettings
from .sources.paths import absolute, disk_bytes
from .types import Json
from .yaml_nodes import YamlError, YamlResult, load_yaml

APP = "second-brain"
PRIVACY_LABELS = ("public", "work", "personal", "secret")
"""From the least to the most private."""

DEFAULT_PRIVACY = "personal"
NAME = re.compile(r"[^\W_][\w.\- ]{0,63}")
"""A source's name: letters and digits of any language, '.', '-', '_', inner spaces."""

OLDER_NAMES = {
    "BRAIN_INDEX": "VAULT_INDEX_DB",
    "BRAIN_MODEL_CACHE": "VAULT_MODEL_CACHE",
    "BRAIN_RERANK": "VAULT_RERANK",
}
"""Variables of an earlier system that are honoured when ours are not set."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """One entry of ``sources.yaml``. ``path`` is absolute. ``half_life_days`` None: documents do not age."""

    name: str
    kind: str
    path: Path
    privacy: str = DEFAULT_PRIVACY
    weight: float = 1.0
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    half_life_days: float | None = None


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """``models.yaml``: which model plays which role; '' is none."""

    embedder: str = "e5-small"
    reranker: str = ""
    chat: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, checked. ``privacy_labels`` from the least to the most private."""

    home: Path
    index: Path
    model_cache: Path
    sources: tuple[SourceSettings, ...] = ()
    models: ModelSettings = ModelSettings()
    fusion: FusionSettings = FusionSettings()
    late: bool = True
    privacy_labels: tuple[str, ...] = PRIVACY_LABELS
    rerank: bool = True

    @property
    def sources_file(self) -> Path:
        """Where the sources are written."""
        return self.home / "sources.yaml"

    def label(self, source: str, document_label: str) -> str:
        """The privacy label that holds for a document: the stricter of its source's and its own.

        A label that the settings do not know is taken as the strictest one.
        """
        by_name = {entry.name: entry.privacy for entry in self.sources}
        source_label = by_name.get(source, self.privacy_labels[-1])
        if not document_label:
            return source_label
        order = {label: rank for rank, label in enumerate(self.privacy_labels)}
        last = len(self.privacy_labels) - 1
        rank = max(order.get(source_label, last), order.get(document_label, last))
        return self.privacy_labels[rank]

    def labels_up_to(self, label: str) -> tuple[str, ...]:
        """The labels that someone may see whose highest label is ``label``. Raises UsageError for an unknown one."""
        if label not in self.privacy_labels:
            raise UsageError(f"privacy '{label}' is not one of: {', '.join(self.privacy_labels)}")
        return self.privacy_labels[: self.privacy_labels.index(label) + 1]


# -- reading -------------------------------------------------------------------------------------------------


def load(
    home: str | os.PathLike[str] | None = None,
    *,
    index: str | os.PathLike[str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Settings:
    """The settings of ``home`` (default ``$BRAIN_HOME``, else the platform's folder), see ``Brain.open``."""
    variables = os.environ if environment is None else environment
    own_home = home or variables.get("BRAIN_HOME") or None
    folder = as_named(own_home) if own_home else _platform("config")
    index_path = index or _variable(variables, "BRAIN_INDEX")
    if not index_path:
        # A home of one's own comes with an index of one's own: two homes never mix.
        index_path = (folder if own_home else _platform("data")) / "index.db"
    cache = _variable(variables, "BRAIN_MODEL_CACHE") or _platform("cache") / "models"
    general = _read(folder / "settings.yaml")
    labels = _privacy_labels(general)
    settings = Settings(
        home=folder,
        index=as_named(index_path),
        model_cache=as_named(cache),
        models=_models(_read(folder / "models.yaml")),
        fusion=_fusion(general),
        late=_late(general),
        privacy_labels=labels,
        rerank=_switch("BRAIN_RERANK", _variable(variables, "BRAIN_RERANK") or "1"),
    )
    return replace(settings, sources=_sources(_read(settings.sources_file), labels))


def _platform(kind: str) -> Path:
    import platformdirs

    folder = {
        "config": platformdirs.user_config_path,
        "data": platformdirs.user_data_path,
        "cache": platformdirs.user_cache_path,
    }[kind]
    return folder(APP, appauthor=False)


def _variable(variables: Mapping[str, str], name: str) -> str:
    return variables.get(name) or variables.get(OLDER_NAMES[name]) or ""


def _switch(name: str, value: str) -> bool:
    if value.lower() in ("1", "true", "yes", "on"):
        return True
    if value.lower() in ("0", "false", "no", "off"):
        return False
    raise ConfigError(f"${name} is '{value}'", hint=f"set {name} to 0 or 1")


def as_named(path: str | os.PathLike[str]) -> Path:
    """The absolute path in clean text whatever the locale, ``~`` expanded, links left as the user names them."""
    return Path(absolute(Path(path).expanduser()).decode("utf-8", "surrogateescape"))


@dataclass(frozen=True, slots=True)
class _File:
    """One settings file, read; complaints name it and the line."""

    path: Path
    result: YamlResult

    def error(self, place: tuple[str | int, ...], problem: str, hint: str = "") -> ConfigError:
        line = self.result.lines.get(place) or self.result.lines.get(place[:-1]) or 1
        return ConfigError(f"{self.path}:{line}: {problem}", hint=hint)

    def mapping(self, place: tuple[str | int, ...], value: Json, allowed: tuple[str, ...], of: str) -> dict[str, Json]:
        """``value`` as a mapping with allowed keys only."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(place, f"{of} is {_shown(value)}", f"expected keys: {', '.join(allowed)}")
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
            raise self.error(place, f"'{key}' is {_shown(value)}", f"allowed: {allowed}")
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
            raise self.error(place, f"'{place[-1]}' holds {_shown(value)}", "allowed: a list of patterns like '*.md'")
        return tuple(str(entry) for entry in values)


def _shown(value: Json) -> str:
    if value is None:
        return "empty"
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    return f"'{value}'"


def _read(path: Path) -> _File:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return _File(path, YamlResult(None, {}, ()))
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
    return _File(path, result)


def _number(low: float, inclusive: bool = False) -> Callable[[str], float]:
    def convert(text: str) -> float:
        number = float(text)
        if not (number > low or (inclusive and number == low)) or number == float("inf"):
            raise ValueError(text)
        return number

    return convert


def _choice(*allowed: str) -> Callable[[str], str]:
    def convert(text: str) -> str:
        text = text.lower()
        if text not in allowed:
            raise ValueError(text)
        return text

    return convert


def _source_name(text: str) -> str:
    if not NAME.fullmatch(text) or text != text.strip():
        raise ValueError(text)
    return text


SOURCE_KEYS = ("name", "kind", "path", "privacy", "weight", "include", "exclude", "half_life_days")


def _sources(file: _File, labels: tuple[str, ...]) -> tuple[SourceSettings, ...]:
    value = file.result.value
    prefix: tuple[str | int, ...] = ()
    if isinstance(value, dict):
        value, prefix = file.mapping((), value, ("sources",), "the file").get("sources"), ("sources",)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise file.error(prefix, f"the sources are {_shown(value)}", "expected a list, each entry with name and path")
    sources = []
    for position, entry in enumerate(value):
        place = (*prefix, position)
        keys = file.mapping(place, entry, SOURCE_KEYS, f"source {position + 1}")
        for needed in ("name", "path"):
            if not keys.get(needed):
                raise file.error(place, f"source {position + 1} has no '{needed}'", f"keys: {', '.join(SOURCE_KEYS)}")
        sources.append(_source(file, place, keys, labels))
        if any(other.name == sources[-1].name for other in sources[:-1]):
            raise file.error(place, f"two sources are named '{sources[-1].name}'", "give one of them another name")
        if any(other.path == sources[-1].path for other in sources[:-1]):
            raise file.error(place, f"two sources have the path {sources[-1].path}", "remove one of them")
    return tuple(sources)


def _source(
    file: _File, place: tuple[str | int, ...], keys: Mapping[str, Json], labels: tuple[str, ...]
) -> SourceSettings:
    def scalar(key: str, convert: Callable[[str], T], allowed: str, default: T) -> T:
        return file.scalar((*place, key), keys[key], convert, allowed) if key in keys else default

    path = scalar("path", lambda text: Path(text).expanduser(), "a folder", Path())
    if not path.is_absolute():
        path = file.path.parent / path  # beside the settings, wherever `brain` is called from
    return SourceSettings(
        name=scalar("name", _source_name, "letters, digits, '.', '-', '_' and inner spaces, at most 64", ""),
        kind=scalar("kind", str, "the kind of a source", "markdown"),
        path=as_named(path),
        privacy=scalar("privacy", _choice(*labels), ", ".join(labels), _default_privacy(labels)),
        weight=scalar("weight", _number(0.0), "a number above 0, 1 for no change", 1.0),
        include=file.texts((*place, "include"), keys.get("include")),
        exclude=file.texts((*place, "exclude"), keys.get("exclude")),
        half_life_days=scalar(
            "half_life_days",
            lambda text: None if text == "none" else _number(0.0)(text),
            "a number of days above 0, or none",
            None,
        ),
    )


def _default_privacy(labels: tuple[str, ...]) -> str:
    return DEFAULT_PRIVACY if DEFAULT_PRIVACY in labels else labels[-1]


def _models(file: _File) -> ModelSettings:
    keys = file.mapping((), file.result.value, ("embedder", "reranker", "chat"), "models.yaml")
    chosen: dict[str, Any] = {}
    for role, value in keys.items():
        name = file.scalar((role,), value, str, "the name of a model, or none")
        chosen[role] = "" if name == "none" else name
    if chosen.get("embedder") == "":
        raise file.error(("embedder",), "'embedder' is 'none'", "allowed: e5-small (the default) or another embedder")
    return ModelSettings(**chosen)


def _privacy_labels(file: _File) -> tuple[str, ...]:
    keys = file.mapping((), file.result.value, ("privacy", "fusion", "late"), "settings.yaml")
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


def _fusion(file: _File) -> FusionSettings:
    value = file.result.value
    value = value.get("fusion") if isinstance(value, dict) else None
    keys = file.mapping(("fusion",), value, FUSION_KEYS, "fusion")
    chosen: dict[str, Any] = {}
    if "method" in keys:
        chosen["method"] = file.scalar(("fusion", "method"), keys["method"], _choice("convex", "rrf"), "convex, rrf")
    for key in FUSION_KEYS[1:-1]:
        if key in keys:
            chosen[key] = file.scalar(("fusion", key), keys[key], _share, "a number from 0 to 1")
    if "rrf_k" in keys:
        chosen["rrf_k"] = file.scalar(("fusion", "rrf_k"), keys["rrf_k"], _positive, "a whole number from 1")
    return FusionSettings(**chosen)


def _late(file: _File) -> bool:
    value = file.result.value
    if not isinstance(value, dict) or "late" not in value:
        return True
    return file.scalar(("late",), value["late"], _choice("on", "off"), "on, off") == "on"


def _share(text: str) -> float:
    number = _number(0.0, inclusive=True)(text)
    if number > 1:
        raise ValueError(text)
    return number


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


# -- writing -------------------------------------------------------------------------------------------------

WAIT_S = 60.0
"""How long a change waits for another process that changes the same file; each takes some milliseconds."""

HEAD = """\
# What second-brain reads. One entry a source; `brain add` appends here, and you may edit by hand.
#   name, path        needed
#   kind              markdown (default)
#   privacy           public, work, personal (default), secret
#   weight            1.0; more lifts its hits, less lowers them
#   half_life_days    age at which a hit counts half; leave out for notes that do not age
#   include, exclude  lists of patterns, as in .gitignore
sources:
"""


def add_source(
    settings: Settings, path: Path, *, name: str | None, kind: str, privacy: str | None, kinds: list[str]
) -> tuple[Settings, SourceSettings]:
    """Append a source to ``sources.yaml`` as it is now; the settings with it, and the source.

    Many processes may do it at once: each sees what those before it wrote.
    """
    folder = as_named(path)
    if not os.path.exists(disk_bytes(folder)):  # noqa: PTH110 - bytes, for locales that cannot spell the path
        raise UsageError(f"{folder} does not exist", hint="give the folder that holds your notes")
    if not os.path.isdir(disk_bytes(folder)):  # noqa: PTH112
        raise UsageError(f"{folder} is a file, expected a folder", hint=f"add its folder: brain add '{folder.parent}'")
    if kind not in kinds:
        raise UsageError(f"kind '{kind}' is not known; kinds: {', '.join(kinds)}")
    if privacy is not None and privacy not in settings.privacy_labels:
        raise UsageError(f"privacy '{privacy}' is not one of: {', '.join(settings.privacy_labels)}")
    with _as_on_disk(settings) as current:
        for other in current.sources:
            if other.path == folder:
                raise UsageError(
                    f"{folder} is already the source '{other.name}'", hint=f"type `brain index {other.name}`"
                )
        name = _checked_name(name, folder, {source.name for source in current.sources})
        added = SourceSettings(name, kind, folder, privacy or _default_privacy(settings.privacy_labels))
        keys = {"name": name, "kind": kind, "path": str(folder), "privacy": added.privacy}
        entry = "- " + "  ".join(f"{key}: {_quoted(value)}\n" for key, value in keys.items())
        changed = replace(current, sources=(*current.sources, added))
        _write_checked(settings.sources_file, _appended(_text_of(settings.sources_file), entry), changed)
        return changed, added


def remove_source(settings: Settings, name: str) -> Settings:
    """Take a source's own lines out of ``sources.yaml`` as it is now, if it is there; the settings without it."""
    with _as_on_disk(settings) as current:
        left = tuple(source for source in current.sources if source.name != name)
        changed = replace(current, sources=left)
        if left != current.sources:
            position = next(i for i, source in enumerate(current.sources) if source.name == name)
            _write_checked(settings.sources_file, _without(_text_of(settings.sources_file), position), changed)
        return changed


@contextmanager
def _as_on_disk(settings: Settings) -> Iterator[Settings]:
    """The settings with the sources that the file lists now; until the end nobody else changes it."""
    file = settings.sources_file
    try:
        lock = file_lock(file.with_name(f".{file.name}.lock"), wait_s=WAIT_S)
    except TimeoutError as error:
        raise ConfigError(
            f"{file}: another process has been changing it for more than {WAIT_S:.0f} s",
            hint="wait for the other `brain`, or stop it, and try again",
        ) from error
    except OSError as error:
        raise ConfigError(f"{file}: cannot be written ({error.strerror})", hint="check its folder") from error
    with lock:
        yield replace(settings, sources=_sources(_read(file), settings.privacy_labels))


def _without(text: str, position: int) -> str:
    """The file without the entry at ``position``."""
    lines = text.splitlines(keepends=True)
    places = load_yaml("".join(lines)).lines
    prefix: tuple[str | int, ...] = ("sources",) if ("sources",) in places else ()
    # An entry goes from its dash to the next entry's, or to the first later line that is indented less.
    start = places[(*prefix, position)] - 1
    while not lines[start].lstrip().startswith("-") and start:
        start -= 1
    depth = _indent(lines[start])
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > depth):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return "".join(lines[:start] + lines[end:])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _checked_name(name: str | None, folder: Path, taken: set[str]) -> str:
    """The name that was asked for, or a free one after the folder's."""
    if name is None:
        name = _free_name(folder, taken)
    if not NAME.fullmatch(name) or name != name.strip():
        raise UsageError(f"'{name}' cannot name a source", hint="use letters, digits, '.', '-', '_' and inner spaces")
    if name in taken:
        raise UsageError(f"a source is already named '{name}'", hint="choose another with --name")
    return name


def _free_name(folder: Path, taken: set[str]) -> str:
    stem = re.sub(r"[^\w.\- ]+", "-", folder.name).strip("-_. ")[:60] or "notes"
    number = 2
    name = stem
    while name in taken:
        name, number = f"{stem}-{number}", number + 1
    return name


def _quoted(text: str) -> str:
    """A text as a YAML scalar: plain where no reader could take it for anything else."""
    if re.fullmatch(r"[A-Za-z/~][\w./~\-]*", text, re.ASCII) and text.lower() not in (
        "null", "true", "false", "yes", "no", "on", "off", "y", "n", "~",
    ):  # fmt: skip
        return text
    return "'" + text.replace("'", "''") + "'"


def _text_of(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        return ""


def _appended(text: str, entry: str) -> str:
    """The file with one more entry, indented as the last one is."""
    if not text.strip():
        return HEAD + entry
    result = load_yaml(text)
    value = result.value
    entries = value.get("sources") if isinstance(value, dict) else value
    if entries is None:
        head = text if text.endswith("\n") else text + "\n"
        return head + (entry if isinstance(value, dict) else "sources:\n" + entry)
    prefix: tuple[str | int, ...] = ("sources",) if isinstance(value, dict) else ()
    lines = text.splitlines(keepends=True)
    last = result.lines[(*prefix, len(entries) - 1)] - 1 if isinstance(entries, list) and entries else 0
    depth = _indent(lines[last])
    indented = "".join(" " * depth + line for line in entry.splitlines(keepends=True))
    end = len(lines)
    while not lines[end - 1].strip():
        end -= 1
    if not lines[end - 1].endswith("\n"):
        lines[end - 1] += "\n"
    return "".join(lines[:end]) + indented + "".join(lines[end:])


def _write_checked(file: Path, text: str, expected: Settings) -> None:
    """Replace the file at once, after making sure that it will read as expected."""
    hint = f"edit {file} by hand: it is written in a way that only you should change"
    try:
        read = _sources(_File(file, load_yaml(text)), expected.privacy_labels)
    except (YamlError, ConfigError) as error:
        raise ConfigError(f"{file}: the change would not read back ({error})", hint=hint) from error
    if read != expected.sources:
        raise ConfigError(f"{file}: the change would alter other entries", hint=hint)
    try:
        write_atomically(file, text)
    except OSError as error:
        raise ConfigError(f"{file}: cannot be written ({error.strerror})", hint="check its folder") from error


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
