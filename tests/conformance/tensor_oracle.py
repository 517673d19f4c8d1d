"""The traffic of each tensor, access by access, from the raw rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kernbench_graph.store import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Oracle, Rows, first, span_of


def tensor_traffic(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    span = span_of(run, params)
    begun = {op["number"] for op in run.tables["Op"].to_pylist() if span.holds(op["t_start"])}
    accesses = [access for access in run.tables["Access"].to_pylist() if access["op"] in begun]
    placed = run.tables["Placed"]["tensor"].to_pylist()
    rows: Rows = []
    for tensor in run.tables["Tensor"].to_pylist():
        number, nbytes = tensor["number"], tensor["bytes"]
        own = [access for access in accesses if access["tensor"] == number]
        read = [access["bytes"] for access in own if not access["is_write"]]
        written = [access["bytes"] for access in own if access["is_write"]]
        rows.append((
            number, tensor["name"], tensor["shape"], tensor["dtype"], tensor["memory"], placed.count(number),
            nbytes, len(read), sum(read), len(written), sum(written), sum(read) / nbytes,
            sum(written) / nbytes,
        ))  # fmt: skip
    return first(rows, lambda row: (-row[8] - row[10], row[0]), params)


def tensors_behind(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    span, tensors = span_of(run, params), run.tables["Tensor"].to_pylist()
    op_of = {row["number"]: row["op"] for row in run.tables["Transaction"].to_pylist()}
    touched: dict[int, list[int]] = {}
    for access in run.tables["Access"].to_pylist():
        touched.setdefault(access["op"], []).append(access["tensor"])
    of: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for wait in run.tables["WaitedFor"].to_pylist():
        if wait["ns"] > 0 and span.holds(wait["t_from"]):
            for one in touched.get(op_of[wait["txn"]], ()):
                for other in touched.get(op_of[wait["holder"]], ()):
                    of.setdefault((one, other), []).append(wait)
    names = {row["number"]: row["name"] for row in tensors}
    rows: Rows = []
    for (one, other), waits in of.items():
        ns = [wait["ns"] for wait in waits]
        places = {wait["resource"] for wait in waits}
        rows.append((one, names[one], other, names[other], len(ns), len(places), math.fsum(ns), max(ns)))
    return first(rows, lambda row: (-row[6], row[0], row[2]), params)


TENSORS: dict[str, Oracle] = {
    "kernel/tensor-traffic": tensor_traffic,
    "contention/tensors-behind": tensors_behind,
}
