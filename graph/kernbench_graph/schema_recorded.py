"""The tables of a topology, and of the use, launches and transactions of a run, as an archive has them."""

from __future__ import annotations

from kernbench_graph.schema_types import Property, Table

_P = Property


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
        "Time during which at least one launch was between submission and completion; 0 without launches.",
        "ns",
    ),
    _P(
        "launch_ns",
        "double",
        "Part of `latency_ns` in which no launch ran: before its PEs had started.",
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
    _P("flit_crossings", "int64", "Sum over flits of the components and links that each went through."),
    _P("host", "string", "Name of the machine that ran it."),
    _P("user", "string", "Who ran it."),
    _P("project", "string", "The project that it is of; empty for none.", indexed=True),
)
WALL_CLOCK = ("id", "started_at", "wall_s", "host", "user", "project", "tags")
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

RECORDED = (
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
        _P("routing_weight", "double", "The weight that routing adds up along a path."),
    ), key="name"),
    Table("Use", "run", "A run's use of one component or link, summed up.", (
        _P("resource", "string", "Name of the component or link.", indexed=True),
        _P("is_link", "bool", "Whether `resource` is a link.", hidden=True),
        _P("kind", "string", "Kind of the component or link."),
        _P("bytes", "int64", "Bytes that went through.", "bytes"),
        _P("busy_ns", "double", "Time in service.", "ns"),
        _P("wait_ns", "double", "Time that transactions waited for it.", "ns"),
        _P("utilisation", "double", "Busy time as a share of the run's time, 0 to 1."),
        _P("transactions", "int64", "Transactions that went through."),
        _P("max_queue", "int64", "Maximum queue depth, in transactions."),
    ), key="resource"),
    Table("Repeat", "run", "Repeated work that a run counts without simulating it; only if there is any.", (
        _P("number", "int64", "Number of it within its run, from 0."),
        _P("kind", "string", "`repeat`: periods of a loop; `alike`: packages that do the same."),
        _P("name", "string", "What one of them is called, such as `layer`."),
        _P("from_ns", "double", "Start of the periods, or packages, that are not simulated.", "ns"),
        _P("to_ns", "double", "When they end.", "ns"),
        _P("simulated", "int64", "Periods, or packages, that were simulated."),
        _P("times", "int64", "Periods, or packages, that were not simulated."),
        _P("period_ns", "double", "Length of the last simulated period, and of each that was not simulated; "
           "0 for packages.", "ns"),
        _P("before_ns", "double", "Length of the simulated period before that; 0 for packages.", "ns"),
        _P("least_ns", "double", "Length of such a period without waits that only the estimate has; for "
           "packages, their whole time without such waits; 0 where it is not known.", "ns", default=0.0),
    ), key="number", optional=True),
    Table("Beyond", "run", "Use of components and links by repeated work that was not simulated; only if "
          "there is any.", (
        _P("repeat", "int64", "The `Repeat` that it belongs to.", to="Repeat"),
        _P("resource", "string", "Name of the component or link.", to="Use"),
        _P("like", "string", "The component or link whose simulated use it copies over time.", to="Use"),
        _P("bytes", "int64", "Bytes that went through.", "bytes"),
        _P("busy_ns", "double", "Time in service.", "ns"),
        _P("wait_ns", "double", "Time that transactions waited for it.", "ns"),
        _P("transactions", "int64", "Transactions that went through."),
    ), optional=True),
    Table("Launch", "run", "Kernel launches.", (
        _P("number", "int64", "Number of the launch within its run, from 0."),
        _P("kernel", "string", "Name that it was launched under."),
        _P("source", "string", "File and line of the kernel; empty when unknown.", default=""),
        _P("t_submit", "double", "When the host sent it.", "ns"),
        _P("t_start", "double", "Common start of its PEs.", "ns"),
        _P("t_done", "double", "When the host received the last answer.", "ns"),
        _P("pe_ns", "double", "Longest time of one of its PEs, from the common start to the kernel's end.",
           "ns", default=0.0),
        _P("pes", "int64", "PEs that it ran on."),
        _P("late_ns", "double", "How much later its PEs started than the launch message asked for.", "ns",
           default=0.0),
    ), key="number"),
    Table("RanAt", "run", "What each PE did with its time in each launch.", (
        _P("launch", "int64", "The launch.", to="Launch"),
        _P("pe", "string", "The PE.", to="Component"),
        _P("exec_ns", "double", "From the common start to the end of its kernel.", "ns"),
        _P("dma_ns", "double", "Part of it with a DMA transfer of the launch in flight.", "ns"),
        _P("compute_ns", "double", "Part of it in which GEMM or MATH worked.", "ns"),
        _P("wait_ns", "double", "Part of it in which neither did.", "ns"),
    ), optional=True),
    Table("Block", "run", "Blocks of the grids of Triton launches, in the order in which PEs took them.", (
        _P("number", "int64", "Number of the block within its run, from 0."),
        _P("launch", "int64", "The launch.", to="Launch"),
        *(_P(axis, "int64", f"Its place along axis {n} of the grid, as `tl.program_id({n})`.")
          for n, axis in enumerate("xyz")),
        _P("pe", "string", "The PE that ran it.", to="Component"),
        _P("t_start", "double", "When the PE took it.", "ns"),
        _P("t_end", "double", "When the last of its commands was over, or the run.", "ns"),
    ), key="number", optional=True),
    Table("OfBlock", "run", "Operations and transactions of blocks.", (
        _P("op", "int64", "The operation; -1 when a transaction.", to="Op", absent=-1),
        _P("txn", "int64", "The transaction; -1 when an operation.", to="Transaction", absent=-1),
        _P("block", "int64", "The block.", to="Block"),
    ), optional=True),
    Table("Route", "run", "Distinct paths of transactions, there and back.", (
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
        _P("wait_ns", "double", "Time spent waiting behind other transactions.", "ns"),
        _P("launch", "int64", "Number of the launch that it belongs to; -1 for the host's own traffic.",
           default=-1),
        _P("route", "int64", "Route that it took; -1 when unknown.", to="Route", absent=-1, default=-1),
        _P("caused_by", "int64", "Transaction that caused it; -1 when none.", to="Transaction",
           absent=-1, default=-1),
        _P("op", "int64", "Operation that it was sent for; of a kernel's `launch_done`, the last one that it "
           "waited for; -1 when none.", to="Op", absent=-1),
        _P("request", "string", "Id of the host's request that it belongs to; empty when "
           "none.", default=""),
    ), key="number"),
    Table("Hop", "run", "Components and links that transactions went through.", (
        _P("txn", "int64", "The transaction.", to="Transaction"),
        _P("seq", "int32", "Position on the transaction's route, from 0."),
        _P("resource", "string", "Name of the component or link.", to="Use"),
        _P("t_in", "double", "First flit arrives.", "ns"),
        _P("t_start", "double", "First flit is served.", "ns"),
        _P("t_out", "double", "Last flit leaves.", "ns"),
        _P("service_ns", "double", "Time of the last flit here, less its waits.", "ns"),
        _P("wait_ns", "double", "Time that the last flit waited behind other transactions.", "ns"),
        _P("bytes", "int64", "Bytes that went through.", "bytes"),
    )),
    Table("Split", "run", "Legs of multicasts, each from the component where it leaves the tree on.", (
        _P("txn", "int64", "The leg.", to="Transaction"),
        _P("whole", "int64", "The transaction whose copy it is.", to="Transaction"),
    ), optional=True),
    Table("Dealt", "run", "Bytes of transactions by pseudo-channel of their HBM slice.", (
        _P("txn", "int64", "The transaction.", to="Transaction"),
        _P("resource", "string", "Name of the pseudo-channel.", to="Use"),
        _P("bytes", "int64", "Bytes of it there.", "bytes"),
    ), optional=True),
    Table("RowUse", "run", "Row hits, misses and conflicts at a pseudo-channel; only "
          "with `cube.hbm.model: dram`.", (
        _P("txn", "int64", "The transaction; -1 for the whole run.", to="Transaction", absent=-1),
        _P("resource", "string", "Name of the pseudo-channel.", to="Use"),
        _P("hits", "int64", "Bursts whose row was open."),
        _P("misses", "int64", "Bursts whose bank had no row open."),
        _P("conflicts", "int64", "Bursts whose bank had another row open."),
        _P("refreshes", "int64", "Refreshes that delayed the transaction; for the run, all."),
        _P("row_ns", "double", "Time that a transaction waited for rows to be closed and opened, counted at "
           "the pseudo-channel that served it last, 0 at others; for the run, the sum over transactions.",
           "ns"),
        _P("refresh_ns", "double", "The same for refreshes that were due or in progress.", "ns"),
    ), optional=True),
    Table("CacheUse", "run", "Hits and misses of the cache in front of a memory; only with `memory.cache`.", (
        _P("txn", "int64", "The transaction; -1 for the whole run.", to="Transaction", absent=-1),
        _P("resource", "string", "Name of the cache.", to="Use"),
        _P("hits", "int64", "Bursts read that were in the cache."),
        _P("misses", "int64", "Bursts read that were fetched from memory."),
        _P("again", "int64", "Of the misses, those of lines that had been evicted before."),
        _P("merged", "int64", "Bursts read that were being fetched already."),
        _P("writes", "int64", "Bursts written."),
        _P("evictions", "int64", "Lines evicted."),
        _P("fetched_bytes", "int64", "Bytes read from memory: those of the misses.", "bytes"),
        _P("written_bytes", "int64", "Bytes written to memory.", "bytes"),
        _P("coalesced", "int64", "Of the hits and of those merged, bursts that shared the turn of an earlier "
           "read.", default=0),
        _P("coalesced_bytes", "int64", "Bytes of these, which the cache did not read again.", "bytes",
           default=0),
        _P("miss_ns", "double", "Delay of a transaction by misses and evictions; for the run, the sum "
           "over transactions.", "ns"),
    ), optional=True),
    Table("WaitedFor", "run", "Transactions that waited behind others.", (
        _P("txn", "int64", "The transaction that waited.", to="Transaction"),
        _P("holder", "int64", "The transaction that held the resource.", to="Transaction"),
        _P("seq", "int32", "Hop of the waiting transaction at which it waited."),
        _P("resource", "string", "Name of the component or link, or of the part of it, that was held."),
        _P("ns", "double", "Time that it waited for this holder.", "ns"),
        _P("t_from", "double", "Start of this wait.", "ns"),
        _P("t_to", "double", "End of this wait.", "ns"),
        _P("holders", "int64", "Holders that this row stands for: more than 1 where a long queue was "
           "merged."),
    )),
)  # fmt: skip
