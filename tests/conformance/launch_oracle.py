"""Answers to questions about launches and their PEs, from the raw columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kernbench_graph.records import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Oracle, Rows, first, of_model

Pe = tuple[int, int, int]


def stragglers(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    rows: Rows = []
    kind = {row["name"]: row["kind"] for row in topology.tables["Component"].to_pylist()}
    for launch, of in _by_pe(run, topology):
        middle = _median([max(op["t_end"] for op in ops) for ops in of.values()])
        for pe, ops in of.items():
            ended = max(op["t_end"] for op in ops)
            parts = [op for op in ops if kind[op["component"]] != "pe_scheduler"]
            times = [
                math.fsum(op["t_end"] - op["t_start"] for op in parts if kind[op["component"]] in kinds)
                for kinds in (("pe_dma",), ("pe_gemm", "pe_math"))
            ]
            queued = math.fsum(op["t_start"] - op["t_ready"] for op in parts)
            start = launch["t_start"]
            ends = (ended - start, middle - start, ended - middle)
            rows.append((launch["number"], *pe, *ends, len(parts), *times, queued))
    return first(rows, lambda row: (row[0], -row[6], *row[1:4]), params)


def launch_skew(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    rows: Rows = []
    for launch, of in _by_pe(run, topology):
        begun = [min(op["t_start"] for op in ops) for ops in of.values()]
        ended = [max(op["t_end"] for op in ops) for ops in of.values()]
        submit, start, done = (launch[name] for name in ("t_submit", "t_start", "t_done"))
        ends = (min(ended), _median(ended), max(ended))
        nodes, _ = of_model(run, launch["number"])
        rows.append((launch["number"], launch["kernel"], nodes, len(of), start - submit,
                     max(begun) - min(begun), *(end - start for end in ends),
                     max(ended) - min(ended), done - max(ended)))  # fmt: skip
    return sorted(rows)


def _by_pe(
    run: RunRecord, topology: TopologyRecord
) -> list[tuple[dict[str, Any], dict[Pe, list[dict[str, Any]]]]]:
    """Each launch that had operations on PEs, with these by PE."""
    place = {
        row["name"]: (row["sip"], row["cube"], row["pe"]) for row in topology.tables["Component"].to_pylist()
    }
    found = []
    for launch in run.tables["Launch"].to_pylist():
        of: dict[Pe, list[dict[str, Any]]] = {}
        for op in run.tables["Op"].to_pylist():
            if op["launch"] == launch["number"] and place.get(op["component"], (-1, -1, -1))[2] >= 0:
                of.setdefault(place[op["component"]], []).append(op)
        if of:
            found.append((launch, of))
    return found


def _median(times: list[float]) -> float:
    return sorted(times)[math.ceil(len(times) / 2) - 1]


def blocks(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    sent = {row["number"]: row for row in run.tables["Transaction"].to_pylist()}
    of: dict[int, list[dict[str, Any]]] = {}
    for row in run.tables["OfBlock"].to_pylist() if "OfBlock" in run.tables else ():
        of.setdefault(row["block"], []).extend([sent[row["txn"]]] if row["txn"] >= 0 else [])
    rows: list[tuple[Any, ...]] = []
    for one in run.tables["Block"].to_pylist() if "Block" in run.tables else ():
        if params["launch"] in ("all", "run", str(one["launch"])):
            its = of.get(one["number"], [])
            place = (one["launch"], one["x"], one["y"], one["z"], one["pe"], one["t_start"])
            sums = sum(t["bytes"] for t in its), math.fsum(t["wait_ns"] for t in its)
            rows.append((*place, one["t_end"] - one["t_start"], len(its), *sums, one["number"]))
    return [row[:-1] for row in first(rows, lambda row: (-round(row[6], 6), row[0], row[-1]), params)]


LAUNCHES: dict[str, Oracle] = {
    "kernel/stragglers": stragglers, "kernel/launch-skew": launch_skew, "kernel/blocks": blocks,
}  # fmt: skip
