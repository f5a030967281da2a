"""Does the index still say what the disk says?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import datetime, timedelta

from .config import Settings
from .index.sqlite.store import SqliteIndex
from .sources.fingerprints import fingerprint, folder_state
from .sources.paths import disk_bytes
from .types import Filter

OLD_AFTER = timedelta(days=1)
"""A search says how old the index is when the last comparison with the disk is longer ago."""


def file_notes(index: SqliteIndex, uri: str, path: str) -> Iterator[str]:
    """What there is to tell when a file is no longer what was indexed of it: one stat."""
    known = index.fingerprint(uri)
    try:
        now = fingerprint(os.stat(disk_bytes(path)), time.time_ns())  # noqa: PTH116
    except FileNotFoundError:
        yield "the file is gone or its disk is not there; run `brain index`"
    except OSError as error:
        yield f"the file cannot be looked at: {error.strerror}"
    else:
        if known and now.rstrip("~") != known.rstrip("~"):
            yield "the file changed since it was indexed; run `brain index`"


def index_notices(index: SqliteIndex, settings: Settings, now: datetime, filter: Filter = Filter()) -> Iterator[str]:
    """What is told of the index; where the asker may not see everything, only of what they may."""
    guest = filter.privacy is not None
    states = [state for state in index.freshness() if not guest or state[0] in filter.sources]
    if not states and guest:
        yield "nothing is indexed that may be seen with this label; who sees all finds the labels in `brain sources`"
    elif not states and settings.sources:
        yield "nothing is indexed yet: type `brain index`"
    elif not states:
        yield "the index is empty: type `brain add ~/notes` (the folder of your notes), then `brain index`"
    synced = [when for _, when, _ in states if when]
    if synced and now - max(synced) > OLD_AFTER:
        days = (now - max(synced)).days
        ago = "a day" if days == 1 else f"{days} days"
        yield f"the index was last compared with the files {ago} ago; run `brain index`"
    for name, _, unavailable in states:
        if unavailable:
            yield f"source '{name}' was not available at the last run" + ("" if guest else f": {unavailable}")
        elif any(
            folder_state(folder) != state and (not guest or index.lies_in(folder, filter))
            for folder, state in index.folders(name).items()
        ):
            yield f"files of source '{name}' were added, renamed or removed since the last run; run `brain index`"
