"""second-brain: one memory over notes, sessions and code, for people and their agents.

    from second_brain import Brain
    with Brain.open() as brain:
        brain.sync()
        for hit in brain.search("how did we fix the pump?").hits:
            print(hit.title, hit.path)

Names are resolved when first used, so that importing the package loads no model and no numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from .errors import BrainError
    from .library import Brain
    from .types import Filter, Hit, SearchResult

__all__ = ["Brain", "BrainError", "Filter", "Hit", "SearchResult", "__version__"]

_HOMES = {
    "Brain": "library",
    "BrainError": "errors",
    "Filter": "types",
    "Hit": "types",
    "SearchResult": "types",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
