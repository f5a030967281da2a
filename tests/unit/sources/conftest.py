import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

NOBODY = 65534


@pytest.fixture
def grow() -> Callable[..., None]:
    """Write files below a root: ``grow(root, 'a/b.md', ('c.md', 'text'))``; the text is the name unless given."""

    def grow(root: Path, *files: str | tuple[str, str]) -> None:
        for entry in files:
            name, text = entry if isinstance(entry, tuple) else (entry, entry)
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")

    return grow


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter, which pytest's own is not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def without_privileges() -> Callable[[], AbstractContextManager[None]]:
    """A block in which permissions count: root becomes nobody, others stay who they are."""

    @contextmanager
    def block() -> Iterator[None]:
        if os.geteuid() != 0:
            yield
            return
        os.seteuid(NOBODY)
        try:
            yield
        finally:
            os.seteuid(0)

    return block
