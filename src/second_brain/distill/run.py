"""Which sessions are summarized, where the notes go, and what is told of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from .. import wiring
from ..config import EndpointSettings, SourceSettings, write_atomically
from ..errors import BrainError, NotFound, UsageError
from ..library import Brain
from ..protocols import Progress, Source
from ..types import Document, Item
from .condense import ANSWER_TOKENS, PROMPT_FILES, Condenser, load_prompts, shipped
from .extract import extractive
from .ledger import CapReached, Ledger
from .note import Existing, file_name, recognized, rendered, session_hash

SOURCE = "summaries"
"""The name of the source that holds the notes."""

QUIET = timedelta(minutes=60)
"""A session in which something was said so lately is still going on."""

SHORTEST = 250
"""Characters of a session; of less there is nothing to be summarized."""

State = Literal["written", "planned", "unchanged", "edited", "active", "short", "unreadable", "failed", "waiting"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one session."""

    session: str
    title: str
    state: State
    path: str = ""
    by: str = ""
    detail: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class DistillReport:
    """What one run did, or would do; ``tokens`` that a chat model reads and writes, at most, and their ``cost``."""

    outcomes: tuple[Outcome, ...]
    folder: Path
    notices: tuple[str, ...] = ()
    requests: int = 0
    tokens: int = 0
    cost: float = 0.0

    def counts(self) -> Counter[str]:
        """How many sessions came to each state."""
        return Counter(outcome.state for outcome in self.outcomes)


@dataclass(slots=True)
class _Plan:
    requests: int = 0
    tokens: int = 0
    cost: float = 0.0
    notices: list[str] = field(default_factory=list)


def distill(
    brain: Brain,
    names: Sequence[str] = (),
    *,
    now: datetime,
    progress: Progress,
    dry_run: bool = False,
    use_model: bool = True,
    again: bool = False,
    limit: int | None = None,
    quiet: timedelta = QUIET,
) -> DistillReport:
    """Write one summary note for each session that has none or changed since.

    Args:
        brain: whose session sources are read, and whose ``summaries`` source gets the notes.
        names: sources, or the beginnings of session uris or ids; empty means all sessions.
        now: the time of the run.
        progress: told ``("distill", done, total)``.
        dry_run: nothing is written or sent; the report says what would be.
        use_model: ask the chat model of models.yaml where the session's label allows it.
        again: also sessions whose summary is up to date; what a person edited is kept even so.
        limit: so many notes at most, newest sessions first.
        quiet: a session that changed within so long is still going on, and waits.

    Raises:
        UsageError: there is no source of sessions.
        NotFound: a name fits no session.
    """
    brain.must_see_all("write summaries")
    sources = [setting for setting in brain.settings.sources if setting.kind in wiring.SESSION_KINDS]
    if not sources:
        raise UsageError(
            "there is no source of sessions",
            hint="type `brain add ~/.claude/projects --kind claude-session-jsonl`, then `brain index`",
        )
    folder = _folder(brain)
    existing = {note.session: note for note in map(recognized, sorted(folder.glob("*.md"))) if note}
    chat = brain.settings.models.chat if use_model else None
    condenser = _condenser(brain, chat, now) if chat else None
    plan = _Plan()
    outcomes: list[Outcome] = []
    found = sorted(_items(brain, sources, names), key=lambda entry: (entry[1].modified, entry[1].uri), reverse=True)
    written = 0
    progress("distill", 0, len(found))
    for done, (setting, item, source) in enumerate(found, start=1):
        if limit is not None and written >= limit:
            break
        for document in _documents(brain, source, item, outcomes):
            if document.type != "session" or not _wanted(document, names):
                continue
            label = brain.settings.label(setting.name, document.privacy)
            allowed = chat is not None and label in brain.settings.labels_up_to(chat.privacy)
            outcome = _one(
                document, label, existing.get(document.uri), folder, condenser if allowed else None, chat, plan,
                now=now, dry_run=dry_run, again=again, quiet=quiet,
            )  # fmt: skip
            outcomes.append(outcome)
            written += outcome.state in ("written", "planned")
        progress("distill", done, len(found))
    if names and not outcomes:
        raise NotFound(f"no session answers to {', '.join(names)}", hint="`brain recent --type session` lists them")
    if any(outcome.state == "written" for outcome in outcomes):
        _index(brain, folder)
    return DistillReport(tuple(outcomes), folder, tuple(plan.notices), plan.requests, plan.tokens, plan.cost)


def _one(
    document: Document,
    label: str,
    existing: Existing | None,
    folder: Path,
    condenser: Condenser | None,
    chat: EndpointSettings | None,
    plan: _Plan,
    *,
    now: datetime,
    dry_run: bool,
    again: bool,
    quiet: timedelta,
) -> Outcome:
    def outcome(state: State, *, by: str = "", detail: str = "", path: Path | None = None, tokens: int = 0) -> Outcome:
        return Outcome(document.uri, document.title, state, str(path or ""), by, detail, tokens)

    if len(document.text) < SHORTEST:
        return outcome("short")
    if existing and existing.edited:
        return outcome("edited", path=existing.path, detail="you changed it; delete the file to have it written again")
    if existing and existing.session_hash == session_hash(document) and not again:
        return outcome("unchanged", path=existing.path)
    if timedelta(0) <= now - _ended(document) < quiet and not again:
        return outcome("active", detail="it changed just now")
    if condenser and chat:
        requests = condenser.requests(document)
        tokens = sum(requests) + ANSWER_TOKENS * len(requests)
        cost = (sum(requests) * chat.price_in + ANSWER_TOKENS * len(requests) * chat.price_out) / 1e6
        plan.requests, plan.tokens, plan.cost = plan.requests + len(requests), plan.tokens + tokens, plan.cost + cost
        if dry_run:
            return outcome("planned", by=condenser.model.identity, tokens=tokens)
    elif dry_run:
        return outcome("planned", by="extractive")
    summary, detail = extractive(document), ""
    if condenser:
        try:
            summary = condenser.summary(document)
        except CapReached as reached:
            if str(reached) not in plan.notices:
                plan.notices.append(f"{reached}; {reached.hint}")
            return outcome("waiting", detail=str(reached))
        except BrainError as error:
            return outcome("failed", detail=f"{error}; {error.hint}".rstrip("; "))
    path = existing.path if existing else folder / file_name(document)
    write_atomically(path, rendered(document, summary, privacy=label, now=now))
    return outcome("written", by=summary.by, path=path, detail=detail)


def _ended(document: Document) -> datetime:
    """When the session was last heard of: by its own words, else by its file."""
    try:
        ended = datetime.fromisoformat(str(document.metadata.get("ended", "")))
    except ValueError:
        return document.modified
    return ended if ended.tzinfo else document.modified


# -- sessions ------------------------------------------------------------------------------------------------


def _items(
    brain: Brain, sources: Sequence[SourceSettings], names: Sequence[str]
) -> Iterator[tuple[SourceSettings, Item, Source]]:
    """What the sources of sessions list, archived ones included."""
    named = {name for name in names if any(setting.name == name for setting in sources)}
    for setting in sources:
        if named and setting.name not in named and len(named) == len(names):
            continue
        source = wiring.source(setting, brain.settings)
        for item in source.scan().items:
            yield setting, item, source


def _wanted(document: Document, names: Sequence[str]) -> bool:
    """Whether a document is asked for: by its source, the beginning of its uri, or of its session's id."""
    session = str(document.metadata.get("session", ""))
    return not names or any(
        name == document.source or document.uri.startswith(name) or (len(name) >= 4 and session.startswith(name))
        for name in names
    )


def _documents(brain: Brain, source: Source, item: Item, outcomes: list[Outcome]) -> Iterator[Document]:
    """An item's documents, redacted as they are when they are indexed; one that cannot be read is named."""
    try:
        blob = source.read(item)
        yield from map(brain.cleaned, wiring.parser(item).parse(blob))
    except (BrainError, OSError) as error:
        outcomes.append(Outcome(item.uri, item.uri, "unreadable", detail=str(error)))


# -- where it goes -------------------------------------------------------------------------------------------


def _folder(brain: Brain) -> Path:
    """The folder of the source ``summaries``, or where it will be."""
    for setting in brain.settings.sources:
        if setting.name == SOURCE:
            return setting.path
    return brain.settings.index.parent / SOURCE


def _index(brain: Brain, folder: Path) -> None:
    """Make the folder a source if it is none, and read it."""
    if not any(setting.name == SOURCE for setting in brain.settings.sources):
        brain.add(folder, name=SOURCE, privacy=brain.settings.privacy_labels[0])  # each note has its session's label
    brain.sync([SOURCE])


def _condenser(brain: Brain, chat: EndpointSettings, now: datetime) -> Condenser:
    model = wiring.chat(brain.settings)
    assert model is not None  # models.yaml names one: it is ``chat``
    today = now.astimezone().date()
    return Condenser(
        model=model,
        prompts=load_prompts(brain.settings.home / "prompts"),
        ledger=Ledger(brain.settings.index.parent / "distill", tokens_per_day=chat.tokens_per_day, today=today),
        context_tokens=chat.context_tokens,
        timeout_s=chat.timeout_s,
    )


def write_prompts(home: Path) -> list[tuple[Path, bool]]:
    """Put our prompts into ``home/prompts``, to be changed there: (path, whether written); what is there stays."""
    written = []
    for name in PROMPT_FILES:
        path = home / "prompts" / name
        fresh = not path.exists()
        if fresh:
            write_atomically(path, shipped(name))
        written.append((path, fresh))
    return written
