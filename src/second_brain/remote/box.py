"""What is known of one box on this machine: the line to it, where its files lie here, and what it answered.

What outlives the process lies in a folder for one box and one token: answers, the generation that answered last, and
the folders that were sent.
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from .. import config, wire
from ..config import Settings
from ..config.files import address
from ..errors import BrainError, ConfigError
from .answers import Answers
from .connection import Line, Seen
from .hubs import LocalHubs
from .paths import PathRules

if TYPE_CHECKING:
    from ..library import Brain

MOST_NAMES = 8_000
"""Names of hits that are remembered, so that they can be read here while the box is away."""


class Box:
    """What all views of one box have in common: the line, the rules, what was answered, this machine's own brain.

    ``reading`` yields the settings of now and the token that they name. See ``RemoteBrain`` for the others.
    """

    def __init__(
        self,
        settings: Settings,
        token: str,
        consumer: str,
        reading: Callable[[], tuple[Settings, str]] | None,
        local: Callable[[], Brain] | None,
    ) -> None:
        self.settings = settings
        self.lock = threading.Lock()
        self.sources: tuple[wire.RemoteSource, ...] | None = None
        self.short: OrderedDict[str, str] = OrderedDict()
        self._places: OrderedDict[tuple[str, str], tuple[str, str]] = OrderedDict()
        self._token = token
        self.consumer = consumer
        self._reading = reading
        self._opening = local
        self._local: Brain | None = None
        self._stamp: object = config.stamp(settings.home)
        self._take(settings)

    def _take(self, settings: Settings) -> None:
        self.settings = settings
        remote = settings.remote
        self.line = Line(remote, self._token, self.consumer)
        who = blake2b(f"{remote.url}\0{self._token}".encode(), digest_size=8).hexdigest()
        self.folder = settings.index.parent / "remote" / who
        self.answers = Answers(self.folder / "answers", remote.cache_mb << 20)
        self.rules = PathRules((*remote.paths, *self._learned().items()))
        self.hubs = LocalHubs(self.rules)
        self._written: Seen | None = None

    def follow(self) -> None:
        """See ``RemoteBrain.follow``."""
        with self.lock:
            stamp = config.stamp(self.settings.home)
            if self._reading is None or stamp == self._stamp:
                return
            settings, token = self._reading()
            self._stamp = stamp
            if (settings.remote, token) != (self.settings.remote, self._token):
                self.line.close()
                self._token = token
                self._take(settings)
            self.settings = settings

    def close(self) -> None:
        """Close the connections, and the local index if it was opened."""
        self.line.close()
        with self.lock:
            if self._local is not None:
                self._local.close()
                self._local = None

    def here(self, path: str) -> str:
        """The path of the file here, if there is one; else the box's own."""
        file = self.rules.file(path)
        return path if file is None else str(file)

    def remember(self, answer: wire.SearchAnswer, clearance: str) -> None:
        """Short ids and places of the hits that were shown to a view."""
        with self.lock:
            self.short.update(answer.short_ids)
            for hit in (*answer.hits, *answer.rolled_up):
                for name in (hit.id, answer.short_ids.get(hit.id, hit.id), hit.uri, hit.title, hit.path):
                    self._places[clearance, name] = hit.uri, hit.path
            while len(self.short) > MOST_NAMES:
                self.short.popitem(last=False)
            while len(self._places) > MOST_NAMES:
                self._places.popitem(last=False)

    def place(self, name: str, clearance: str) -> tuple[str, str] | None:
        """Uri and path there of what was shown to a view under this name: nothing else may be read for it."""
        with self.lock:
            return self._places.get((clearance, name))

    # -- what outlives the process -----------------------------------------------------------------------

    def remember_seen(self) -> None:
        """Write down which generation answered, where that is news."""
        seen = self.line.seen
        if seen is None or (
            self._written and (self._written.generation, self._written.index) == (seen.generation, seen.index)
        ):
            return
        self._written = seen
        said = json.dumps({"generation": seen.generation, "when": seen.when.timestamp()})
        try:
            config.write_atomically(self.folder / "seen.json", said + "\n")
        except OSError:
            return  # a disk that takes nothing keeps no answers either

    def last_generation(self) -> str:
        """The generation whose kept answers count: the one that is expected, else the one that answered last.

        It may have answered another process of this machine.
        """
        if self.settings.remote.expects:
            return self.settings.remote.expects
        found = _read_object(self.folder / "seen.json")
        when = found.get("when")
        seen = self.line.seen
        if seen is not None and not (isinstance(when, float) and when > seen.when.timestamp()):
            return seen.generation
        return str(found.get("generation", ""))

    def learn(self, rules: Mapping[str, str]) -> None:
        """See ``RemoteBrain.learn``."""
        with self.lock:
            known = self._learned()
            if rules.items() <= known.items():
                return
            known.update(rules)
            config.write_atomically(self.folder / "paths.json", json.dumps(known, indent=1, ensure_ascii=False) + "\n")
            self.rules = PathRules((*self.settings.remote.paths, *known.items()))
            self.hubs = LocalHubs(self.rules)

    def _learned(self) -> dict[str, str]:
        found = _read_object(self.folder / "paths.json")
        return {there: here for there, here in found.items() if isinstance(here, str)}

    def local_brain(self) -> Brain | None:
        """This machine's own brain, if it has an index."""
        if self._opening is None or not self.settings.index.exists():
            return None
        with self.lock:
            if self._local is None:
                try:
                    self._local = self._opening()
                except BrainError:
                    return None
            return self._local


def address_of(url: str) -> str:
    """The address of a box as somebody typed it. Raises ConfigError."""
    try:
        return address(url if "://" in url else f"http://{url}").rstrip("/")
    except ValueError as error:
        raise ConfigError(f"'{url}' is no address of a box", hint="write it like http://box:8765") from error


def token_of(settings: Settings, environment: Mapping[str, str]) -> str:
    """The token that the settings name. Raises ConfigError when its variable is not set."""
    name = settings.remote.key_variable or "BRAIN_TOKEN"
    token = environment.get(name, "").strip()
    if not token and settings.remote.key_variable:
        raise ConfigError(
            f"settings.yaml takes the token for {settings.remote.url} from ${name}, which is not set",
            hint=f"set {name} to what `brain token add` showed on the box",
        )
    return token


def machine_name() -> str:
    """This machine's name, as a consumer calls itself."""
    import platform

    name = re.sub(r"[^\w.\-]+", "-", platform.node().partition(".")[0]).strip("-_.")[:60]
    return name or "machine"


def asking(path: str, values: Mapping[str, str]) -> str:
    """A path with the values of its query; empty ones are left out."""
    given = {name: value for name, value in values.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def _read_object(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
