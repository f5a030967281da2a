"""Where does code come from? The program files of a folder, its configuration, and the prose that explains it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from ..code_files import is_prose, language_of
from ..protocols import Scan
from .folder import FolderSource
from .ignore import ignore_text
from .paths import absolute, joined
from .walking import Reach

CODE: Final = "text/x-code"
PROSE: Final = "text/x-code-notes"

MAX_BYTES: Final = 2**20
"""Larger files of code are data, or were made by a program."""

LEFT_OUT: Final = (
    *("node_modules/", "bower_components/", "jspm_packages/", "vendor/", "third_party/", "site-packages/", "Pods/"),
    *("dist/", "build/", "venv/", "__pycache__/"),
    *("*.min.js", "*.min.css", "*.bundle.js", "*-lock.yaml", "*_pb2.py", "*_pb2_grpc.py", "*.pb.go", "*.g.dart"),
    *("*.generated.*", "*.designer.cs"),
)
"""Patterns of what others wrote, or programs. A ``!pattern`` in the source's ``exclude`` brings some back."""

_ATTRIBUTES = ("linguist-generated", "linguist-vendored")


class CodeSource(FolderSource):
    """The code below a folder: what `code_files` knows, without what is generated, vendored or above a megabyte.

    Left out besides what `FolderSource` leaves out: `LEFT_OUT`, and what the ``.gitattributes`` in the root folder
    mark as ``linguist-generated`` or ``linguist-vendored``. What says in its own first lines that it was generated
    is seen by the parser. For the arguments see `FolderSource`.
    """

    kind = "code"

    def __init__(
        self,
        name: str,
        root: Path,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        skip_dirs: Sequence[Path] = (),
        max_bytes: int = MAX_BYTES,
    ) -> None:
        marked = _marked(absolute(root))
        super().__init__(
            name,
            root,
            include=include,
            exclude=(*LEFT_OUT, *marked, *exclude),
            skip_dirs=skip_dirs,
            max_bytes=max_bytes,
        )

    def media_type(self, name: str) -> str | None:
        """What a file of this name holds; None when such files are not wanted."""
        if is_prose(name):
            return PROSE
        return CODE if language_of(name) else None

    def scan(self) -> Scan:
        """List the files. Raises SourceError when the root cannot be listed."""
        scan = super().scan()
        fitting = tuple(item for item in scan.items if item.size <= self._max_bytes)
        skipped = Counter(scan.skipped or {})
        if len(fitting) < len(scan.items):
            skipped["too large"] += len(scan.items) - len(fitting)
        return replace(scan, items=fitting, skipped=dict(skipped))

    def reach(self) -> Reach:
        """As `FolderSource.reach`; ``.gitattributes`` counts too."""
        reach = super().reach()
        reach.also(self._root, b".gitattributes")
        return reach


def _marked(root: bytes) -> list[str]:
    """The patterns that ``.gitattributes`` mark as none of the author's writing, or take back."""
    patterns = []
    for line in ignore_text(joined(root, b".gitattributes"), []).split("\n"):
        pattern, *attributes = line.split()[:20] or [""]
        if not pattern or pattern.startswith(("#", "[", '"', "!")):
            continue
        for attribute in _ATTRIBUTES:
            if attribute in attributes or f"{attribute}=true" in attributes:
                patterns.append(pattern)
            elif f"-{attribute}" in attributes or f"{attribute}=false" in attributes:
                patterns.append(f"!{pattern}")
    return patterns
