"""Can others read these notes? Open Knowledge Format 0.2: a folder of Markdown that says of each file what it is.

Useful for: telling whether a folder is a conformant bundle, and making one of the notes in an index.
Not for: reading a bundle, which is a source like any other folder of Markdown (``parsing.markdown`` knows its keys).
"""
