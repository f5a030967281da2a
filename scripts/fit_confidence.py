"""Fits the constants of ``answering.confidence`` and says how far they can be believed.

    python scripts/fit_confidence.py --sets ../shared/eval --cache .eval

Questions are put to the corpus that answers them, to the same corpus with their answers taken out of the list, and to
the other corpora, which have no answer. ``make eval`` must have filled the cache before. Fitted on the *tune* halves
by Newton's method, answerable and unanswerable questions weighing alike, languages too; reported on the *held* halves.
"""

from __future__ import annotations

import argparse
import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from second_brain import wiring
from second_brain.answering.confidence import DOUBTFUL, Evidence, measure
from second_brain.evals.questions import NOW, half
from second_brain.evals.vaults import cached_index, default_settings
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.retrieval import Retriever
from second_brain.types import Query

FEATURES = (
    ("coverage", "late", "dense", "margin"),
    ("late", "dense", "margin"),
    ("coverage", "dense"),
    ("coverage",),
)
A_SET = 300
"""Questions of a set that are put to its own corpus."""

ELSEWHERE = 60
"""Questions of a set that are put to each other corpus."""

SAME = frozenset(("xquad-en", "xquad-zh"))
"""Corpora with the same documents in two languages: questions of one are answered by the other, across languages."""

LIMIT = 10


@dataclass(frozen=True)
class Case:
    """A question put to a corpus: what was measured, and whether one of the first hits answers."""

    question: str
    home: str
    corpus: str
    kind: str
    answered: bool
    evidence: Evidence


def questions(name: str, sets: Path) -> list[tuple[str, str, set[str]]]:
    """(id, text, uris that answer) of a set."""
    if name == "golden":
        lines = [json.loads(line) for line in Path("eval/golden.jsonl").read_text().splitlines()]
        return [(q["id"], q["query"], {f"vault/{r['path']}" for r in q["relevant"]}) for q in lines]
    judged: dict[str, set[str]] = {}
    for line in (sets / name / "qrels.tsv").read_text().splitlines():
        question, document, grade = line.split("\t")
        if grade.isdecimal() and int(grade) > 0:
            judged.setdefault(question, set()).add(f"{name}/{document}/_")
    rows = (json.loads(line) for line in (sets / name / "queries.jsonl").read_text().splitlines())
    return [(row["_id"], row["text"], judged[row["_id"]]) for row in rows if row["_id"] in judged]


def cases(sets: Path, cache: Path) -> Iterator[Case]:
    """Every question in every corpus it is put to."""
    settings = default_settings()
    embedder = wiring.embedder(settings, settings.model_cache)
    homes = {"golden": cached_index(cache, Path("example-vault"))}
    homes |= {path.parent.parent.name: path for path in sorted(cache.glob("*-*/*/index.db"))}
    asked = {name: questions(name, sets) for name in homes if name != "chunking-spans"}
    for corpus, path in homes.items():
        index = SqliteIndex(path)
        retriever = Retriever(index, lambda: embedder, settings.fusion, late=True)
        for home, its in asked.items():
            across = home != corpus and {home, corpus} == SAME
            answering = home == corpus or across
            for id, text, relevant in its[: A_SET if answering else ELSEWHERE]:
                if across:
                    relevant = {uri.replace(f"{home}/", f"{corpus}/", 1) for uri in relevant}
                hits = retriever.search(Query(text, NOW, 2 * LIMIT, per_document=1)).hits
                found = measure(index, embedder, text, hits[:LIMIT])
                answers = answering and any(hit.uri in relevant for hit in hits[:LIMIT])
                name = f"{home} across" if across else home
                yield Case(f"{home}-{id}", name, corpus, "own" if answering else "other", answers, found)
                if answering:
                    rest = [hit for hit in hits if hit.uri not in relevant][:LIMIT]
                    yield Case(f"{home}-{id}", name, corpus, "removed", False, measure(index, embedder, text, rest))
        index.close()
        print(corpus, flush=True)


def fit(rows: np.ndarray, answered: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Constant and weights of a logistic model; a little ridge keeps it finite."""
    design = np.hstack([np.ones((len(rows), 1)), rows])
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-design @ beta))
        gradient = design.T @ (weights * (answered - chance)) - 1e-3 * beta
        hessian = (design * (weights * chance * (1 - chance))[:, None]).T @ design + 1e-3 * np.eye(len(beta))
        beta += np.linalg.solve(hessian, gradient)
    return beta


def balanced(chosen: Sequence[Case]) -> np.ndarray:
    """Weights under which each set counts the same, and in it answered and unanswered questions."""
    groups: dict[tuple[str, bool], int] = {}
    for case in chosen:
        groups[case.home, case.answered] = groups.get((case.home, case.answered), 0) + 1
    return np.array([1 / groups[case.home, case.answered] for case in chosen]) * len(chosen) / len(groups)


def own_id(case: Case) -> str:
    """The question's id in its set."""
    return case.question.removeprefix(f"{case.home.removesuffix(' across')}-")


def language(case: Case) -> str:
    """The language of a set."""
    names = {"golden": "notes", "jsquad-ja": "ja", "xquad-en": "en", "xquad-zh": "zh", "cosqa-dev": "code"}
    return names.get(case.home, "across")


def chances(chosen: Sequence[Case], names: Sequence[str], beta: np.ndarray) -> np.ndarray:
    """What a model says of each case."""
    rows = np.array([[getattr(case.evidence, name) for name in names] for case in chosen])
    return 1 / (1 + np.exp(-(beta[0] + rows @ beta[1:])))


def main() -> None:
    """Measure, fit, report."""
    options = argparse.ArgumentParser()
    options.add_argument("--sets", type=Path, required=True)
    options.add_argument("--cache", type=Path, default=Path(".eval"))
    options.add_argument("--keep", type=Path, help="where the measured cases are kept between two runs")
    chosen = options.parse_args()
    if chosen.keep and chosen.keep.exists():
        every = pickle.loads(chosen.keep.read_bytes())
    else:
        every = list(cases(chosen.sets, chosen.cache))
        if chosen.keep:
            chosen.keep.write_bytes(pickle.dumps(every))
    tune = [case for case in every if half(own_id(case)) == "tune"]
    held = [case for case in every if half(own_id(case)) == "held"]
    for names in FEATURES:
        fitted, tested = of_model(tune, names), of_model(held, names)
        rows = np.array([[getattr(case.evidence, name) for name in names] for case in fitted])
        answered = np.array([case.answered for case in fitted], dtype=float)
        beta = fit(rows, answered, balanced(fitted))
        print(f"\n{names}: ({', '.join(f'{value:.2f}' for value in beta)})")
        for title, part in (("tune", fitted), ("held", tested)):
            report(title, part, chances(part, names, beta))


def of_model(cases: Sequence[Case], names: Sequence[str]) -> list[Case]:
    """The cases that a model is for: those with hits in the question's own script where it looks at coverage."""
    own = "coverage" in names
    known = (case for case in cases if all(getattr(case.evidence, name) is not None for name in names))
    return [case for case in known if (case.evidence.coverage is not None) == own]


def report(title: str, part: Sequence[Case], chance: np.ndarray) -> None:
    """Print how far what was told was observed, and how often the threshold errs, by language."""
    answered, weights = np.array([case.answered for case in part]), balanced(part)
    loss = -np.average(np.log(np.where(answered, chance, 1 - chance)), weights=weights)
    print(f"{title}: {len(part)} cases, log loss {loss:.3f}, area {area(chance, answered, weights):.3f}")
    for low in np.arange(0, 1, 0.1):
        inside = (chance >= low) & (chance < low + 0.1)
        if inside.any():
            told, seen = (np.average(values[inside], weights=weights[inside]) for values in (chance, answered))
            print(f"  {low:.1f} to {low + 0.1:.1f}: {inside.sum():5} cases, told {told:.2f}, observed {seen:.2f}")
    for name in dict.fromkeys(map(language, part)):
        of = np.array([language(case) == name for case in part])
        said = []
        if (of & answered).any():
            doubted = (chance[of & answered] < DOUBTFUL).mean()
            said = [f"area {area(chance[of], answered[of], weights[of]):.3f}", f"answered but doubted {doubted:.3f}"]
        for kind in ("other", "removed"):
            these = of & np.array([case.kind == kind for case in part])
            if these.any():
                said.append(f"not doubted though absent ({kind}) {(chance[these] >= DOUBTFUL).mean():.3f}")
        print(f"  {name:8} {of.sum():5} cases, " + ", ".join(said))


def area(chance: np.ndarray, answered: np.ndarray, weights: np.ndarray) -> float:
    """How often an answered case is told a higher chance than one that is not."""
    order = np.argsort(chance, kind="stable")
    below = np.cumsum(np.where(answered[order], 0, weights[order]))
    return float(np.sum(np.where(answered[order], weights[order] * below, 0)) / weights[answered].sum() / below[-1])


if __name__ == "__main__":
    main()
