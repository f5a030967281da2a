"""Several questions in one, taken apart by their words; pure, and quick to give up.

A question that no rule below recognizes is one part. Rules know English and Japanese, and split only where each part
still says something by itself: a wrong split costs more than a missed one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ..analysis import query_terms
from ..analysis.scripts import UNSPACED
from ..analysis.stopwords import STOPWORDS

Known = Callable[[str], bool]
"""Whether a note has this name, in whatever spelling."""

MOST_PARTS: Final = 4
"""More questions at once are asked as one."""

LONGEST: Final = 600
"""Characters; what is longer was pasted and is not taken apart."""

_QUOTES: Final = re.compile('["“`「『]')
"""Quoted words are not ours to part."""

_ASKS: Final = r"(?:what|which|who|whom|whose|where|when|why|how|did|do|does|is|are|was|were|can|could|should|will)"
_SENTENCES: Final = re.compile(r"(?<=[?？])\s*(?=\S)|(?<=。)\s*(?=\S)|\n+")
_AND_ASKS: Final = re.compile(rf"\s*[,;]?\s+(?:and|but)\s+(?={_ASKS}\b)", re.IGNORECASE)
_BEGINS_TO_ASK: Final = re.compile(rf"\W*(?:(?:and|but|so|also)\s+)?{_ASKS}\b", re.IGNORECASE)
_JOINED_JA: Final = re.compile(r"(?<=か)[、,]?\s*(?:また|それと|それから|そして|あと)[、,]?\s*|(?<=か)[、,]\s*")
_ASKS_JA: Final = re.compile(
    r"何|誰|だれ|どこ|いつ(?!も)|なぜ|(?<!ぶ)どう|いくら|いくつ|どれ|(?<!な)どの|どんな|どちら|どっち"
)
_HAS_JAPANESE: Final = re.compile(f"[{UNSPACED}]")

_TAIL: Final = r"(?P<tail>\s+(?:in|for|on|when|at|by|regarding|about|with respect to)\s.*)?"
_COMPARED: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"^.*?\b(?:differences?|distinction|comparison)\s+between\s+(?P<a>.+?)\s+and\s+(?P<b>.+?){_TAIL}$",
        rf"^(?:please\s+|can\s+you\s+|how\s+do(?:es)?\s+)?compare\s+(?P<a>.+?)\s+(?:and|with|to|against)\s+(?P<b>.+?){_TAIL}$",
        r"^how\s+(?:do|does|did|is|are|was|were)\s+(?P<a>.+?)\s+(?:differ(?:ent)?|compare)"
        rf"\s+(?:from|to|with)\s+(?P<b>.+?){_TAIL}$",
        rf"^how\s+(?:do|did|are|were)\s+(?P<a>.+?)\s+and\s+(?P<b>.+?)\s+(?:differ(?:ent)?|compare)\b{_TAIL}$",
        r"^(?:(?P<tail>[^:,?]*\b(?:which|better|cheaper|faster|safer)\b[^:,?]*)[:,]\s*)"
        r"(?P<a>[^,?]+?)\s+or\s+(?P<b>[^,?]+)$",
        rf"^(?!{_ASKS}\b)(?P<a>.{{1,60}}?)\s+(?:vs\.?|versus)\s+(?P<b>.+?){_TAIL}$",
    )
)
_STAND_IN: Final = re.compile(r"\b(?:those|that|the\s+ones?|ones?)\b", re.IGNORECASE)
_OF: Final = re.compile(r"\s+(?:of|in|from|before|after|for|on|at)\s+.*$|(?:'s|’s)\s.*$", re.IGNORECASE | re.DOTALL)
_ARTICLE: Final = re.compile(r"^(?:the|a|an|our|my|your)\s+", re.IGNORECASE)

_COMPARES_JA: Final = r"違い|比較|比べ|どちら|どっち|どう(?:違|異)"
_COMPARED_JA: Final = re.compile(
    rf"^(?P<a>[^。？?]+?)と(?!いう|いっ|いわ|して|した|する|し、|なる|なっ|思|考|の|も|は|が|、)(?P<b>[^、。？?は]+)"
    rf"(?P<rest>(?:は|、)[^。]*?(?:{_COMPARES_JA}).*|(?<=[のをが])(?:{_COMPARES_JA}).*)$",
    re.DOTALL,
)
_COMPARING_WORDS_JA: Final = re.compile(
    r"どう(?:違|異な)\w*|(?:違い|比較|比べ|どちら|どっち)(?:たい|て|る|の?か|は|が|も|を)*|教えて|ください|何|ですか|でしょうか"
    r"|[。？?、はのをがで]+$"
)

_MONTHS: Final = "January|February|March|April|June|July|August|September|October|November|December"
_DATE: Final = rf"(?:(?:19|20)[0-9]{{2}}(?:年|-[0-9]{{2}})?|[0-9]{{1,2}}月|(?:{_MONTHS})\b)"
_HAS_DATE: Final = re.compile(_DATE)
_AND: Final = re.compile(r"\s+and\s+|(?<![月年日])と(?!いう|して|した|する|なる|なっ|の|も|は|、)")
_GLUE: Final = STOPWORDS | {"in", "on", "at", "by", "for", "from", "since", "until"}
_RANGE: Final = re.compile(r"\b(?:between|from)\b", re.IGNORECASE)
_NAMED_PAIR: Final = re.compile(
    r"(?P<a>[^,、。?？]+?)\s+(?:and|or)\s+(?:(?:with|to|from|for|of|by|about)\s+)?(?P<b>[^,、。?？]+)"
)
_NAMED_PAIR_JA: Final = re.compile(r"(?P<a>[^、。?？\s]+)(?:と|や)(?P<b>[^、。?？\s]+)")
_LONGEST_NAME: Final = 4
"""Words."""


def decompose(text: str, known: Known = lambda name: False) -> tuple[str, ...]:
    """The questions in a text, in its order; the text itself where it is one.

    Args:
        text: a question as asked.
        known: tells names of notes, so that "Ines and Genzo" are two people and "salt and pepper" is not two things.

    Returns:
        One to ``MOST_PARTS`` texts, no two alike, each with at least one word that tells something.
    """
    text = text.strip()
    if len(text) > LONGEST or _QUOTES.search(text):
        return (text,)
    for rule in (_compared, _sentences, lambda asked: _named(asked, known), _dated):
        parts = tuple(dict.fromkeys(" ".join(part.split()).strip(",;、 ") for part in rule(text)))
        if 1 < len(parts) <= MOST_PARTS and all(query_terms(part).terms for part in parts):
            return parts
    return (text,)


def _sentences(text: str) -> list[str]:
    """Sentences that ask, and clauses joined by "and how" or か、また; none unless every piece asks."""
    pieces: list[str] = []
    for sentence in _SENTENCES.split(text):
        clauses = (_JOINED_JA if _HAS_JAPANESE.search(sentence) else _AND_ASKS).split(sentence)
        pieces.extend(clauses if all(map(_asks, clauses)) else [sentence])
    return pieces if all(map(_asks, pieces)) else []


def _asks(piece: str) -> bool:
    asks = _ASKS_JA.search(piece) if _HAS_JAPANESE.search(piece) else _BEGINS_TO_ASK.match(piece)
    return bool(asks or piece.rstrip().endswith(("?", "？"))) and _stands_alone(piece)


def _stands_alone(piece: str) -> bool:
    """Whether a clause says what it is about: two words that tell, one of them no date."""
    return len(query_terms(_HAS_DATE.sub("", piece)).terms) >= 2


def _compared(text: str) -> list[str]:
    asked = text.rstrip("?？。. ")
    for pattern in _COMPARED:
        found = pattern.match(asked)
        if found:
            first, second, tail = found["a"].strip(), found["b"].strip(), (found["tail"] or "").strip()
            head = _ARTICLE.sub("", _OF.sub("", first))
            second = _STAND_IN.sub(head, second) if _STAND_IN.search(second) else second
            return [f"{first} {tail}".strip(), f"{second} {tail}".strip()]
    found = _COMPARED_JA.match(asked)
    if not found:
        return []
    first, second, rest = found["a"], found["b"].rstrip("のをが"), found["rest"]
    context = _COMPARING_WORDS_JA.sub("", rest).strip("のはをが、 ")
    shared = second.rpartition("の")[2] if "の" in second else ""
    if shared and shared not in first:
        first = f"{first}の{shared}"
    return [f"{part} {context}".strip() for part in (first, second)]


def _named(text: str, known: Known) -> list[str]:
    """One question for each of two names that are coordinated in it."""
    for pattern, joiner in ((_NAMED_PAIR, " "), (_NAMED_PAIR_JA, "")):
        for found in pattern.finditer(text):
            pair = _names(found["a"], found["b"], joiner, known)
            if pair:
                first, second = pair
                start, end = found.start("a") + len(found["a"]) - len(first), found.start("b") + len(second)
                return [f"{text[:start]}{name}{text[end:]}" for name in pair]
    return []


def _names(before: str, after: str, joiner: str, known: Known) -> tuple[str, str] | None:
    """The longest names that end before the conjunction and begin after it."""
    first = next((name for name in _endings(before, joiner) if known(name)), "")
    second = next((name for name in _beginnings(after, joiner) if known(name)), "") if first else ""
    return (first, second) if second else None


def _endings(text: str, joiner: str) -> list[str]:
    if joiner:
        words = text.split(joiner)
        return [joiner.join(words[-count:]) for count in range(min(_LONGEST_NAME, len(words)), 0, -1)]
    return [text[start:] for start in range(max(0, len(text) - 12), len(text) - 1)]


def _beginnings(text: str, joiner: str) -> list[str]:
    if joiner:
        words = text.split(joiner)
        return [joiner.join(words[:count]) for count in range(min(_LONGEST_NAME, len(words)), 0, -1)]
    return [text[:end] for end in range(min(12, len(text)), 1, -1)]


def _dated(text: str) -> list[str]:
    """Two halves that each name a date: the first "and" between them parts them."""
    for found in _AND.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        if _HAS_DATE.search(before) and _HAS_DATE.search(after) and not _RANGE.search(before):
            if set(query_terms(_HAS_DATE.sub("", after)).terms) - _GLUE:
                return [before, after]
            return [before, f"{_HAS_DATE.sub(' ', before)} {after}"]
    return []
