"""The API of a brain for other programs: the same answers as ``Brain``'s, as JSON under ``/api/v1``.

``table`` says what can be asked for, once: ``routes`` answers by it, and ``openapi`` describes it. What is done is in
``reading``, ``models`` and ``syncing``; they know nothing of HTTP. Who asks sees what their token shows, as in MCP.
"""
