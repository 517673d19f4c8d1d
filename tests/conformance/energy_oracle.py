"""Answers about energy, charge by charge, from the raw rows, the shipped figures and the topology's own.

Exact fractions of pJ, rounded once to fJ; no code of the product but the names of types.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml
from kernbench_graph.records import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Oracle, Rows, first, of_model

SHIPPED = yaml.safe_load((Path(__file__).parents[2] / "configs/energy.yaml").read_text())
WIDTH = {"i8": 1, "i32": 4, "bf16": 12, "f16": 12, "f32": 14}
"""Of two operands, the type with the larger of these is that of the product."""
Spent = dict[tuple[int, int, str, str], int]
"""fJ by operation, launch, part and cause."""


def figures(topology: TopologyRecord) -> dict[str, dict[str, Any]]:
    found = {kind: dict(own) for kind, own in SHIPPED.items()}
    try:
        said = json.loads(topology.spec).get("energy", {})
    except (ValueError, AttributeError):
        said = {}  # a generated text
    for kind, own in said.items():
        for key, value in own.items():
            old = found.setdefault(kind, {}).get(key)
            found[kind][key] = {**(old or {}), **value} if isinstance(value, dict) else value
    return found


def spent(run: RunRecord, topology: TopologyRecord) -> Spent:
    known = figures(topology)
    components = {row["name"]: row for row in topology.tables["Component"].to_pylist()}
    links = {row["name"]: row for row in topology.tables["Link"].to_pylist()}
    sent = {row["number"]: row for row in run.tables["Transaction"].to_pylist()}
    found: Spent = defaultdict(int)

    def figure(kind: str, key: str) -> Fraction:
        return Fraction(str(known.get(kind, {}).get(key, 0)))

    def charge(row: Mapping[str, Any], op: int, part: str, cause: str, pj: Fraction) -> None:
        if fj := round(pj * 1000):
            found[op, row["launch"], part, cause] += fj

    within = {(c["parent"], c["kind"]) for c in components.values()}
    of_parent = {(c["parent"], c["kind"]): n for n, c in components.items()}

    def sibling(name: str, kind: str) -> str:
        return of_parent.get((components[name]["parent"], kind), "") if name in components else ""

    def memory(txn: Mapping[str, Any], part: str, way: str, nbytes: int) -> None:
        charge(
            txn, txn["op"], part, "memory", nbytes * figure(components[part]["kind"], f"pj_per_byte_{way}")
        )

    for hop in run.tables["Hop"].to_pylist():
        txn, name, nbytes = sent[hop["txn"]], hop["resource"], hop["bytes"]
        if name in links:
            kind, mm = links[name]["kind"], Fraction(links[name]["distance_mm"])
            rate = figure(kind, "pj_per_byte") + figure(kind, "pj_per_byte_mm") * mm
            charge(txn, txn["op"], name, "link", nbytes * rate)
        elif name in components:
            kind = components[name]["kind"]
            flits = math.ceil(nbytes / max(topology.flit_bytes, 1))
            pj = flits * figure(kind, "pj_per_flit") + figure(kind, "pj_per_message")
            charge(txn, txn["op"], name, "transit", pj)
            if (name, "memory_cache") not in within:
                memory(txn, name, "read" if txn["kind"].endswith("read") else "write", nbytes)
    for row in run.tables["CacheUse"].to_pylist() if "CacheUse" in run.tables else ():
        if row["txn"] >= 0:
            txn = sent[row["txn"]]
            way = "read" if txn["kind"].endswith("read") else "write"
            memory(txn, row["resource"], way, txn["bytes"] - row["coalesced_bytes"])
            kind = components[txn["dst"]]["kind"]
            moved = {"read": row["fetched_bytes"], "write": row["written_bytes"]}
            pj = sum((figure(kind, f"pj_per_byte_{way}") * n for way, n in moved.items()), Fraction(0))
            charge(txn, txn["op"], txn["dst"], "memory", pj)
    copies = {row["txn"] for row in run.tables["Split"].to_pylist()} if "Split" in run.tables else set()
    for txn in sent.values():
        if components.get(txn["src"], {}).get("kind") == "pe_dma" and (tcm := sibling(txn["src"], "pe_tcm")):
            if txn["kind"] == "dma_read":
                memory(txn, tcm, "write", txn["bytes"])
            elif txn["kind"] in ("dma_write", "ipcq_token") and txn["number"] not in copies:
                memory(txn, tcm, "read", txn["bytes"])
    operands: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in run.tables["Operand"].to_pylist() if "Operand" in run.tables else ():
        operands[row["op"]].append(row)
    ops = [{"dtype": "", "flops": 0, "source": "", **op} for op in run.tables["Op"].to_pylist()]
    types = {op["number"]: op["dtype"] for op in ops}
    for op in ops:
        on, number = op["component"], op["number"]
        kind = components.get(on, {}).get("kind")
        if op["flops"] > 0 and (gemm := on if kind == "pe_gemm" else sibling(on, "pe_gemm")):
            inputs = [o["dtype"] for o in operands[number] if o["position"] in (0, 1) and o["dtype"] in WIDTH]
            dtype = max(inputs, key=lambda name: WIDTH[name]) if inputs else op["dtype"]
            rate = Fraction(str(known["pe_gemm"]["pj_per_mac"].get(dtype, 0)))
            charge(op, number, gemm, "mac", Fraction(op["flops"], 2) * rate)
        if kind == "pe_math":
            has = json.loads(components[on]["attributes"] or "{}")
            dtype = op["dtype"] or types.get(op["parent"], "")
            costs = known["pe_math"]["pj_per_op"]  # truth values cost what i8 does
            rate = Fraction(str(costs.get("i8" if dtype == "i1" and dtype not in costs else dtype, 0)))
            if operands[number]:
                shapes = [[int(n) for n in o["shape"].split("x") if n.isdigit()] for o in operands[number]]
                passes = dict(entry.split("=") for entry in str(has.get("passes", "")).split())
                done = max(math.prod(shape) for shape in shapes) * int(passes.get(op["name"], 1))
            else:
                lanes = float(has.get("lanes", 0)) * float(has.get("clock_ghz", 0))
                done = round((op["t_end"] - op["t_start"]) * lanes)
            charge(op, number, on, "math", done * rate)
    return found


def static(run: RunRecord, topology: TopologyRecord) -> dict[str, int]:
    """fJ that each component takes whatever it does."""
    known, ns = figures(topology), Fraction(run.info["sim_ns"])
    found = {
        row["name"]: round(Fraction(str(known.get(row["kind"], {}).get("static_mw", 0))) * ns * 1000)
        for row in topology.tables["Component"].to_pylist()
    }
    return {name: fj for name, fj in found.items() if fj}


def by_part(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    dynamic: dict[str, int] = defaultdict(int)
    for (_, _, part, _), fj in spent(run, topology).items():
        dynamic[part] += fj
    leaked = static(run, topology)
    total = sum(dynamic.values()) + sum(leaked.values())
    parts = [row for name in ("Component", "Link") for row in topology.tables[name].to_pylist()]
    rows: Rows = []
    for name, kind in ((row["name"], row["kind"]) for row in parts if params["kind"] in ("", row["kind"])):
        if fj := dynamic[name] + leaked.get(name, 0):
            shown = (fj / 1000, fj / total, dynamic[name] / 1000, leaked.get(name, 0) / 1000)
            rows.append((name, kind, *shown))
    return first(rows, lambda row: (-row[2], row[0]), params)


def by_line(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    source = {op["number"]: op.get("source", "") for op in run.tables["Op"].to_pylist()}
    lines: dict[str, int] = defaultdict(int)
    for (op, *_), fj in spent(run, topology).items():
        lines[source.get(op, "") or "host and launches (no line of a kernel)"] += fj
    if leaked := sum(static(run, topology).values()):
        lines["static"] += leaked
    total = sum(lines.values())
    rows = [(line, fj / 1000, fj / total) for line, fj in lines.items() if fj]
    return first(rows, lambda row: (-row[1], row[0]), params)


def by_launch(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    launches = run.tables["Launch"].to_pylist()
    kernels = {-1: "outside of launches", **{one["number"]: one["kernel"] for one in launches}}
    dynamic = dict.fromkeys(kernels, 0)
    for (_, launch, *_), fj in spent(run, topology).items():
        dynamic[launch] += fj
    leaked = sum(static(run, topology).values())
    assert not leaked, "static energy by launch is tested in tests/unit/test_energy.py"
    total = sum(dynamic.values()) or 1
    rows = [
        (n, name, *of_model(run, n), dynamic[n] / 1000, dynamic[n] / total, dynamic[n] / 1000, 0.0)
        for n, name in kernels.items()
    ]
    return first(rows, lambda row: (-row[4], row[0]), params)


def by_operation(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    launched = {op["number"]: op for op in run.tables["Op"].to_pylist() if op["launch"] >= 0}
    found: dict[tuple[int, str], list[int]] = defaultdict(list)
    for (op, _, _, cause), fj in spent(run, topology).items():
        if op in launched and params["cause"] in ("", cause):
            found[op, cause].append(fj)
    rows = [
        (op, launched[op]["label"], launched[op].get("source", ""), cause, len(fj), sum(fj) / 1000)
        for (op, cause), fj in found.items()
    ]
    return first(rows, lambda row: (-row[5], row[0], row[3]), params)


ENERGY: dict[str, Oracle] = {
    "energy/by-part": by_part,
    "energy/by-line": by_line,
    "energy/by-launch": by_launch,
    "energy/by-operation": by_operation,
}
