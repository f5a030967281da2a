"""Writes ``format-<n>.db`` beside this file, an index of the notes below in the format of the checked-out code.

    python tests/compat/make_index.py

Run it once for each new format, before the format is released, and commit the file; never write an old one again.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import apsw

from second_brain import Brain
from second_brain.index.sqlite.schema import FORMAT

NOTES = {
    "pump.md": "---\ntags: [ops/water]\naliases: [LP-9]\ndate: 2031-04-05\n---\n# Pump\n\nIt lost pressure. [[Owl]]\n",
    "deep/owl.md": "# Owl\n\nAn owl nests above the [pump](../pump.md).\n\n## Diet\n\nMice, see [[nowhere]].\n",
    "会議.md": "# 会議の議事録\n\n第二倉庫の排水ポンプを月曜に交換した。\n",
    "old.md": "---\nstatus: deprecated\nprivacy: secret\ntype: decision\n---\nThe pump shall be painted green.\n",
    "empty.md": "",
}
WRITTEN = 1_935_000_000  # seconds since the epoch: April 2031


def write_notes(folder: Path) -> None:
    """The notes as files, all of one time."""
    for name, text in NOTES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
        os.utime(path, (WRITTEN, WRITTEN))


def main() -> None:
    """Write the file: indexed, embedded, with small pages, without a log."""
    target = Path(__file__).with_name(f"format-{FORMAT}.db")
    with tempfile.TemporaryDirectory() as folder:
        home, notes = Path(folder) / "home", Path(folder) / "notes"
        home.mkdir()
        write_notes(notes)
        (home / "models.yaml").write_text("embedder: hashing\n")
        with Brain.open(home, environment={}) as brain:
            brain.add(notes, name="notes")
            brain.sync()
            brain.embed()
        raw = apsw.Connection(str(home / "index.db"))
        raw.execute(
            "UPDATE source SET path = '/notes', folders = replace(folders, ?, '/notes')", (str(notes),)
        ).fetchall()
        raw.execute("UPDATE item SET path = '/' || uri").fetchall()
        raw.execute("PRAGMA journal_mode=DELETE; PRAGMA page_size=1024; VACUUM").fetchall()
        raw.close()
        target.write_bytes((home / "index.db").read_bytes())


if __name__ == "__main__":
    main()
