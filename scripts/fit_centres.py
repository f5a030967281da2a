"""Writes src/second_brain/models/e5_centres.npz: the means of passages and questions (see ``models/centres.py``).

    python scripts/fit_centres.py --sets ../shared/eval

Means are over the example vault and the sets, each counting the same: over their passages, and over those questions
that are of the *tune* half. Whoever writes them anew raises the version in ``E5Embedder.identity``. Takes some minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from fit_token_projection import passages

from second_brain import config
from second_brain.analysis.scripts import SCRIPTS, script_of
from second_brain.evals.beir import load_beir
from second_brain.evals.golden import load_golden
from second_brain.evals.questions import half
from second_brain.models.centres import FILE, MEASURED
from second_brain.models.e5 import E5Embedder
from second_brain.models.projection import projection

ROOT = Path(__file__).parent.parent

MOST = 300
"""Texts of a set, evenly spread: more of them do not move a mean."""

FEWEST = 20
"""Texts in a script before a set says something about it."""


def chosen(texts: Sequence[str]) -> list[str]:
    """At most ``MOST`` of them."""
    return list(texts[:: -(-len(texts) // MOST)])


def by_script(texts: Sequence[str], vectors: np.ndarray) -> list[np.ndarray | None]:
    """The mean of the vectors in each measured script, None where there are too few."""
    scripts = np.array([SCRIPTS[script_of(text)] for text in texts])
    return [vectors[scripts == name].mean(axis=0) if (scripts == name).sum() >= FEWEST else None for name in MEASURED]


def means(found: Sequence[Sequence[np.ndarray | None]]) -> np.ndarray:
    """The mean over the sets, by script: shape (scripts, dimensions)."""
    return np.array([np.mean([of for of in column if of is not None], axis=0) for column in zip(*found, strict=True)])


def main() -> None:
    """Embed, average, write."""
    options = argparse.ArgumentParser()
    options.add_argument("--sets", type=Path, required=True)
    corpora = [
        load_beir(folder) for folder in sorted(options.parse_args().sets.iterdir()) if (folder / "qrels.tsv").exists()
    ]
    texts = [
        list(passages()),
        *([f"{title}\n{text}".strip() for title, text in of.documents.values()] for of in corpora),
    ]
    asked = [load_golden(ROOT / "eval" / name) for name in ("golden.jsonl", "multi.jsonl", "paraphrases.jsonl")]
    asked += [of.questions for of in corpora]
    questions = [[question.text for question in of if half(question.id) == "tune"] for of in asked]

    embedder = E5Embedder(config.load().model_cache)
    found: dict[str, list[list[np.ndarray | None]]] = {"passages": [], "questions": [], "tokens": []}
    for some in map(chosen, texts):
        found["passages"].append(by_script(some, embedder.raw_vectors(some, question=False)))
    for some in map(chosen, questions):
        found["questions"].append(by_script(some, embedder.raw_vectors(some, question=True)))
        own = [projection().telling(vectors, ids).mean(axis=0) for vectors, ids in embedder.embed_query_tokens(some)]
        found["tokens"].append(by_script(some, np.array(own)))
    np.savez(
        ROOT / "src/second_brain/models" / FILE, **{name: means(of).astype(np.float32) for name, of in found.items()}
    )


if __name__ == "__main__":
    main()
