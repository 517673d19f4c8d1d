"""Numbers and texts for nodes, as the graph of a run has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kernbench.support.pgraph import MARKED, SCHEMA

if TYPE_CHECKING:
    import pyarrow as pa

Key = tuple[str, Any]
"""Label and key of a node, as networkx graphs of a run have it."""


def annotation_tables(name: str, values: Mapping[Key, float | str]) -> dict[str, pa.Table]:
    """The tables of the graph for an annotation, of nodes that exist."""
    import pyarrow as pa

    texts = any(isinstance(value, str) for value in values.values())
    columns: dict[str, list[Any]] = {
        "annotation": [name] * len(values),
        "value": [0.0 if texts else float(value) for value in values.values()],
        "text": [str(value) if texts else "" for value in values.values()],
    }
    for label, column in MARKED.items():
        absent = SCHEMA.table("Mark").column(column).absent
        columns[column] = [key if of == label else absent for of, key in values]
    holds = "text" if texts else "number"
    return {
        "Annotation": pa.Table.from_pylist([{"name": name, "holds": holds, "nodes": len(values)}]),
        "Mark": pa.table(columns),
    }
