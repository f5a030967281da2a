"""Case group SE: what must not leave the notes, and what was deleted stays deleted."""

from __future__ import annotations

import json
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest

from second_brain import Brain
from second_brain import keeping as keeping_room
from second_brain.errors import NotFound
from second_brain.index.sqlite.matrix import header_of
from second_brain.types import Filter

KEYS = {
    "github": "ghp_" + "QzWxEcRvTbYnUmIkOlPqAzSxDcFvGbHnJmKq",
    "aws": "AKIA" + "QZ7XW9CR3VTB5YNU",
    "openai": "sk-" + "q7w8e9r0t1y2u3i4o5p6a7s8d9f0g1h2j3k4l5z6",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJoZXJvbjc3In0.q7w8e9r0t1y2u3i4o5p6a7s8d9f0",
    "private-key": "MIIEqzWxEcRvTbYnUmIkOlPqAzSxDcFv+q7w8e9r0t1y2u3i4o5p6a7s8d9f0g1h2",
    "password": "zebrawindow99",
    "url-password": "pw9",
}
NOTE = f"""---
aliases: [{KEYS["github"]}]
tags: [deploy]
---
# Deploy with {KEYS["github"]}

The heron server takes {KEYS["aws"]} and {KEYS["openai"]}.

## Token {KEYS["jwt"]}

postgres://u:{KEYS["url-password"]}@h/db
password = "{KEYS["password"]}"

-----BEGIN RSA PRIVATE KEY-----
{KEYS["private-key"]}
-----END RSA PRIVATE KEY-----

Then the gannet deploys. See [[{KEYS["password"]}]].
"""
COUNTS = {"aws": 1, "github": 2, "jwt": 1, "openai": 1, "password": 2, "private-key": 1, "url-password": 1}
VECTOR_OF_PLAIN = (
    "SELECT vector FROM chunk c JOIN document d ON d.key = c.document WHERE d.uri = 'notes/plain.md' AND vector > 0"
)


def pieces() -> list[str]:
    """What would be found of the secrets in any table: terms are folded and cut at signs."""
    whole = [key for name, key in KEYS.items() if name != "url-password"]
    return sorted({part.lower() for key in whole for part in (key, key[4:20], key[-16:-2])})


def everything_in(home: Path) -> str:
    """All bytes of the index's files, and all that SQLite's functions read out of it, packed texts unpacked."""
    parts = [file.read_bytes().decode("latin-1") for file in sorted(home.glob("index.db*"))]
    with sqlite3.connect(home / "index.db") as connection:
        parts += [zlib.decompress(text).decode("utf-8") for (text,) in connection.execute("SELECT text FROM document")]
    connection.close()
    return "\n".join(parts).lower()


def test_se_5_secrets_are_masked_before_anything_is_written(notes: Any) -> None:
    """No part of one is in the file, its log or any output; the words around are found; counts are shown."""
    notes.index({"deploy.md": NOTE})
    notes.brain.close()
    stored = everything_in(notes.home)
    assert [piece for piece in pieces() if piece in stored] == []
    assert notes.found("gannet deploys") == notes.found("heron server takes") == ["deploy.md"]
    note = notes.brain.get("deploy.md")
    shown = repr(note) + repr(notes.brain.search("heron gannet token password", per_document=None))
    assert [piece for piece in pieces() if piece in shown.lower()] == []
    assert "u:***@h/db" in note.text
    assert len(note.text) == len(NOTE)
    assert note.document.metadata["secrets"] == COUNTS
    assert (notes.root / "deploy.md").read_text() == NOTE
    told = [finding.message for finding in notes.brain.doctor() if finding.name == "secrets"]
    assert told == [
        "notes/deploy.md: masked aws 1, github 2, jwt 1, openai 1, password 2, private-key 1, url-password 1"
    ]


def test_se_5_later_rules_clean_what_is_indexed_without_its_file(notes: Any) -> None:
    """Text, names, terms, vectors, the matrix and free pages: nothing of the secret is left, offsets stay."""
    (notes.home / "settings.yaml").write_text("redact: off\n")
    with Brain.open(notes.home, environment={}) as brain:
        notes.write({"deploy.md": NOTE, "gone.md": NOTE.replace("heron", "tern"), "plain.md": "A plain gannet.\n"})
        brain.sync()
        brain.embed()
        (notes.root / "gone.md").unlink()
        brain.sync()
        assert "not masked" in next(finding.message for finding in brain.doctor() if finding.name == "secrets")
        plain = brain.index.database.value(VECTOR_OF_PLAIN)
        offsets = brain.index.database.rows("SELECT start, end FROM chunk ORDER BY key")
        brain.close()
        stored = everything_in(notes.home)
        assert [piece for piece in pieces() if piece not in stored] == []
    (notes.home / "settings.yaml").write_text("redact: on\n")
    (notes.root / "deploy.md").unlink()
    notes.root.rename(notes.root.with_name("elsewhere"))  # a disk that is not there: what it held is kept
    with Brain.open(notes.home, environment={}) as brain:
        warned = [finding for finding in brain.doctor() if finding.name == "secrets"]
        assert [(finding.severity, finding.fixable) for finding in warned] == [("warning", True)]
        assert brain.sync().sources[0].unavailable
        database = brain.index.database
        assert (
            json.loads(database.value("SELECT metadata FROM document WHERE uri = 'notes/deploy.md'"))["secrets"]
            == COUNTS
        )
        assert database.rows("SELECT start, end FROM chunk ORDER BY key") == offsets
        assert database.value("PRAGMA freelist_count") == 0
        assert plain == database.value(VECTOR_OF_PLAIN)
        assert database.value("SELECT count(*) FROM vector") == database.value(
            "SELECT count(DISTINCT vector) FROM chunk WHERE vector IS NOT NULL"
        )
        found = brain.search("gannet deploys", mode="lexical")
        assert [hit.uri for hit in found.hits] == ["notes/deploy.md", "notes/plain.md"]
        assert brain.search(KEYS["password"], mode="lexical").hits == ()
        assert [finding.severity for finding in brain.doctor()].count("ok") >= 4
        brain.embed()
        assert [finding for finding in brain.doctor() if finding.severity in ("warning", "error")] == []
        brain.close()
        stored = everything_in(notes.home)
    assert [piece for piece in pieces() if piece in stored] == []


def test_se_5_doctor_cleans_too_and_says_how_many(notes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """`brain doctor --fix` applies newer rules; a second time there is nothing to do."""
    monkeypatch.setattr(keeping_room, "redacted", lambda document: document)  # rules that know nothing yet
    notes.index({"deploy.md": NOTE, **{f"{number}.md": f"Plain note {number}.\n" for number in range(50)}})
    monkeypatch.undo()
    monkeypatch.setattr(keeping_room, "RULES_VERSION", "the next")
    done = [finding.message for finding in notes.brain.doctor(fix=True) if finding.name == "secrets"]
    assert done[0] == "secrets were masked in 1 documents that were indexed before"
    assert done[1].startswith("notes/deploy.md: masked aws 1")
    assert len(done) == 2
    assert [finding.message for finding in notes.brain.doctor(fix=True) if finding.name == "secrets"] == done[1:]
    header = header_of(notes.brain.index.vectors.matrix_path)
    assert header is None or header[4] == notes.brain.index.database.value("SELECT count(*) FROM vector") == 50
    notes.brain.close()
    stored = everything_in(notes.home)
    assert [piece for piece in pieces() if piece in stored] == []


def test_se_7_what_is_deleted_is_gone_everywhere_and_stays_gone(notes: Any) -> None:
    """By word, by meaning, by name, as a link's target and in every count; also after the next index."""
    notes.index({"heron.md": "# Probe heron\n\nA probe heron.\n", "other.md": "See [[heron]].\n"})
    assert notes.brain.get("other").links[0].target == "notes/heron.md"
    (notes.root / "heron.md").unlink()
    for _ in range(2):
        assert notes.sync().deleted in (0, 1)
        assert notes.brain.search("probe", mode="lexical").hits == ()
        assert [hit.uri for hit in notes.brain.search("probe heron", mode="dense").hits] == ["notes/other.md"]
        with pytest.raises(NotFound):
            notes.brain.get("Probe heron")
        assert notes.brain.get("other").links[0].target is None
        assert notes.brain.facets().documents == notes.brain.status().documents == 1
        assert notes.brain.index.database.value("SELECT count(*) FROM chunk") == 1


def test_se_7_a_removed_source_leaves_nothing_behind(notes: Any) -> None:
    """What `brain remove` says went is gone, and `brain compact` leaves no byte of it in the file."""
    notes.index({"heron.md": "# Probe zebrawindow99\n\nA probe.\n"})
    assert notes.brain.remove("notes") == 1
    assert notes.brain.recent() == []
    assert notes.brain.facets().documents == 0
    notes.brain.compact()
    notes.brain.close()
    assert "zebrawindow" not in everything_in(notes.home)


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/hostname",
        "/proc/self/environ",
        "/etc/hostname",
        "~/.ssh/id",
        "a/../../b",
        "notes/../../etc/hostname",
        "..",
    ],
)
def test_se_1_get_reads_nothing_that_is_not_indexed(notes: Any, name: str) -> None:
    """Paths outside of the notes are answered alike, whether something is there or not."""
    notes.index({"a/heron.md": "The heron.\n"})
    with pytest.raises(NotFound) as there:
        notes.brain.get(name)
    with pytest.raises(NotFound) as nowhere:
        notes.brain.get("../../no/such/file")
    assert str(there.value).replace(name, "X") == str(nowhere.value).replace("../../no/such/file", "X")
    assert notes.brain.search("heron", filter=Filter(path_prefix="../")).hits == ()
