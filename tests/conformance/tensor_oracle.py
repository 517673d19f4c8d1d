"""The traffic of each tensor, access by access, from the raw rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kernbench_graph.records import RunRecord, TopologyRecord

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


def read_again(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    span = span_of(run, params)
    ops = {op["number"]: op for op in run.tables["Op"].to_pylist()}
    rows: Rows = []
    for tensor in run.tables["Tensor"].to_pylist():
        reads = [
            (access["offset"], access["bytes"], ops[access["op"]]["component"])
            for access in run.tables["Access"].to_pylist()
            if access["tensor"] == tensor["number"] and not access["is_write"] and access["bytes"] > 0
            and span.holds(ops[access["op"]]["t_start"]) and ops[access["op"]]["component"]
        ]  # fmt: skip
        parts = {read[:2]: [other for other in reads if other[:2] == read[:2]] for read in reads}
        again = sum(part[1] * (len(found) - 1) for part, found in parts.items())
        same = sum(part[1] * (len(found) - len({who for *_, who in found})) for part, found in parts.items())
        total = sum(read[1] for read in reads)
        if again:
            most = max(map(len, parts.values()))
            rows.append((tensor["number"], tensor["name"], tensor["memory"], len(parts), total, again, same,
                         again / total, most))  # fmt: skip
    return first(rows, lambda row: (-row[5], row[0]), params)


def engine_follows(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    """Each operation beside all that began before it: quadratic, and so unlike what is tested."""
    span = span_of(run, params)
    ops = [op for op in run.tables["Op"].to_pylist() if op["component"]]
    found: dict[tuple[str, str, str], list[float]] = {}
    for op in ops:
        began = (op["t_start"], op["t_end"], op["number"])
        earlier = [
            other for other in ops if other["component"] == op["component"]
            and (other["t_start"], other["t_end"], other["number"]) < began
        ]  # fmt: skip
        if earlier and span.holds(op["t_start"]) and params["resource"] in ("", op["component"]):
            last = max(earlier, key=lambda other: (other["t_start"], other["t_end"], other["number"]))
            gap = max(op["t_start"] - max(other["t_end"] for other in earlier), 0.0)
            found.setdefault((op["component"], last["name"], op["name"]), []).append(gap)
    rows: Rows = [
        (*key, len(gaps), sum(gap > 0 for gap in gaps), math.fsum(gaps), max(gaps))
        for key, gaps in found.items()
    ]
    return first(rows, lambda row: (-row[5], -row[3], *row[:3]), params)


TENSORS: dict[str, Oracle] = {
    "kernel/tensor-traffic": tensor_traffic,
    "contention/tensors-behind": tensors_behind,
    "kernel/read-again": read_again,
    "kernel/engine-follows": engine_follows,
}
