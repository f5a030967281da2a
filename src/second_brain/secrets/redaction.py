"""Masks secrets by as many characters, so that offsets, lines and the rest of the text stay as they were."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from ..types import Document, Json
from .assignments import by_place
from .formats import Found, by_form

RULES_VERSION: Final = "2"
"""Raised with every change of the rules: what is indexed is then looked through once more."""

_MASK: Final = "[redacted"
_REPEATED: Final = 8
"""A secret that its place gave away is masked elsewhere too from so many characters on."""
_REPEATED_MOST: Final = 200
"""Of so many different ones at most: more are not somebody's passwords, and each costs a look at every place."""


def redact(text: str) -> tuple[str, Mapping[str, int]]:
    """The text with its secrets masked, of the same length, and how many each rule found.

    Cost: 20 to 40 ns a character of prose; a text without a secret is returned itself.
    """
    found = _findings(text)
    if not found:
        return text, {}
    return _masked(text, found), Counter(rule for _, _, rule in found)


def redacted(document: Document) -> Document:
    """The document as it may be kept: its text, and all that was read from it.

    ``metadata["secrets"]`` counts them by rule. Its uri stays as it is.
    """
    found = _findings(document.text)
    fields = _Fields({document.text[start:end]: rule for start, end, rule in found})
    changed = replace(
        document,
        text=_masked(document.text, found),
        title=fields.text(document.title),
        type=fields.text(document.type),
        status=fields.text(document.status),
        description=fields.text(document.description),
        project=fields.text(document.project),
        tags=fields.texts(document.tags),
        aliases=fields.texts(document.aliases),
        warnings=fields.texts(document.warnings),
        sections=tuple(replace(section, path=fields.texts(section.path)) for section in document.sections),
        links=tuple(
            replace(link, target=fields.text(link.target), anchor=fields.text(link.anchor), text=fields.text(link.text))
            for link in document.links
        ),
        metadata={fields.text(key): fields.value(key, value) for key, value in document.metadata.items()},
    )
    counts = Counter(rule for _, _, rule in found) + fields.counts
    if not counts:
        return document
    before = document.metadata.get("secrets")  # masked by older rules, in a document that was kept
    if isinstance(before, dict):
        counts.update({rule: count for rule, count in before.items() if isinstance(count, int)})
    return replace(changed, metadata={**changed.metadata, "secrets": dict(sorted(counts.items()))})


class _Fields:
    """Masks the fields of a document by what was found in its text, and what each holds of its own."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self.known = {secret: rule for secret, rule in known.items() if secret.strip()}
        self.pattern = _any_of(self.known)
        self.counts: Counter[str] = Counter()

    def text(self, text: str) -> str:
        """A field masked; what only it holds is counted."""
        text, counts = redact(self._known_masked(text))
        self.counts.update(counts)
        return text

    def _known_masked(self, text: str) -> str:
        return self.pattern.sub(lambda match: mask(self.known[match[0]], match[0]), text) if self.pattern else text

    def texts(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Several fields masked."""
        return tuple(map(self.text, texts))

    def value(self, name: str, value: Json) -> Json:
        """A property masked; a text also by what its name says of it."""
        if isinstance(value, str):
            named, counts = redact(f"{name}: {self._known_masked(value)}")
            self.counts.update(counts)
            return self.text(named[len(name) + 2 :])
        if isinstance(value, list):
            return [self.value(name, inner) for inner in value]
        if isinstance(value, dict):
            return {self.text(key): self.value(key, inner) for key, inner in value.items()}
        return value


def _findings(text: str) -> list[Found]:
    """Every secret, in order, apart from each other."""
    placed = list(by_place(text))
    found = sorted({*by_form(text), *placed, *_again(text, placed)}, key=lambda entry: (entry[0], -entry[1], entry[2]))
    apart: list[Found] = []
    for start, end, rule in found:
        if (not apart or start >= apart[-1][1]) and not text.startswith(_MASK, start):
            apart.append((start, end, rule))
    return apart


def _again(text: str, placed: list[Found]) -> Iterator[Found]:
    """Where a secret that its place gave away stands once more, without that place."""
    rules = {text[start:end]: rule for start, end, rule in placed if end - start >= _REPEATED}
    pattern = _any_of(rules) if len(rules) <= _REPEATED_MOST else None
    if pattern:
        for match in pattern.finditer(text):
            yield (*match.span(), rules[match[0]])


def _any_of(secrets: Mapping[str, str]) -> re.Pattern[str] | None:
    if not secrets:
        return None
    return re.compile("|".join(map(re.escape, sorted(secrets, key=len, reverse=True))))


def _masked(text: str, found: list[Found]) -> str:
    parts: list[str] = []
    position = 0
    for start, end, rule in found:
        parts += (text[position:start], mask(rule, text[start:end]))
        position = end
    return "".join((*parts, text[position:]))


def mask(rule: str, secret: str) -> str:
    """What stands in place of a secret: as long, line by line."""
    return "\n".join(_mask_of(rule, len(line)) if line.strip() else line for line in secret.split("\n"))


def _mask_of(rule: str, length: int) -> str:
    """``[redacted:github     ]``, or as much of that as fits."""
    for label in (f"{_MASK}:{rule}", _MASK):
        if len(label) < length:
            return label.ljust(length - 1) + "]"
    return "*" * length
