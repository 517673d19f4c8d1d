"""All tables, and the node labels whose nodes are their rows."""

from __future__ import annotations

from dataclasses import replace

from kernbench_graph.schema_added import ADDED_LABELS, ADDED_TABLES
from kernbench_graph.schema_described import DESCRIBED_LABELS, DESCRIBED_TABLES
from kernbench_graph.schema_operations import OPERATIONS
from kernbench_graph.schema_recorded import RECORDED, RUN_PROPERTIES, TOPOLOGY_PROPERTIES
from kernbench_graph.schema_types import NodeLabel, Property, label_of
from kernbench_graph.schema_worked_out import WORKED_OUT_TABLES

TABLES = (*RECORDED, *OPERATIONS, *DESCRIBED_TABLES, *WORKED_OUT_TABLES, *ADDED_TABLES)


def _label(
    table: str, doc: str, prefix: str = "", title: str = "", own: str = "", more: str = ""
) -> NodeLabel:
    known = {entry.name: entry for entry in TABLES}
    return label_of(known[table], doc, prefix, title, own, known[more] if more else None)


LABELS = (
    NodeLabel("Topology", "topology", "A compiled machine, stored once for all its runs.",
              tuple(p for p in TOPOLOGY_PROPERTIES if p.in_graph), "id"),
    replace(
        _label("Component", "A component of the machine or a level of its hierarchy. Its second label is its "
               "kind; further properties are those of its kind.", own="attributes"),
        properties=(
            *_label("Component", "").properties,
            Property("package", "int32", "Its package, counted from 0; -1 when none.", column="sip"),
            Property("chiplet", "int32", "Its chiplet, counted from 0 over those of the package that have "
                     "PEs or memory; -1 when none.", column="cube"),
        ),
    ),
    _label("Link", "A directed wire between two components; a node, so that traffic can attach to it."),
    NodeLabel("Run", "run", "One simulation.",
              (RUN_PROPERTIES[0], Property("name", "string", "Name of the bench."), *RUN_PROPERTIES[1:]),
              "id", title="{bench}"),
    _label("Use", "A run's use of one component or link, summed up; hops, operations and routes attach to "
           "it rather than to the topology, which runs share.", "use:", "{resource}"),
    _label("Launch", "A kernel launch.", "launch", "{kernel} {number}", more="Submitted"),
    _label("Block", "A block of the grid of a Triton launch.", "block", "block {x},{y},{z}"),
    _label("Repeat", "Repeated work that a run counts without simulating it: periods of a loop, or "
           "packages.", "repeat"),
    _label("Route", "A path that transactions took.", "route", "route {number}"),
    _label("Transaction", "One request with its answer, or one message.", "txn", "{kind} {number}"),
    _label("Op", "One data operation, or one stage of one tile of it.", "op"),
    _label("Tensor", "A tensor of the host program.", "tensor"),
    _label("Race", "Two accesses to the same bytes without order, one of them a write.", "race",
           "{kind} {number}"),
    _label("Reading", "A row of the table of a user's instrument. Further properties are the columns that "
           "the instrument gave it.", "reading", "{kind} {number}", own="columns"),
    _label("Path", "The critical path of the run or of a launch. Computed on first "
           "use.", "path:"),
    _label("Step", "A step of a critical path: a time range, where it went and why. Computed on "
           "first use.", "step", "{cause} {number}"),
    _label("Wait", "A wait of a transaction or operation. Computed on first use.", "wait",
           "{cause} {number}"),
    _label("Work", "An operation, a PE in a launch, or a launch, compared with the limits of its "
           "hardware. Computed on first use.", "work"),
    _label("Energy", "Energy of the run, or of a part, line or launch. Computed on first "
           "use.", "energy"),
    _label("Window", "A time window of a run; questions select it by name.", "window:"),
    _label("Span", "A time range that belongs to a window.", "span", "interval {number}"),
    _label("Line", "A source line. Computed on first use.", "line:"),
    *DESCRIBED_LABELS,
    *ADDED_LABELS,
)  # fmt: skip
