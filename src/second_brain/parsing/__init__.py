"""I have bytes; what documents are in them?

For: turning one file into documents with title, dates, tags, links, sections and blocks, whose offsets
point into the very text that is kept.
Not for: finding files (``sources``), cutting passages (``chunking``), or saying where a link leads
(``graph``). Pure: no clock, no disk, no network; only ``pdf`` lets a process of its own do the unpacking.
A file that is odd is read as well as it can be, with a warning that names the line; it never stops the run.
"""
