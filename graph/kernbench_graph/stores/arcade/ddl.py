"""The schema as ArcadeDB's types: one for each label and relationship type, each with one file of records.

A component's second label is a type as well, and the component is of a type that extends both.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernbench_graph.schema_types import NodeLabel

_SQL = {"string": "STRING", "int64": "LONG", "int32": "INTEGER", "double": "DOUBLE", "bool": "BOOLEAN"}


def type_statements(labels: Iterable[str], types: Iterable[str], seconds: Iterable[str]) -> list[str]:
    r"""Statements that create types of nodes and relationships; ``seconds`` are components' second labels.

    >>> print(*type_statements(["Component"], ["OF"], ["Router"]), sep="\n")
    CREATE VERTEX TYPE `Component` BUCKETS 1
    CREATE EDGE TYPE `OF` BUCKETS 1
    CREATE VERTEX TYPE `Router` IF NOT EXISTS BUCKETS 1
    CREATE VERTEX TYPE `Component~Router` IF NOT EXISTS EXTENDS `Component`, `Router` BUCKETS 1
    """
    made = [f"CREATE VERTEX TYPE `{label}` BUCKETS 1" for label in labels]
    made += [f"CREATE EDGE TYPE `{type_}` BUCKETS 1" for type_ in types]
    for second in seconds:
        made.append(f"CREATE VERTEX TYPE `{second}` IF NOT EXISTS BUCKETS 1")
        made.append(
            f"CREATE VERTEX TYPE `Component~{second}` IF NOT EXISTS EXTENDS `Component`, `{second}` BUCKETS 1"
        )
    return made


def index_statements(label: NodeLabel) -> list[str]:
    r"""Statements that create the indexes of a label.

    >>> from kernbench_graph.schema import SCHEMA
    >>> print(*index_statements(SCHEMA.label("Launch")), sep="\n")
    CREATE PROPERTY `Launch`.`id` IF NOT EXISTS STRING
    CREATE INDEX IF NOT EXISTS ON `Launch` (`id`) NOTUNIQUE
    """
    made = []
    for prop in label.properties:
        if prop.indexed:
            made.append(f"CREATE PROPERTY `{label.name}`.`{prop.name}` IF NOT EXISTS {_SQL[prop.type]}")
            made.append(f"CREATE INDEX IF NOT EXISTS ON `{label.name}` (`{prop.name}`) NOTUNIQUE")
    return made
