"""The schema as LadybugDB's typed tables.

A node has one label in that dialect: a component's second label is its property ``label``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import pyarrow as pa

from kernbench_graph.archive.canonical import ARROW_TYPES
from kernbench_graph.schema import SCHEMA
from kernbench_graph.schema_types import NodeLabel, Property, Relationship

_TYPES = {"string": "STRING", "int64": "INT64", "int32": "INT32", "double": "DOUBLE", "bool": "BOOLEAN"}
_OF_ARROW = {arrow: _TYPES[name] for name, arrow in ARROW_TYPES.items()}

_ONE_WAY = frozenset({"HOP"})
"""Types whose relationships are stored with their first end alone: half the work where there are millions.

From the other end they are found by reading all, a few hundredths of a second for a million. They cannot be
followed both ways at once.
"""


def statements(
    names: Collection[str], own: Mapping[str, Mapping[str, pa.DataType]], *, by_id: bool = False
) -> list[str]:
    """Statements that create the tables of the labels and types ``names``.

    ``own`` are the further properties that nodes have, by label. Nodes are keyed by what
    identifies them within their run or topology, or, where there may be several, ``by_id``. Of a type there
    are the pairs of ends that are among the names.

    >>> for text in statements(["Route", "Use", "VIA"], {}):
    ...     if "TABLE `Route`" in text or "TABLE `VIA`" in text:
    ...         print(text)
    CREATE NODE TABLE `Route`(`id` STRING, `name` STRING, `number` INT64, `hops` INT64, `mm` DOUBLE,
                              PRIMARY KEY(`number`))
    CREATE REL TABLE `VIA`(FROM `Route` TO `Use`, `seq` INT32)
    """
    created = [
        node_table(label, "id" if by_id else label.key, own.get(label.name, {}))
        for label in SCHEMA.labels
        if label.name in names
    ]
    created += [
        relationship_table(rel, [pair for pair in rel.pairs if set(pair) <= set(names)])
        for rel in SCHEMA.relationships
        if rel.type in names
    ]
    return created


def node_table(label: NodeLabel, key: str, attributes: Mapping[str, pa.DataType]) -> str:
    """Statement that creates the table of a label, with further ``attributes``, keyed by ``key``.

    >>> print(node_table(SCHEMA.label("Route"), "id", {"depth": pa.int64()}))
    CREATE NODE TABLE `Route`(`id` STRING, `name` STRING, `number` INT64, `hops` INT64, `mm` DOUBLE,
                              `depth` INT64, PRIMARY KEY(`id`))
    """
    more = "".join(f", `{name}` {_OF_ARROW[type_]}" for name, type_ in attributes.items())
    return f"CREATE NODE TABLE `{label.name}`({_columns(label.properties)}{more}, PRIMARY KEY(`{key}`))"


def relationship_table(rel: Relationship, pairs: Iterable[tuple[str, str]]) -> str:
    """Statement that creates the table of a type of relationships between the labels in ``pairs``.

    >>> via = next(rel for rel in SCHEMA.relationships if rel.type == "VIA")
    >>> print(relationship_table(via, [("Route", "Use")]))
    CREATE REL TABLE `VIA`(FROM `Route` TO `Use`, `seq` INT32)
    >>> hop = next(rel for rel in SCHEMA.relationships if rel.type == "HOP")
    >>> print(relationship_table(hop, [("Transaction", "Use")]).partition(" WITH ")[2])
    (storage_direction='fwd')
    """
    ends = ", ".join(f"FROM `{source}` TO `{target}`" for source, target in pairs)
    columns = f", {_columns(rel.properties)}" if rel.properties else ""
    stored = " WITH (storage_direction='fwd')" if rel.type in _ONE_WAY else ""
    return f"CREATE REL TABLE `{rel.type}`({ends}{columns}){stored}"


def _columns(properties: tuple[Property, ...]) -> str:
    return ", ".join(f"`{prop.name}` {_TYPES[prop.type]}" for prop in properties)
