"""Names, shapes and aliases of what is ours in Qdrant."""

from __future__ import annotations

from pathlib import Path

import pytest

from second_brain.errors import BackendAway, BackendMismatch
from second_brain.index.qdrant.client import Client
from second_brain.index.qdrant.collections import Collections, Held
from second_brain.index.qdrant.settings import QdrantSettings


@pytest.fixture(params=["local", "http"])
def collections(request, server) -> Collections:
    where = {"url": server.url} if request.param == "http" else {"path": Path(":memory:")}
    settings = QdrantSettings(**where)
    return Collections(Client(settings), settings)


def test_a_generation_is_made_once_and_gets_the_alias_that_nobody_has(collections: Collections):
    """Made again nothing changes; a second generation leaves the alias where it is."""
    assert collections.create("g1", ["vault", "code"], 4, "me") == ("brain-vault-g1", "brain-code-g1")
    assert collections.create("g1", ["vault", "code"], 4, "me") == ()
    assert collections.create("g2", ["vault", "code"], 8, "me") == ("brain-vault-g2", "brain-code-g2")
    assert collections.aliases() == {"brain-code": "brain-code-g1", "brain-vault": "brain-vault-g1"}
    assert collections.listed()[2:] == [
        Held("brain-vault-g1", "vault", "g1", 0, True),
        Held("brain-vault-g2", "vault", "g2", 0, False),
    ]


def test_promotion_moves_every_alias_in_one_request(collections: Collections, server):
    """Readers never see one collection of the new generation beside another of the old."""
    for generation in ("g1", "g2"):
        collections.create(generation, ["vault", "code"], 4, "me")
    server.asked.clear()
    assert collections.promote("g2") == {"brain-code": "brain-code-g2", "brain-vault": "brain-vault-g2"}
    assert collections.aliases() == {"brain-code": "brain-code-g2", "brain-vault": "brain-vault-g2"}
    assert server.asked.count("POST /collections/aliases") == (0 if collections.client.is_local else 1)
    collections.promote("g1", ["vault"])
    assert collections.aliases() == {"brain-code": "brain-code-g2", "brain-vault": "brain-vault-g1"}


def test_what_does_not_exist_is_not_promoted(collections: Collections):
    """The aliases stay, and the message names what lacks."""
    collections.create("g1", ["vault"], 4, "me")
    with pytest.raises(BackendMismatch, match="does not hold any collection of g7"):
        collections.promote("g7")
    with pytest.raises(BackendMismatch, match="does not hold brain-code-g1"):
        collections.promote("g1", ["vault", "code"])
    assert collections.aliases() == {"brain-vault": "brain-vault-g1"}


def test_dropping_leaves_what_an_alias_leads_to_and_what_is_not_ours(collections: Collections):
    """Only the generation's collections go, and only those that nobody looks at."""
    for generation in ("g1", "g2"):
        collections.create(generation, ["vault"], 4, "me")
    other = Collections(collections.client, QdrantSettings(url="http://x", prefix="other"))
    other.create("g1", ["vault"], 4, "them")
    assert collections.drop("g1") == ()
    collections.promote("g2")
    assert collections.drop("g1") == ("brain-vault-g1",)
    assert collections.client.collections() == {"brain-vault-g2", "other-vault-g1"}


def test_a_prefix_that_begins_anothers_prefix_does_not_reach_its_collections(collections: Collections):
    """``brain-team-vault-g1`` reads as collection ``team-vault`` of ``brain`` too; only ``brain-team`` made it."""
    team = Collections(collections.client, QdrantSettings(url="http://x", prefix="brain-team"))
    for each in (collections, team):
        each.create("g1", ["vault"], 4, "me")
    team.create("g2", ["vault"], 4, "them")
    team.promote("g2")
    assert collections.of_generation(collections.client.collections(), "g1") == ["vault"]
    assert collections.promote("g1") == {"brain-vault": "brain-vault-g1"}
    assert collections.aliases() == {"brain-vault": "brain-vault-g1"}
    assert [held.name for held in collections.listed()] == ["brain-vault-g1"]
    assert collections.drop("g1") == ()
    assert collections.client.collections() == {"brain-vault-g1", "brain-team-vault-g1", "brain-team-vault-g2"}


def test_the_collection_of_another_index_is_left_alone_until_it_is_taken_over(collections: Collections):
    """Two homes that share a server must not delete each other's points."""
    collections.create("g1", ["vault"], 4, "me")
    with pytest.raises(BackendMismatch, match="belongs to another index") as caught:
        collections.create("g1", ["vault"], 4, "another")
    assert "prefix" in caught.value.hint
    collections.adopt("g1", ["vault"], "another")
    assert collections.create("g1", ["vault"], 4, "another") == ()


def test_a_server_that_is_not_there_is_away():
    """A refused connection is said in one line, with the address and what to do."""
    settings = QdrantSettings(url="http://127.0.0.1:9", timeout_s=1)
    with pytest.raises(BackendAway, match=r"http://127\.0\.0\.1:9 does not answer \(.*refused") as caught:
        Collections(Client(settings), settings).aliases()
    assert "start it" in caught.value.hint
