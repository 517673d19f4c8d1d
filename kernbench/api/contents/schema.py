"""The schema beside a text of Cypher: each label, with patterns that lead from it and its properties."""

from __future__ import annotations

from typing import NamedTuple


class LabelWords(NamedTuple):
    """A label: what it is, and the words to put into a text."""

    name: str
    help: str
    patterns: list[str]
    """From a node of the label, such as ``(:Op)-[:ON_PART]->(:Use)``."""
    properties: list[tuple[str, str]]
    """Name, and its unit or type."""


def labels() -> list[LabelWords]:
    """The labels of the graph, in the schema's order."""
    from kernbench.support.pgraph import SCHEMA

    patterns: dict[str, list[str]] = {label.name: [] for label in SCHEMA.labels}
    for rel in SCHEMA.relationships:
        for source, target in rel.pairs:
            patterns[source].append(f"(:{source})-[:{rel.type}]->(:{target})")
    return [
        LabelWords(
            label.name, label.doc, patterns[label.name],
            [(prop.name, prop.unit or prop.type) for prop in label.properties],
        )
        for label in SCHEMA.labels
    ]  # fmt: skip
