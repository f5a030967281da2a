"""Who may ask over HTTP: bearer tokens, each with the highest privacy label that it shows.

Only hashes are kept, in ``tokens.json`` beside the settings; a token is shown once, when it is made.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass

from ..config import Settings, write_atomically
from ..errors import ConfigError, NotFound, UsageError
from ..index.lock import file_lock

FILE = "tokens.json"
PREFIX = "sb_"


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept. ``changes``: whether it may let things be indexed and removed."""

    name: str
    privacy: str
    changes: bool
    digest: str


def tokens(settings: Settings) -> list[Token]:
    """The tokens of a home, by name. Raises ConfigError."""
    path = settings.home / FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return sorted(
            (Token(str(n), str(e["privacy"]), bool(e["changes"]), str(e["digest"])) for n, e in found.items()),
            key=lambda token: token.name,
        )
    except FileNotFoundError:
        return []
    except (OSError, ValueError, AttributeError, KeyError, TypeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint="delete it, and make the tokens anew") from error


def add(settings: Settings, name: str, privacy: str, *, changes: bool) -> str:
    """Make a token; it is returned once and nowhere kept. Raises UsageError when the name is taken."""
    settings.labels_up_to(privacy)
    if not name.strip():
        raise UsageError("a token needs a name", hint="brain token add laptop --privacy work")
    text = PREFIX + secrets.token_urlsafe(32)
    with file_lock(settings.home / ".tokens.lock", wait_s=20):
        known = tokens(settings)
        if any(token.name == name for token in known):
            raise UsageError(f"a token is named '{name}' already", hint=f"brain token remove {name}")
        _write(settings, [*known, Token(name, privacy, changes, digest_of(text))])
    return text


def remove(settings: Settings, name: str) -> None:
    """Make a token worthless, at once. Raises NotFound."""
    with file_lock(settings.home / ".tokens.lock", wait_s=20):
        known = tokens(settings)
        if all(token.name != name for token in known):
            names = ", ".join(token.name for token in known) or "none"
            raise NotFound(f"no token is named '{name}'; tokens: {names}")
        _write(settings, [token for token in known if token.name != name])


def matching(known: list[Token], text: str) -> Token | None:
    """The token that this text is, compared in constant time."""
    digest = digest_of(text)
    found = None
    for token in known:
        if hmac.compare_digest(token.digest, digest):
            found = token
    return found


def digest_of(text: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _write(settings: Settings, known: list[Token]) -> None:
    entries = {t.name: {"privacy": t.privacy, "changes": t.changes, "digest": t.digest} for t in known}
    path = settings.home / FILE
    write_atomically(path, json.dumps(entries, indent=2, ensure_ascii=False) + "\n")
    path.chmod(0o600)
