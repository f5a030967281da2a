"""The collections of Qdrant that are ours: their names, their shape, and the aliases that say which is current.

A generation has one physical collection for each collection of the settings, ``<prefix>-<collection>-<generation>``;
the alias ``<prefix>-<collection>`` leads to that of the current generation. Our own searches ask the physical one,
whose catalogue they read; the alias is for whoever else reads, and moves at promotion.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...errors import BackendMismatch
from .client import Client, Shape
from .settings import QdrantSettings

DENSE, TERMS = "dense", "terms"
"""The named vectors of a point: one of the embedder's width, and the sparse one of its terms."""

_GENERATION = re.compile(r"g[0-9]+")

INDEXED = {
    "source": "keyword",
    "kind": "keyword",
    "type": "keyword",
    "project": "keyword",
    "language": "keyword",
    "privacy": "keyword",
    "status": "keyword",
    "tags": "keyword",
    "uri": "keyword",
    "document": "integer",
    "script": "integer",
    "day": "float",
    "moment": "float",
}
"""Fields of the payload that filters use, with the kind of Qdrant's index for each."""


@dataclass(frozen=True, slots=True)
class Held:
    """A physical collection of ours: ``alias`` says whether the alias of its collection leads to it."""

    name: str
    collection: str
    generation: str
    points: int
    alias: bool


class Collections:
    """What Qdrant holds under our prefix. Nothing here drops or changes what it did not make.

    Raises BackendAway from every method when Qdrant does not answer.
    """

    def __init__(self, client: Client, settings: QdrantSettings) -> None:
        self.client = client
        self.settings = settings

    def alias_of(self, collection: str) -> str:
        """The alias of a collection: ``brain-vault``."""
        return f"{self.settings.prefix}-{collection}"

    def name_of(self, collection: str, generation: str) -> str:
        """The physical collection of a generation: ``brain-vault-g2``."""
        return f"{self.settings.prefix}-{collection}-{generation}"

    def create(self, generation: str, collections: Sequence[str], dimensions: int, owner: str) -> tuple[str, ...]:
        """Make the physical collections of a generation that are missing; the names of those that were made.

        The alias of a collection that has none yet leads to the new one; an alias that exists stays where it is.

        Args:
            generation: ``g2``.
            collections: their names in the settings.
            dimensions: of the embedder's vectors.
            owner: the identity of the catalogue, which no other may write into.

        Raises:
            BackendMismatch: one exists with another shape or owner, or a collection bears the name of an alias of ours.
        """
        made = []
        existing = self.client.collections()
        aliases = self.client.aliases()
        self.check_names(generation, collections, existing)
        for collection in collections:
            name = self.name_of(collection, generation)
            if name in existing:
                self.check(name, dimensions, owner)
            else:
                self.client.create(name, wanted_shape(dimensions, owner), INDEXED, self.settings)
                made.append(name)
        missing = {alias: name for alias, name in self._wanted(generation, collections).items() if alias not in aliases}
        if missing:
            self.client.point_aliases(missing)
        return tuple(made)

    def check(self, name: str, dimensions: int, owner: str) -> None:
        """Raise BackendMismatch unless a physical collection has the shape that we write, and is this catalogue's."""
        found = self.client.shape(name)
        expected = wanted_shape(dimensions, owner)
        if found is None or (found.dense, found.sparse, found.owner) == (expected.dense, expected.sparse, owner):
            return
        if (found.dense, found.sparse) != (expected.dense, expected.sparse):
            raise BackendMismatch(
                f"Qdrant's collection '{name}' at {self.settings.place} holds {found.said()}; this index needs"
                f" {expected.said()}. Nothing was changed",
                hint="set another `qdrant: prefix:` in settings.yaml; for another embedder build beside it with"
                " `brain index --new-generation`; or delete the collection in Qdrant if nothing needs it",
            )
        raise BackendMismatch(
            f"Qdrant's collection '{name}' at {self.settings.place} belongs to another index"
            f" ({found.owner or 'nobody'}), this one is {owner}. Nothing was changed",
            hint="give each home its own `qdrant: prefix:` in settings.yaml; if the other index is gone, take its"
            " collections over with `brain index --rebuild`",
        )

    def adopt(self, generation: str, collections: Sequence[str], owner: str) -> None:
        """Write this catalogue's name on the generation's collections, whoever owned them."""
        existing = self.client.collections()
        for collection in collections:
            if (name := self.name_of(collection, generation)) in existing:
                self.client.sign(name, owner)

    def promote(self, generation: str, collections: Sequence[str] | None = None) -> dict[str, str]:
        """Lead every alias to the generation's collections, in one step that readers see whole or not at all.

        Args:
            generation: ``g2``.
            collections: their names in the settings; None means all that the generation has.

        Returns:
            The physical collection by alias, of those that were led there.

        Raises:
            BackendMismatch: the generation has no such collection, or a collection bears the alias's name.
        """
        existing = self.client.collections()
        names = self.of_generation(existing, generation) if collections is None else collections
        self.check_names(generation, names, existing)
        wanted = self._wanted(generation, names)
        missing = sorted(set(wanted.values()) - existing)
        if missing or not wanted:
            lacking = ", ".join(missing) or f"any collection of {generation}"
            raise BackendMismatch(
                f"Qdrant at {self.settings.place} does not hold {lacking}",
                hint="build it with `brain index --new-generation`; `brain generations` lists what there is",
            )
        self.client.point_aliases(wanted)
        return wanted

    def aliases(self) -> dict[str, str]:
        """The physical collection that each alias of ours leads to, by alias, also where it is not one of ours."""
        begins = f"{self.settings.prefix}-"
        found = {alias: name for alias, name in sorted(self.client.aliases().items()) if alias.startswith(begins)}
        return {alias: name for alias, name in found.items() if not self._is_of_longer_prefix(alias, name)}

    def _is_of_longer_prefix(self, alias: str, name: str) -> bool:
        found = self.client.shape(name)
        other = found.prefix if found else ""
        return other.startswith(f"{self.settings.prefix}-") and alias.startswith(f"{other}-")

    def drop(self, generation: str) -> tuple[str, ...]:
        """Delete the generation's collections that no alias leads to; their names."""
        existing = self.client.collections()
        used = set(self.client.aliases().values())
        names = [self.name_of(one, generation) for one in self.of_generation(existing, generation)]
        gone = tuple(name for name in names if name not in used)
        for name in gone:
            self.client.drop(name)
        return gone

    def listed(self) -> list[Held]:
        """Every physical collection of ours, by name, with how many points it holds."""
        used = set(self.client.aliases().values())
        found = []
        for name in sorted(self.client.collections()):
            parts = self._parts(name)
            if parts and self._is_ours(name):
                found.append(Held(name, *parts, self.client.count(name), name in used))
        return found

    def _wanted(self, generation: str, collections: Sequence[str]) -> dict[str, str]:
        return {self.alias_of(collection): self.name_of(collection, generation) for collection in collections}

    def _parts(self, name: str) -> tuple[str, str] | None:
        """Collection and generation of a physical collection's name, None if it is not one of ours."""
        inner, _, generation = name.removeprefix(f"{self.settings.prefix}-").rpartition("-")
        ours = name.startswith(f"{self.settings.prefix}-") and inner and _GENERATION.fullmatch(generation)
        return (inner, generation) if ours else None

    def _is_ours(self, name: str) -> bool:
        """Whether it was made under our prefix: a longer one, or another program, may name it as we would."""
        found = self.client.shape(name)
        return found is not None and found.prefix == self.settings.prefix

    def of_generation(self, existing: set[str], generation: str) -> list[str]:
        """The collections, by name, that a generation has among the existing physical ones."""
        parts = ((name, self._parts(name)) for name in sorted(existing))
        return [part[0] for name, part in parts if part and part[1] == generation and self._is_ours(name)]

    def check_names(self, generation: str, collections: Sequence[str], existing: set[str]) -> None:
        """Raise BackendMismatch if a collection bears the name of an alias of ours, or the reverse."""
        aliases = self.client.aliases()
        for collection in collections:
            alias, name = self.alias_of(collection), self.name_of(collection, generation)
            if alias in existing:
                raise BackendMismatch(
                    f"Qdrant at {self.settings.place} has a collection named '{alias}', the name of our alias for the"
                    f" current generation of '{collection}'. Nothing was changed",
                    hint="set another `qdrant: prefix:` in settings.yaml, or, if nothing needs that collection, delete"
                    f" it in Qdrant (DELETE /collections/{alias}); then run the command again",
                )
            if name in aliases:
                raise BackendMismatch(
                    f"Qdrant at {self.settings.place} has an alias named '{name}', which leads to '{aliases[name]}';"
                    f" that is the name of our collection of '{collection}'. Nothing was changed",
                    hint="set another `qdrant: prefix:` in settings.yaml, or delete that alias in Qdrant",
                )


def wanted_shape(dimensions: int, owner: str) -> Shape:
    """The shape of every collection that we make."""
    dense: Mapping[str, tuple[int, str]] = {DENSE: (dimensions, "Cosine")}
    return Shape(dense, (TERMS,), owner)
