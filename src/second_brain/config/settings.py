"""The settings as values, checked."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from ..answering.settings import RerankSettings
from ..errors import UsageError
from ..ranking.adjust import Adjustments
from ..ranking.fusion import FusionSettings

PRIVACY_LABELS = ("public", "work", "personal", "secret")
"""From the least to the most private."""

DEFAULT_PRIVACY = "personal"
NAME = re.compile(r"[^\W_][\w.\- ]{0,63}")
"""A source's name: letters and digits of any language, '.', '-', '_', inner spaces."""


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """One entry of ``sources.yaml``. ``path`` is absolute. ``weight`` and ``half_life_days`` None: by kind and type of
    each document, see ``ranking.adjust``; an infinite half-life: documents do not age.

    ``archive``: of a store whose files other programs delete, copies are kept, up to ``archive_limit_mb``.
    ``commits``: so many commit messages of a repository are documents too.
    """

    name: str
    kind: str
    path: Path
    privacy: str = DEFAULT_PRIVACY
    weight: float | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    half_life_days: float | None = None
    archive: bool = True
    archive_limit_mb: int = 2000
    commits: int = 0


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """A model behind HTTP. Texts with a label above ``privacy`` are never sent there.

    ``key_variable`` names the environment variable that holds the key, '' for none. Prices are for a million tokens,
    in whatever money. ``tokens_per_day`` 0: no cap.
    """

    url: str
    model: str = ""
    privacy: str = PRIVACY_LABELS[-1]
    key_variable: str = ""
    timeout_s: float = 120.0
    context_tokens: int = 8192
    tokens_per_day: int = 0
    price_in: float = 0.0
    price_out: float = 0.0


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """``models.yaml``: which model plays which role. A reranker is a model of the hub by name, or an endpoint."""

    embedder: str = "e5-small"
    reranker: str | EndpointSettings | None = None
    chat: EndpointSettings | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, checked. ``privacy_labels`` from the least to the most private.

    ``see``: the command line shows nothing above this label unless it is told otherwise; '' for everything.
    ``redact``: secrets are masked in what is kept of documents. ``decompose``: agentic questions are taken apart by
    'rules' or by the 'chat' model.
    """

    home: Path
    index: Path
    model_cache: Path
    sources: tuple[SourceSettings, ...] = ()
    models: ModelSettings = ModelSettings()
    fusion: FusionSettings = FusionSettings()
    adjustments: Adjustments = field(default_factory=Adjustments)
    late: bool = True
    privacy_labels: tuple[str, ...] = PRIVACY_LABELS
    rerank: bool = True
    reranking: RerankSettings = field(default_factory=RerankSettings)
    decompose: str = "rules"
    see: str = ""
    redact: bool = True
    allowed_roots: tuple[Path, ...] = ()
    public_hosts: tuple[str, ...] = ()

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
