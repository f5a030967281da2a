"""The index in one SQLite file: terms in FTS5, vectors as rows.

``connection`` opens it safely, ``schema`` says what is in it, ``store`` writes and reads documents,
``terms`` answers lexical queries, ``vectors`` answers dense ones, ``check`` finds and mends damage.
"""
