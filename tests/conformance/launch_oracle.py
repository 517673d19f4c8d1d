"""Answers to questions about launches and their PEs, from the raw columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kernbench_graph.records import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Oracle, Rows, first

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
        rows.append((launch["number"], launch["kernel"], len(of), start - submit, max(begun) - min(begun),
                     *(end - start for end in ends), max(ended) - min(ended), done - max(ended)))  # fmt: skip
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


LAUNCHES: dict[str, Oracle] = {"kernel/stragglers": stragglers, "kernel/launch-skew": launch_skew}
