"""A cross-encoder kept to its deadline: whatever it does, the answer comes, and says whether it was reranked."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ..errors import BrainError, DeadlineMissed
from ..protocols import Reranker, Scores
from ..types import Explanation, Hit, Signal
from .settings import RerankSettings

LOADING_S = 2.0
"""So much longer the first search of a process may take, while the model is loaded."""


@dataclass(slots=True)
class Reranking:
    """The stage. ``load`` yields the model, None where none is wanted; it is called when first needed, and once.

    ``may_read`` says which hits may be sent to it: a model behind HTTP has a privacy label.
    """

    load: Callable[[], Reranker | None]
    settings: RerankSettings = field(default_factory=RerankSettings)
    may_read: Callable[[Hit], bool] = lambda hit: True
    _model: Reranker | None = None
    _loaded: bool = False
    _warm: bool = False
    _busy: threading.Lock = field(default_factory=threading.Lock)

    def order(self, text: str, hits: Sequence[Hit]) -> tuple[list[Hit], str]:
        """The hits with the first candidates in the order of the model, and '' or why they are in their old order.

        What was multiplied into a score before (a source's weight, age, status) counts again. A document that the
        question names stays first. Hits that the model may not read keep their places.
        """
        try:
            model = self.ready()
            if model is None:
                return list(hits), ""
            slots = [
                place
                for place, hit in enumerate(hits[: self.settings.candidates])
                if not _named(hit) and self.may_read(hit)
            ]
            scores = self._scored(model, text, [hits[place] for place in slots])
        except BrainError as error:
            return list(hits), f"not reranked: {error}" + (f"; {error.hint}" if error.hint else "")
        judged = [
            _judged(hits[place], place, score, model.identity) for place, score in zip(slots, scores, strict=True)
        ]
        judged.sort(key=lambda hit: (-hit.score, hit.id))
        ordered = list(hits)
        for place, hit in zip(slots, judged, strict=True):
            ordered[place] = hit
        return ordered, ""

    @property
    def wanted(self) -> bool:
        """Whether there is a model to ask, or one that cannot be loaded."""
        try:
            return self.ready() is not None
        except BrainError:
            return True

    def ready(self) -> Reranker | None:
        """The cross-encoder, loaded at the first call; None without one."""
        if not self._loaded:
            self._model = self.load()
            self._loaded = True
        return self._model

    def _scored(self, model: Reranker, text: str, hits: Sequence[Hit]) -> list[float]:
        """Scores of unit range. A model that does not keep its deadline is left alone until it is done."""
        if not hits:
            return []
        if not self._busy.acquire(blocking=False):
            raise DeadlineMissed(f"{model.identity} still works on an earlier search")
        deadline_s = self.settings.deadline_ms / 1000
        outcome: list[Scores | Exception] = []
        done = threading.Event()

        def work() -> None:
            try:
                outcome.append(model.score(text, [_passage(hit) for hit in hits], deadline_s=deadline_s))
            except Exception as error:  # whatever an adapter raises, which may be anybody's
                outcome.append(error)
            finally:
                self._busy.release()
                done.set()

        # A daemon: a model that never answers must not keep the process alive.
        threading.Thread(target=work, name="rerank", daemon=True).start()
        if not done.wait(deadline_s if self._warm else deadline_s + LOADING_S):
            raise DeadlineMissed(f"{model.identity} did not answer within {self.settings.deadline_ms} ms")
        self._warm = True
        (result,) = outcome
        if isinstance(result, BrainError):
            raise result
        if isinstance(result, Exception):
            raise BrainError(f"{model.identity} failed: {type(result).__name__}: {result}")
        scores = [float(score) for score in result]
        if len(scores) != len(hits) or not all(map(math.isfinite, scores)):
            raise BrainError(f"{model.identity} gave {len(scores)} scores for {len(hits)} passages, or not all finite")
        if all(0.0 <= score <= 1.0 for score in scores):
            return scores
        return [1.0 / (1.0 + math.exp(-min(max(score, -60.0), 60.0))) for score in scores]


def _passage(hit: Hit) -> str:
    return "\n".join((" › ".join(dict.fromkeys((hit.title, *hit.heading_path))), hit.text))


def _named(hit: Hit) -> bool:
    return any(signal.name == "name" for signal in hit.explanation.signals)


def _judged(hit: Hit, place: int, score: float, identity: str) -> Hit:
    signals = hit.explanation.signals
    explanation = Explanation(
        (
            *signals,
            Signal("fused", "multiply", 0.0, f"rank {place + 1} before reranking, score {hit.score:.4f}"),
            Signal("rerank", "add", score, identity),
            *(signal for signal in signals if signal.operation == "multiply"),
        )
    )
    return replace(hit, score=round(explanation.replay(), 9), explanation=explanation)
