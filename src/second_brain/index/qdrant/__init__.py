"""How does an index answer that has outgrown one machine?

The SQLite file, the *catalogue*, stays complete. Qdrant holds a copy of the passages to be searched (*points*), fed by
an outbox that the catalogue's own transactions fill; so a lost Qdrant is filled again without embedding anything, and
while it does not answer the catalogue does, and says so.
Not for: names, links, documents, counts and phrases, which the catalogue tells in every configuration (docs/adr/0013).
"""
