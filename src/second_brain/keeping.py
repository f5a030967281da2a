"""What of a document is kept?

Its text with secrets masked, its language, and the project that it belongs to where its parser did not say. When the
rules for secrets are newer than those that an index was made with, what it holds is looked through once more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from .analysis.language import SAMPLE, detect_language
from .index.sqlite.check import Finding
from .index.sqlite.rewriting import rewrite
from .index.sqlite.schema import meta, set_meta
from .index.sqlite.store import SqliteIndex
from .protocols import Progress
from .secrets import RULES_VERSION, redacted
from .types import Document, Filter

META = "secrets"
"""Where the index records the version of the rules by which its documents were masked."""


def kept(document: Document, *, redact: bool, project: str = "") -> Document:
    """The document as the index may hold it; offsets stay. ``project`` is for those that name none."""
    if not document.language and document.kind != "code":
        prose = document.text[document.body_start : document.body_start + 2 * SAMPLE]
        document = replace(document, language=detect_language(prose))
    if project and not document.project:
        document = replace(document, project=project)
    return redacted(document) if redact else document


def project_of(folder: Path) -> str:
    """The name of the repository that a folder of notes lies in, else of the folder itself."""
    home = Path.home()
    for parent in (folder, *folder.parents):
        if parent in (home, *home.parents):
            break  # a repository of somebody's settings is no project
        if (parent / ".git").exists():
            return parent.name
    return folder.name


def needs_masking(index: SqliteIndex, *, redact: bool) -> bool:
    """Whether the index was made with other rules than those of now."""
    return _version(index) != (RULES_VERSION if redact else "")


def mask_older(index: SqliteIndex, *, redact: bool, progress: Progress) -> int:
    """Apply the rules of now to what the index holds, if it was made with others; how many documents changed.

    The caller sees to it that nobody writes or makes vectors meanwhile. With ``redact`` off nothing is masked, and a
    later change of mind is noticed.
    """
    if not needs_masking(index, redact=redact):
        return 0
    changed = rewrite(index, redacted, lambda done, total: progress("secrets", done, total)) if redact else 0
    set_meta(index.database, META, RULES_VERSION if redact else "")
    return changed


def _version(index: SqliteIndex) -> str:
    return str(meta(index.database, META) or "")


def examine_secrets(index: SqliteIndex, filter: Filter, *, redact: bool) -> Iterator[Finding]:
    """Where secrets were masked, as far as the filter lets through, and whether all was looked through."""
    if redact and _version(index) != RULES_VERSION and index.recent(filter, 1):
        yield Finding(
            "secrets",
            "warning",
            "what is indexed was looked through for secrets by older rules, or not at all",
            "run `brain index`, or `brain doctor --fix`",
            fixable=True,
        )
    elif not redact:
        yield Finding("secrets", "note", "secrets are not masked: settings.yaml says `redact: off`")
    for uri, counts in index.with_secrets(filter):
        named = ", ".join(f"{rule} {count}" for rule, count in counts.items())
        yield Finding(
            "secrets",
            "note",
            f"{uri}: masked {named}",
            "the file still holds it: take it out, and have a new one issued",
        )
