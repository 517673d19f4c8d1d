"""What the rules of advice find in a run, from its critical path and raw rows, in plain Python."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import kernbench as kb
from kernbench.analysis.path_steps import Step

Rows = list[dict[str, Any]]
MOVES = ("queue", "hbm", "link", "component")
LOCAL = ("pe_to_router", "router_to_hbm", "hbm_ctrl", "pe_dma")


class Evidence:
    """A run of launches as the rules see it."""

    def __init__(self, run: kb.Run) -> None:
        self.run = run
        self.steps = run.critical_path("all").steps
        self.ops = {row["number"]: row for row in run.tables["Op"].to_pylist()}
        self.transactions = {row["number"]: row for row in run.tables["Transaction"].to_pylist()}
        machine = run.topology_record().tables
        self.parts = {
            row["name"]: {**row, **json.loads(row["attributes"] or "{}")}
            for row in machine["Component"].to_pylist()
        }
        self.links = {row["name"]: row for row in machine["Link"].to_pylist()}
        self.used = {r: i for i, r in enumerate(run.use("all")["resource"].tolist())}

    @cached_property
    def accesses(self) -> list[dict[str, Any]]:
        """Accesses to tensors, each with its ``tensor`` and the ``op`` as rows."""
        tensors = {row["number"]: row for row in self.run.tables["Tensor"].to_pylist()}
        return [
            {**row, "tensor": tensors[row["tensor"]], "op": self.ops[row["op"]]}
            for row in self.run.tables["Access"].to_pylist()
        ]

    def in_kernels(self, *causes: str) -> list[Step]:
        return [step for step in self.steps if step.line and step.cause in causes]

    def op(self, step: Step) -> dict[str, Any] | None:
        return self.ops.get(step.op)

    def kind(self, name: str) -> str:
        return str((self.parts.get(name) or self.links.get(name) or {"kind": ""})["kind"])

    def touched(self, kind: str) -> dict[str, dict[str, Any]]:
        """Use within the launches of the parts of a kind that served something then."""
        use = self.run.use("all")
        return {
            name: {"bytes": int(use["bytes"][i]), "utilisation": float(use["utilisation"][i])}
            for name, i in self.used.items()
            if use["kind"][i] == kind and use["transactions"][i] > 0
        }


def summed(pairs: Iterable[tuple[Any, float]]) -> dict[Any, float]:
    found: dict[Any, list[float]] = defaultdict(list)
    for key, ns in pairs:
        found[key].append(ns)
    return {key: math.fsum(values) for key, values in found.items()}


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


def overlap(e: Evidence) -> Rows:
    def stage(step: Step) -> str:
        if step.cause in ("compute", "memory"):
            return {"compute": "compute", "memory": "tcm"}[step.cause]
        return "write" if e.ops[step.op]["name"] == "dma_write" else "read"

    needed = {
        e.ops[row["on"]]["source"]
        for row in e.run.tables["DependsOn"].to_pylist()
        if row["hazard"] == "handle"
        and (e.ops[row["op"]]["kind"], e.ops[row["on"]]["kind"]) == ("math", "gemm")
    }
    steps = [
        s
        for s in e.in_kernels("compute", "memory", *MOVES)
        if s.op >= 0 and e.ops[s.op]["kind"] != "math" and s.line not in needed
    ]
    ns = summed((stage(s), s.ns) for s in steps)
    ops: dict[tuple[str, str], set[int]] = defaultdict(set)
    for s in steps:
        ops[stage(s), s.line].add(s.op)
    by_line = summed(((stage(s), s.line), s.ns) for s in steps)
    if "compute" not in ns:
        return []
    longest = min(name for name, value in ns.items() if value >= max(ns.values()) - 1e-9)
    others = {key: value for key, value in by_line.items() if key[0] != longest}
    return [{
        "line": min(line for name, line in ops if name == longest),
        "longest": longest, "longest_ns": ns[longest],
        "operations": sum(len(ops[key]) for key in others), "path_ns": math.fsum(ns.values()),
        "saves_ns": math.fsum(value * (1 - 1 / len(ops[key])) for key, value in others.items()),
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
        streamed = sum(a["bytes"] for a in reads)
        for number in {a["tensor"]["number"] for a in reads} if engines and path_ns else ():
            of = [a for a in reads if a["tensor"]["number"] == number]
            parts = {(a["op"]["launch"], a["op"]["component"], a["offset"], a["bytes"]) for a in of}
            nbytes, needed = sum(a["bytes"] for a in of), sum(size for *_, size in parts)
            left_ns = path_ns + on_path - max(engines.values()) - path_ns * needed / streamed
            if needed < nbytes and left_ns > 0:
                rows.append({"line": line, "tensor": of[0]["tensor"]["name"], "bytes": nbytes,
                             "needed": needed, "path_ns": path_ns,
                             "saves_ns": min(path_ns * (nbytes - needed) / streamed, left_ns)})  # fmt: skip
    return rows


def many_launches(e: Evidence) -> Rows:
    spans = [(one["launch"], one["t_submit"], one["t_done"], one["kernel"]) for one in e.run.launches]
    pays: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for s in e.steps:
        if s.cause in ("launch", "host"):
            at = [(n, kernel) for n, begin, end, kernel in spans if begin - 1e-9 <= s.t_start < end]
            if at:
                number, kernel = at[-1]
                pays[kernel][number] += s.ns
    return [
        {"kernel": kernel, "launches": len(ns), "path_ns": sum(ns.values()),
         "saves_ns": sum(ns.values()) * (1 - 1 / len(ns))}
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
        if len(ns) > 1 and mean < slowest:
            rows.append({"launch": number, "pe": min(pe for pe in ns if ns[pe] >= slowest), "pes": len(ns),
                         "slowest_ns": slowest, "mean_ns": mean, "saves_ns": slowest - mean})  # fmt: skip
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
        steps = [s for s in e.steps if one["t_start"] <= s.t_start < one["t_done"]]
        path_ns = math.fsum(
            s.ns for s in steps if s.line and s.cause in ("compute", "memory", "hbm", "link", "queue")
        )
        start_ns = 0.0 if idle_beside else math.fsum(s.ns for s in steps if not s.line)
        count = beside if idle_beside else of_sips
        saves_ns = path_ns * (1 - len(pes) / count) - start_ns
        if len(pes) < count and saves_ns > 0:
            rows.append({"launch": number, "pes": len(pes), "all_pes": count, "path_ns": path_ns,
                         "saves_ns": saves_ns})  # fmt: skip
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


def to_memory(e: Evidence) -> dict[str, tuple[str, float]]:
    """By slice: the first line, and ns of the path, of transfers with it."""
    steps = [(e.transactions[s.transaction]["dst"], s) for s in e.in_kernels(*MOVES) if s.transaction >= 0]
    ns = summed((memory, s.ns) for memory, s in steps if e.kind(memory) == "hbm_ctrl")
    return {m: (min(s.line for memory, s in steps if memory == m), ns[m]) for m in ns}


def one_memory(e: Evidence) -> Rows:
    slices, pes = e.touched("hbm_ctrl"), len(e.touched("pe_dma"))
    return [
        {"line": line, "memory": m, "pes": pes, "bytes": sum(one["bytes"] for one in slices.values()),
         "path_ns": ns, "saves_ns": ns * (1 - 1 / pes)}
        for m, (line, ns) in to_memory(e).items() if len(slices) == 1 and pes > 1
    ]  # fmt: skip


def hot_slice(e: Evidence) -> Rows:
    slices = {name: one["bytes"] for name, one in e.touched("hbm_ctrl").items() if one["bytes"] > 0}
    mean = sum(slices.values()) / len(slices) if slices else 0.0
    return [
        {"line": line, "memory": m, "slices": len(slices), "bytes": slices[m], "mean_bytes": mean,
         "path_ns": ns, "saves_ns": ns * (1 - mean / slices[m])}
        for m, (line, ns) in to_memory(e).items() if len(slices) > 1 and slices.get(m, 0) > 1.5 * mean
    ]  # fmt: skip


def remote(e: Evidence) -> Rows:
    found: dict[str, list[tuple[dict[str, Any], float]]] = defaultdict(list)
    for s in e.in_kernels("queue", "link", "component"):
        if s.transaction < 0 or e.kind(s.location) in LOCAL:
            continue
        t = e.transactions[s.transaction]
        here, there = e.parts[t["src"]], e.parts[t["dst"]]
        away = (here["sip"], here["cube"]) != (there["sip"], there["cube"])
        if here["kind"] == "pe_dma" and there["cube"] >= 0 and away:
            found[s.line].append((t, s.ns))
    return [
        {"line": line, "pe": min(t["src"] for t, _ in of), "memory": min(t["dst"] for t, _ in of),
         "bytes": sum({t["number"]: t["bytes"] for t, _ in of}.values()),
         "path_ns": (ns := math.fsum(ns for _, ns in of)), "saves_ns": ns}
        for line, of in found.items()
    ]  # fmt: skip


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


def wide_dtype(e: Evidence) -> Rows:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for number, _ in enumerate(e.run.launches):
        own = [a for a in e.accesses if a["op"]["launch"] == number]
        written = {a["tensor"]["dtype"] for a in own if a["is_write"]}
        if not written or written - {"f16", "bf16"}:
            continue
        path_ns = math.fsum(
            s.ns
            for s in e.in_kernels("hbm", "link", "queue", "memory")
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


def room(e: Evidence, link: str) -> str | None:
    """Flits for which the configuration has room in a link's buffers; None where it has no limit."""
    said = json.loads(json.loads(e.run.topology_record().properties).get("links") or "{}")
    part = said.get(link) or said.get(e.kind(link)) or {}
    return None if part.get("buffer_flits") is None else str(part["buffer_flits"])


def credits(e: Evidence) -> Rows:
    use = e.run.use("all")
    at: dict[str, list[Step]] = defaultdict(list)
    for s in e.in_kernels("queue", "link", "back_pressure"):
        at[s.location.removesuffix(".buffer")].append(s)
    kinds: dict[str, Rows] = defaultdict(list)
    for link, steps in at.items():
        if link not in e.links or link not in e.used or (flits := room(e, link)) is None:
            continue
        busy, occupied = (float(use[name][e.used[link]]) for name in ("busy_ns", "occupied_ns"))
        if occupied > 1.25 * busy:
            path_ns = math.fsum(s.ns for s in steps)
            kinds[e.kind(link)].append({
                "line": min(s.line for s in steps), "flits": flits, "busy_ns": busy, "occupied_ns": occupied,
                "path_ns": path_ns, "saves_ns": path_ns * (1 - busy / occupied),
            })  # fmt: skip
    return [
        {"line": min(one["line"] for one in of), "kind": kind, "links": len(of), "flits": of[0]["flits"],
         **{name: math.fsum(one[name] for one in of) for name in
            ("busy_ns", "occupied_ns", "path_ns", "saves_ns")}}
        for kind, of in kinds.items()
    ]  # fmt: skip


def row_conflicts(e: Evidence) -> Rows:
    found = e.run.tables["RowUse"].to_pylist() if "RowUse" in e.run.tables else []
    met = {row["txn"] for row in found if row["row_ns"] > 0 and row["conflicts"] > 0}
    lines: dict[str, list[Step]] = defaultdict(list)
    for s in e.in_kernels("row"):
        if s.transaction in met:
            lines[s.line].append(s)
    return [
        {"line": line, "transactions": count, "path_ns": (ns := math.fsum(s.ns for s in of)), "saves_ns": ns}
        for line, of in lines.items() if (count := len({s.transaction for s in of})) > 1
    ]  # fmt: skip


def ring_slots(e: Evidence) -> Rows:
    kind = {number: t["kind"] for number, t in e.transactions.items()}
    steps = [s for s in e.steps if s.line]
    waited = [s for s in steps if kind.get(s.transaction) == "ipcq_credit"]
    senders = [t["src"] for t in e.transactions.values() if t["kind"] == "ipcq_token" and t["launch"] >= 0]
    if len({s.transaction for s in waited}) < 2:
        return []
    messages = max(senders.count(one) for one in set(senders))
    copies = [s for s in steps if s.op >= 0 and e.ops[s.op]["name"] == "ipcq_copy"]
    each = {
        place: math.fsum(s.ns for s in copies if s.location == place and s.cause != "queue")
        / len({s.op for s in copies if s.location == place})
        for place in {s.location for s in copies}
    }
    slowest_ns, path_ns = max(each.values()), math.fsum(s.ns for s in copies)
    if path_ns <= messages * slowest_ns:
        return []
    return [{"line": min(s.line for s in waited), "credits": len({s.transaction for s in waited}),
             "messages": messages, "slowest": min(p for p in each if each[p] >= slowest_ns),
             "slowest_ns": slowest_ns, "path_ns": path_ns,
             "saves_ns": path_ns - messages * slowest_ns}]  # fmt: skip


def hot_link(e: Evidence) -> Rows:
    """Corners by the transactions' own paths, and the ways around them by the table of links."""
    hops: dict[int, list[str]] = defaultdict(list)
    for hop in e.run.tables["Hop"].to_pylist():
        hops[hop["txn"]].append(hop["resource"])
    paths = set(map(tuple, hops.values()))
    wires = {(one["src"], one["dst"]): one for one in e.links.values()}
    use, rows = e.run.use("all"), []
    moved = {name: int(use["bytes"][i]) for name, i in e.used.items()}
    at: dict[str, list[Step]] = defaultdict(list)
    for s in e.in_kernels("queue", "link"):
        if e.kind(s.location) == "router_mesh":
            at[s.location].append(s)
    for link, steps in at.items():
        if all(s.cause != "queue" for s in steps):
            continue
        around: dict[str, int] = {}
        for path in paths:
            for i in (n for n, one in enumerate(path) if one == link):
                for corner in (path[max(i - 3, 0) : i + 2 : 2], path[i - 1 : i + 4 : 2]):
                    if [e.kind(one) for one in corner] != ["router"] * 3:
                        continue
                    a, m, b = corner
                    weight = wires[a, m]["routing_weight"] + wires[m, b]["routing_weight"]
                    for (src, q), first in wires.items():
                        second = wires.get((q, b))
                        if src != a or q == m or second is None:
                            continue
                        if abs(first["routing_weight"] + second["routing_weight"] - weight) < 1e-9:
                            around[q] = max(moved.get(first["name"], 0), moved.get(second["name"], 0))
        around = {q: nbytes for q, nbytes in around.items() if moved[link] > 2 * nbytes}
        if around:
            least = min(around.values())
            path_ns = math.fsum(s.ns for s in steps)
            rows.append({
                "line": min(s.line for s in steps), "link": link, "bytes": moved[link],
                "other": min(q for q in around if around[q] == least), "other_bytes": least,
                "path_ns": path_ns,
                "saves_ns": min(path_ns, (moved[link] - least) / 2 / e.links[link]["bw_gbs"]),
            })  # fmt: skip
    return rows


ADVICE: dict[str, Callable[[Evidence], Rows]] = {
    "advice/commands": commands,
    "advice/credits": credits,
    "advice/hot-link": hot_link,
    "advice/hot-slice": hot_slice,
    "advice/row-conflicts": row_conflicts,
    "advice/idle-pes": idle_pes,
    "advice/imbalance": imbalance,
    "advice/many-launches": many_launches,
    "advice/one-memory": one_memory,
    "advice/overlap": overlap,
    "advice/read-again": read_again,
    "advice/remote": remote,
    "advice/ring-slots": ring_slots,
    "advice/round-trip": round_trip,
    "advice/short-runs": short_runs,
    "advice/small-tiles": small_tiles,
    "advice/start-skew": start_skew,
    "advice/streamed-again": streamed_again,
    "advice/wide-dtype": wide_dtype,
}
