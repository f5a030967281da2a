"""How does an agent's program come to know this brain?

Useful for: writing the entry for ``brain mcp`` into a client's own settings, and taking it out again; everything else
in the file stays byte for byte.
Not for: what the server answers (``serving``).

    clients     which programs there are, where their settings are, and what an entry looks like
    json_text   one member or item of a JSON file, set or removed in the text
    entries     the change: planned, shown, written, undone
    project     both servers and the hooks, for one folder
"""
