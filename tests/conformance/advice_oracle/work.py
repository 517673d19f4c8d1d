"""What rules about products, launches and the work of PEs find."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

from kernbench.analysis.path.path_steps import Step
from tests.conformance.advice_oracle.evidence import MOVES, Evidence, Rows, summed

COMPOSITES = (
    "tl.load, tl.dot and tl.store return when they are done: start products with tl.composite, which returns "
    "at once, in tiles (tile_shape) whose rows fill a burst of the memory, and load the next block meanwhile"
)
MORE_BUFFERS = (
    "A load has num_stages - 1 buffers: give the loop a higher num_stages, 3 at least, "
    "or the launch more residents"
)


def overlap(e: Evidence) -> Rows:
    def command(step: Step) -> dict[str, Any]:
        return e.ops.get(e.ops[step.op]["parent"], e.ops[step.op])

    def stage(step: Step) -> str:
        if command(step)["name"] == "dma_write":
            return "write"
        if step.cause == "compute":
            return "product"
        return "tcm" if command(step)["kind"] == "gemm" else "load"

    needed = {
        e.ops[row["on"]]["source"]
        for row in e.run.tables["DependsOn"].to_pylist()
        if row["hazard"] == "handle"
        and (e.ops[row["op"]]["kind"], e.ops[row["on"]]["kind"]) == ("math", "gemm")
    }
    streaming = {op["launch"] for op in e.ops.values() if op["name"].startswith("composite")}
    steps = [
        s
        for s in e.in_kernels("compute", "memory", *MOVES)
        if s.op >= 0 and command(s)["kind"] != "math" and s.line not in needed
        and e.ops[s.op]["launch"] not in streaming
    ]  # fmt: skip
    by_line = summed(((stage(s), s.line), s.ns) for s in steps)
    ops: dict[tuple[str, str], set[int]] = defaultdict(set)
    for s in steps:
        ops[stage(s), s.line].add(s.op)
    products = sum(len(found) for (name, _), found in ops.items() if name == "product")
    for name, line in by_line:
        stores = {n for n, op in e.ops.items() if op["source"] == line and op["name"] == "dma_write"}
        sent = sum(t["op"] in stores for t in e.transactions.values())
        if name == "write" and sent > 2 * len(stores & {t["op"] for t in e.transactions.values()}):
            return []
    if products <= 3:
        return []
    ns = summed((name, value) for (name, _), value in by_line.items())
    longest = min(name for name, value in ns.items() if value >= max(ns.values()) - 1e-9)
    most = max(value for (name, _), value in by_line.items() if name == longest)
    others = {key: value for key, value in by_line.items() if key[0] != longest}
    line = min(line for (name, line), value in by_line.items() if name == longest and value >= most)
    made = [op["component"] for op in e.ops.values() if op["kind"] == "gemm" and op["launch"] >= 0]
    if e.runs_ahead(line) and products * len(set(made)) < len(made):
        return []
    return [{
        "line": line, "remedy": MORE_BUFFERS if e.runs_ahead(line) else COMPOSITES,
        "longest": longest, "longest_ns": ns[longest],
        "operations": sum(len(ops[key]) for key in others), "path_ns": math.fsum(ns.values()),
        "saves_ns": math.fsum(
            value * (1 - 1 / min(len(ops[key]), products)) for key, value in others.items()
        ),
    }]  # fmt: skip


def small_tiles(e: Evidence) -> Rows:
    rows = []
    of = summed((s.line, s.ns) for s in e.in_kernels("compute") if e.kind(s.location) == "pe_gemm")
    engines = [part for part in e.parts.values() if part["kind"] == "pe_gemm"]
    tile = {i: max(part[f"tile_{i}"] for part in engines) for i in "mkn"}
    for line, path_ns in of.items():
        done = [op for op in e.ops.values() if op["source"] == line and op["kind"] == "gemm" and op["m"] > 0]
        if not done:
            continue
        asked = sum(op["m"] * op["k"] * op["n"] for op in done)
        paid = sum(math.prod(-(-op[i] // tile[i]) * tile[i] for i in "mkn") for op in done)
        if asked < paid:
            rows.append({
                "line": line, **{i: min(op[i] for op in done) for i in "mkn"},
                **{f"tile_{i}": tile[i] for i in "mkn"},
                "used": asked / paid, "path_ns": path_ns, "saves_ns": path_ns * (1 - asked / paid),
            })  # fmt: skip
    return rows


def commands(e: Evidence) -> Rows:
    found: dict[str, list[float]] = defaultdict(list)
    for s in e.in_kernels("component"):
        if e.kind(s.location) in ("pe_cpu", "pe_scheduler"):
            found[s.line].append(s.ns)
    return [
        {"line": line, "commands": len(ns), "path_ns": math.fsum(ns),
         "saves_ns": math.fsum(ns) * (1 - 1 / len(ns))}
        for line, ns in found.items() if len(ns) > 3
    ]  # fmt: skip


def many_launches(e: Evidence) -> Rows:
    spans = [(one["launch"], one["t_submit"], one["t_done"], one["kernel"]) for one in e.run.launches]
    pays: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for s in e.steps:
        if s.cause in ("launch", "host"):
            at = [(n, kernel) for n, begin, end, kernel in spans if begin - 1e-9 <= s.t_start < end]
            if at:
                number, kernel = at[-1]
                pays[kernel][number] += s.ns
    starts = {
        kernel: min(e.run.launch_ns, math.fsum(e.run.launches[number]["launch_ns"] for number in ns))
        for kernel, ns in pays.items()
    }
    return [
        {"kernel": kernel, "launches": len(ns), "path_ns": sum(ns.values()), "start_ns": starts[kernel],
         "saves_ns": (sum(ns.values()) + starts[kernel]) * (1 - 1 / len(ns))}
        for kernel, ns in pays.items() if len(ns) > 1
    ]  # fmt: skip


def of_pes(e: Evidence) -> dict[int, dict[str, list[dict[str, Any]]]]:
    """Operations by launch and PE."""
    found: dict[int, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for op in e.ops.values():
        part = e.parts[op["component"]]
        if op["launch"] >= 0 and part["pe"] >= 0:
            found[op["launch"]][f"sip{part['sip']}.cube{part['cube']}.pe{part['pe']}"].append(op)
    return found


def imbalance(e: Evidence) -> Rows:
    rows = []
    for number, pes in of_pes(e).items():
        start = e.run.launches[number]["t_start"]
        ns = {pe: max(op["t_end"] for op in ops) - start for pe, ops in pes.items()}
        slowest, mean = max(ns.values()), math.fsum(ns.values()) / len(ns)
        computed = {
            pe: math.fsum(op["t_end"] - op["t_start"] for op in ops if op["kind"] in ("gemm", "math"))
            for pe, ops in pes.items()
        }
        moved = {pe: sum(op["bytes"] for op in ops if op["kind"] == "memory") for pe, ops in pes.items()}
        last = [pe for pe in ns if ns[pe] >= slowest]
        more = max(
            1 - math.fsum(of.values()) / len(of) / of[pe] if of[pe] else 0.0
            for of in (computed, moved) for pe in last
        )  # fmt: skip
        if len(ns) > 1 and mean < slowest and more > 0:
            rows.append({"launch": number, "pe": min(last), "pes": len(ns), "slowest_ns": slowest,
                         "mean_ns": mean, "saves_ns": min(more * slowest, slowest - mean)})  # fmt: skip
    return rows


def idle_pes(e: Evidence) -> Rows:
    there = [(part["sip"], part["cube"]) for part in e.parts.values() if part["kind"] == "pe_cpu"]
    rows = []
    for number, pes in of_pes(e).items():
        cubes = {(e.parts[op["component"]]["sip"], e.parts[op["component"]]["cube"])
                 for ops in pes.values() for op in ops}  # fmt: skip
        beside = sum(place in cubes for place in there)
        of_sips = sum(sip in {sip for sip, _ in cubes} for sip, _ in there)
        idle_beside = len(pes) < beside
        one = e.run.launches[number]
        readers: dict[tuple[int, int], set[str]] = defaultdict(set)
        for access in e.accesses:
            if access["op"]["launch"] == number and not access["is_write"]:
                readers[access["tensor"]["number"], access["offset"]].add(access["op"]["component"])
        shared = any(len(of) > 1 for of in readers.values())
        products = any(op["kind"] == "gemm" for ops in pes.values() for op in ops)
        steps = [s for s in e.steps if one["t_start"] <= s.t_start < one["t_done"]]
        path_ns = math.fsum(
            s.ns
            for s in steps
            if s.line and s.cause in ("compute", "memory", "hbm", "cache_hit", "cache_miss", "link", "queue")
        )
        start_ns = 0.0 if idle_beside else math.fsum(s.ns for s in steps if not s.line)
        count = one.get("for_pes") or (beside if idle_beside else of_sips)
        saves_ns = path_ns * (1 - len(pes) / count) - start_ns
        if len(pes) < count and saves_ns > 0 and not shared and not products and not one.get("blocks"):
            rows.append({"launch": number, "pes": len(pes), "all_pes": count, "path_ns": path_ns,
                         "saves_ns": saves_ns})  # fmt: skip
    return rows


def few_pes(e: Evidence) -> Rows:
    """Launches of grids on PEs of one cube, others of which have nothing to do."""
    rows = []
    for number, pes in of_pes(e).items():
        cubes = {pe.rpartition(".")[0] for pe in pes}
        beside = sum(part["kind"] == "pe_cpu" and f"sip{part['sip']}.cube{part['cube']}" in cubes
                     for part in e.parts.values())  # fmt: skip
        blocks = e.run.launches[number].get("blocks", 0)
        if len(pes) < min(beside, blocks):
            one = e.run.launches[number]
            path_ns = math.fsum(
                s.ns for s in e.steps if s.line and one["t_start"] <= s.t_start < one["t_done"]
            )
            each = -(-blocks // beside) / -(-blocks // len(pes))
            rows.append({"launch": number, "blocks": blocks, "pes": len(pes), "all_pes": beside,
                         "path_ns": path_ns, "saves_ns": path_ns * (1 - each)})  # fmt: skip
    return rows


def start_skew(e: Evidence) -> Rows:
    rows = []
    for number, pes in of_pes(e).items():
        began = {pe: min(op["t_ready"] for op in ops) for pe, ops in pes.items()}
        ended = {pe: max(op["t_end"] for op in ops) for pe, ops in pes.items()}
        skew = max(began.values()) - min(began.values())
        others = [ended[pe] for pe in pes if began[pe] < max(began.values())]
        if skew > 0 and others and (later := max(ended.values()) - max(others)) > 0:
            last = min(pe for pe in pes if began[pe] >= max(began.values()))
            rows.append({"line": min(op["source"] for op in pes[last]), "launch": number, "pe": last,
                         "pes": len(pes), "skew_ns": skew, "saves_ns": min(skew, later)})  # fmt: skip
    return rows
