"""One brain for all who ask a server: opened when it is first needed, and kept in step with its settings."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..library import Brain
    from .metrics import Metrics


class Brains:
    """Views of one brain. Safe to use from many threads; making it opens and loads nothing.

    ``opening`` opens the brain. What it raises is raised by each question until it succeeds: somebody may mend the
    settings meanwhile. ``models_elsewhere``: the brain is on another machine and has its models there. ``metrics``
    counts the searches of all of them, where somebody looks at that.
    """

    def __init__(
        self, opening: Callable[[], Brain], metrics: Metrics | None = None, *, models_elsewhere: bool = False
    ) -> None:
        self._models_elsewhere = models_elsewhere
        self.metrics = metrics
        self._opening = opening
        self._lock = threading.Lock()
        self._brain: Brain | None = None
        self._loaded: dict[str, threading.Event] = {}

    def seen_by(self, label: str) -> Brain:
        """The view up to a privacy label ('' for all that was opened), by the settings of now. Raises ConfigError."""
        with self._lock:
            if self._brain is None:
                self._brain = self._opening()
            brain = self._brain
        brain.follow()
        return brain.seen_by(label) if label else brain

    def has_model(self, brain: Brain, *, wait_s: float) -> bool:
        """Whether the embedder is loaded, or has failed to; the first who asks begins to load it.

        Not before: a server that nobody asks holds no model, and the bundled one is there within ``wait_s``.
        """
        if self._models_elsewhere:
            return True
        name = brain.embedder().identity  # another generation may have another one
        with self._lock:
            begun = self._loaded.get(name)
            loaded = begun or self._loaded.setdefault(name, threading.Event())
        if begun is None:
            threading.Thread(target=_load, args=(brain, loaded), name="model", daemon=True).start()
        return loaded.wait(wait_s)

    def close(self) -> None:
        """Close the index, if it was opened."""
        with self._lock, contextlib.suppress(Exception):
            if self._brain is not None:
                self._brain.close()


def _load(brain: Brain, loaded: threading.Event) -> None:
    with contextlib.suppress(Exception):  # a search will meet the same error, and tell it
        brain.embedder().embed_queries(["a first question"])
    loaded.set()
