"""The privacy label of a document follows the settings, also after it was indexed."""

from __future__ import annotations

from pathlib import Path

from second_brain import Brain, Filter

PUBLIC = Filter(privacy=("public",))


def test_a_changed_label_of_a_source_holds_at_once_when_stricter_and_after_the_next_index_when_laxer(
    tmp_path: Path,
) -> None:
    """A note's own label is kept apart from its source's, and the stricter one always holds."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "open.md").write_text("The heron nests in May.\n")
    (vault / "own.md").write_text("---\nprivacy: secret\n---\nThe heron nests by the weir.\n")
    home = tmp_path / "home"
    home.mkdir()
    (home / "models.yaml").write_text("embedder: hashing\n")

    def found(privacy: str, *, index: bool) -> list[str]:
        (home / "sources.yaml").write_text(f"- {{name: v, path: {vault}, privacy: {privacy}}}\n")
        with Brain.open(home, environment={}) as brain:
            if index:
                brain.sync()
            return sorted(hit.title for hit in brain.search("heron", mode="lexical", filter=PUBLIC).hits)

    assert found("public", index=True) == ["open"]
    assert found("work", index=False) == []
    assert found("work", index=True) == []
    assert found("public", index=False) == []
    assert found("public", index=True) == ["open"]
    with Brain.open(home, environment={}) as brain:
        labels = {hit.title: hit.privacy for hit in brain.search("heron", mode="lexical").hits}
    assert labels == {"open": "public", "own": "secret"}
