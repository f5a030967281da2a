"""The catalogue's own rankings, as one search asks for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...analysis import QueryTerms, match_expression
from ...protocols import Codes
from ...types import Filter, Ranking

if TYPE_CHECKING:
    from .store import SqliteIndex


@dataclass(frozen=True, slots=True)
class SqliteSearch:
    """Ranks by FTS5 and by a scan of the matrix. Has nothing to tell: what it needs is there."""

    index: SqliteIndex

    def lexical(
        self,
        terms: Sequence[str],
        filter: Filter,
        limit: int,
        *,
        phrases: Sequence[tuple[str, ...]] = (),
        prefixed: Collection[str] = (),
    ) -> Ranking:
        """The best chunks for terms and phrases, see ``protocols.Index``."""
        match = match_expression(QueryTerms(tuple(terms), tuple(phrases)), prefixed=prefixed)
        return self.index.lexical(match, filter, limit)

    def dense(self, vector: Any, filter: Filter, limit: int, *, script: int = 0, also: Sequence[int] = ()) -> Ranking:
        """The chunks nearest to a unit vector, see ``protocols.Index``."""
        return self.index.dense(vector, filter, limit, script=script, also=also)

    def codes(self, keys: Sequence[int], width: int) -> dict[int, Codes]:
        """The token codes of chunks, see ``protocols.Index``."""
        return self.index.vectors.codes(keys, width)

    def notices(self, filter: Filter = Filter()) -> tuple[str, ...]:
        """Nothing."""
        return ()
