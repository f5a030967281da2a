"""What is linked to what?

For: saying which note a link means, the way Obsidian would say it.
Not for: finding links in text (``parsing``) or keeping them (``index``). Pure: names in, names out.
"""
