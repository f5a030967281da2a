"""The settings as values, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..answering.settings import RerankSettings
from ..errors import UsageError
from ..index.qdrant.settings import QdrantSettings
from ..ranking.adjust import Adjustments
from ..ranking.fusion import FusionSettings

PRIVACY_LABELS = ("public", "work", "personal", "secret")
"""From the least to the most private."""

DEFAULT_PRIVACY = "personal"
DEFAULT_COLLECTION = "vault"
SESSION_KINDS = frozenset(
    ("claude-session-jsonl", "codex-session-jsonl", "gemini-session", "chatgpt-export", "claude-export")
)
"""Kinds of source whose documents are sessions."""

DEFAULT_COLLECTIONS = {**dict.fromkeys(sorted(SESSION_KINDS), "sessions"), "code": "code", "repo": "code"}
"""The collection of a source by its kind while the settings name none; all others are in the default one."""

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
    """``models.yaml``: which model plays which role: an embedder that is installed, a reranker of the hub, or an
    endpoint.
    """

    embedder: str | EndpointSettings = "e5-small"
    reranker: str | EndpointSettings | None = None
    chat: EndpointSettings | None = None


@dataclass(frozen=True, slots=True)
class Every:
    """Again and again, counted from midnight: ``minutes`` divides the hour, or is whole hours that divide the day."""

    minutes: int


@dataclass(frozen=True, slots=True)
class Daily:
    """Once a day, at this local time."""

    hour: int
    minute: int


@dataclass(frozen=True, slots=True)
class ScheduleSettings:
    """When jobs run that nobody starts by hand, as ``brain schedule install`` writes it; None for never."""

    index: Every | Daily | None = Every(60)
    distill: Every | Daily | None = Daily(4, 30)
    embed: Every | Daily | None = Daily(5, 0)


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """The brain on another machine that answers `brain mcp --remote`. ``url`` '' is none.

    ``key_variable`` names the environment variable that holds the token. ``paths`` are (folder there, folder here).
    ``expects`` is the only generation whose answers are taken, '' for any. ``name`` is how we call ourselves there, ''
    for this machine's own name.
    """

    url: str = ""
    key_variable: str = ""
    paths: tuple[tuple[str, str], ...] = ()
    expects: str = ""
    cache_mb: int = 32
    timeout_s: float = 20.0
    name: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, checked. ``privacy_labels`` from the least to the most private.

    ``see``: the command line shows nothing above this label unless it is told otherwise; '' for everything.
    ``redact``: secrets are masked in what is kept of documents. ``decompose``: agentic questions are taken apart by
    'rules' or by the 'chat' model. ``index`` is the file of the first generation until ``generations.placed`` makes it
    that of the one that is opened, whose name is ``generation`` then. ``qdrant``: where the copy is that ranks, None
    without one. ``named_collections`` are the sources of each as written, see ``collections``.
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
    generation: str = ""
    schedule: ScheduleSettings = ScheduleSettings()

    remote: RemoteSettings = RemoteSettings()
    qdrant: QdrantSettings | None = None
    named_collections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    default_collection: str = DEFAULT_COLLECTION

    @property
    def collections(self) -> Mapping[str, tuple[str, ...]]:
        """The sources of each collection, the default one first; others only if they have any.

        A source that no collection names belongs to the default one; while none is named at all, sessions and code
        have their own.
        """
        held: dict[str, list[str]] = {self.default_collection: []}
        by_source = {source: name for name, sources in self.named_collections.items() for source in sources}
        for source in self.sources:
            by_kind = DEFAULT_COLLECTIONS.get(source.kind, self.default_collection)
            name = self.default_collection if self.named_collections else by_kind
            held.setdefault(by_source.get(source.name, name), []).append(source.name)
        return {name: tuple(sources) for name, sources in held.items()}

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
