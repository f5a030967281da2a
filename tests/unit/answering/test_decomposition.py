"""Decomposition: several questions are told apart, and one question stays one."""

from __future__ import annotations

import pytest

from second_brain.answering.decomposition import LONGEST, decompose

NAMES = {"Ines", "Genzo Tachibana", "小野寺船長", "機関長"}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Why did the pump stop, and who repaired the valve?", ("Why did the pump stop", "who repaired the valve?")),
        ("What is a bilge pump? How is it tested?", ("What is a bilge pump? How is it tested?",)),
        ("Where is the key kept? Who has the spare key?", ("Where is the key kept?", "Who has the spare key?")),
        ("ぬか床が酸っぱい時は?梅干しの塩は何パーセント?", ("ぬか床が酸っぱい時は?", "梅干しの塩は何パーセント?")),
        ("宿はいくらだったか、また先生は誰か", ("宿はいくらだったか", "先生は誰か")),
        ("difference between lead batteries and lithium batteries", ("lead batteries", "lithium batteries")),
        ("What's the difference between the fares of 2025 and those of 2026?", ("the fares of 2025", "fares of 2026")),
        ("nightly dump vs pulling from the island", ("nightly dump", "pulling from the island")),
        ("How does the bilge pump differ from the coolant pump?", ("the bilge pump", "the coolant pump")),
        ("Compare NMC cells with LFP cells for the ferry", ("NMC cells for the ferry", "LFP cells for the ferry")),
        ("はまゆうとことりの欠航基準の違い", ("はまゆうの欠航基準", "ことりの欠航基準")),
        ("紙の台帳と電子台帳はどう違う?", ("紙の台帳", "電子台帳")),
        ("agreements with Ines and with Genzo Tachibana", ("agreements with Ines", "agreements with Genzo Tachibana")),
        ("小野寺船長と機関長の誕生日は?", ("小野寺船長の誕生日は?", "機関長の誕生日は?")),
        ("dumps of February 2025 and dumps of December 2025", ("dumps of February 2025", "dumps of December 2025")),
    ],
)  # fmt: skip
def test_several_questions_are_told_apart(text, parts):
    """Sentences, clauses, comparisons, people and times, in English and Japanese."""
    assert decompose(text, NAMES.__contains__) == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "???",
        "pump",
        "salt and pepper in the soup",
        "x509: certificate has expired or is not yet valid",
        "In the book on lateness, what sort of delay do people put up with?",
        "How many were opened in between 1980 and 1984?",
        "Who mapped the St. Johns River in 1562?",
        "What was the reason that Mr. Costa lost his claim?",
        "Ines and nobody else",
        "これは去年の話だ。いくらだったか?",
        "「AとBの違い」という題の本はどこ?",
        "両手の指紋の採取と顔写真が義務になったのはいつからか",
        'find "difference between a and b" in the logs',
        "def compare(a, b): return a and b  # what is it?\n```x```",
        "difference between a and b " * 40,
    ],
)
def test_one_question_stays_one(text):
    """A comma, a date, a list of things, quoted words, pasted text: not taken apart."""
    assert len(text) > LONGEST or decompose(text, NAMES.__contains__) == (text.strip(),)
    assert decompose(text) == (text.strip(),)
