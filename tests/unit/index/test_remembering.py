"""What is counted once is counted again when the index has changed, whoever changed it."""

from __future__ import annotations

import threading

from second_brain.index.sqlite.remembering import Remembered
from second_brain.index.sqlite.store import SqliteIndex
from second_brain.types import Filter


def counting(index, most=8):
    """A memory, and a function that asks it how many chunks there are; made values are listed."""
    made: list[int] = []
    remembered = Remembered(index.database, most=most)

    def count(key="all"):
        def make():
            made.append(index.database.value("SELECT count(*) FROM chunk"))
            return made[-1]

        return remembered.take(key, make)

    return count, made


def test_a_value_is_made_once_while_nothing_changes(index, put):
    """Also one that is None or 0."""
    count, made = counting(index)
    assert (count(), count(), made) == (0, 0, [0])


def test_a_change_of_our_own_or_of_another_process_makes_it_anew(index, put):
    """SQLite tells the connection of both."""
    count, made = counting(index)
    put("n/a.md", "heron")
    assert count() == 1
    put("n/b.md", "heron")
    assert count() == 2
    with_its_own_connection = SqliteIndex(index.path)
    put("n/c.md", "heron", into=with_its_own_connection)
    with_its_own_connection.close()
    assert (count(), count(), made) == (3, 3, [1, 2, 3])


def test_a_closed_index_is_counted_anew(index, put):
    """Its counters begin again at the same numbers."""
    count, made = counting(index)
    count()
    index.close()
    assert (count(), made) == (0, [0, 0])


def test_threads_do_not_share(index, put):
    """Each has its own connection, which sees changes when it does."""
    count, made = counting(index)
    put("n/a.md", "heron")
    seen = [count()]
    thread = threading.Thread(target=lambda: seen.append(count()))
    thread.start()
    thread.join()
    assert (seen, made) == ([1, 1], [1, 1])


def test_only_the_last_ones_are_kept(index):
    """The one that was asked for longest ago goes first."""
    count, made = counting(index, most=2)
    for key in ("a", "b", "a", "c", "a"):
        count(key)
    assert len(made) == 3
    count("b")
    assert len(made) == 4


def test_counts_of_an_index_follow_what_is_written(index, put):
    """Frequencies and counts, of all and of what a filter lets through."""
    mine = Filter(tags=("mine",))
    put("n/a.md", "heron weir", tags=("mine",))
    put("n/b.md", "heron")
    assert (index.terms.count(), index.terms.count(mine), index.chunk_count()) == (2, 1, 2)
    assert index.terms.frequencies(["heron"], mine) == {"heron": 1}
    put("n/c.md", "heron", tags=("mine",))
    assert (index.terms.count(), index.terms.count(mine), index.chunk_count()) == (3, 2, 3)
    assert index.terms.frequencies(["heron", "weir"], mine) == {"heron": 2, "weir": 1}
    assert index.terms.frequencies(["heron"]) == {"heron": 3}
    assert index.vectors.waiting_count(mine) == 2
