"""What rules about loads and stores, and the values that they move, find."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from tests.conformance.advice_oracle.evidence import MOVES, Evidence, Rows, summed


def short_runs(e: Evidence) -> Rows:
    rows = []
    moving = ("dma_read", "dma_write")
    of = summed(
        ((s.line, e.transactions[s.transaction]["kind"]), s.ns)
        for s in e.in_kernels(*MOVES)
        if s.transaction >= 0 and e.transactions[s.transaction]["kind"] in moving
    )
    for (line, kind), path_ns in of.items():
        runs = [
            t
            for t in e.transactions.values()
            if t["kind"] == kind and t["op"] >= 0 and e.ops[t["op"]]["source"] == line
            and e.kind(t["dst"]) == "hbm_ctrl"
        ]  # fmt: skip
        if not runs:
            continue
        burst = max(e.parts[t["dst"]]["burst_bytes"] for t in runs)
        nbytes = sum(t["bytes"] for t in runs)
        used = nbytes / sum(-(-t["bytes"] // burst) * burst for t in runs)
        if used < 0.999:
            rows.append({"line": line, "kind": kind, "runs": len(runs), "run_bytes": nbytes / len(runs),
                         "burst_bytes": burst, "used": used, "path_ns": path_ns,
                         "saves_ns": path_ns * (1 - used)})  # fmt: skip
    return rows


def small_blocks(e: Evidence) -> Rows:
    use = e.run.use("all")
    per_byte = {
        name: use["busy_ns"][i] / use["bytes"][i]
        for name, i in e.used.items()
        if use["bytes"][i] and (name in e.links or e.kind(name) == "hbm_ctrl")
    }
    needed: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for hop in e.run.tables["Hop"].to_pylist():
        if hop["resource"] in per_byte:
            needed[e.transactions[hop["txn"]]["op"]][hop["resource"]] += hop["bytes"]
    streaming = {op["launch"] for op in e.ops.values() if op["name"].startswith("composite")}
    moves = {n for n, op in e.ops.items() if op["name"] in ("dma_read", "dma_write")}
    blocks = {n for n in moves if e.ops[n]["kind"] == "memory" and e.ops[n]["launch"] not in streaming}
    ns = summed(
        (s.op, s.ns)
        for s in e.in_kernels("hbm", "cache_hit", "cache_miss", "link", "component")
        if s.op in blocks
    )
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for op in ns:
        groups[tuple(e.ops[op][name] for name in ("source", "name", "launch", "component"))].append(op)
    rows: dict[tuple[str, str], list[tuple[list[int], float]]] = defaultdict(list)
    for (line, kind, *_), ops in groups.items():
        latency = [
            max(0.0, ns[op] - max(nbytes * per_byte[name] for name, nbytes in needed[op].items()))
            for op in ops
        ]
        if len(ops) > 1:
            rows[line, kind].append((ops, math.fsum(latency) * (1 - 1 / len(ops))))
    found = []
    for (line, kind), of in rows.items():
        own = [op for ops, _ in of for op in ops]
        path_ns = math.fsum(ns[op] for op in own)
        saves_ns = math.fsum(one for _, one in of)
        if saves_ns > path_ns / 4:
            found.append({"line": line, "kind": kind, "blocks": len(own),
                          "block_bytes": sum(e.ops[op]["bytes"] for op in own) / len(own),
                          "otherwise": ", or give the loop a higher num_stages" if e.runs_ahead(line) else "",
                          "path_ns": path_ns, "saves_ns": saves_ns})  # fmt: skip
    return found


def read_again(e: Evidence) -> Rows:
    rows = []
    loads = {n for n, op in e.ops.items() if op["name"] == "dma_read" and op["kind"] != "tile"}
    reads = [a for a in e.accesses if a["op"]["number"] in loads and a["op"]["launch"] >= 0]
    on_path = [s for s in e.in_kernels(*MOVES) if s.op in loads]
    for tensor in {a["tensor"]["number"] for a in reads}:
        own = [a for a in reads if a["tensor"]["number"] == tensor]
        ops = {a["op"]["number"] for a in own}
        steps = [s for s in on_path if s.op in ops]
        first = {(a["op"]["launch"], a["op"]["component"], a["offset"], a["bytes"]) for a in own}
        nbytes, needed = sum(a["bytes"] for a in own), sum(size for *_, size in first)
        if steps and needed < nbytes:
            path_ns = math.fsum(s.ns for s in steps)
            rows.append({"line": min(s.line for s in steps), "tensor": own[0]["tensor"]["name"],
                         "bytes": nbytes, "needed": needed, "path_ns": path_ns,
                         "saves_ns": path_ns * (nbytes - needed) / nbytes})  # fmt: skip
    return rows


def streamed_again(e: Evidence) -> Rows:
    rows = []
    tiles = {n for n, op in e.ops.items() if op["kind"] == "tile" and op["launch"] >= 0}
    steps = [s for s in e.steps if s.line and s.op in tiles]
    for line in {s.line for s in steps}:
        own = [s for s in steps if s.line == line]
        path_ns = math.fsum(s.ns for s in own if e.ops[s.op]["name"] == "dma_read" and s.cause in MOVES)
        on_path = math.fsum(s.ns for s in own if s.cause == "compute")
        engines = summed(
            (e.ops[n]["component"], e.ops[n]["t_end"] - e.ops[n]["t_start"])
            for n in tiles if e.ops[n]["name"] == "gemm" and e.ops[n]["source"] == line
        )  # fmt: skip
        reads = [
            a for a in e.accesses
            if not a["is_write"] and a["op"]["number"] in tiles and a["op"]["name"] == "dma_read"
            and a["op"]["source"] == line
        ]  # fmt: skip
        moved: dict[int, int] = defaultdict(int)
        for t in e.transactions.values():
            if e.kind(t["dst"]) == "hbm_ctrl":
                burst = e.parts[t["dst"]]["burst_bytes"]
                moved[t["op"]] += -(-t["bytes"] // burst) * burst
        reads = [a for a in reads if a["op"]["number"] in moved]
        streamed = sum(moved[a["op"]["number"]] for a in reads)
        latency = min((a["op"]["t_end"] - a["op"]["t_start"] for a in reads), default=0.0)
        room = min(part["scratch_bytes"] for part in e.parts.values() if part["kind"] == "pe_tcm")
        for number in {a["tensor"]["number"] for a in reads} if engines and path_ns else ():
            of = [a for a in reads if a["tensor"]["number"] == number]
            parts = {(a["op"]["launch"], a["op"]["component"], a["offset"], a["bytes"]) for a in of}
            nbytes, needed = sum(a["bytes"] for a in of), sum(size for *_, size in parts)
            held = max(summed(((launch, reader), size) for launch, reader, _, size in parts).values())
            fewer = sum(moved[a["op"]["number"]] for a in of) - needed
            fewer_ns = path_ns * fewer / streamed - latency
            left_ns = path_ns + on_path - max(engines.values()) - path_ns * needed / streamed
            if needed < nbytes and held <= room and fewer_ns > 2 * latency and left_ns > 0.75 * fewer_ns:
                rows.append({"line": line, "tensor": of[0]["tensor"]["name"], "bytes": nbytes,
                             "needed": needed, "path_ns": path_ns,
                             "saves_ns": min(fewer_ns, left_ns)})  # fmt: skip
    return rows


def round_trip(e: Evidence) -> Rows:
    rows = []
    for tensor in {a["tensor"]["number"] for a in e.accesses}:
        own = [a for a in e.accesses if a["tensor"]["number"] == tensor]
        ops = {a["op"]["number"] for a in own if a["op"]["name"] in ("dma_read", "dma_write")}
        path_ns = math.fsum(s.ns for s in e.in_kernels(*MOVES) if s.op in ops)
        back = {
            (r["op"]["source"], r["op"]["number"], r["bytes"])
            for r in own for w in own
            if not r["is_write"] and w["is_write"] and r["op"]["launch"] == w["op"]["launch"]
            and r["op"]["component"] == w["op"]["component"] and r["offset"] == w["offset"]
            and w["op"]["t_end"] <= r["op"]["t_start"] and r["op"]["name"] == "dma_read"
        }  # fmt: skip
        if back and path_ns:
            rows.append({"line": min(line for line, *_ in back), "tensor": own[0]["tensor"]["name"],
                         "bytes": sum(size for *_, size in back),
                         "path_ns": path_ns, "saves_ns": path_ns})  # fmt: skip
    return rows


def wide_dtype(e: Evidence) -> Rows:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for number, _ in enumerate(e.run.launches):
        own = [a for a in e.accesses if a["op"]["launch"] == number]
        written = {a["tensor"]["dtype"] for a in own if a["is_write"]}
        if not written or written - {"f16", "bf16"}:
            continue
        path_ns = math.fsum(
            s.ns
            for s in e.in_kernels("hbm", "cache_hit", "cache_miss", "link", "queue", "memory")
            if s.op >= 0 and e.ops[s.op]["launch"] == number and e.ops[s.op]["name"] != "dma_write"
        )
        for a in own:
            if a["tensor"]["dtype"] == "f32" and a["op"]["name"] == "dma_read" and not a["is_write"]:
                row = rows.setdefault(
                    (a["op"]["source"], a["tensor"]["name"]),
                    {"line": a["op"]["source"], "tensor": a["tensor"]["name"], "out": min(written),
                     "bytes": 0, "path_ns": path_ns, "saves_ns": path_ns / 2},
                )  # fmt: skip
                row["bytes"] += a["bytes"]
    return list(rows.values())
