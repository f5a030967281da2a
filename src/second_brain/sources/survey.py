"""What does a folder hold that a source of notes would leave out? A quick look, for a hint."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from ..code_files import LANGUAGES
from .documents import TABLES
from .paths import disk_bytes, joined

MOST = 5_000
"""Files that are looked at."""

SKIPPED = frozenset((b"node_modules", b"__pycache__", b"venv", b"site-packages"))


def left_out(folder: Path) -> dict[str, int]:
    """How many files a source of another kind would read, by that kind: ``repo`` or ``code``, and ``documents``.

    Looks at the first ``MOST`` files by name, not into hidden folders. What cannot be listed counts as nothing.
    """
    counts: Counter[str] = Counter()
    root = disk_bytes(folder)  # whatever the locale
    code = "repo" if os.path.exists(joined(root, b".git")) else "code"
    seen = 0
    for _, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(b".") and name not in SKIPPED)
        for name in files:
            suffix = os.path.splitext(name)[1].lower().decode("ascii", "replace")
            if suffix in LANGUAGES:
                counts[code] += 1
            elif suffix in TABLES:
                counts["documents"] += 1
        seen += len(files)
        if seen >= MOST:
            break
    return dict(counts)
