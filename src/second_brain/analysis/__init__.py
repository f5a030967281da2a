"""I have text; what terms does it hold?

One analyzer for every lexical index and all languages: documents and queries go through the same code, so
that what was written can be found. Latin words are folded and stemmed, scripts without spaces become
overlapping pairs of characters, identifiers are kept whole and in parts.

Useful for: making the values of an FTS5 table, turning any typed or pasted text into a MATCH expression that
cannot fail, comparing names regardless of case, width and accents.
Not for: splitting text into passages (``chunking``), tokens of a model (``models``), deciding what ranks
first (``index``, ``ranking``).
"""

from .match import FTS5_TOKENIZE, match_expression, phrase_expression, words_and_beginnings
from .normalization import normalize
from .queries import QueryTerms, query_terms
from .terms import ANALYZER_VERSION, index_terms

__all__ = [
    "ANALYZER_VERSION",
    "FTS5_TOKENIZE",
    "QueryTerms",
    "index_terms",
    "match_expression",
    "normalize",
    "phrase_expression",
    "query_terms",
    "words_and_beginnings",
]
