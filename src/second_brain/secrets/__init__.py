"""I have text; which keys, tokens and passwords stand in it, and how does it look without them?

Secrets are found by their form (``formats``: the keys of services, private keys, signed tokens) or by what stands
before them (``assignments``: ``password = "..."``, ``Authorization: Bearer ...``, ``postgres://user:...@host``), and
masked by as many characters (``redaction``), so that every offset of the text stays right.

Nothing is guessed from entropy alone: hashes, UUIDs, lock files and base64 pictures stay searchable.
Useful for: what may be kept of a document, of a transcript, of a quote that is sent somewhere.
Not for: proving that a text holds no secret. A passphrase of plain words, or a key of a form that nobody published,
is not seen.
"""

from .redaction import RULES_VERSION, redact, redacted

__all__ = ["RULES_VERSION", "redact", "redacted"]
