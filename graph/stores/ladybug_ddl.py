"""The schema as LadybugDB's typed tables.

Two gaps of that dialect, both declared: a node has one label, so a component's second label is its
property ``label``; and a relationship type named like a keyword is written in backticks.
"""

from __future__ import annotations

from graph.schema import SCHEMA, NodeLabel, Property, Relationship
from graph.stores.run_parts import HISTORY_LABELS, HISTORY_TYPES

_TYPES = {"string": "STRING", "int64": "INT64", "int32": "INT32", "double": "DOUBLE", "bool": "BOOLEAN"}

PLACE_KEY = Property("key", "string", "Topology id and own id, which together are unique over all runs.")
"""In the graph over all runs, components and links are keyed by this instead of by ``id``."""


def run_statements() -> list[str]:
    """Statements that create the tables of one run's graph."""
    return [_node(label, label.key, label.properties) for label in SCHEMA.labels] + [
        _relationship(rel, rel.pairs) for rel in SCHEMA.relationships
    ]


def history_statements() -> list[str]:
    """Statements that create the tables of the graph over all runs."""
    statements = []
    for label in SCHEMA.labels:
        if label.name in ("Component", "Link"):
            statements.append(_node(label, PLACE_KEY.name, (PLACE_KEY, *label.properties)))
        elif label.name in HISTORY_LABELS:
            statements.append(_node(label, label.key, label.properties))
    for rel in SCHEMA.relationships:
        if rel.type in HISTORY_TYPES:
            pairs = tuple(pair for pair in rel.pairs if set(pair) <= set(HISTORY_LABELS))
            # USED is by far the most, and a list of it per place would be written anew with every run.
            forward = " WITH (storage_direction='fwd')" if rel.type == "USED" else ""
            statements.append(_relationship(rel, pairs) + forward)
    return statements


def _node(label: NodeLabel, key: str, properties: tuple[Property, ...]) -> str:
    return f"CREATE NODE TABLE `{label.name}`({_columns(properties)}, PRIMARY KEY(`{key}`))"


def _relationship(rel: Relationship, pairs: tuple[tuple[str, str], ...]) -> str:
    ends = ", ".join(f"FROM `{source}` TO `{target}`" for source, target in pairs)
    columns = f", {_columns(rel.properties)}" if rel.properties else ""
    return f"CREATE REL TABLE `{rel.type}`({ends}{columns})"


def _columns(properties: tuple[Property, ...]) -> str:
    return ", ".join(f"`{prop.name}` {_TYPES[prop.type]}" for prop in properties)
