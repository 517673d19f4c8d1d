"""A run and a topology as archive tables, and as a property graph: schema version 3.

One description from which everything else is made: the column types of the Parquet archive
(:mod:`kernbench_graph.archive.canonical`), the rows of every projection (:mod:`kernbench_graph.projection`),
the typed tables of the embedded engines, constraints and indexes, and the reference page
(``tools/reference``).

Units: times are float nanoseconds, sizes bytes, bandwidths GB/s (10^9 bytes/s), lengths millimetres. A
property name has one type everywhere. Causal relationships point from the effect to its cause.
"""

from __future__ import annotations

from types import MappingProxyType

from kernbench_graph.schema_added import ADDED_LABELS, ADDED_RELATIONSHIPS, ADDED_TABLES
from kernbench_graph.schema_described import DESCRIBED_LABELS, DESCRIBED_RELATIONSHIPS, DESCRIBED_TABLES
from kernbench_graph.schema_types import (
    Edges,
    NodeLabel,
    Property,
    Relationship,
    Schema,
    Table,
    label_of,
)
from kernbench_graph.schema_worked_out import WORKED_OUT_TABLES

SCHEMA_VERSION = 3
"""Raised whenever a table or a column is added, or a meaning changes.

An optional table does not raise it: archives without rows of it are as they were.
"""
READABLE = (2, 3)
"""Versions of archives that are read: whatever version 3 added has a default, or follows from the rest."""
TOPOLOGY_VERSION = 2
"""The schema version that last changed the tables of topologies: the same machine keeps its id since then."""

_P = Property


def _name(doc: str) -> Property:
    return _P("name", "string", doc)


RUN_PROPERTIES = (
    _P("id", "string", "Run id, unique in its store.", indexed=True),
    _P("bench", "string", "Name of the bench, or of the traffic file, that was run.", indexed=True),
    _P("params", "string", "Parameters of the bench, as JSON text of an object."),
    _P("started_at", "string", "When the run began: ISO 8601 text, UTC."),
    _P("status", "string", "`ok`; `failed` where values are wrong; `partial` for a run that was stopped."),
    _P("sim_ns", "double", "Simulated time from start to end.", "ns"),
    _P(
        "latency_ns",
        "double",
        "Time during which at least one launch was under way; 0 where there is none.",
        "ns",
    ),
    _P("wall_s", "double", "Time the run took on the machine that ran it.", "s"),
    _P("version", "string", "Version of KernBench that ran it."),
    _P("config_hash", "string", "Hash over everything that was configured: same hash, same run."),
    _P("seed", "int64", "Seed of random inputs; -1 when there was none."),
    _P("tags", "string", "The user's tags: JSON text of a list of strings."),
    _P("topology", "string", "Id of the topology it ran on."),
    _P("topology_name", "string", "Name of that topology."),
    _P(
        "verified",
        "string",
        "`yes`, `no` (values are wrong), `race` (accesses race), `nothing checked` (asked, but the bench has "
        "nothing to compare) or `not asked`.",
    ),
    _P("events", "int64", "Events that the engine processed."),
    _P("hops", "int64", "Hops recorded."),
    _P("flit_crossings", "int64", "Flits times components and links they went through."),
    _P("host", "string", "Name of the machine that ran it."),
)
WALL_CLOCK = ("id", "started_at", "wall_s", "host", "tags")
"""Run properties that differ between two identical runs; kept apart from the deterministic ones."""

TOPOLOGY_PROPERTIES = (
    _P("id", "string", "Hash of the compiled tables and properties: same id, same machine.", indexed=True),
    _P("name", "string", "Name given in the topology file."),
    _P("schema_version", "string", "Version of the topology file's format."),
    _P("flit_bytes", "int64", "Payload of a flit.", "bytes"),
    _P("ns_per_mm", "double", "Delay of a wire by its length.", "ns/mm"),
    _P("spec", "string", "The validated specification as YAML or JSON text."),
    _P("properties", "string", "Other properties of the compiled graph, as JSON text of an object.",
       hidden=True),
)  # fmt: skip

TABLES = (
    Table("Component", "topology", "Components and levels of the hierarchy.", (
        _P("name", "string", "Full name, such as `sip0.cube0.r0c0`.", indexed=True),
        _P("kind", "string", "Kind of component, such as `router`, or level of the hierarchy.",
           indexed=True),
        _P("impl", "string", "Implementation that simulates it; empty for levels of the hierarchy."),
        _P("label", "string", "Second label, such as `Router`; a property where a node has one label only."),
        _P("parent", "string", "Component that contains it; empty for the tray.", to="Component",
           absent=""),
        _P("sip", "int32", "SIP it belongs to; -1 when none."),
        _P("cube", "int32", "Cube within the SIP; -1 when none."),
        _P("pe", "int32", "PE within the cube; -1 when none."),
        _P("x_mm", "double", "Position within the package, to the right.", "mm"),
        _P("y_mm", "double", "Position within the package, downwards.", "mm"),
        _P("overhead_ns", "double", "Time that a transaction's first flit pays here.", "ns"),
        _P("attributes", "string", "Properties particular to the kind, as JSON text of an object. In the "
           "graph each is a property of its own.", hidden=True),
    ), key="name"),
    Table("Link", "topology", "Directed links.", (
        _P("name", "string", "`source->target`.", indexed=True),
        _P("kind", "string", "Kind of link, such as `router_mesh`.", indexed=True),
        _P("src", "string", "Component that sends.", to="Component"),
        _P("dst", "string", "Component that receives.", to="Component"),
        _P("bw_gbs", "double", "Peak bandwidth.", "GB/s"),
        _P("delay_ns", "double", "Time from one end to the other.", "ns"),
        _P("distance_mm", "double", "Length.", "mm"),
        _P("routing_weight", "double", "The weight that routing adds up along a path.", "mm"),
    ), key="name"),
    Table("Use", "run", "A run's use of one component or link, summed up.", (
        _P("resource", "string", "Name of the component or link.", indexed=True),
        _P("is_link", "bool", "Whether `resource` is a link.", hidden=True),
        _P("kind", "string", "Kind of the component or link."),
        _P("bytes", "int64", "Bytes that went through.", "bytes"),
        _P("busy_ns", "double", "Time in service.", "ns"),
        _P("wait_ns", "double", "Time that transactions stood in front of it.", "ns"),
        _P("utilisation", "double", "Busy time as a share of the run's time, 0 to 1."),
        _P("transactions", "int64", "Transactions that went through."),
        _P("max_queue", "int64", "Most transactions in its queue at once."),
    ), key="resource"),
    Table("Repeat", "run", "What a run accounts for without having simulated it; only where there is such.", (
        _P("number", "int64", "Number of it within its run, from 0."),
        _P("kind", "string", "`repeat`: periods like those before; `alike`: packages that do the same."),
        _P("name", "string", "What one of them is called, such as `layer`."),
        _P("from_ns", "double", "When the periods that are not simulated begin, or those packages.", "ns"),
        _P("to_ns", "double", "When they end.", "ns"),
        _P("simulated", "int64", "Periods, or packages, that were simulated."),
        _P("times", "int64", "How many there are beside these."),
        _P("period_ns", "double", "Length of the last period that was simulated, and of each that was not; 0 "
           "of packages.", "ns"),
        _P("before_ns", "double", "Length of the one before it; 0 of packages.", "ns"),
        _P("least_ns", "double", "Shortest that a period could be without waits that only an estimate has; "
           "of packages all of their time without them.", "ns"),
    ), key="number", optional=True),
    Table("Beyond", "run", "What a run accounts for without having simulated it adds to the use of parts; "
          "only where there is such.", (
        _P("repeat", "int64", "The `Repeat` that accounts for it.", to="Repeat"),
        _P("resource", "string", "Name of the component or link.", to="Use"),
        _P("like", "string", "The part whose simulated use it has over time.", to="Use"),
        _P("bytes", "int64", "Bytes that went through.", "bytes"),
        _P("busy_ns", "double", "Time in service.", "ns"),
        _P("wait_ns", "double", "Time that transactions stood in front of it.", "ns"),
        _P("transactions", "int64", "Transactions that went through."),
    ), optional=True),
    Table("Launch", "run", "Kernel launches.", (
        _P("number", "int64", "Number of the launch within its run, from 0."),
        _P("kernel", "string", "Name that it was launched under."),
        _P("source", "string", "File and line of the kernel; empty when unknown.", default=""),
        _P("t_submit", "double", "When the host sent it.", "ns"),
        _P("t_start", "double", "Common start of its PEs.", "ns"),
        _P("t_done", "double", "When the host had the last answer.", "ns"),
        _P("pe_ns", "double", "Longest time of one of its PEs, from the common start to the kernel's end.",
           "ns", default=0.0),
        _P("pes", "int64", "PEs that it ran on."),
        _P("late_ns", "double", "Time by which the start came after the stamp of the launch message.", "ns",
           default=0.0),
    ), key="number"),
    Table("Route", "run", "Paths that transactions took, out and back, each once.", (
        _P("number", "int64", "Number of the route within its run."),
        _P("hops", "int64", "Components and links on it."),
        _P("mm", "double", "Length of its links.", "mm"),
    ), key="number"),
    Table("Via", "run", "Components and links of routes, in order.", (
        _P("route", "int64", "The route.", to="Route"),
        _P("seq", "int32", "Position on the route, from 0."),
        _P("resource", "string", "Name of the component or link.", to="Use"),
    )),
    Table("Transaction", "run", "One request with its answer, or one message.", (
        _P("number", "int64", "Number of the transaction within its run.", indexed=True),
        _P("kind", "string", "Kind of transaction, such as `dma_read`."),
        _P("src", "string", "Component that sent it.", to="Use"),
        _P("dst", "string", "Component that it went to.", to="Use"),
        _P("bytes", "int64", "Payload.", "bytes"),
        _P("t_submit", "double", "When it was submitted.", "ns"),
        _P("t_done", "double", "When its answer was complete.", "ns"),
        _P("service_ns", "double", "Time spent being served.", "ns"),
        _P("wait_ns", "double", "Time spent behind other transactions.", "ns"),
        _P("launch", "int64", "Number of the launch that it belongs to; -1 for the host's own traffic.",
           default=-1),
        _P("route", "int64", "Route that it took; -1 when unknown.", to="Route", absent=-1, default=-1),
        _P("caused_by", "int64", "Transaction that brought it about; -1 when none.", to="Transaction",
           absent=-1, default=-1),
        _P("op", "int64", "Operation that it was sent for; of a kernel's `launch_done`, the one whose end it "
           "waited for last; -1 when none.", to="Op", absent=-1),
        _P("request", "string", "Id of the host's message that it belongs to, as the message and its answer "
           "carry it; empty where no host asked.", default=""),
    ), key="number"),
    Table("Hop", "run", "Components and links that transactions went through.", (
        _P("txn", "int64", "The transaction.", to="Transaction"),
        _P("seq", "int32", "Position on the transaction's route, from 0."),
        _P("resource", "string", "Name of the component or link.", to="Use"),
        _P("t_in", "double", "First flit arrives.", "ns"),
        _P("t_start", "double", "First flit is served.", "ns"),
        _P("t_out", "double", "Last flit leaves.", "ns"),
        _P("service_ns", "double", "Time of the last flit here, less its waits.", "ns"),
        _P("wait_ns", "double", "Time that the last flit stood behind other transactions.", "ns"),
        _P("bytes", "int64", "Bytes that went through.", "bytes"),
    )),
    Table("Dealt", "run", "Bytes of transactions at the pseudo-channels of their HBM slice.", (
        _P("txn", "int64", "The transaction.", to="Transaction"),
        _P("resource", "string", "Name of the pseudo-channel.", to="Use"),
        _P("bytes", "int64", "Bytes of it there.", "bytes"),
    ), optional=True),
    Table("RowUse", "run", "How bursts found the rows of a pseudo-channel; only with "
          "`cube.hbm.model: dram`.", (
        _P("txn", "int64", "The transaction; -1 for all of the run together.", to="Transaction", absent=-1),
        _P("resource", "string", "Name of the pseudo-channel.", to="Use"),
        _P("hits", "int64", "Bursts whose row was open."),
        _P("misses", "int64", "Bursts whose bank had no row open."),
        _P("conflicts", "int64", "Bursts whose bank had another row open."),
        _P("refreshes", "int64", "Of a transaction, refreshes that held it up; of a run, all."),
        _P("row_ns", "double", "Time for which a transaction waited for rows to be closed and opened, at the "
           "pseudo-channel that served it last, 0 at others; of a run those of all its transactions.", "ns"),
        _P("refresh_ns", "double", "The same for refreshes that were due or under way.", "ns"),
    ), optional=True),
    Table("CacheUse", "run", "What was made of the cache before a memory; only with `memory.cache`.", (
        _P("txn", "int64", "The transaction; -1 for all of the run together.", to="Transaction", absent=-1),
        _P("resource", "string", "Name of the cache.", to="Use"),
        _P("hits", "int64", "Bursts read that were there."),
        _P("misses", "int64", "Bursts read that memory was asked for."),
        _P("again", "int64", "Of the misses, those in lines that had been there, and made room since."),
        _P("merged", "int64", "Bursts read that were on their way from memory already."),
        _P("writes", "int64", "Bursts written."),
        _P("evictions", "int64", "Lines that made room."),
        _P("fetched_bytes", "int64", "Bytes read from memory: those of the misses.", "bytes"),
        _P("written_bytes", "int64", "Bytes written to memory.", "bytes"),
        _P("miss_ns", "double", "Time by which a transaction was later for what was not there, or for "
           "room; of a run that of all its transactions.", "ns"),
    ), optional=True),
    Table("WaitedFor", "run", "Transactions that stood behind others.", (
        _P("txn", "int64", "The transaction that waited.", to="Transaction"),
        _P("holder", "int64", "The transaction that held the resource.", to="Transaction"),
        _P("seq", "int32", "Hop of the waiting transaction at which it stood."),
        _P("resource", "string", "Name of the component or link, or of the part of it, that was held."),
        _P("ns", "double", "Time that it stood behind this holder.", "ns"),
        _P("t_from", "double", "When the holder began to hold it up.", "ns"),
        _P("t_to", "double", "When the holder ceased to.", "ns"),
        _P("holders", "int64", "Holders that this row stands for: more than 1 where a long queue was "
           "folded."),
    )),
    Table("Op", "run", "Data operations, and the stages of their tiles.", (
        _P("number", "int64", "Number of the operation within its run.", indexed=True),
        _P("kind", "string", "`memory`, `gemm`, `math`, `view` or `tile`."),
        _P("name", "string", "Name of the operation, such as `dma_read` or `dot`."),
        _P("stage", "string", "Stage of a tile pipeline; empty when none."),
        _P("component", "string", "Component that carried it out; empty when none.", to="Use", absent=""),
        _P("launch", "int64", "Number of the launch that it belongs to; -1 when none.", to="Launch",
           absent=-1, shown=True),
        _P("parent", "int64", "Operation that it is a part of; -1 when none.", to="Op", absent=-1),
        _P("bytes", "int64", "Bytes moved or produced.", "bytes"),
        _P("flops", "int64", "Floating-point operations: 2mkn of a GEMM; 0 when none.", default=0),
        _P("m", "int64", "Rows of the result of a GEMM; 0 otherwise.", default=0),
        _P("k", "int64", "Length of the dot products of a GEMM; 0 otherwise.", default=0),
        _P("n", "int64", "Columns of the result of a GEMM; 0 otherwise.", default=0),
        _P("dtype", "string", "Type of the elements of its result; empty when it has none.", default=""),
        _P("t_ready", "double", "When the component received it.", "ns"),
        _P("t_start", "double", "When it began.", "ns"),
        _P("t_end", "double", "When it was done.", "ns"),
        _P("source", "string", "File and line of the call that issued it; empty when unknown.", default=""),
        _P("label", "string", "The operation with its shapes, as timelines show it."),
    ), key="number"),
    Table("Operand", "run", "Arrays that operations read or write.", (
        _P("op", "int64", "The operation.", to="Op"),
        _P("position", "int64", "Position among the inputs, from 0; -1 for the output."),
        _P("handle", "int64", "Number of the kernel's value; -1 for bytes in memory."),
        _P("address", "int64", "Address that the kernel used; -1 for a value."),
        _P("shape", "string", "Lengths of its axes, such as `64x32`, or `scalar`."),
        _P("dtype", "string", "Type of its elements."),
    )),
    Table("Region", "run", "Physical bytes of operands, in memory order.", (
        _P("op", "int64", "The operation.", to="Op"),
        _P("position", "int64", "Position of the operand."),
        _P("addr", "int64", "Physical address of the first byte."),
        _P("bytes", "int64", "Bytes from there on.", "bytes"),
    )),
    Table("DependsOn", "run", "Dependencies between operations.", (
        _P("op", "int64", "The operation that depends.", to="Op"),
        _P("on", "int64", "The operation that must come first.", to="Op"),
        _P("hazard", "string", "Reason: `raw`, `war`, `waw`, `handle`, `stage`, `slot`, `engine`, `issue`, "
           "`wait`, `buffer`, `token` or `credit`."),
    )),
    Table("Awaited", "run", "Transactions whose end operations awaited.", (
        _P("op", "int64", "The operation.", to="Op"),
        _P("txn", "int64", "The transaction.", to="Transaction"),
    )),
    Table("Tensor", "run", "Tensors of the host program, also those that were freed.", (
        _P("number", "int64", "Number of the tensor within its run, from 0."),
        _P("name", "string", "Name of the tensor."),
        _P("shape", "string", "Lengths of its axes, such as `64x32`; empty for a scalar."),
        _P("dtype", "string", "Type of its elements."),
        _P("bytes", "int64", "Size of all elements, each counted once.", "bytes"),
        _P("memory", "string", "`hbm`, `sram` or `tcm`."),
    ), key="number"),
    Table("Placed", "run", "Memories that hold parts of tensors.", (
        _P("tensor", "int64", "The tensor.", to="Tensor"),
        _P("component", "string", "The memory.", to="Component"),
        _P("bytes", "int64", "Bytes of it there.", "bytes"),
    )),
    Table("Access", "run", "Reads and writes of tensors by the operations that moved the bytes: loads, "
          "stores, host writes, and the DMA stages of tiles (not the composite that they are part of).", (
        _P("op", "int64", "The operation.", to="Op"),
        _P("tensor", "int64", "The tensor.", to="Tensor"),
        _P("is_write", "bool", "Whether it writes.", hidden=True),
        _P("offset", "int64", "Lowest byte of the tensor that it touches, its parts one after another.",
           "bytes"),
        _P("bytes", "int64", "Bytes of the tensor that it moves.", "bytes"),
    )),
    Table("Race", "run", "Pairs of accesses by different PEs, one of them a write, that nothing orders.", (
        _P("number", "int64", "Number of the race in its run, from 0; one for each pair of source lines."),
        _P("kind", "string", "`write-write`, `write-read` or `read-write`, in the order of effects."),
        _P("touched", "string", "The bytes as people know them: tensor, rows, PE that holds them."),
        _P("addr", "int64", "Physical address of the first byte."),
        _P("bytes", "int64", "Bytes that both accesses touch.", "bytes"),
        _P("first", "int64", "The operation that took effect first.", to="Op"),
        _P("second", "int64", "The other operation.", to="Op"),
        _P("first_pe", "string", "PE whose kernel issued the first, or 'the host'."),
        _P("second_pe", "string", "PE whose kernel issued the other, or 'the host'."),
        _P("t_first", "double", "When the first took effect.", "ns"),
        _P("t_second", "double", "When the other did.", "ns"),
    ), key="number"),
    Table("Reading", "run", "Rows of the tables of users' instruments; only where a run had such an "
          "instrument.", (
        _P("number", "int64", "Number of the row within its run, from 0."),
        _P("kind", "string", "Name of the instrument's table, such as `energy`."),
        _P("resource", "string", "Component or link that the row is about; empty when none.", to="Use",
           absent="", shown=True),
        _P("launch", "int64", "Number of the launch that it is about; -1 when none.", to="Launch",
           absent=-1, shown=True),
        _P("columns", "string", "The other columns of the instrument's table, as JSON text of an object. In "
           "the graph each is a property of its own.", hidden=True),
    ), key="number", optional=True),
    *DESCRIBED_TABLES,
    *WORKED_OUT_TABLES,
    *ADDED_TABLES,
)  # fmt: skip


def _label(
    table: str, doc: str, prefix: str = "", title: str = "", own: str = "", more: str = ""
) -> NodeLabel:
    known = {entry.name: entry for entry in TABLES}
    return label_of(known[table], doc, prefix, title, own, known[more] if more else None)


LABELS = (
    NodeLabel("Topology", "topology", "A compiled machine, kept once for all its runs.",
              tuple(p for p in TOPOLOGY_PROPERTIES if p.in_graph), "id"),
    _label("Component", "A component of the machine or a level of its hierarchy. Its second label is its "
           "kind; further properties are those of its kind.", own="attributes"),
    _label("Link", "A directed wire between two components; a node, so that traffic can attach to it."),
    NodeLabel("Run", "run", "One simulation.", (RUN_PROPERTIES[0], _name("Name of the bench."),
              *RUN_PROPERTIES[1:]), "id", title="{bench}"),
    _label("Use", "A run's use of one component or link, summed up; hops, operations and routes attach to "
           "it rather than to the topology, which runs share.", "use:", "{resource}"),
    _label("Launch", "A kernel launch.", "launch", "{kernel} {number}", more="Submitted"),
    _label("Repeat", "What a run accounts for without having simulated it: periods that are like others, or "
           "packages.", "repeat"),
    _label("Route", "A path that transactions took.", "route", "route {number}"),
    _label("Transaction", "One request with its answer, or one message.", "txn", "{kind} {number}"),
    _label("Op", "One data operation, or one stage of one tile of it.", "op"),
    _label("Tensor", "A tensor of the host program.", "tensor"),
    _label("Race", "Two accesses to the same bytes without order, one of them a write.", "race",
           "{kind} {number}"),
    _label("Reading", "A row of the table of a user's instrument. Further properties are the columns that "
           "the instrument gave it.", "reading", "{kind} {number}", own="columns"),
    _label("Path", "A critical path: what made the time of the run or of a launch. Worked out when it is "
           "first asked for.", "path:"),
    _label("Step", "A step of a critical path: a time range, where it went and why. Worked out when "
           "it is first asked for.", "step", "{cause} {number}"),
    _label("Work", "An operation, a PE in a launch, or a launch, against what its hardware allows. Worked "
           "out when it is first asked for.", "work"),
    _label("Energy", "Energy of the run, or of a part, line or launch. Worked out when it is first asked "
           "for.", "energy"),
    _label("Window", "A window of a run's time that questions choose by its name.", "window:"),
    _label("Span", "A time range that belongs to a window.", "span", "stretch {number}"),
    _label("Line", "A line of source. Worked out when it is first asked for.", "line:"),
    *DESCRIBED_LABELS,
    *ADDED_LABELS,
)  # fmt: skip


def _relationship(type_: str, doc: str, *rows: Edges, carries: str = "", more: str = "") -> Relationship:
    """``carries`` lists the columns that become properties, of the rows' table or of ``more``."""
    columns: dict[str, Property] = {}
    for table in TABLES:
        if table.name in (rows[0].table, more):
            columns |= {column.name: column for column in table.columns}
    return Relationship(type_, doc, rows, tuple(columns[name] for name in carries.split()), more)


_COMPONENT, _LINK, _USE_OF = ("Component", "name"), ("Link", "name"), ("Use", "resource")
_OF_TXN, _OF_OP = ("Transaction", "number"), ("Op", "number")

RELATIONSHIPS = (
    _relationship("CONTAINS", "Hierarchy: topology, tray, SIP, cube, PE, part.",
                  Edges("Component", ("Topology", ""), _COMPONENT, unless="parent"),
                  Edges("Component", ("Component", "parent"), _COMPONENT)),
    _relationship("LEAVES_BY", "The component sends into the link.",
                  Edges("Link", ("Component", "src"), _LINK)),
    _relationship("LEADS_TO", "The link delivers to the component.",
                  Edges("Link", _LINK, ("Component", "dst"))),
    Relationship("CONNECTS", "Component to component over one link, for paths.",
                 (Edges("Link", ("Component", "src"), ("Component", "dst")),),
                 (_P("link", "string", "Name of the link.", column="name"),
                  _P("weight", "double", "Routing weight of the link.", "mm", column="routing_weight"),
                  _P("delay_ns", "double", "Time from one end to the other.", "ns"))),
    _relationship("RAN_ON", "The topology of a run.", Edges("", ("Run", ""), ("Topology", ""))),
    _relationship("USED", "A run's use of each component and link.", Edges("Use", ("Run", ""), _USE_OF)),
    _relationship("OF", "The component or link that was used.",
                  Edges("Use", _USE_OF, ("Link", "resource"), where="is_link"),
                  Edges("Use", _USE_OF, ("Component", "resource"), unless="is_link")),
    _relationship("LAUNCHED", "A run's launches.", Edges("Launch", ("Run", ""), ("Launch", "number"))),
    _relationship("ACCOUNTED_FOR", "What a run accounts for without having simulated it.",
                  Edges("Repeat", ("Run", ""), ("Repeat", "number"))),
    _relationship("FOLLOWS", "The launch that was simulated for this one, of another package.",
                  Edges("Submitted", ("Launch", "number"), ("Launch", "follows"))),
    _relationship("ADDED_USE", "Use of a part that was accounted for.",
                  Edges("Beyond", ("Repeat", "repeat"), _USE_OF),
                  carries="bytes busy_ns wait_ns transactions"),
    _relationship("DID", "A launch's operations, and a run's that belong to no launch.",
                  Edges("Op", ("Launch", "launch"), _OF_OP),
                  Edges("Op", ("Run", ""), _OF_OP, unless="launch")),
    _relationship("ON_PART", "The component that carried an operation out.",
                  Edges("Op", _OF_OP, ("Use", "component"))),
    _relationship("PART_OF", "A stage of a tile is part of its operation.",
                  Edges("Op", _OF_OP, ("Op", "parent"))),
    _relationship("READ_FROM", "An operation read a tensor.",
                  Edges("Access", ("Op", "op"), ("Tensor", "tensor"), unless="is_write"),
                  carries="offset bytes"),
    _relationship("WROTE_TO", "An operation wrote a tensor.",
                  Edges("Access", ("Op", "op"), ("Tensor", "tensor"), where="is_write"),
                  carries="offset bytes"),
    _relationship("PLACED_IN", "A memory that holds part of a tensor.",
                  Edges("Placed", ("Tensor", "tensor"), ("Component", "component")), carries="bytes"),
    _relationship("HOLDS", "A run's tensors.", Edges("Tensor", ("Run", ""), ("Tensor", "number"))),
    _relationship("FOUND", "Races that were found in a run.", Edges("Race", ("Run", ""), ("Race", "number"))),
    _relationship("FIRST_ACCESS", "The access of a race that took effect first.",
                  Edges("Race", ("Race", "number"), ("Op", "first"))),
    _relationship("SECOND_ACCESS", "The other access of a race.",
                  Edges("Race", ("Race", "number"), ("Op", "second"))),
    _relationship("RECORDED", "What a user's instruments recorded of a run.",
                  Edges("Reading", ("Run", ""), ("Reading", "number"))),
    _relationship("ABOUT", "The component or link, or the launch, that a reading is about.",
                  Edges("Reading", ("Reading", "number"), _USE_OF),
                  Edges("Reading", ("Reading", "number"), ("Launch", "launch"))),
    _relationship("SENT", "A run's transactions.", Edges("Transaction", ("Run", ""), _OF_TXN)),
    _relationship("FROM", "The component that sent a transaction.",
                  Edges("Transaction", _OF_TXN, ("Use", "src"))),
    _relationship("TO", "The component that a transaction went to.",
                  Edges("Transaction", _OF_TXN, ("Use", "dst"))),
    _relationship("TOOK", "The route of a transaction.", Edges("Transaction", _OF_TXN, ("Route", "route"))),
    _relationship("VIA", "The components and links of a route.", Edges("Via", ("Route", "route"), _USE_OF),
                  carries="seq"),
    _relationship("HOP", "A component or link that a transaction went through.",
                  Edges("Hop", ("Transaction", "txn"), _USE_OF),
                  carries="seq t_in t_start t_out service_ns wait_ns bytes sole_ns present",
                  more="HopUse"),
    _relationship("FOUND_CACHED", "What a transaction, or all of a run, made of the cache before a memory.",
                  Edges("CacheUse", ("Transaction", "txn"), _USE_OF),
                  Edges("CacheUse", ("Run", ""), _USE_OF, unless="txn"),
                  carries="hits misses again merged writes evictions fetched_bytes written_bytes miss_ns"),
    _relationship("FOUND_ROWS", "How a transaction, or all of a run, found the rows of DRAM.",
                  Edges("RowUse", ("Transaction", "txn"), _USE_OF),
                  Edges("RowUse", ("Run", ""), _USE_OF, unless="txn"),
                  carries="hits misses conflicts refreshes row_ns refresh_ns"),
    _relationship("WAITED_FOR", "A transaction stood behind another; only where it waited.",
                  Edges("WaitedFor", ("Transaction", "txn"), ("Transaction", "holder")),
                  carries="seq resource ns t_from t_to holders"),
    _relationship("CAUSED_BY", "The transaction that brought another about.",
                  Edges("Transaction", _OF_TXN, ("Transaction", "caused_by"))),
    _relationship("SENT_FOR", "The operation that a transaction was sent for.",
                  Edges("Transaction", _OF_TXN, ("Op", "op"))),
    _relationship("AWAITED", "A transaction whose end an operation awaited.",
                  Edges("Awaited", ("Op", "op"), ("Transaction", "txn"))),
    _relationship("DEPENDS_ON", "An operation that had to come first.",
                  Edges("DependsOn", ("Op", "op"), ("Op", "on")), carries="hazard"),
    _relationship("TOOK_TIME_IN", "The steps of a run's critical path.",
                  Edges("Step", ("Run", ""), ("Step", "number"), where="of_run")),
    _relationship("HAS_PATH", "The critical path that says where a window's time went.",
                  Edges("Explained", ("Window", "window"), ("Path", "path"))),
    _relationship("HAS_STEP", "The steps of a critical path.",
                  Edges("Step", ("Path", "path"), ("Step", "number"))),
    _relationship("AFTER", "The step of the critical path that ended when this one began.",
                  Edges("Step", ("Step", "number"), ("Step", "before"))),
    _relationship("SPENT_AT", "The component or link where a step's time went.",
                  Edges("Step", ("Step", "number"), ("Use", "place"))),
    _relationship("SPENT_IN", "The transaction that was under way in a step, and its operation.",
                  Edges("Step", ("Step", "number"), ("Transaction", "txn")),
                  Edges("Step", ("Step", "number"), ("Op", "op"))),
    _relationship("KEPT_IN", "The TCM that held the value which an operation made.",
                  Edges("Kept", ("Op", "op"), ("Component", "component")),
                  carries="t_from t_to bytes held tcm_size"),
    _relationship("WORKED", "What the parts of a run did against what their hardware allows.",
                  Edges("Work", ("Run", ""), ("Work", "number"))),
    _relationship("SUMS_UP", "The operation that a row of work is about.",
                  Edges("Work", ("Work", "number"), ("Op", "op"))),
    _relationship("TOOK_ENERGY", "The energy of a run, by part, by line and by launch.",
                  Edges("Energy", ("Run", ""), ("Energy", "number"))),
    _relationship("ENERGY_OF", "The use of the part, or the launch, that a row of energy is about.",
                  Edges("Energy", ("Energy", "number"), ("Use", "resource")),
                  Edges("Energy", ("Energy", "number"), ("Launch", "launch"))),
    _relationship("SPENT", "Energy of an operation at a part; of a launch, or a run, what has no operation.",
                  Edges("Spent", ("Op", "op"), ("Component", "component")),
                  Edges("Spent", ("Op", "op"), ("Link", "link")),
                  Edges("Spent", ("Launch", "launch"), ("Component", "component")),
                  Edges("Spent", ("Launch", "launch"), ("Link", "link")),
                  Edges("Spent", ("Run", ""), ("Component", "component"), where="of_run"),
                  Edges("Spent", ("Run", ""), ("Link", "link"), where="of_run"), carries="cause energy_fj"),
    _relationship("IN_WINDOW", "A run's windows.", Edges("Window", ("Run", ""), ("Window", "name"))),
    _relationship("SPANS", "The time ranges that make up a window.",
                  Edges("Span", ("Window", "window"), ("Span", "number"))),
    _relationship("TOUCHED", "The use of a component or link within a window.",
                  Edges("Touched", ("Window", "window"), ("Use", "resource")),
                  carries="bytes busy_ns wait_ns utilisation occupied_ns occupancy transactions max_queue"),
    _relationship("SERVED", "An operation at the engine that carried it out, as a hop is of a transaction; "
                  "or a transaction at a pseudo-channel of the HBM slice that a hop names.",
                  Edges("Served", ("Op", "op"), ("Use", "resource")),
                  Edges("Served", ("Transaction", "txn"), ("Use", "resource")),
                  carries="t_in t_start t_out t_busy t_compute t_pe wait_ns bytes present"),
    _relationship("MEASURED_BY", "The place by whose hops or operations a use is spread over time.",
                  Edges("Measured", _USE_OF, ("Use", "by")),
                  carries="of_bytes of_wait of_transactions of_occupied"),
    _relationship("WAS_BUSY", "A time range in which a component or link was busy, at an even rate.",
                  Edges("Busy", ("Run", ""), ("Use", "resource")), carries="t_from t_to busy_ns"),
    _relationship("AT_LINE", "The line of source that something came from.",
                  Edges("AtLine", ("Op", "op"), ("Line", "line")),
                  Edges("AtLine", ("Transaction", "txn"), ("Line", "line")),
                  Edges("AtLine", ("Launch", "launch"), ("Line", "line"))),
    _relationship("FOLLOWED", "The one that began before at the same component.",
                  Edges("Followed", ("Op", "op"), ("Op", "op_before")),
                  Edges("Followed", ("Transaction", "txn"), ("Transaction", "txn_before")),
                  carries="resource t_from gap_ns"),
    *DESCRIBED_RELATIONSHIPS,
    *ADDED_RELATIONSHIPS,
)  # fmt: skip

SCHEMA = Schema(
    SCHEMA_VERSION, TABLES, LABELS, RELATIONSHIPS,
    MappingProxyType({"run": RUN_PROPERTIES, "topology": TOPOLOGY_PROPERTIES}),
)  # fmt: skip
"""The schema that this version of KernBench writes."""
