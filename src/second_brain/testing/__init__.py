"""What must every implementation of a seam keep to?

Contract suites to be inherited by a test class: ``SourceContract``, ``ParserContract``, ``ChunkerContract`` and the
embedder's. Useful for: an adapter of your own (see the entry points in ``pyproject.toml``).
Not for: anything that runs outside of tests.
"""
