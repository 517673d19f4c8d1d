"""The tables that are worked out from the rest of a run: facts of every run, and results of analyses.

Rows of tables marked as facts are there whenever something works them out; those marked as computed when a
text names their label or type (:mod:`kernbench_graph.worked_out`).
"""

from __future__ import annotations

from kernbench_graph.schema_types import Property, Table

_P = Property

FACTS_VERSION = 13
"""Raised whenever the same record would give other facts, or more, so that those kept are made anew."""

WORKED_OUT_TABLES = (
    Table("Path", "run", "Critical paths: of the whole run and of each launch.", (
        _P("name", "string", "`run`, or the number of the launch."),
        _P("ns", "double", "Its length: the sum of its steps.", "ns"),
    ), key="name", computed="critical path"),
    Table("Explained", "run", "The critical path of each window.", (
        _P("window", "string", "The window.", to="Window"),
        _P("path", "string", "The path: for a launch its own, for any other window the run's.", to="Path"),
    ), computed="critical path"),
    Table("Step", "run", "Steps of critical paths, oldest first: each begins where the last one ended.", (
        _P("number", "int64", "Number of the step, from 0; those of the run's path come first."),
        _P("path", "string", "The path that it is on.", to="Path"),
        _P("position", "int64", "Position on its path, from 1."),
        _P("of_run", "bool", "Whether it is on the run's path.", hidden=True),
        _P("place_kind", "string", "Kind of `resource`; empty if the run did not use it."),
        _P("cause", "string", "Cause of the time, such as `queue` or `compute`."),
        _P("ns", "double", "Its length; all steps together are the run's time.", "ns"),
        _P("t_from", "double", "When it began.", "ns"),
        _P("t_to", "double", "When it ended.", "ns"),
        _P("resource", "string", "Component or link where the time went."),
        _P("activity", "string", "What was in progress, in words."),
        _P("source", "string", "Line of the kernel, or of the call of a collective, that the time belongs "
           "to; empty outside of kernels."),
        _P("in_kernel", "bool", "Whether `source` is a line of a user's kernel."),
        _P("launch", "int64", "Number of the launch in progress then; -1 when none.", to="Launch", absent=-1,
           shown=True),
        _P("seq", "int32", "Hop of the transaction, from 0; -1 when it is not a hop."),
        _P("place", "string", "The use of `resource`; empty if there is none.", to="Use", absent=""),
        _P("txn", "int64", "The transaction in progress; -1 when none.", to="Transaction", absent=-1),
        _P("op", "int64", "The operation in progress; -1 when none.", to="Op", absent=-1),
        _P("before", "int64", "The step before it; -1 for the first.", to="Step", absent=-1),
    ), key="number", computed="critical path"),
    Table("Kept", "run", "Values of kernels in the TCMs of PEs, without buffers of tiles and queues.", (
        _P("op", "int64", "The operation that made the value.", to="Op"),
        _P("component", "string", "The TCM.", to="Component"),
        _P("t_from", "double", "When that operation began.", "ns"),
        _P("t_to", "double", "When the last operation that uses the value ended.", "ns"),
        _P("bytes", "int64", "Size of the value.", "bytes"),
        _P("held", "int64", "Bytes of all values in that TCM from `t_from` on, this one included.", "bytes"),
        _P("tcm_size", "int64", "Size of the TCM.", "bytes"),
    ), computed="TCM held"),
    Table("Work", "run", "Operations, the PEs of each launch, and launches, compared with the limits of "
          "their hardware.", (
        _P("number", "int64", "Number of the row, from 0."),
        _P("level", "string", "`operation`, `pe` (what it did in a launch) or `launch`."),
        _P("launch", "int64", "Number of the launch."),
        _P("op", "int64", "Number of the operation; -1 for PEs and launches.", to="Op", absent=-1,
           shown=True),
        _P("name", "string", "The operation in one phrase, the PE, or the launch's kernel."),
        _P("source", "string", "File and line of an operation; empty for others."),
        _P("flops", "int64", "Floating-point operations of GEMMs."),
        _P("hbm_bytes", "int64", "Bytes moved to and from HBM.", "bytes"),
        _P("sram_bytes", "int64", "Bytes moved to and from SRAM.", "bytes"),
        _P("tcm_bytes", "int64", "Bytes read from TCM or written to it, of the two what takes longest.",
           "bytes"),
        _P("link_bytes", "int64", "Bytes over links within chiplets, of the kind that takes longest.",
           "bytes"),
        _P("package_bytes", "int64", "Bytes over links between chiplets or packages, of the kind that takes "
           "longest.", "bytes"),
        _P("memory", "string", "`hbm`, `sram`, `tcm`, `link` or `package`: which takes longest for its "
           "bytes; empty if none."),
        _P("intensity", "double", "Arithmetic intensity: flops per byte of `memory`."),
        _P("ns", "double", "Time that it took, from its first operation to its last.", "ns"),
        _P("achieved_tflops", "double", "Flops divided by `ns`."),
        _P("attainable_tflops", "double", "The roofline: `peak_tflops`, or less if the bytes of `memory` "
           "take longer."),
        _P("peak_tflops", "double", "Peak of the GEMM engines of its PEs."),
        _P("achieved_gbs", "double", "Bytes of `memory` divided by `ns`.", "GB/s"),
        _P("peak_gbs", "double", "Peak of the memories or links of that kind that it used.", "GB/s"),
        _P("light_ns", "double", "Speed-of-light (SOL) time: the least time for its flops and bytes.", "ns"),
        _P("share", "double", "SOL share: `light_ns` / `ns`, 0 to 1."),
        _P("bound", "string", "What limits `light_ns`: `gemm`, `hbm`, `sram`, `tcm`, `link` or "
           "`package`; empty if nothing."),
        *(_P(f"{level}_gbs", "double", f"Peak of {named} that it used; 0 if none.", "GB/s")
          for level, named in (("hbm", "HBM"), ("sram", "SRAM"), ("tcm", "the TCMs"),
                               ("link", "the links within chiplets"),
                               ("package", "the links between chiplets or packages"))),
    ), key="number", computed="roofline"),
    Table("Energy", "run", "Energy of the run, and of its parts, lines and launches; the rows of each "
          "level add up to the same total.", (
        _P("number", "int64", "Number of the row, from 0."),
        _P("level", "string", "`run`, `part`, `line` or `launch`."),
        _P("name", "string", "The part; the source line (empty if none) or `static`; the kernel or "
           "`outside of launches`."),
        _P("kind", "string", "Kind of the part; `launch` of a launch, else empty."),
        _P("launch", "int64", "Number of the launch; -1 for others.", to="Launch", absent=-1, shown=True),
        _P("dynamic_fj", "int64", "Energy of its bytes, messages and operations.", "fJ"),
        _P("static_fj", "int64", "Energy that parts take even when idle; of a launch, its share by time.",
           "fJ"),
        _P("energy_fj", "int64", "Both.", "fJ"),
        _P("resource", "string", "The part; empty for other levels, and if the run did not use it.", to="Use",
           absent=""),
    ), key="number", computed="energy"),
    Table("Spent", "run", "Dynamic energy by operation and part; without an operation by launch and "
          "part; without either by part.", (
        _P("op", "int64", "The operation.", to="Op", absent=-1),
        _P("launch", "int64", "The launch, where there is no operation.", to="Launch", absent=-1),
        _P("of_run", "bool", "Whether there is neither operation nor launch.", hidden=True),
        _P("component", "string", "The component; empty where it is a link.", to="Component", absent=""),
        _P("link", "string", "The link; empty where it is a component.", to="Link", absent=""),
        _P("cause", "string", "`link`, `transit`, `memory`, `mac` or `math`."),
        _P("energy_fj", "int64", "Energy.", "fJ"),
    ), computed="energy"),
    Table("Line", "run", "Source lines that operations and launches came from.", (
        _P("name", "string", "File and line, such as `mine.py:12`."),
        _P("file", "string", "The file."),
        _P("line", "int64", "Number of the line, from 1; 0 where it is not known."),
        _P("text", "string", "Its text, if it is in the bench's own file; else empty."),
    ), key="name", computed="source lines"),
    Table("AtLine", "run", "The source lines of operations, transactions and launches.", (
        _P("op", "int64", "The operation.", to="Op", absent=-1, default=-1),
        _P("txn", "int64", "The transaction, by its operation.", to="Transaction", absent=-1, default=-1),
        _P("launch", "int64", "The launch, by its kernel.", to="Launch", absent=-1, default=-1),
        _P("line", "string", "The line.", to="Line"),
    ), computed="source lines"),
    Table("Followed", "run", "Operations on their component, and transactions at their ends, each with the "
          "one that began there before.", (
        _P("op", "int64", "The operation; -1 when a transaction.", to="Op", absent=-1, default=-1),
        _P("op_before", "int64", "The one before it.", to="Op", absent=-1, default=-1),
        _P("txn", "int64", "The transaction; -1 when an operation.", to="Transaction", absent=-1, default=-1),
        _P("txn_before", "int64", "The one before it.", to="Transaction", absent=-1, default=-1),
        _P("resource", "string", "Name of the component."),
        _P("t_from", "double", "When the later one began there.", "ns"),
        _P("gap_ns", "double", "Idle time there before that, after all earlier ones.", "ns"),
    ), computed="what followed what"),
    Table("Wait", "run", "Waits: of transactions behind others, of operations for their engine.", (
        _P("number", "int64", "Number of the wait, from 0: those of transactions come first."),
        _P("ns", "double", "How much of its time it cost.", "ns"),
        _P("t_from", "double", "When it began.", "ns"),
        _P("t_to", "double", "When it ended.", "ns"),
        _P("seq", "int32", "Hop of the transaction at which it waited, from 0; -1 of an operation."),
        _P("cause", "string", "`queue`, or `back_pressure`: for room in a finite buffer."),
        _P("txn", "int64", "The transaction that waited; -1 when an operation.", to="Transaction", absent=-1),
        _P("op", "int64", "The operation that waited; -1 when a transaction.", to="Op", absent=-1),
        _P("behind", "int64", "The transaction that it waited behind.", to="Transaction", absent=-1),
        _P("behind_op", "int64", "The operation that held the engine; -1 when none did.", to="Op", absent=-1),
        _P("place", "string", "Where it stood, such as a memory, or the link before a full buffer.", to="Use",
           absent=""),
        _P("part", "string", "The pseudo-channel, cache or buffer that was held, if not all of `place`.",
           to="Use", absent=""),
    ), key="number", computed="waits"),
    Table("Waited", "run", "The waits that began within each window, by place.", (
        _P("window", "string", "The window.", to="Window"),
        _P("resource", "string", "Name of the component or link.", to="Use"),
        _P("waits", "int64", "Number of waits."),
        _P("waiters", "int64", "Number of distinct transactions and operations that waited."),
        _P("wait_ns", "double", "Sum of the waits.", "ns"),
        _P("worst_ns", "double", "The longest of them.", "ns"),
    ), fact=True),
    Table("Window", "run", "Time windows of a run; questions select them by name.", (
        _P("name", "string", "`run`: all of it; `all`: its launches; `setup`: the time outside of them; the "
           "number of a launch, from 0."),
        _P("number", "int64", "Number of its launch; -1 when it is not exactly one launch.",
           default=-1),
        _P("ns", "double", "Its length: the sum of its time ranges.", "ns"),
        _P("t_from", "double", "Start of its first time range; 0 when it has none.", "ns"),
        _P("t_to", "double", "End of its last time range; 0 when it has none.", "ns"),
    ), key="name", fact=True),
    Table("Span", "run", "Time ranges that make up windows.", (
        _P("number", "int64", "Number of the time range, from 0; in order of time within a window."),
        _P("window", "string", "The window.", to="Window"),
        _P("t_from", "double", "Where it begins.", "ns"),
        _P("t_to", "double", "Where it ends.", "ns"),
        _P("t_before", "double", "End of the time range before it in the window; -1 for the first.", "ns"),
    ), key="number", fact=True),
    Table("Touched", "run", "The use of each component and link within each window, if there was "
          "any.", (
        _P("window", "string", "The window.", to="Window"),
        _P("resource", "string", "Name of the component or link.", to="Use"),
        _P("bytes", "int64", "Bytes that went through within it.", "bytes"),
        _P("busy_ns", "double", "Time in service within it.", "ns"),
        _P("wait_ns", "double", "Time within it that transactions waited for it.", "ns"),
        _P("utilisation", "double", "Busy time as a share of the window's length, 0 to 1."),
        _P("occupied_ns", "double", "Time within it in which a transaction or operation was present.", "ns"),
        _P("occupancy", "double", "`occupied_ns` as a share of the window's length, 0 to 1."),
        _P("transactions", "int64", "Transactions that were served within it."),
        _P("max_queue", "int64", "Maximum queue depth within it, in transactions."),
    ), fact=True),
    Table("HopUse", "run", "What each hop adds to the use of its component or link, in the order of the "
       "table Hop.", (
        _P("sole_ns", "double", "Time until `t_out` for which none that was served before it occupies the "
           "place, nor an operation.", "ns", default=0.0),
        _P("present", "int32", "Transactions there when it arrives, itself included; 0 of a hop without "
           "length, -1 where operations are what is served.", default=-1),
    ), fact=True, by_hop=True),
    Table("Served", "run", "Operations at their engines, and transactions at "
          "pseudo-channels.", (
        _P("op", "int64", "The operation; -1 of a transaction.", to="Op", absent=-1, default=-1),
        _P("txn", "int64", "The transaction; -1 of an operation.", to="Transaction", absent=-1, default=-1),
        _P("resource", "string", "Name of the component.", to="Use"),
        _P("t_in", "double", "When the component, or for a transaction its slice, received it.", "ns"),
        _P("t_start", "double", "When it began.", "ns"),
        _P("t_out", "double", "When it was done.", "ns"),
        _P("t_busy", "double", "From when on nothing that began before it was under way there.", "ns"),
        _P("t_compute", "double", "The same among all operations of its PE's GEMM and math engines; `t_out` "
           "of other operations.", "ns"),
        _P("t_pe", "double", "The same among those of its PE's DMA, fetch and store, GEMM and math engines; "
           "`t_out` of other operations.", "ns"),
        _P("wait_ns", "double", "Time from its arrival until it began.", "ns"),
        _P("bytes", "int64", "Bytes moved or produced.", "bytes"),
        _P("present", "int32", "Operations, or transactions, there when it arrives, itself included; 0 "
           "without length."),
    ), fact=True, by_hop=True),
    Table("Measured", "run", "The place by whose hops or operations the use of each is spread over time.", (
        _P("resource", "string", "Name of the component or link.", to="Use"),
        _P("by", "string", "The place: itself, or of a part without hops the component that it is in.",
           to="Use"),
        _P("of_bytes", "double", "Its bytes by those of the hops or operations there; -1 where they move "
           "while it is busy."),
        _P("of_wait", "double", "Its waiting time by that of the hops or operations there."),
        _P("of_transactions", "double", "Its transactions by the hops or operations there."),
        _P("of_occupied", "double", "1 where it is occupied when that place is; -1 where as long as it is "
           "busy."),
    ), fact=True, by_hop=True),
    Table("Busy", "run", "When components and links were busy: intervals of constant service. They may "
          "overlap, but never add up to more than the peak.", (
        _P("resource", "string", "Name of the component or link.", to="Use"),
        _P("t_from", "double", "Where it begins.", "ns"),
        _P("t_to", "double", "Where it ends.", "ns"),
        _P("busy_ns", "double", "Time in service within it, at most its length.", "ns"),
    ), fact=True, by_hop=True),
)  # fmt: skip
