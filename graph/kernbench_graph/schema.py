"""A run and a topology as archive tables, and as a property graph: schema version 4.

One description from which everything else is made: the column types of the Parquet archive
(:mod:`kernbench_graph.archive.canonical`), the rows of every projection (:mod:`kernbench_graph.projection`),
the typed tables of the embedded engines, constraints and indexes, and the reference page
(``tools/reference``).

Units: times are float nanoseconds, sizes bytes, bandwidths GB/s (10^9 bytes/s), lengths millimetres. A
property name has one type everywhere. Causal relationships point from the effect to its cause.
"""

from __future__ import annotations

from types import MappingProxyType

from kernbench_graph.schema_labels import LABELS, TABLES
from kernbench_graph.schema_recorded import RUN_PROPERTIES, TOPOLOGY_PROPERTIES
from kernbench_graph.schema_relationships import RELATIONSHIPS
from kernbench_graph.schema_types import Schema

SCHEMA_VERSION = 4
"""Raised whenever a table or a column is added, or a meaning changes.

An optional table does not raise it, nor does a column with a default: archives without them are as they were.
"""
READABLE = (2, 3, 4)
"""Versions of archives that are read: whatever a later one added has a default, or follows from the rest."""
TOPOLOGY_VERSION = 2
"""The schema version that last changed the tables of topologies: the same machine keeps its id since then."""

SCHEMA = Schema(
    SCHEMA_VERSION, TABLES, LABELS, RELATIONSHIPS,
    MappingProxyType({"run": RUN_PROPERTIES, "topology": TOPOLOGY_PROPERTIES}),
)  # fmt: skip
"""The schema that this version of KernBench writes."""
