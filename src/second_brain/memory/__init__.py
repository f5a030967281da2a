"""What entities are known, how are they related, and where does each fact come from?

The knowledge graph in ``memory.jsonl``, in the format of the reference memory server and with its nine operations, so
that either program can go on with the other's file; but safe with many processes, and never losing a line.
Not for: links between notes (``graph``), or finding passages (``index``).

    lines       one line of the file: entities, relations, and what is neither
    file        the file as a whole: read, changed under a lock, replaced at once
    operations  the nine operations
    search      which entities answer a query
    sources     which file each fact names, and which of them are gone
"""
