"""A session's summary by a chat model: part by part, then one of all parts, whatever the session's length.

What the model answers is text to be read, not trusted: only bullets below known headings count, and each must come
from a turn that exists. Commands and files are never the model's: they are taken from the session itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..analysis.tokens import estimated_tokens
from ..errors import ModelError
from ..models.endpoint import Refused
from ..protocols import ChatModel, Message
from ..secrets import redact
from ..types import Document
from .extract import extractive
from .ledger import Ledger, key_of
from .summary import Statement, Summary, Turn, signature, turns

ANSWER_TOKENS = 1_200
"""The most that is asked for at once."""

MARGIN_TOKENS = 200
"""Left free of the context, since tokens are estimated."""

MOST_STATEMENTS = 30
"""Of one part; what a model says beyond is not kept."""

LONGEST_STATEMENT = 500

SMALLEST_PART = 500
"""Tokens; a context that leaves less is too small to be of use."""

NAMED = ("happened", "decided", "solved", "open")
MARK = "{{text}}"
PROMPT_FILES = ("part.md", "whole.md")

_LIVE = re.compile(r"!\[|\[\[|\]\(|\]\]")
_HEADING = re.compile(r"^#{1,6}\s*(\w+)")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(.+?)\s*$")
_TURNS = re.compile(r"\s*[\[［(（]\s*(?:turns?\s*)?(\d+(?:\s*[,、–-]\s*\d+)*)\s*[\]］)）][.。]?\s*$")


@dataclass(frozen=True, slots=True)
class Prompts:
    """The two prompts, with ``MARK`` where the text goes."""

    part: str
    whole: str


def load_prompts(folder: Path) -> Prompts:
    """The user's prompts where ``folder`` has them (``part.md``, ``whole.md``), else ours. Raises ModelError."""
    texts = []
    for name in PROMPT_FILES:
        own = folder / name
        text = own.read_text(encoding="utf-8") if own.exists() else shipped(name)
        if MARK not in text:
            raise ModelError(f"{own}: {MARK} is missing, where the text goes", hint="add it, or delete the file")
        texts.append(text)
    return Prompts(*texts)


def shipped(name: str) -> str:
    """A prompt as it comes with us."""
    from importlib.resources import files

    return files("second_brain.distill.prompts").joinpath(name).read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Condenser:
    """Asks one model. Every answer is kept before it is used; none is asked for twice."""

    model: ChatModel
    prompts: Prompts
    ledger: Ledger
    context_tokens: int
    timeout_s: float

    def summary(self, document: Document) -> Summary:
        """The summary of a session.

        Raises:
            ModelError: the model failed, or said nothing that could be read.
            CapReached: the day's tokens are spent; what was answered is kept.
        """
        read = list(turns(document))
        room = self._room(self.prompts.part)
        answers = [self._ask(self.prompts.part, part) for part in parts(read, room)]
        while len(answers) > 1:
            groups = list(_grouped(answers, self._room(self.prompts.whole)))
            if len(groups) == len(answers):  # each fills a request by itself: no more can be put together
                answers = ["\n".join(answers)]
                break
            answers = [self._ask(self.prompts.whole, group) for group in groups]
        own = extractive(document)
        found = read_answer(answers[0] if answers else "", read)
        if not any(found.values()):
            raise ModelError(f"{self.model.identity} named nothing that could be traced to the session")
        return Summary(self.model.identity, **found, commands=own.commands, files=own.files)

    def requests(self, document: Document) -> list[int]:
        """The tokens of each request that the parts would need, for an estimate; answers that are kept cost none."""
        asked = (
            self.prompts.part.replace(MARK, part)
            for part in parts(list(turns(document)), self._room(self.prompts.part))
        )
        return [estimated_tokens(text) for text in asked if self.ledger.kept(self._key(text)) is None]

    def _room(self, prompt: str) -> int:
        room = self.context_tokens - ANSWER_TOKENS - MARGIN_TOKENS - estimated_tokens(prompt)
        if room < SMALLEST_PART:
            raise ModelError(
                f"a context of {self.context_tokens} tokens leaves {max(room, 0)} for the session",
                hint="raise `context_tokens` in models.yaml to what the model can read, or shorten the prompts",
            )
        return room

    def _key(self, text: str) -> str:
        return key_of(self.model.identity, text)

    def _ask(self, prompt: str, text: str) -> str:
        text = prompt.replace(MARK, text)
        key = self._key(text)
        kept = self.ledger.kept(key)
        if kept is not None:
            return kept.text
        reserved = estimated_tokens(text) + ANSWER_TOKENS
        self.ledger.reserve(reserved)
        try:
            answer = self.model.complete([Message("user", text)], max_tokens=ANSWER_TOKENS, deadline_s=self.timeout_s)
        except Refused:
            self.ledger.settle(reserved, 0)
            raise
        self.ledger.keep(key, answer)
        counted = answer.prompt_tokens + answer.completion_tokens
        self.ledger.settle(reserved, counted or reserved)
        return answer.text


def parts(read: Sequence[Turn], room: int) -> Iterator[str]:
    """The whole session in pieces of at most ``room`` tokens, each line with the number of its turn."""
    lines: list[str] = []
    size = 0
    for turn in read:
        for line in _lines(turn):
            for piece in _pieces(line, room):
                tokens = estimated_tokens(piece) + 1
                if size + tokens > room and lines:
                    yield "\n".join(lines)
                    lines, size = [], 0
                lines.append(piece)
                size += tokens
    if lines:
        yield "\n".join(lines)


def _lines(turn: Turn) -> Iterator[str]:
    for block in turn.blocks:
        if block.text:
            yield f"[{turn.number}] {block.kind}: {block.text}"


def _pieces(line: str, room: int) -> Iterator[str]:
    """A line as it is, or cut where it is longer than a whole part."""
    while estimated_tokens(line) >= room:
        cut = max(len(line) * (room - 1) // (estimated_tokens(line) + 1), 1)
        yield line[:cut]
        line = line[cut:]
    if line:
        yield line


def _grouped(answers: Sequence[str], room: int) -> Iterator[str]:
    group: list[str] = []
    size = 0
    for answer in answers:
        tokens = estimated_tokens(answer) + 1
        if group and size + tokens > room:
            yield "\n\n".join(group)
            group, size = [], 0
        group.append(answer)
        size += tokens
    if group:
        yield "\n\n".join(group)


def read_answer(answer: str, read: Sequence[Turn]) -> dict[str, tuple[Statement, ...]]:
    """The statements of an answer by part; one that names no turn goes to the turn whose words it shares most."""
    known = {turn.number for turn in read}
    words = {turn.number: signature(" ".join(block.text for block in turn.blocks)) for turn in read}
    found: dict[str, list[Statement]] = {name: [] for name in NAMED}
    part = ""
    for line in answer.split("\n"):
        heading = _HEADING.match(line)
        if heading:
            part = heading.group(1).casefold()
            continue
        bullet = _BULLET.match(line)
        if part not in found or not bullet:
            continue
        text = bullet.group(1)
        numbers: tuple[int, ...] = ()
        cited = _TURNS.search(text)
        if cited:
            text = text[: cited.start()]
            numbers = tuple(dict.fromkeys(n for n in _numbers(cited.group(1)) if n in known))
        if not numbers:
            numbers = _likeliest(signature(text), words)
        text = _plain(text)
        if text and numbers and len(found[part]) < MOST_STATEMENTS:
            found[part].append(Statement(text, numbers))
    return {name: tuple(statements) for name, statements in found.items()}


def _plain(text: str) -> str:
    """A model's sentence as plain text: no link, picture, embed, element or heading comes of it, and no secret."""
    text = _LIVE.sub(lambda found: found.group(0)[0] + " " + found.group(0)[1:], text[: 4 * LONGEST_STATEMENT])
    text, _ = redact(" ".join(text.replace("<", "‹").replace(">", "›").lstrip("#> ").split()))
    return text if len(text) <= LONGEST_STATEMENT else text[: LONGEST_STATEMENT - 1].rstrip() + "…"


def _numbers(cited: str) -> Iterator[int]:
    for entry in re.split(r"[,、]", cited):
        ends = [int(number) for number in re.findall(r"\d+", entry)]
        yield from range(ends[0], min(ends[-1], ends[0] + 20) + 1) if len(ends) == 2 else ends


def _likeliest(words: frozenset[str], of_turns: dict[int, frozenset[str]]) -> tuple[int, ...]:
    """The turn that shares most words with a statement, if that is half of them at least."""
    best = max(of_turns, key=lambda number: (len(words & of_turns[number]), -number), default=None)
    if best is None or not words or len(words & of_turns[best]) * 2 < len(words):
        return ()
    return (best,)
