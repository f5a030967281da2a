"""What the settings say of answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """``rerank``: how long a cross-encoder may take, and how many candidates it reads."""

    deadline_ms: int = 800
    candidates: int = 30
