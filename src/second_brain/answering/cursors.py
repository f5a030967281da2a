"""Cursors: a short text that asks for the next page of one answer, and of no other.

A cursor says which question it belongs to, which state of the index, at what moment it was asked first, and how many
hits of each page were shown. With that the pages before can be made again, so nothing is kept anywhere.
"""

from __future__ import annotations

import base64
import binascii
import struct
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b

from ..errors import UsageError
from ..types import Query

_HEAD = struct.Struct("<B6s6sd?")
_VERSION = 1
LARGEST_PAGE = 255
"""Hits of one page that a cursor can follow."""

MOST_PAGES = 64
"""A chain of cursors ends after so many pages: who has read so far should ask another question."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer goes on.

    ``query`` and ``state`` are digests. ``now`` is when the first page was asked for, ``reranked`` whether a
    cross-encoder ordered it, ``shown`` how many hits of each page were shown.
    """

    query: str
    state: str
    now: datetime
    reranked: bool = False
    shown: tuple[int, ...] = ()

    def after(self, hits: int) -> Place:
        """The place behind the first ``hits`` of the next page."""
        return replace(self, shown=(*self.shown, hits))


def query_digest(query: Query) -> str:
    """12 hex digits of all that decides an answer but its moment."""
    asked = (query.text, query.limit, query.mode, query.filter, query.per_document, query.condensed)
    return blake2b(repr(asked).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def encode(place: Place) -> str:
    """The cursor for a place; '' where the chain of pages has become too long, or a page too large for one."""
    if len(place.shown) > MOST_PAGES or max(place.shown, default=0) > LARGEST_PAGE:
        return ""
    head = _HEAD.pack(
        _VERSION, bytes.fromhex(place.query), bytes.fromhex(place.state)[:6], place.now.timestamp(), place.reranked
    )
    return base64.urlsafe_b64encode(head + bytes(place.shown)).rstrip(b"=").decode("ascii")


def decode(cursor: str, query: Query, state: str) -> Place:
    """The place that a cursor names.

    Raises:
        UsageError: it is no cursor, it belongs to another question, or the index has changed since.
    """
    try:
        data = base64.b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        version, asked, then, moment, reranked = _HEAD.unpack_from(data)
        now = datetime.fromtimestamp(moment, UTC).astimezone(query.now.tzinfo)
    except (ValueError, OverflowError, OSError, UnicodeEncodeError, binascii.Error, struct.error) as error:
        raise UsageError(f"'{cursor[:60]}' is no cursor of a search", hint=_AGAIN) from error
    if version != _VERSION:
        raise UsageError("the cursor was made by another version of second-brain", hint=_AGAIN)
    if asked.hex() != query_digest(query):
        raise UsageError(
            "the cursor belongs to another question",
            hint="give it with the same words, mode, limit and filters as the search that it came from",
        )
    if then.hex() != state[:12]:
        raise UsageError("the index has changed since the cursor was made: pages would repeat or miss", hint=_AGAIN)
    return Place(asked.hex(), state[:12], now, reranked, tuple(data[_HEAD.size :]))


_AGAIN = "search again without a cursor"
