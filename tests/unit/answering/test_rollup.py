"""Roll-up: what a hub among the hits links to and fits the question comes after the ranking, and says by which hub."""

from __future__ import annotations

import pytest

from second_brain.answering.hubs import MANY_LINKS, MOST_CHARACTERS, MOST_CHILDREN, damping, is_hub
from second_brain.records import Linking
from second_brain.types import Filter

HUB = "# Pumps MOC\n\nAbout pumps: [[bilge]], [coolant pump](cooling/coolant.md), [[Torque table]], [[bread]].\n"
VAULT = {
    "Pumps MOC.md": HUB,
    "bilge.md": "The bilge runs through a check valve with a torque of 42 Nm.\n",
    "cooling/coolant.md": "The coolant circuit wants a valve torque of 12 Nm.\n",
    "torques.md": "---\naliases: [Torque table]\n---\nEvery valve has its torque.\n",
    "bread.md": "Soda bread wants buttermilk.\n",
    "elsewhere.md": "A valve torque of 7 Nm, on no map.\n",
}


@pytest.fixture
def vault(notes):
    """A map of content, four notes that it links to in different ways, and one that it does not."""
    notes.index(VAULT)
    return notes


def rolled_up(vault, text="pumps moc valve torque", **options):
    return vault.brain.search(text, mode="lexical", limit=1, **options)


def test_links_of_a_hub_that_fit_follow_the_ranking(vault):
    """By wikilink, Markdown link and alias; not what does not fit, and not what it does not link to."""
    result = rolled_up(vault)
    assert [hit.uri for hit in result.hits] == ["notes/Pumps MOC.md"]
    assert {hit.uri for hit in result.rolled_up} == {"notes/bilge.md", "notes/cooling/coolant.md", "notes/torques.md"}
    assert {hit.via for hit in result.rolled_up} == {"notes/Pumps MOC.md"}
    assert [hit.rank for hit in result.rolled_up] == [2, 3, 4]
    for hit in result.rolled_up:
        assert hit.text in VAULT[hit.uri.partition("/")[2]]


def test_nothing_of_the_ranking_is_displaced_or_repeated(vault):
    """The hits are those of a vault in which the hub links to nothing; a child among them is not rolled up."""
    with_links = vault.brain.search("pumps moc valve torque", mode="lexical", limit=3)
    listed = {hit.uri for hit in with_links.hits}
    assert len(listed) == 3
    assert not listed & {hit.uri for hit in with_links.rolled_up}
    vault.index({"Pumps MOC.md": HUB.replace("[[", "<<").replace("](", "] (")})
    without = vault.brain.search("pumps moc valve torque", mode="lexical", limit=3)
    assert [hit.uri for hit in without.hits] == [hit.uri for hit in with_links.hits]
    assert without.rolled_up == ()


def test_children_pass_the_filter_of_the_question(vault):
    """Their own folder, tags and dates count; the hub itself must pass too."""
    vault.index(
        {"bilge.md": "---\ntags: [boat]\n---\n" + VAULT["bilge.md"], "Pumps MOC.md": "---\ntags: [boat]\n---\n" + HUB}
    )
    assert [hit.uri for hit in rolled_up(vault, filter=Filter(tags=("boat",))).rolled_up] == ["notes/bilge.md"]


def test_what_the_asker_may_not_see_leaves_no_trace(vault):
    """A private child is as if it and the link to it were not there: the same answer but for the hub's own text."""
    may_see = Filter(privacy=("public", "work", "personal"))
    vault.index({"bilge.md": "---\nprivacy: secret\n---\n" + VAULT["bilge.md"]})
    shown = rolled_up(vault, filter=may_see)
    assert "notes/bilge.md" not in {hit.uri for hit in shown.rolled_up}
    (vault.root / "bilge.md").unlink()
    vault.sync()
    gone = rolled_up(vault, filter=may_see)
    assert [(hit.uri, hit.rank, hit.via) for hit in shown.rolled_up] == [
        (hit.uri, hit.rank, hit.via) for hit in gone.rolled_up
    ]


def test_a_hub_brings_so_many_and_no_more(vault):
    """Five notes, whatever the number of its links, and no more text than the cap."""
    many = {
        f"v/{number}.md": f"Valve torque number {number}. " + "More of the valve torque. " * 40 for number in range(12)
    }
    links = " ".join(f"[[{number}]]" for number in range(12))
    vault.index({**many, "Valve index.md": f"# Valve index\n\n{links}\n"})
    result = vault.brain.search("valve index", mode="lexical", limit=1)
    assert len(result.rolled_up) == MOST_CHILDREN
    assert sum(len(hit.text) for hit in result.rolled_up) <= MOST_CHARACTERS


def test_only_the_first_page_has_them(vault):
    """They belong to the hubs of the ranking, which a second page does not show again."""
    first = rolled_up(vault)
    assert first.rolled_up
    assert rolled_up(vault, cursor=first.cursor).rolled_up == ()


def linking(name: str, links: int, *, size: int = 1000, each: int = 10, **fields: object) -> Linking:
    return Linking(
        **{
            "uri": "n/a",
            "name": name,
            "type": "",
            "tags": (),
            "size": size,
            "links": tuple((f"n/{n}", each) for n in range(links)),
        }
        | fields  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("note", "hub"),
    [
        (linking("pumps moc", 5), True),
        (linking("moc-pumps", 2, size=100), True),
        (linking("readme", 5), True),
        (linking("00 - index", 9), True),
        (linking("目次", 5), True),
        (linking("map of content for pumps", 5), True),
        (linking("pumps", 5, type="MOC"), True),
        (linking("pumps", 5, tags=("type/moc",)), True),
        (linking("pumps", 5, size=140), True),
        (linking("plugins for pumps", 20), True),
        (linking("moc", 1, size=10), False),
        (linking("readme", 3), False),
        (linking("file-index", 2), False),
        (linking("homework", 9), False),
        (linking("indexing in sqlite", 9), False),
        (linking("pumps", 9), False),
        (linking("pumps", 4, size=50), False),
        (linking("a long article", 40, size=9000), False),
    ],
)
def test_a_hub_is_told_by_its_name_its_labels_or_its_links(note, hub):
    """A name, type or tag that says so, with a few links; else a third of the note is links, or a fifth and many."""
    assert is_hub(note) is hub


def test_a_link_of_a_hub_that_links_to_everything_counts_less():
    """Full up to thirty links, a half at ten times as many."""
    assert damping(1) == damping(MANY_LINKS) == 1.0
    assert damping(10 * MANY_LINKS) == pytest.approx(0.5)
    assert damping(100 * MANY_LINKS) == pytest.approx(1 / 3)
