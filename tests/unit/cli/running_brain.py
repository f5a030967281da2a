"""What the tests of this folder share: how a command ended, and the notes that it works on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


Brain = Callable[..., Outcome]

NOTES = {
    "ops/pump.md": "---\ntags: [ops/pumps]\ntype: runbook\ndate: 2031-05-02\n---\n# Pump room\n\nIntro."
    + " It is cold in there." * 60
    + "\n\n"
    "## Valves\n\nThe valve torque is 42 Nm. See [[log]].\n",
    "ops/log.md": "---\ntype: log\ndate: 2031-04-01\n---\n# Log\n\nThe pump was replaced.\n",
    "日記/2031-03-01.md": "# 三月一日\n\n第二倉庫の排水ポンプを月曜に交換した。\n",
}
