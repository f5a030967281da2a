"""The prompts of ``distill``: ``part.md`` for a part of a session, ``whole.md`` to make one of several parts."""
