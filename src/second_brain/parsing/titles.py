"""What a file is called."""

from __future__ import annotations

import unicodedata


def stem_of(uri: str) -> str:
    """The file name without its extension, in NFC."""
    name = uri.rpartition("/")[2]
    return unicodedata.normalize("NFC", name.rpartition(".")[0] or name)
