"""A hub that was edited here since the box indexed it brings what it links to by now, marked as such."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from second_brain.answering.hubs import MOST_CHILDREN
from second_brain.records import Note
from second_brain.remote.brain import RemoteBrain
from second_brain.remote.hubs import MARK, LocalHubs
from second_brain.remote.paths import PathRules
from second_brain.wire import SearchAnswer, SearchRequest

HUB = "# Pumps MOC\n\n- [[bilge]]\n- [[strainer]]\n"
NOTES = {
    "Pumps MOC.md": HUB,
    "bilge.md": "# Bilge\n\nThe bilge pump cavitates when its strainer clogs.\n",
    "strainer.md": "# Strainer\n\nClean the strainer of every pump monthly.\n",
    "deep/impeller.md": "# Impeller\n\nA worn impeller makes pumps cavitate: replace the impeller of the pump.\n",
    "soup.md": "# Soup\n\nMiso soup with clams.\n",
    **{f"spare{n}.md": f"# Spare {n}\n\nSpare part {n} of the pumps, shelf {n}.\n" for n in range(9)},
}
QUESTION = "pumps moc"


@pytest.fixture
def here(box: Any, tmp_path: Path) -> Path:
    """The same notes on this machine."""
    root = box.index(NOTES)
    folder = tmp_path / "vault"
    for name in NOTES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((root / name).read_bytes())
    return folder


@pytest.fixture
def remote(box: Any, here: Path, laptop: Callable[..., RemoteBrain]) -> RemoteBrain:
    return laptop(paths={box.home / "own" / "notes": here})


def ask(remote: RemoteBrain) -> Any:
    return remote.search(QUESTION, mode="lexical", limit=1)


def test_a_hub_that_is_the_same_adds_nothing(box: Any, remote: RemoteBrain) -> None:
    """The box's own roll-up is the whole of it."""
    own = box.brain.search(QUESTION, mode="lexical", limit=1)
    got = ask(remote)
    assert got.hits[0].title == "Pumps MOC"
    assert [hit.id for hit in got.rolled_up] == [hit.id for hit in own.rolled_up]


def test_what_an_edited_hub_links_to_is_appended_and_marked(here: Path, remote: RemoteBrain) -> None:
    """A new link that the box can resolve comes after its own roll-up; unknown and unfitting ones do not."""
    before = ask(remote)
    (here / "Pumps MOC.md").write_text(HUB + "- [[impeller]]\n- [[soup]]\n- [[nowhere]]\n")
    after = ask(remote)
    assert after.rolled_up[: len(before.rolled_up)] == before.rolled_up
    added = after.rolled_up[len(before.rolled_up) :]
    assert [hit.uri for hit in added] == ["notes/deep/impeller.md"]
    assert added[0].via == "notes/Pumps MOC.md"
    assert added[0].notes[-1] == MARK
    assert [hit.rank for hit in after.rolled_up] == list(range(2, 2 + len(after.rolled_up)))


def test_a_box_that_rolls_nothing_up_is_helped_by_the_same_rules(box: Any, here: Path, remote: RemoteBrain) -> None:
    """Of an older one that sends hubs alone, and no hashes, the hubs of this machine bring their notes."""
    request = SearchRequest(QUESTION, "lexical", 1)
    whole = box.brain.search(QUESTION, mode="lexical", limit=1)

    def note(uri: str) -> Note:
        found = box.brain.get(uri)
        return replace(found, document=replace(found.document, hash=""))

    def search(asked: SearchRequest) -> SearchAnswer:
        result = box.brain.search(asked.query, mode=asked.mode, limit=asked.limit, filter=asked.filter, per_document=1)
        return SearchAnswer.of(result, {})

    hubs = LocalHubs(PathRules([(str(box.home / "own" / "notes"), str(here))]))
    added = hubs.added(request, replace(whole, rolled_up=()), note=note, search=search)
    assert {hit.uri for hit in added} == {hit.uri for hit in whole.rolled_up}
    assert added != ()


def test_no_more_of_a_hub_than_the_caps_allow(here: Path, remote: RemoteBrain) -> None:
    """A hub of many links brings as many as one of the box would."""
    (here / "Pumps MOC.md").write_text(HUB + "".join(f"- [[spare{n}]]\n" for n in range(9)))
    added = [hit for hit in ask(remote).rolled_up if MARK in hit.notes]
    assert 0 < len(added) <= MOST_CHILDREN


def test_a_note_that_is_no_hub_is_left_alone(here: Path, remote: RemoteBrain) -> None:
    """Two links in a long text make no map: nothing is asked about it."""
    (here / "Pumps MOC.md").rename(here / "gone.md")
    (here / "bilge.md").write_text("# Bilge\n\n" + "The bilge pump again. " * 100 + "[[impeller]]\n")
    asked = []
    reply = remote.line.reply

    def counted(method: str, path: str, **options: Any) -> Any:
        asked.append(path)
        return reply(method, path, **options)

    remote.line.reply = counted  # type: ignore[method-assign]
    assert [hit for hit in ask(remote).rolled_up if MARK in hit.notes] == []
    assert asked == ["/search"]


def test_a_linked_note_above_the_label_stays_hidden(
    box: Any, here: Path, laptop: Callable[..., RemoteBrain], remote: RemoteBrain
) -> None:
    """What the asker may not see does not come through a hub of theirs."""
    own = box.home / "own" / "notes"
    secret = "---\nprivacy: secret\n---\n" + NOTES["deep/impeller.md"]
    (own / "deep/impeller.md").write_text(secret)
    box.brain.sync()
    (here / "Pumps MOC.md").write_text(HUB + "- [[impeller]]\n")
    assert [hit.uri for hit in ask(remote).rolled_up if MARK in hit.notes] == ["notes/deep/impeller.md"]
    view = remote.seen_by("personal")
    assert [hit for hit in ask(view).rolled_up if MARK in hit.notes] == []
