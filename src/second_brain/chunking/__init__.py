"""I have a document; which passages are worth finding on their own?

For: cutting a document into quotes that fit an embedder, along the lines that its author drew.
Not for: reading files (``parsing``) or deciding what a passage is worth (``ranking``). Pure: the same
document gives the same chunks with the same ids, so that unchanged text is never embedded again.
"""

CHUNKER_VERSION = 3
"""Changes whenever a chunker may cut the same document in another way: what an index holds is then read again."""
