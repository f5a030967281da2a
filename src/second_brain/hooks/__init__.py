"""What does a coding agent's program tell us while it works, and what do we say to that?

``brain hook EVENT`` reads the event's JSON on stdin and answers with nothing or one JSON object. It always ends with 0,
never blocks its host, and imports nothing but the standard library until there is something to do that needs more.
Useful for: Claude Code's hooks. Not for: answering questions (``serving``), or deciding what is kept (``journal``).

    entry       the process: one event in, an answer or silence out
    events      an event's fields, whatever of them is missing
    transcript  the end of a session's file: its context size, requests, files, todos
    state       what was said already in this session, across processes
    guard       the context grows: time for a handoff
    starting    the brief of a new session
    saving      a snapshot before a compaction
    following   work that goes on without the host: an edited file, an ended session
    moments     one hint at the right moment, off by default
"""
