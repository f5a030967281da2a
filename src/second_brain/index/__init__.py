"""I have a query; which chunks? And: what is stored, for how long, and is it sound?

For: keeping documents, chunks, terms and vectors so that they can be found, and never losing them half-way. ``sqlite``
holds everything in every configuration; ``qdrant`` is a copy that ranks. What ranks is a ``protocols.Index``.
Not for: deciding the order of answers (``ranking``) or what to read (``ingest``).
"""
