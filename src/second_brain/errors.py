"""Every error that a caller can catch, as one tree, each with a hint.

    BrainError
    ├── ConfigError          a setting is missing, misspelt or out of range
    ├── UsageError           the request itself cannot be answered as asked
    │   ├── NotFound         no such source, document or path
    │   ├── Ambiguous        several documents answer to this name
    │   ├── NotAllowed       the asker's token does not reach so far
    │   └── GenerationMismatch  another generation of the index answers than the asker expects
    ├── Busy                 the server takes no more just now; the same request may go through later
    ├── Unreachable          another machine's brain gives no answer that can be used
    ├── MissingExtra         the feature needs a package that is not installed
    ├── SourceError          a source cannot be listed
    │   └── SourceRemoved    the source was removed while it was being read
    ├── ParseError           one item cannot be turned into documents
    ├── ModelError           a model cannot be loaded or run
    │   ├── EmbedderMismatch the index holds another model's vectors
    │   └── DeadlineMissed   the model did not answer in time
    └── StorageError         the index cannot be read or written
        ├── IndexLocked      another process is writing and did not finish in time
        ├── IndexDamaged     the file is not a sound index
        ├── IndexFormat      the file was written by another version
        ├── DiskFull         there is no room to write
        ├── BackendAway      the search backend does not answer; the catalogue can
        └── BackendMismatch  the search backend holds something else than this index writes

A subclass exists where a caller would act differently.
The message names the thing, the value found and what was expected; ``hint`` says what to type next.
"""

from __future__ import annotations


class BrainError(Exception):
    """The root: ``str(error)`` is the message, ``error.hint`` the next step ('' when there is none)."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ConfigError(BrainError):
    """A settings file or an environment variable is wrong; the message names file, line and allowed values."""


class UsageError(BrainError):
    """The request cannot be answered as asked."""


class NotFound(UsageError):
    """No such source, document or path."""


class Ambiguous(UsageError):
    """Several documents answer to the name; ``candidates`` lists their uris."""

    def __init__(self, message: str, candidates: list[str], *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.candidates = candidates


class NotAllowed(UsageError):
    """Who asks has no token, or one that does not reach so far."""


class GenerationMismatch(UsageError):
    """Another generation of the index answers than the asker expects: its answers would differ silently."""


class Busy(BrainError):
    """The server takes no more just now; ``retry_after_s`` is how long it asks to be left alone."""

    def __init__(self, message: str, *, retry_after_s: float = 1.0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class Unreachable(BrainError):
    """The brain on another machine gives no answer that can be used; what is kept here may do."""


class MissingExtra(BrainError):
    """The feature needs a package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the extra '{extra}', which is not installed",
            hint=f"pip install 'second-brain[{extra}]'",
        )


class SourceError(BrainError):
    """A source as a whole cannot be listed: its root is missing or unreadable."""


class SourceRemoved(SourceError):
    """The source was removed from the index while it was being read."""


class ParseError(BrainError):
    """One item cannot be turned into documents; the rest of the run goes on."""


class ModelError(BrainError):
    """A model cannot be loaded or run."""


class EmbedderMismatch(ModelError):
    """The index holds vectors of another embedder than the settings ask for."""


class DeadlineMissed(ModelError):
    """The model did not answer in time."""


class StorageError(BrainError):
    """The index cannot be read or written."""


class IndexLocked(StorageError):
    """Another process is writing and did not finish in time."""


class IndexDamaged(StorageError):
    """The file is not a sound index."""


class IndexFormat(StorageError):
    """The file was written by a newer version, or is not an index at all."""


class DiskFull(StorageError):
    """There is no room to write; what was there before is still there."""


class BackendAway(StorageError):
    """The search backend does not answer, or another process holds it; the catalogue can answer."""


class BackendMismatch(StorageError):
    """The search backend holds something else under our names than this index writes; it is left as it is."""
