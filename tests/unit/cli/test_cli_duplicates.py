"""`brain duplicates`."""

from __future__ import annotations

import json
from pathlib import Path

from running_brain import Brain


def test_pairs_are_listed_for_people_and_programs(brain: Brain, indexed: Path) -> None:
    """The most alike first, with both names; without any a line says so; a filter narrows what is compared."""
    assert "no notes are nearly the same" in brain("duplicates").err
    text = " ".join(f"word{n}" for n in range(120))
    for name, more in (("a", ""), ("b", ""), ("c", " and some more words at its end")):
        (indexed / f"{name}.md").write_text(f"# Note {name}\n\n{text}{more}\n")
    assert brain("index", "--quiet").code == 0
    lines = brain("duplicates", "-n", "1")
    assert lines.out.splitlines()[0].split()[:4] == ["98", "%", "Note", "a"]
    assert "2 more: raise -n" in lines.err
    found = json.loads(brain("duplicates", "--json").out)
    assert found["total"] == 3
    assert (found["pairs"][0]["first"], found["pairs"][0]["second"]) == ("notes/a.md", "notes/b.md")
    assert json.loads(brain("duplicates", "--title", "note a", "--json").out) == {"pairs": [], "total": 0}
