"""Which build of the index answers, and which one next?

For: building a second index beside the one that serves, choosing between them at once, going back, and clearing away.
A generation is one index file with what belongs to it; the pointer beside the first one says which is current. A
change of the embedder, of the analyzer or of the chunker so never mixes vectors and needs no downtime. Not for: filling
an index (``ingest``), or judging its answers (``evals``).
"""

from .building import Begun, building, finished
from .contents import Contents, contents
from .following import Followed, Opened
from .pointer import (
    FIRST,
    Generation,
    Measured,
    Roster,
    current,
    file_of,
    first_index,
    listed,
    placed,
    repair,
    roster,
    stamp,
)
from .promotion import Comparison, Outside, Promotion, promote, remember, rollback, shortcomings
from .pruning import Pruned, prune
from .state import findings, notices
from .vectors import IN_PLACE_BELOW, embedder_notice, keeps_embedder, take_over

__all__ = [
    "FIRST",
    "IN_PLACE_BELOW",
    "Begun",
    "Comparison",
    "Contents",
    "Followed",
    "Generation",
    "Measured",
    "Opened",
    "Outside",
    "Promotion",
    "Pruned",
    "Roster",
    "building",
    "contents",
    "current",
    "embedder_notice",
    "file_of",
    "findings",
    "finished",
    "first_index",
    "keeps_embedder",
    "listed",
    "notices",
    "placed",
    "promote",
    "prune",
    "remember",
    "repair",
    "rollback",
    "roster",
    "shortcomings",
    "stamp",
    "take_over",
]
