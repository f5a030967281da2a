"""What a client can take besides tools: notes as resources, and prompts that a person picks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from ..errors import Ambiguous, NotFound, UsageError
from .desk import Desk
from .reading import passage
from .toolsets import MOST_TOKENS

SCHEME = "note://"
TEMPLATE = SCHEME + "{+path}"
PAGE = 100
"""Resources of a page."""

MOST_COMPLETIONS = 20


@dataclass(frozen=True, slots=True)
class Resource:
    """A note that can be read under an address."""

    uri: str
    title: str


def listed(desk: Desk, cursor: str) -> tuple[list[Resource], str]:
    """A page of notes, newest first, and the cursor for the next one, '' at the end. Raises UsageError."""
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 8):
        raise UsageError("this is no cursor of ours")
    from ..answering.packing import seen

    first = int(cursor or 0)
    found = desk.brain.recent(limit=first + PAGE + 1)
    page = [Resource(_address(note.uri), seen(note.title or note.uri)[:160]) for note in found[first : first + PAGE]]
    return page, str(first + PAGE) if len(found) > first + PAGE else ""


def read(desk: Desk, uri: str) -> str:
    """The text of a note, marked as data and cut like an answer.

    Raises UsageError, in the same words for what is unknown, hidden, outside, or of another scheme.
    """
    name = unquote(uri[len(SCHEME) :]) if uri.startswith(SCHEME) else ""
    try:
        note = desk.brain.get(name)
    except (NotFound, Ambiguous):
        note = None
    if note is None or note.document.uri != name:  # by its uri alone: a title is no address
        raise UsageError(f"there is no resource {uri[:200]}")
    return passage(note, MOST_TOKENS).text


def completed(desk: Desk, typed: str) -> list[str]:
    """Paths of notes that begin with what was typed, else those whose title holds it."""
    from ..types import Filter

    brain = desk.brain
    begun = unquote(typed).lstrip("/")
    filters = [Filter(path_prefix=begun), Filter(titles=(begun,))] if begun.strip() else [Filter()]
    for filter in filters:
        found = brain.recent(limit=MOST_COMPLETIONS, filter=filter)
        if found:
            return [quote(note.uri, safe="/") for note in found]
    return []


def _address(uri: str) -> str:
    return SCHEME + quote(uri, safe="/")


@dataclass(frozen=True, slots=True)
class Prompt:
    """Words that a person sends with one key. ``topic``: whether they are asked for one."""

    name: str
    title: str
    description: str
    text: str
    topic: bool = False


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "recall",
            "Recall",
            "What is known about a topic",
            "Look up what my notes, sessions and code say about: {topic}\nUse search_knowledge, read the best notes,"
            " and answer with path and line of each source. Say it if nothing fits.",
            topic=True,
        ),
        Prompt(
            "brief",
            "Brief",
            "Where the work stands",
            "Tell me in ten lines where my work stands: what I wrote and decided last (list_recent_notes), what is"
            " open, and what comes next. Name the notes.",
        ),
    )
}


def prompted(name: str, given: Mapping[str, str]) -> Prompt:
    """The prompt with its topic. Raises UsageError where there is no such prompt, or its topic is missing."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise UsageError(f"there is no prompt '{name[:80]}'; prompts: {', '.join(PROMPTS)}")
    topic = given.get("topic", "").strip()
    if prompt.topic and not topic:
        raise UsageError(f"'{name}' needs a topic")
    return replace(prompt, text=prompt.text.replace("{topic}", topic))
