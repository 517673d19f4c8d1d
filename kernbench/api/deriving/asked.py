"""What a question is asked of: a store, one run of it, and what is worked out from both when first needed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kernbench.pgraph import GraphStore, Result, RunRecord

if TYPE_CHECKING:
    import pyarrow as pa

    from kernbench.api.deriving.routed import Routed

Rows = list[dict[str, Any]]
"""A derived parameter: items that all have the same keys, each of them always of one type."""


class Asked:
    """One run in a store; ``run`` is its id, empty where the question is about all runs."""

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
    def routed(self) -> Routed:
        """The topology that the run was kept with, and its router: the simulator's own routes."""
        from kernbench.api.deriving.routed import routed

        return routed(self.store.load_topology(str(self.record.info["topology"])).spec)

    def query(self, cypher: str, **params: Any) -> Result:
        """Rows of Cypher asked of the run's graph."""
        return self.store.query(cypher, params, self.run)
