"""Answers to the roofline, resource by resource, from the raw rows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from kernbench_graph.records import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Oracle, Rows, first


def roofline(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    parts = {row["name"]: row for row in topology.tables["Component"].to_pylist()}
    links = topology.tables["Link"].to_pylist()
    ops = [op for op in run.tables["Op"].to_pylist() if op["launch"] >= 0]
    wires = {link["name"]: link for link in links if link["kind"] != "pe_internal"}
    by_number = {op["number"]: op for op in ops}
    every = {op["number"]: op for op in run.tables["Op"].to_pylist()}
    op_of = {txn["number"]: txn["op"] for txn in run.tables["Transaction"].to_pylist()}
    operands = run.tables["Operand"].to_pylist() if "Operand" in run.tables else []
    types = {o["op"]: o["dtype"] for o in operands if o["position"] == 0}
    launches = {row["number"]: row for row in run.tables["Launch"].to_pylist()}

    def own(name: str, key: str) -> float:
        return float(json.loads(parts[name].get("attributes") or "{}").get(key, 0.0))

    def macs(name: str, dtype: str) -> float:
        named = json.loads(parts[name].get("attributes") or "{}").get("rates", "")
        by_type = dict(one.split("=") for one in named.split())
        return float(by_type.get(dtype, own(name, "macs_per_cycle")))

    def pe(op: dict[str, Any]) -> str:
        part = parts.get(op["component"])
        return part["parent"] if part and part["pe"] >= 0 else ""

    def key(op: dict[str, Any]) -> Any:
        if params["by"] == "operation":
            return op["parent"] if op["parent"] in every else op["number"]
        return (op["launch"], pe(op)) if params["by"] == "pe" else op["launch"]

    rows: Rows = []
    for group in {key(op) for op in ops}:
        of = [op for op in ops if key(op) == group]
        if params["by"] == "pe" and not group[1]:
            continue
        launch = of[0]["launch"]
        begin, end = min(op["t_start"] for op in of), max(op["t_end"] for op in of)
        if params["by"] == "launch" and launch in launches:
            begin = min(begin, launches[launch]["t_start"])
            end = max(end, launches[launch]["t_done"])
        flops = sum(op.get("flops") or 0 for op in of)
        pes = {pe(op) for op in of}
        engines = [n for n, p in parts.items() if p["kind"] == "pe_gemm" and p["parent"] in pes - {""}]
        peaks = {
            dtype: math.fsum(2 * macs(n, dtype) * own(n, "clock_ghz") for n in engines)
            for dtype in {types.get(op["number"], "") for op in of if op.get("flops")} or {""}
        }
        if len(set(peaks.values())) == 1:
            peak = next(iter(peaks.values()))
        else:
            spent = [(op["flops"], peaks[types[op["number"]]]) for op in of if op.get("flops")]
            peak = flops / math.fsum(count / each for count, each in spent)
        moved: dict[tuple[str, str], int] = {}
        for txn in run.tables["Transaction"].to_pylist():
            if txn["op"] in by_number and key(by_number[txn["op"]]) == group:
                for way in ("read", "write"):
                    if txn["kind"] in (f"dma_{way}", f"tcm_{way}"):
                        at = (txn["dst"], way)
                        moved[at] = moved.get(at, 0) + txn["bytes"]
        nbytes, light = {}, {"gemm": flops / peak if peak else 0.0}
        for kind, memory in (("hbm_ctrl", "hbm"), ("sram", "sram"), ("pe_tcm", "tcm")):
            here = {at: n for at, n in moved.items() if at[0] in parts and parts[at[0]]["kind"] == kind}
            times = [(0.0, 0)]
            for ways in ("read", "write") if kind == "pe_tcm" else ("read write",):
                names = {name for name, way in here if way in ways}
                rates = []
                for name in names:
                    rate = own(name, "slice_gbs" if kind == "hbm_ctrl" else f"{ways}_gbs")
                    rates.append(rate or math.fsum(link["bw_gbs"] for link in links if link["dst"] == name))
                rate = math.fsum(rates)
                count = sum(n for at, n in here.items() if at[1] in ways)
                times.append((count / rate if rate else 0.0, count))
            light[memory], nbytes[memory] = max(times)
        over: dict[str, int] = {}
        for hop in run.tables["Hop"].to_pylist():
            op = op_of.get(hop["txn"], -1)
            if hop["resource"] in wires and hop["bytes"] and op in by_number and key(by_number[op]) == group:
                over[hop["resource"]] = over.get(hop["resource"], 0) + hop["bytes"]
        for level in ("link", "package"):
            light[level], nbytes[level] = 0.0, 0
            for kind in {wires[name]["kind"] for name in over}:
                if (kind in ("ucie_mesh", "io_to_cube", "pcie")) != (level == "package"):
                    continue
                names = {name for name in over if wires[name]["kind"] == kind}
                count = sum(over[name] for name in names)
                time = count / math.fsum(wires[name]["bw_gbs"] for name in names)
                if (time, count) > (light[level], nbytes[level]):
                    light[level], nbytes[level] = time, count
        bound = max(light, key=lambda name: light[name])
        memory = max(nbytes, key=lambda name: light[name])
        ns, least, most = end - begin, light[bound], nbytes[memory]
        named = every.get(group, {}) if params["by"] == "operation" else {}
        name = named.get("label") or named.get("name", "")
        if params["by"] != "operation":
            name = group[1] if params["by"] == "pe" else launches.get(launch, {}).get("kernel") or ""
        rows.append((
            launch, group if params["by"] == "operation" else -1, name, named.get("source", ""), flops,
            *nbytes.values(),
            *(nbytes[level] / light[level] if light[level] > 0 else 0.0 for level in nbytes),
            memory if most else "", flops / most if most else 0.0, ns,
            flops / ns / 1e3 if ns > 0 else 0.0, flops / least / 1e3 if least > 0 else 0.0, peak / 1e3,
            most / ns if ns > 0 else 0.0, most / light[memory] if light[memory] > 0 else 0.0,
            least, least / ns if ns > 0 else 0.0, bound if least > 0 else "",
        ))  # fmt: skip
    return first(rows, lambda row: (row[23] - row[17], row[0], row[1], row[2]), params)


ROOFLINE: dict[str, Oracle] = {"bottleneck/roofline": roofline}
