"""What the vault's owner hides in Obsidian.

Settings > Files and links > Excluded files is stored as ``userIgnoreFilters`` in ``.obsidian/app.json``: a
list of path prefixes (``Templates/``, ``Archive/2019``) and of expressions between slashes (``/draft$/``),
all against the path from the vault's root.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable

from .paths import compose, joined, nearest_with
from .reading import FileTooLarge, read_regular

SETTINGS = joined(b".obsidian", b"app.json")
_MAX_BYTES = 2**20


def hidden_in_obsidian(root: bytes, problems: list[str]) -> Callable[[str], bool]:
    """A test of paths below ``root``, which may be a folder inside a vault.

    Without a vault or filters it is never true. What cannot be understood is left out and told in
    ``problems``: broken JSON, or an expression that JavaScript accepts and Python does not.
    """
    vault = nearest_with(root, SETTINGS)
    if vault is None:
        return lambda path: False
    inside = os.path.relpath(root, vault)
    start = "" if root == vault else compose(inside.decode("utf-8", "replace")).replace(os.sep, "/") + "/"
    prefixes: list[str] = []
    expressions: list[re.Pattern[str]] = []
    for text in _filters(joined(vault, SETTINGS), problems):
        if len(text) > 2 and text.startswith("/") and text.endswith("/"):
            try:
                expressions.append(re.compile(text[1:-1]))
            except re.error as error:
                problems.append(f"the filter {text!r} is not applied: {error}")
        elif text:
            prefixes.append(text)
    heads = tuple(prefixes)

    def hidden(path: str) -> bool:
        full = start + path
        if full.startswith(heads):
            return True
        # Obsidian asks about files only; "/drafts\/$/" hides nothing in drafts/.
        return not full.endswith("/") and any(expression.search(full) for expression in expressions)

    return hidden


def _filters(path: bytes, problems: list[str]) -> list[str]:
    try:
        settings = json.loads(read_regular(path, _MAX_BYTES))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError, FileTooLarge) as error:
        problems.append(f"Obsidian's excluded files are not applied: {error}")
        return []
    filters = settings.get("userIgnoreFilters") if isinstance(settings, dict) else None
    if filters is None:
        return []
    if not isinstance(filters, list) or not all(isinstance(text, str) for text in filters):
        problems.append("Obsidian's excluded files are not applied: userIgnoreFilters is not a list of texts")
        return []
    return [compose(text) for text in filters]
