"""Which entities answer a query: those that hold it as written, as the reference server has it, then by the same terms
as every other search here, so that several words, Japanese and other forms of a word find them too.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ..analysis import index_terms, query_terms
from .lines import Entity

NAME_WEIGHT = 3.0
"""A term of an entity's name counts so many times."""


def matching(query: str, entities: Sequence[Entity]) -> list[Entity]:
    """The entities that answer, best first, equal ones in the order given; all of them for an empty query.

    score = sum over terms t of the query that the entity holds of  idf(t) * (NAME_WEIGHT if in its name else 1)
    idf(t) = ln(1 + N / n(t))
    """
    if not query.strip():
        return list(entities)
    wanted = set(query_terms(query).terms)
    names = [set(index_terms(entity.name).split()) for entity in entities]
    bodies = [
        set(index_terms("\n".join((entity.type, *entity.observations))).split()) | name
        for entity, name in zip(entities, names, strict=True)
    ]
    holding = Counter(term for body in bodies for term in wanted & body)
    folded = query.casefold()
    scored = []
    for position, entity in enumerate(entities):
        score = sum(
            math.log1p(len(entities) / holding[term]) * (NAME_WEIGHT if term in names[position] else 1.0)
            for term in sorted(wanted & bodies[position])
        )
        literal = any(folded in text.casefold() for text in (entity.name, entity.type, *entity.observations))
        if literal or score:
            scored.append((not literal, -score, position))
    return [entities[position] for _, _, position in sorted(scored)]
