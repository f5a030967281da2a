"""Which tools does an agent get, and how do they reach it?

Useful for: the tools of ``brain mcp`` and ``brain serve``: what each is for, what it takes, what it answers.
Not for: searching or storing (``library`` and below): here words and errors are translated, nothing else.

    arguments   what clients send, as what tools take
    toolsets    which tools there are, and which a client gets
    knowledge   search, list, status: read-only
    reading     a note, whole or in part
    shelves     sources: index, list, remove
    entities    the nine tools of the knowledge graph
    offers      notes as resources, and prompts
    calls       one call, from what was sent to what is answered
    brains      one brain for all who ask, opened when it is needed
    desk        one consumer: what it may see, and where it may let things be indexed
    places      where anybody may let things be indexed
    tokens      who may ask over HTTP
    adapter     the official SDK: the one module that imports it
    stdio       the process ``brain mcp``
    relay       the same, thin, where ``brain serve`` runs
    http        the process ``brain serve``
    neighbours  the server's end of ``relay``
"""
