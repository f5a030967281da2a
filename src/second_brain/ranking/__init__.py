"""I have rankings; in what order do the answers come, and why?

For: merging rankings, adjusting scores by source, age and status, keeping one document from filling the list.
Not for: finding candidates (``index``), or reading text. Pure arithmetic: the same numbers give the same order.
"""
