"""Where Qdrant is and how it keeps what it is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Quantization = Literal["none", "scalar", "binary"]


@dataclass(frozen=True, slots=True)
class QdrantSettings:
    """One of ``url`` (a server) and ``path`` (a folder for the client's local mode) is given.

    ``key_variable`` names the environment variable with the API key, '' for none. ``prefix`` begins the name of every
    collection. ``shards`` and ``replicas`` hold for collections that are made from now on; 0 shards: Qdrant chooses.
    """

    url: str = ""
    path: Path | None = None
    key_variable: str = ""
    prefix: str = "brain"
    quantization: Quantization = "none"
    shards: int = 0
    replicas: int = 1
    timeout_s: int = 5

    @property
    def place(self) -> str:
        """Where it is, as people are told."""
        return self.url or str(self.path)
