"""Every table of the graph that is worked out from a run's others, and what works it out.

One more analysis is one function in the module of its topic, its tables in
:mod:`kernbench_graph.schema`, and one line in :data:`ANALYSES` or :data:`ON_MACHINES`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from kernbench.support.pgraph import SCHEMA, RunRecord, TopologyRecord

if TYPE_CHECKING:
    import pyarrow as pa

ANALYSES = {
    ("Window", "Span", "Touched"): "windows.window_facts.window_tables",
    ("Waited",): "use.waits.waited_tables",
    ("Wait",): "use.waits.wait_tables",
    ("HopUse", "Served", "Measured", "Busy"): "use.service_facts.served_tables",
    ("Path", "Explained", "Step"): "path.path_table.path_tables",
    ("Line", "AtLine"): "path.source_lines.line_tables",
    ("Followed",): "use.following_table.followed_tables",
}
"""Tables -> the module of this package, and the function in it, that works them out from a run."""
ON_MACHINES = {
    ("Kept",): "use.tcm_facts.kept_tables",
    ("Work",): "use.roofline.work_tables",
    ("Energy", "Spent"): "energy.energy_tables.energy_tables",
}
"""The same, of functions that take the topology which the run was kept with as well."""

Machine = Callable[[], TopologyRecord]
"""Gives the topology of a run, which few analyses look at."""


def derived_tables(run: RunRecord, table: str, machine: Machine) -> Mapping[str, pa.Table]:
    """The table of that name, worked out from the run, and those that come with it."""
    for tables, place in (ANALYSES | ON_MACHINES).items():
        if table in tables:
            module, _, name = place.rpartition(".")
            work_out = getattr(import_module(f"kernbench.analysis.{module}"), name)
            found: Mapping[str, pa.Table] = (
                work_out(run, machine()) if tables in ON_MACHINES else work_out(run)
            )
            return found
    raise KeyError(table)


def with_derived_tables(
    run: RunRecord, names: Collection[str], kept: Mapping[str, pa.Table], machine: Machine
) -> dict[str, pa.Table]:
    """The tables of a run, and those worked out that ``names`` of labels and types need; all for none.

    So is what was added to the run since, from its tables as they are ``kept``.
    """
    types = [rel for rel in SCHEMA.relationships if rel.type in names]
    needed = {*names, *(rel.more for rel in types), *(rows.table for rel in types for rows in rel.rows)}
    found = dict(run.tables)
    found |= {table.name: kept[table.name] for table in SCHEMA.tables if table.added}
    for tables in ANALYSES | ON_MACHINES:
        if not names or needed & {*tables}:
            found |= derived_tables(run, tables[0], machine)
    return found
