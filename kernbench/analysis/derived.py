"""Derived parameters: the lists that a question needs and that no store can compute in Cypher.

A question file declares such a list as a parameter with ``derived: true``. It is computed here, just before
the question is asked, by the function of the same name in the module that :data:`DERIVED` gives. One more
derived parameter is therefore one function in the module of its topic and one line in that table.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench.analysis.routing import RoutedTopology
    from kernbench.pgraph import GraphStore, Question, RunRecord

DERIVED = {
    "configurations": "history",
    "configured_differently": "configuration",
    "predecessors": "history",
}
"""Parameter name -> the module of this package with the function of that name."""

Rows = list[dict[str, Any]]
"""A derived parameter: items that all have the same keys, each key always of one type."""


class AskedRun:
    """One run in a store; ``run`` is its id, empty for a question about the history."""

    def __init__(self, store: GraphStore, run: str) -> None:
        self.store = store
        self.run = run

    @cached_property
    def record(self) -> RunRecord:
        """The run as it is kept."""
        return self.store.load(self.run)

    @property
    def tables(self) -> Mapping[str, pa.Table]:
        """The run's tables by name; each is read when first looked at."""
        return self.record.tables

    @cached_property
    def topology_tables(self) -> Mapping[str, pa.Table]:
        """The tables ``Component`` and ``Link`` of the run's topology."""
        return self.store.load_topology(str(self.record.info["topology"])).tables

    @cached_property
    def topology(self) -> RoutedTopology:
        """The topology that the run was kept with, and its router: the simulator's own routes."""
        from kernbench.analysis.routing import routed_topology

        return routed_topology(self.store.load_topology(str(self.record.info["topology"])))

    def has(self, table: str, number: int) -> bool:
        """Whether the run has a row of that number, such as an operation."""
        return bool((self.tables[table]["number"].to_numpy() == number).any())


def derive(
    store: GraphStore, question: Question, run: str | None, params: Mapping[str, Any]
) -> dict[str, Rows]:
    """The derived parameters of ``question``; ``params`` are all its parameters, the derived ones empty.

    ``run`` is an id or a reference, by default the last run; questions about the history have none.
    """
    if not question.derived:
        return {}
    asked = AskedRun(store, "" if question.scope == "history" else store.resolve(run or "last"))
    found = {}
    for name in question.derived:
        module = import_module(f"kernbench.analysis.{DERIVED[name]}")
        found[name] = getattr(module, name)(asked, params)
    return found
