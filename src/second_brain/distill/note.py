"""The Markdown file of a summary: written for people, recognized later, never overwritten once a person changed it."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ..parsing.frontmatter import read_frontmatter
from ..types import Document
from ..version import __version__
from .summary import PARTS, Statement, Summary

TYPE = "session-summary"
LONGEST_NAME = 120
"""Bytes of a file's name: room is left for what editors and file systems add."""

LONGEST_TITLE = 120

HEADINGS = {
    "en": ("What happened", "Decided", "How it was solved", "Open", "Commands", "Files"),
    "ja": ("何が起きたか", "決めたこと", "どう解決したか", "残ったこと", "コマンド", "ファイル"),
}


@dataclass(frozen=True, slots=True)
class Existing:
    """A summary that is there: of which session, from which state of it, and whether a person changed it since."""

    path: Path
    session: str
    session_hash: str
    by: str
    edited: bool


def session_hash(document: Document) -> str:
    """What a summary was made from: the session's title and text."""
    return hashlib.blake2b(f"{document.title}\x00{document.text}".encode(), digest_size=16).hexdigest()


def session_name(document: Document) -> str:
    """How a session is named where room is short: the beginning of its id."""
    id = str(document.metadata.get("session", "")) or Path(document.uri).stem
    return re.sub(r"[^\w-]", "", id)[:8] or "session"


def rendered(document: Document, summary: Summary, *, privacy: str, now: datetime) -> str:
    """The whole file."""
    body = _body(document, summary)
    ended = str(document.metadata.get("ended", ""))
    date = (document.date or document.modified).date().isoformat()
    properties: dict[str, str] = {
        "type": TYPE,
        "title": _one_line(document.title, LONGEST_TITLE),
        "date": date,
        "privacy": privacy,
        "session": document.uri,
        "session_hash": session_hash(document),
        "agent": str(document.metadata.get("agent", "")),
        "project": document.project,
        "branch": str(document.metadata.get("branch", "")),
        "ended": ended,
        "body_hash": _hash(body),
    }
    lines = [f"{key}: {_scalar(value)}" for key, value in properties.items() if value]
    by = f"second-brain/{__version__} ({summary.by})"
    lines.append(f"generated: {{by: {_scalar(by)}, at: {_scalar(now.strftime('%Y-%m-%dT%H:%M:%SZ'))}}}")
    return "---\n" + "\n".join(lines) + "\n---\n" + body


def recognized(path: Path) -> Existing | None:
    """The summary in a file, None where the file is none of ours or cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    front = read_frontmatter(text)
    values = front.values
    if values.get("type") != TYPE or not isinstance(values.get("session"), str):
        return None
    generated = values.get("generated")
    return Existing(
        path=path,
        session=str(values["session"]),
        session_hash=str(values.get("session_hash", "")),
        by=str(generated.get("by", "")) if isinstance(generated, dict) else "",
        edited=values.get("body_hash") != _hash(text[front.body_start :]),
    )


def file_name(document: Document) -> str:
    """``2031-05-01-title-3f2a1c9b.md``: sorted by day, readable, unlike any other's."""
    day = (document.date or document.modified).date().isoformat()
    tail = f"-{session_name(document)}-{hashlib.blake2b(document.uri.encode(), digest_size=3).hexdigest()}.md"
    title = unicodedata.normalize("NFC", document.title)
    slug = re.sub(r"[^\w]+", "-", title).strip("-_").casefold()
    room = LONGEST_NAME - len(day) - 1 - len(tail.encode("utf-8"))
    while len(slug.encode("utf-8")) > room:
        slug = slug[:-1].rstrip("-")
    return f"{day}-{slug}{tail}" if slug else f"{day}{tail}"


def _body(document: Document, summary: Summary) -> str:
    headings = HEADINGS["ja" if _is_japanese(document.text) else "en"]
    name = session_name(document)
    pieces = [f"# {_one_line(document.title, LONGEST_TITLE)}"]
    for part, heading in zip(PARTS, headings, strict=True):
        statements = summary.part(part)
        if statements:
            pieces.append(f"## {heading}\n\n" + "\n".join(_item(statement, name) for statement in statements))
    return "\n" + "\n\n".join(pieces) + "\n"


def _item(statement: Statement, name: str) -> str:
    where = " ".join(f"[{turn}](note:{name}#{turn})" for turn in statement.turns)
    return f"- {_one_line(statement.text, 2_000)} {where}".rstrip()


def _is_japanese(text: str) -> bool:
    sample = text[:20_000]
    kana = sum("\u3041" <= character <= "\u30fa" for character in sample)
    return kana * 20 > len(sample)


def _one_line(text: str, longest: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _scalar(text: str) -> str:
    """A text as a YAML scalar that reads back the same: plain where it can be nothing else, else quoted as in JSON."""
    if re.fullmatch(r"[A-Za-z0-9][\w./-]*", text) and not re.fullmatch(
        r"[\d.eExX_-]+|(?i:y|n|yes|no|on|off|true|false|null)", text
    ):
        return text
    return json.dumps(text, ensure_ascii=False)


def _hash(body: str) -> str:
    return hashlib.blake2b(body.encode("utf-8"), digest_size=8).hexdigest()
