"""What was decided, what was learnt, and where does the work stand?

Decision records, lessons and handoffs of a project, as Markdown files that people and agents write and read.
Useful for: the next numbered record, a lesson that can be checked, a note from which a fresh session starts.
Not for: finding them again (they are notes like others), or facts about things (``memory``).

    files      new files that replace none, changes that overwrite nobody's
    decisions  ``docs/adr/0012-use-fts5.md``, in the form of MADR or Nygard
    lessons    ``docs/lessons.md``: testable directives that are superseded or retired, never deleted
    handoffs   ``docs/handoffs/2031-05-02-topic.md`` and the card of a fresh session
"""
