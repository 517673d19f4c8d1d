"""The tables of what a run computed: operations, tensors, races and readings, as an archive has them."""

from __future__ import annotations

from kernbench_graph.schema_types import Property, Table

_P = Property

OPERATIONS = (
    Table("Op", "run", "Data operations, and the stages of their tiles.", (
        _P("number", "int64", "Number of the operation within its run.", indexed=True),
        _P("kind", "string", "`memory`, `gemm`, `math`, `view` or `tile`."),
        _P("name", "string", "Name of the operation, such as `dma_read` or `dot`."),
        _P("stage", "string", "Stage of a tile pipeline; empty when none."),
        _P("component", "string", "Component that executed it; empty when none.", to="Use", absent=""),
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
        _P("bytes", "int64", "Number of bytes.", "bytes"),
    )),
    Table("DependsOn", "run", "Dependencies between operations.", (
        _P("op", "int64", "The operation that depends.", to="Op"),
        _P("on", "int64", "The operation that must come first.", to="Op"),
        _P("hazard", "string", "Reason: `raw`, `war`, `waw`, `handle`, `stage`, `slot`, `engine`, `issue`, "
           "`wait`, `buffer`, `token` or `credit`."),
    )),
    Table("Awaited", "run", "Transactions that operations waited for.", (
        _P("op", "int64", "The operation.", to="Op"),
        _P("txn", "int64", "The transaction.", to="Transaction"),
    )),
    Table("Tensor", "run", "Tensors of the host program, freed ones included.", (
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
        _P("offset", "int64", "Lowest byte of the tensor that it touches, with the tensor's parts laid end "
           "to end.",
           "bytes"),
        _P("bytes", "int64", "Bytes of the tensor that it moves.", "bytes"),
    )),
    Table("Race", "run", "Unordered pairs of accesses to the same bytes by different PEs, at least one of "
       "them a write.", (
        _P("number", "int64", "Number of the race in its run, from 0; one for each pair of source lines."),
        _P("kind", "string", "`write-write`, `write-read` or `read-write`, in the order of effects."),
        _P("touched", "string", "The bytes in words: tensor, rows, PE that holds them."),
        _P("addr", "int64", "Physical address of the first byte."),
        _P("bytes", "int64", "Bytes that both accesses touch.", "bytes"),
        _P("first", "int64", "The operation that took effect first.", to="Op"),
        _P("second", "int64", "The other operation.", to="Op"),
        _P("first_pe", "string", "PE whose kernel issued the first, or 'the host'."),
        _P("second_pe", "string", "PE whose kernel issued the other, or 'the host'."),
        _P("t_first", "double", "When the first took effect.", "ns"),
        _P("t_second", "double", "When the other took effect.", "ns"),
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
)  # fmt: skip
