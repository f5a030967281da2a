"""Which tools does an agent get, and how do they reach it?

Useful for: the tools of ``brain mcp`` and ``brain serve``: what each is for, what it takes, what it answers.
Not for: searching or storing (``library`` and below): here words and errors are translated, nothing else.

    arguments   what clients send, as what tools take
    toolsets    which tools there are, and which a client gets
    knowledge   search, read, list, status: read-only
    shelves     sources: index, list, remove
    entities    the nine tools of the knowledge graph
    desk        one consumer: its view of the brain, and where it may let things be indexed
    adapter     the official SDK: the one module that imports it
    stdio       the process ``brain mcp``
    http        the process ``brain serve``
"""
