"""Labels and relationship types that a text looks at: what a graph must have before it is asked.

A text names most of them. Where a pattern leaves one open, the text may look at anything but what was added
to a run since it was kept (answers of analyses, annotations): else a question would change what others find.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from kernbench_graph.query.guard import Token, statement
from kernbench_graph.query.names import used_names
from kernbench_graph.query.patterns import UnreadPatternError, every_chain
from kernbench_graph.schema import SCHEMA

ALL = frozenset(SCHEMA.names)
ADDED = SCHEMA.added_names()
"""Looked at only by texts that name some of it."""
_PROPERTIES = frozenset(SCHEMA.properties())


@lru_cache(maxsize=128)
def looked_at(cypher: str) -> frozenset[str]:
    """Labels and types that a text names, with the labels at the ends of these types; all where one is open.

    All but those that were :data:`ADDED`, if it names none of them. Names that the schema does not have are
    those of components: of their kinds, or of properties of a kind.

    >>> sorted(looked_at("MATCH (r:Run {id: $run})-[:LAUNCHED]->(l) RETURN count(l) AS n"))
    ['LAUNCHED', 'Launch', 'Run']
    >>> looked_at("MATCH (n) RETURN n") == looked_at("MATCH (:Run)-[x]->() RETURN x") == ALL - ADDED
    True
    >>> looked_at("MATCH (w:Way)-[x]->() RETURN x") == ALL
    True
    >>> sorted(looked_at("MATCH (r:Router) RETURN r.row AS row"))
    ['Component']
    """
    found = statement(cypher)
    names = {text.strip("`") for kind, text, _ in found if kind in ("word", "quoted")} & ALL
    if _leaves_open(found):
        return ALL if names & ADDED else ALL - ADDED
    used = used_names(cypher)
    own = {*used.labels, *used.either} - ALL
    own |= {name for _, name in used.properties} - _PROPERTIES - used.keys
    return with_ends(names | {"Component"} if own else names)


def with_ends(names: set[str] | frozenset[str]) -> frozenset[str]:
    """``names`` of labels and types, with the labels at the ends of the types."""
    types = [rel for rel in SCHEMA.relationships if rel.type in names]
    return frozenset(names | {end for rel in types for pair in rel.pairs for end in pair})


def _leaves_open(found: Sequence[Token]) -> bool:
    """Whether a relationship has no type, or a node neither a label nor a relationship beside it."""
    try:
        return any(
            not all(step.types for step in chain.steps) or not (chain.steps or chain.nodes[0].labels)
            for chain in every_chain(found)
        )
    except UnreadPatternError:
        return True
