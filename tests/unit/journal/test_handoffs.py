"""Handoffs: a note of where the work stands, and a short card for the next session."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import date

from second_brain.analysis.tokens import estimated_tokens
from second_brain.journal.handoffs import CARD_TOKENS, Handoff, card, latest, write

TODAY = date(2031, 5, 2)


def test_the_note_has_what_was_said_and_no_empty_parts(tmp_path):
    """Type, date, topic, parts in order; an existing one stays."""
    handoff = Handoff(
        "Pump: restart", goal="Pump runs.", decisions=["Use LP-9", " "], next_step="Open the valve.", files=["src/a.py"]
    )
    path = write(tmp_path, handoff, today=TODAY)
    assert path == tmp_path / "docs/handoffs/2031-05-02-pump-restart.md"
    assert path.read_text() == (
        "---\ntype: handoff\ndate: 2031-05-02\n---\n\n# Pump: restart\n\n## Goal\n\nPump runs.\n\n"
        "## Decisions\n\n- Use LP-9\n\n## Next step\n\nOpen the valve.\n\n## Files\n\n- `src/a.py`\n"
    )
    assert write(tmp_path, handoff, today=TODAY) == path
    assert write(tmp_path, replace(handoff, state="Dry."), today=TODAY).name == "2031-05-02-pump-restart-2.md"


def test_the_latest_is_that_of_the_newest_day_written_last(tmp_path):
    """Snapshots of hooks are asked for by themselves; other files do not count."""
    assert latest(tmp_path) is None
    old = write(tmp_path, Handoff("z"), today=date(2031, 5, 1))
    first, second = (write(tmp_path, Handoff(topic), today=TODAY) for topic in ("b", "a"))
    os.utime(first, ns=(1, 1))
    os.utime(old, None)
    write(tmp_path, Handoff("snapshot"), today=date(2031, 6, 1), auto=True)
    (tmp_path / "docs/handoffs/README.md").write_text("x")
    assert latest(tmp_path) == second
    assert latest(tmp_path, auto=True).name == "2031-06-01-snapshot.md"


def test_the_card_is_short_and_says_the_next_step_first(tmp_path):
    """Within its tokens in English and Japanese; what does not fit is cut with a mark."""
    for filler in ("A long story of the pump. ", "長いポンプの話。"):
        handoff = Handoff("Pump", goal=filler * 200, state=filler * 200, next_step="Open the valve.")
        path = write(tmp_path, handoff, today=TODAY)
        text = card(path, tmp_path)
        assert text.startswith("Handoff of 2031-05-02: Pump (docs/handoffs/2031-05-02-pump")
        assert "Next step: Open the valve." in text.splitlines()[1]
        assert text.endswith("…")
        assert estimated_tokens(text) <= CARD_TOKENS
