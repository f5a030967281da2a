"""The statements of a session that matter, by their cues: no model, the session's own words.

What people later ask of a session is what was wanted, what was decided and why, which error came and what mended it,
what was left open, which commands and files it was about. Each has words that give it away; what they give away is
taken whole, best first, until the summary is full.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..types import Document
from .summary import PARTS, Block, Statement, Summary, Turn, signature, turns

LIMIT_BYTES = 2_350
"""Of all statements and their links together, in UTF-8; with headings and properties a note stays below 3 KB."""

LONGEST = 280
"""Characters of a statement; what is longer is cut at a word."""

NEAR = 3
"""What mends an error is looked for in its own turn and so many after it."""

ALIKE = 0.6
"""Share of common words from which on two statements are taken for one."""

LINK_BYTES = 22
"""What a statement's link to one of its turns takes, and its mark."""

SHORT = 90
"""Characters; a shorter statement takes the sentence before it along, for what it says "it" of."""

SALIENT = 3
"""A word in so few turns tells something about them."""

MOST_COMMANDS = 10

_LOOKING = re.compile(
    r"(?:ls|cat|pwd|cd|head|tail|echo|printf|rg|grep|find|which|sed -n|wc|tree|less)\b"
    r"|git (?:status|diff|log|show|branch)\b"
)
"""Commands that only look; nobody asks later which they were."""

_CUES = {
    "decided": re.compile(
        r"\b(?:decid\w+|decision|chose|chosen|choose|go(?:ing)? (?:with|for)|we(?:'ll| will) (?:use|keep|go)|"
        r"let'?s (?:use|go|keep|stick|switch|do)|instead of|rather than|settled? on|agreed|opt(?:ed|ing)? for|"
        r"switch(?:ed|ing)? to|the plan is|in the end|from now on|we (?:keep|stay)|must not|always use|never use|"
        r"recommend\w*|prefer\w*|i(?:'d| would) rather|replac\w+ .{1,40} with|drop(?:ped|ping)?|no longer|not want|"
        r"it is(?=[,.;]))\b"
        r"|決め|決定|採用|方針|ことにし|にしましょう|でいきま|で行きま|代わりに|結論|やめ|使うこと|確定|選び|選ん|切り替え|廃止",
        re.IGNORECASE,
    ),
    "solved": re.compile(
        r"\b(?:fix(?:ed|es)?|root cause|cause[ds]?|because|culprit|turns? out|resolved?|solved|solution|works? now|"
        r"now (?:works|passes|runs)|pass(?:es)? now|tests? pass|the (?:problem|issue|bug|reason) (?:was|is)|due to|"
        r"correct(?:ed|ing)|runs? again|succeeds?|is green|went wrong|goes through|wait for it)\b"
        r"|原因|直り|直し|直っ|修正|解決|対処|うまくいき|通りました|通るように|ためでした|ためです|せいで|動きました|動くように|緑に|違っていま",
        re.IGNORECASE,
    ),
    "open": re.compile(
        r"\b(?:to-?do|fixme|still (?:need|fail|open|missing|to)|remain(?:s|ing)|left to do|next step|follow[- ]?up|"
        r"not yet|unresolved|open (?:question|end|point)|haven'?t|for later|left (?:open|undone)|needs? to be)\b"
        r"|未解決|残って|残りの|残件|あとで|後で|次回|今後の|まだ(?!まだ)|課題|保留|未対応|未実装",
        re.IGNORECASE,
    ),
}

_PRECISE = re.compile(r"`[^`]+`|\b\w+[._/-]\w+|\b[a-z]+[A-Z]\w*|\d")
_FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\sa-z])|(?<=[。！？])\s*")
_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s*)?|^\s*#{1,6}\s+|^\s*>\s?")
_SPEAKER = re.compile(r"^\*\*[^*\n]{1,40}\*\*:?\s*")
_TELLING = re.compile(
    r"\w*(?:Error|Exception|Warning|Failure)\b.*|.*\b(?:fatal|panic|FAILED|failed|denied|not found|refused|cannot|"
    r"unable|undefined|error)\b.*"
)
_WORDS = re.compile(r"\w+")
_CHANGED_FOLDER = re.compile(r"^(?:cd \S+ *(?:&&|;) *)+")
_OF_THE_TOOL = re.compile(
    r"permission to use|has been denied|doesn't want to proceed|exit code \d+$|tool_use_error", re.IGNORECASE
)
"""What the agent's own program says, rather than the work."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    score: float
    turn: int
    place: int
    text: str
    whole: str


def extractive(document: Document, *, limit_bytes: int = LIMIT_BYTES) -> Summary:
    """A session's summary in its own words, at most ``limit_bytes`` of statements. Linear in the text, nearly."""
    read = list(turns(document))
    rarity = _rarity(read)
    sentences = list(_sentences(read, rarity))
    parts: dict[str, list[Statement]] = {
        "happened": _happened(read, rarity),
        "decided": _by_cue("decided", sentences),
        "solved": _solved(read, sentences),
        "open": _by_cue("open", sentences, late=True),
        "commands": _commands(read),
        "files": _files(read),
    }
    return Summary("extractive", **{name: tuple(chosen) for name, chosen in _within(parts, limit_bytes).items()})


def _within(parts: dict[str, list[Statement]], limit: int) -> dict[str, list[Statement]]:
    """The best of each part in turn until the limit is reached, none said twice, each part in order of turns."""
    chosen: dict[str, list[Statement]] = {name: [] for name in PARTS}
    said: list[frozenset[str]] = []
    waiting = {name: iter(parts[name]) for name in PARTS}
    while waiting:
        for name in [name for name in PARTS if name in waiting]:
            statement = next(waiting[name], None)
            if statement is None:
                del waiting[name]
                continue
            cost = len(statement.text.encode("utf-8")) + LINK_BYTES * len(statement.turns)
            words = signature(statement.text)
            if cost > limit or (name not in ("commands", "files") and any(_alike(words, other) for other in said)):
                continue
            chosen[name].append(statement)
            said.append(words)
            limit -= cost
    for name in ("happened", "decided", "solved", "open"):
        chosen[name].sort(key=lambda statement: statement.turns)
    return chosen


# -- statements ----------------------------------------------------------------------------------------------


def _happened(read: Sequence[Turn], rarity: Mapping[str, int]) -> list[Statement]:
    """What was asked: the first question, then those with most words that few turns have."""
    asked = []
    for turn, _, block in _blocks(read, "user"):
        text = " ".join(_SPEAKER.sub("", _FENCE.sub("", block.text)).split())
        if text:
            asked.append((_salience(text, rarity), Statement(_shortened(text), (turn.number,))))
    first, rest = asked[:1], asked[1:]
    rest.sort(key=lambda entry: (-entry[0], entry[1].turns))
    return [statement for _, statement in first] + [statement for salience, statement in rest if salience > 0]


def _by_cue(name: str, sentences: Sequence[_Candidate], *, late: bool = False) -> list[Statement]:
    """Sentences that the part's cues give away, best first; with ``late`` those of the last turns before others."""
    found = []
    for candidate in sentences:
        cues = len(_CUES[name].findall(candidate.text))
        if cues:
            found.append((cues + candidate.score + (candidate.place / 1e4 if late else 0.0), candidate))
    found.sort(key=lambda entry: (-entry[0], entry[1].place))
    return [Statement(_shortened(candidate.whole), (candidate.turn,)) for _, candidate in found]


def _solved(read: Sequence[Turn], sentences: Sequence[_Candidate]) -> list[Statement]:
    """Each error with what mended it, then what else is told as a cause or a remedy."""
    statements: list[Statement] = []
    used: set[str] = set()
    seen: set[str] = set()
    places = _places(read)
    for turn, index, block in _blocks(read, "error"):
        error = _telling_line(block.text)
        kind = re.sub(r"\d+|0x[0-9a-f]+|/\S+", "", error)
        if not error or kind in seen:
            continue
        seen.add(kind)
        place = places[turn.number, index]
        remedy = _remedy(error, turn.number, place, sentences, used)
        if remedy is None:
            edited = [b.text for t, i, b in _blocks(read, "edit") if t.number == turn.number and i > index]
            mended = f" → {edited[0]}" if edited else ""
            statements.append(Statement(f"`{error}`{mended}", (turn.number,)))
        else:
            used.add(remedy.whole)
            numbers = tuple(sorted({turn.number, remedy.turn}))
            statements.append(Statement(f"`{error}` → {_shortened(remedy.whole)}", numbers))
    others = [s for s in _by_cue("solved", sentences) if s.text not in {_shortened(text) for text in used}]
    return statements + others


def _remedy(error: str, turn: int, place: int, sentences: Sequence[_Candidate], used: set[str]) -> _Candidate | None:
    """The sentence after an error that tells best why it came or what mended it."""
    words = signature(error)
    best: tuple[float, int, _Candidate] | None = None
    for candidate in sentences:
        if candidate.place <= place or not turn <= candidate.turn <= turn + NEAR or candidate.whole in used:
            continue
        cues = len(_CUES["solved"].findall(candidate.text))
        if not cues:
            continue
        common = len(words & signature(candidate.text))
        score = cues + candidate.score + 0.5 * common - 0.5 * (candidate.turn - turn)
        if best is None or (score, -candidate.place) > best[:2]:
            best = (score, -candidate.place, candidate)
    return best[2] if best else None


def _commands(read: Sequence[Turn]) -> list[Statement]:
    """Commands that were run, those run most first and those that only look last, each with its last turn."""
    last: dict[str, int] = {}
    times: Counter[str] = Counter()
    for turn, _, block in _blocks(read, "command"):
        line = block.text.removeprefix("$").strip().partition("\n")[0]
        command = _shortened(_CHANGED_FOLDER.sub("", line).strip(), 120)
        if command:
            last[command] = turn.number
            times[command] += 1
    order = sorted(last, key=lambda command: (bool(_LOOKING.match(command)), -times[command], -last[command], command))
    return [Statement(f"`{command}`", (last[command],)) for command in order[:MOST_COMMANDS]]


def _files(read: Sequence[Turn]) -> list[Statement]:
    """Files that were edited, those edited most first, each with its turns."""
    where: dict[str, list[int]] = {}
    for turn, _, block in _blocks(read, "edit"):
        name = block.text.partition(" ")[2].strip() or block.text
        where.setdefault(name.partition("\n")[0], []).append(turn.number)
    order = sorted(where, key=lambda name: (-len(where[name]), where[name][0], name))
    return [Statement(f"`{name}`", tuple(dict.fromkeys(where[name]))[:3]) for name in order]


# -- reading -------------------------------------------------------------------------------------------------


def _blocks(read: Sequence[Turn], kind: str) -> Iterator[tuple[Turn, int, Block]]:
    for turn in read:
        for index, block in enumerate(turn.blocks):
            if block.kind == kind:
                yield turn, index, block


def _places(read: Sequence[Turn]) -> dict[tuple[int, int], int]:
    """The place of each block among all, as sentences count theirs: a thousand a block."""
    places = {}
    position = 0
    for turn in read:
        for index in range(len(turn.blocks)):
            places[turn.number, index] = position * 1000
            position += 1
    return places


def _rarity(read: Sequence[Turn]) -> Mapping[str, int]:
    """In how many turns each word is said."""
    return Counter(word for turn in read for word in signature(" ".join(_said(turn))))


def _said(turn: Turn) -> Iterator[str]:
    return (block.text for block in turn.blocks if block.kind in ("user", "assistant"))


def _salience(text: str, rarity: Mapping[str, int]) -> int:
    """How many words of a text few turns have."""
    return sum(rarity.get(word, 0) <= SALIENT for word in signature(text))


def _sentences(read: Sequence[Turn], rarity: Mapping[str, int]) -> Iterator[_Candidate]:
    """What was said in prose, with how much it promises to tell: rare and precise words, no question.

    A short sentence brings the one before it along, and any the one behind it, where those tell something too.
    """
    places = _places(read)
    for turn in read:
        for index, block in enumerate(turn.blocks):
            if block.kind not in ("user", "assistant"):
                continue
            said = list(_plain_sentences(block.text))
            for offset, sentence in enumerate(said):
                before, after = said[offset - 1] if offset else "", said[offset + 1] if offset + 1 < len(said) else ""
                score = min(len(_PRECISE.findall(sentence)), 3) * 0.25 + min(_salience(sentence, rarity), 6) * 0.2
                score += 0.25 if block.kind == "assistant" else 0.0
                score -= 0.75 if sentence.endswith(("?", "？")) else 0.0
                short = len(sentence) < SHORT
                whole = _joined(before, sentence) if short and _salience(before, rarity) else sentence
                if _salience(after, rarity) and len(whole) + len(after) < LONGEST:
                    whole = _joined(whole, after)
                place = places[turn.number, index] + min(offset, 999)
                yield _Candidate(score, turn.number, place, sentence, whole if len(whole) <= LONGEST else sentence)


def _joined(one: str, other: str) -> str:
    """Two sentences as they stood: Japanese ones without a blank between."""
    return f"{one}{other}" if one.endswith(("。", "！", "？")) else f"{one} {other}"


def _plain_sentences(text: str) -> Iterator[str]:
    """Sentences of a text without its code, list marks and quotes."""
    for line in _FENCE.sub("", text).split("\n"):
        plain = _SPEAKER.sub("", _LIST_MARK.sub("", line)).strip()
        for sentence in _SENTENCE_END.split(plain):
            if len(_WORDS.findall(sentence)) > 1 or (sentence and not sentence.isascii()):
                yield sentence.strip()


def _telling_line(error: str) -> str:
    """The line of an error's text that names it: the last one that looks like a complaint, else the last."""
    lines = [line.strip().removeprefix("error: ").strip() for line in error.split("\n") if line.strip().strip("`")]
    lines = [line for line in lines if line and not _OF_THE_TOOL.search(line)]
    telling = [line for line in lines if _TELLING.fullmatch(line)]
    return _shortened((telling or lines or [""])[-1].replace("`", "'"), 160)


def _shortened(text: str, longest: int = LONGEST) -> str:
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    blank = cut.rfind(" ")
    return (cut[:blank] if blank > longest // 2 else cut).rstrip() + "…"


def _alike(one: Iterable[str], other: Iterable[str]) -> bool:
    first, second = frozenset(one), frozenset(other)
    return (
        bool(first)
        and len(first & second) >= ALIKE * min(len(first), len(second))
        and abs(len(first) - len(second)) <= max(len(first), len(second)) * ALIKE
    )
