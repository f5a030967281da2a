"""What came of a session, in a note that a person can read, correct and keep?

Useful for: one summary note a session, with what was asked, decided, solved and left open, each statement with the
turn it came from; without any model, or by a chat model where one is configured for the session's privacy label.
Not for: reading sessions (``sources``, ``parsing``), or finding summaries again (they are notes like others).

    extract    the statements that matter, by their cues; no model
    condense   the same by a chat model, part by part
    note       the Markdown file: written, recognized, never overwritten once a person has edited it
    ledger     answers that were paid for, tokens spent a day
    run        which sessions, where to, and the report
"""
