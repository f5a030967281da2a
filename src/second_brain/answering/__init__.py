"""I have a question and rankings; what does the reader get?

For: reading the question (fields, words of time, several questions in one), asking ``retrieval`` as often as it takes,
and making one answer of what comes back: reranked, folded, rolled up from hubs, with a confidence, in pages, packed
into a budget of tokens.
Not for: finding passages or scoring them (``retrieval``, ``ranking``), nor for showing them (``cli``).
"""
