"""Every retrieval set of a folder, each by its form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .. import wiring
from ..config import Settings
from ..errors import UsageError
from ..protocols import Progress
from .beir import FILES, run_beir
from .questions import silent
from .results import Evaluation
from .spans import run_spans
from .systems import Plan
from .vaults import default_settings


def run_sets(
    folder: Path,
    *,
    names: Sequence[str] = (),
    cache: Path = Path(".eval"),
    settings: Settings | None = None,
    plan: Plan = Plan(),
    progress: Progress = silent,
) -> list[Evaluation]:
    """Ask the questions of the retrieval sets that lie in a folder.

    The first time a set is indexed and its documents and questions embedded, which takes minutes; later only what
    changed since. What is kept lies in ``cache``, never in the user's own index.

    Args:
        folder: each folder in it that holds ``corpus.jsonl`` (BEIR form) or ``questions.csv`` (spans) is a set.
        names: only these sets; empty means all.
        cache: may be deleted at any time.
        settings: whose models and fusion are measured; None means the defaults.
        plan: what is wanted.
        progress: told what is being done.

    Returns:
        One evaluation for each set, in order of name.

    Raises:
        UsageError: there is no such set, or one is not well formed.
        MissingExtra: ir-measures, or a peer, is not installed.
        ModelError: the embedder cannot be loaded.
    """
    found = {path.name: path for path in sorted(folder.glob("*/")) if _is_beir(path) or _is_spans(path)}
    unknown = [name for name in names if name not in found]
    if unknown or not found:
        raise UsageError(
            f"{folder} holds no retrieval set" + (f" '{unknown[0]}'" if unknown else ""),
            hint=f"sets there: {', '.join(found)}" if found else f"a set is a folder of {', '.join(FILES)}",
        )
    settings = settings or default_settings()
    embedder = wiring.embedder(settings, settings.model_cache)
    return [
        run_beir(path, cache, settings, embedder, plan, progress)
        if _is_beir(path)
        else run_spans(path, cache, settings, plan, progress)
        for name, path in found.items()
        if not names or name in names
    ]


def _is_beir(folder: Path) -> bool:
    return (folder / FILES[0]).is_file()


def _is_spans(folder: Path) -> bool:
    return (folder / "questions.csv").is_file()
