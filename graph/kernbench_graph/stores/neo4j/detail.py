"""How much of a run becomes nodes and relationships in a server: its summary, its operations too, or all.

Its archive is kept whole beside the graph whatever the detail, so that what is worked out from the record
is the same.
"""

from __future__ import annotations

from functools import cache

from kernbench_graph.schema import SCHEMA

DETAILS = ("summary", "operations", "full")
"""Use of every resource, launches and tensors; operations and transactions too; every hop as well."""
_LEVELS = {"Transaction": 1, "Op": 1, "Route": 1, "HOP": 2}
"""The first of ``DETAILS`` that has nodes of that label, or relationships of that type; 0 for all others."""


@cache
def kept_names(detail: str) -> frozenset[str]:
    """Labels and relationship types that a run pushed at ``detail`` has."""
    return frozenset(name for name, level in _levels().items() if level <= DETAILS.index(detail))


@cache
def left_out(detail: str) -> frozenset[str]:
    """Labels and relationship types that a run pushed at ``detail`` lacks.

    >>> sorted(left_out("operations"))
    ['HOP']
    """
    return frozenset(_levels()) - kept_names(detail)


@cache
def least_detail(name: str) -> str:
    """The least detail that has the label or type ``name``."""
    return DETAILS[_levels()[name]]


@cache
def _levels() -> dict[str, int]:
    """A relationship needs what its ends need, of those pairs of ends that need least."""
    found = {label.name: _LEVELS.get(label.name, 0) for label in SCHEMA.labels}
    for rel in SCHEMA.relationships:
        ends = min(max(found[source], found[target]) for source, target in rel.pairs)
        found[rel.type] = max(ends, _LEVELS.get(rel.type, 0))
    return found
