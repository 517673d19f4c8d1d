"""What rules about memories, links and rings find."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import Any

from kernbench.analysis.path.path_steps import Step
from tests.conformance.advice_oracle.evidence import LOCAL, MOVES, Evidence, Rows, summed


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
    readers: dict[str, dict[tuple[int, int, int], set[str]]] = {m: {} for m in slices}
    of_op = defaultdict(set)
    for t in e.transactions.values():
        of_op[t["op"]].add(t["dst"])
    for access in e.accesses:
        for m in of_op[access["op"]["number"]] & readers.keys():
            if access["op"]["launch"] >= 0:
                read = access["op"]["launch"], access["tensor"]["number"], access["offset"]
                readers[m].setdefault(read, set()).add(access["op"]["component"])
    return [
        {"line": line, "memory": m, "slices": len(slices), "bytes": slices[m], "mean_bytes": mean,
         "path_ns": ns, "saves_ns": ns * (1 - mean / slices[m])}
        for m, (line, ns) in to_memory(e).items() if len(slices) > 1 and slices.get(m, 0) > 1.5 * mean
        and all(len(of) < 2 for of in readers[m].values())
        and len({pe for of in readers[m].values() for pe in of}) > 1
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


def cache_misses(e: Evidence) -> Rows:
    found = e.run.tables["CacheUse"].to_pylist() if "CacheUse" in e.run.tables else []
    again = {row["txn"]: row["again"] / row["misses"] for row in found if row["again"] and row["misses"]}
    lines: dict[str, list[Step]] = defaultdict(list)
    for s in e.in_kernels("cache_miss"):
        if s.transaction in again:
            lines[s.line].append(s)
    return [
        {"line": line, "transactions": count, "path_ns": math.fsum(s.ns for s in of),
         "saves_ns": math.fsum(s.ns * again[s.transaction] for s in of)}
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


def hot_wire(e: Evidence) -> Rows:
    """The longest queue of a link, and what the wires that are as busy take of the path."""
    use = e.run.use("all")
    steps = [s for s in e.in_kernels("queue", "link") if s.location in e.links]
    queues = summed((s.location, s.ns) for s in steps if s.cause == "queue")
    long = [
        (ns, link) for link, ns in queues.items()
        if ns > 0.2 * e.run.latency_ns
        and use["occupied_ns"][e.used[link]] <= 1.25 * use["busy_ns"][e.used[link]]
    ]  # fmt: skip
    if not long:
        return []
    queue_ns = max(ns for ns, _ in long)
    link = min(name for ns, name in long if ns >= queue_ns - 1e-6)
    busy = {name: float(use["busy_ns"][e.used[name]]) for name in e.links.keys() & e.used.keys()}
    kinds = sorted({e.kind(name) for name, ns in busy.items() if ns >= 0.75 * busy[link]})
    path_ns = math.fsum(
        s.ns if s.cause == "queue" else max(0.0, s.ns - e.links[s.location]["delay_ns"])
        for s in steps if e.kind(s.location) in kinds
    )  # fmt: skip
    ends = {one["dst"] for one in e.links.values() if one["src"] == e.links[link]["dst"]}
    beside = [
        one["name"] for one in e.links.values()
        if one["src"] == e.links[link]["src"] and one["dst"] in ends and one["kind"] == e.kind(link)
    ]  # fmt: skip
    moved = {name: int(use["bytes"][e.used[name]]) if name in e.used else 0 for name in (link, *beside)}
    idle = sum(2 * moved[name] <= moved[link] for name in beside)
    return [{
        "line": min(s.line for s in steps if s.location == link and s.cause == "queue"), "link": link,
        "queue_ns": queue_ns, "bytes": moved[link], "busy_ns": busy[link], "kinds": kinds,
        "routes": f"; or spread routes: {idle} wires from {e.links[link]['src']} to neighbours of the same "
        "end carry less than half as much" if idle else "", "path_ns": path_ns, "saves_ns": 0.5 * path_ns,
    }]  # fmt: skip


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
