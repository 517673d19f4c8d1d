"""A run that a question is asked of, with what analyses read of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench.analysis.routes.routing import RoutedTopology
    from kernbench.support.pgraph import GraphStore, RunRecord, TopologyRecord


class RunView:
    """One run in a store; ``run`` is its id."""

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
    def _machine(self) -> TopologyRecord:
        return self.store.load_topology(str(self.record.info["topology"]))

    @property
    def topology_tables(self) -> Mapping[str, pa.Table]:
        """The tables ``Component`` and ``Link`` of the run's topology."""
        return self._machine.tables

    @cached_property
    def topology(self) -> RoutedTopology:
        """The topology that the run was kept with, and its router: the simulator's own routes."""
        from kernbench.analysis.routes.routing import routed_topology

        return routed_topology(self._machine)

    def has(self, table: str, number: int) -> bool:
        """Whether the run has a row of that number, such as an operation."""
        return bool((self.tables[table]["number"].to_numpy() == number).any())
