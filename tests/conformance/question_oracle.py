"""Answers to the library's questions, worked out from the raw columns with numpy and plain Python."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from kernbench_graph.records import RunRecord, TopologyRecord

from tests.conformance.cache_oracle import CACHED
from tests.conformance.causes_oracle import CAUSES
from tests.conformance.centrality_oracle import CENTRALITY
from tests.conformance.distance_oracle import DISTANCE
from tests.conformance.energy_oracle import ENERGY
from tests.conformance.launch_oracle import LAUNCHES
from tests.conformance.oracle_columns import Oracle, Rows, columns, first, kinds_of
from tests.conformance.roofline_oracle import ROOFLINE
from tests.conformance.rows_oracle import ROWS
from tests.conformance.tensor_oracle import TENSORS
from tests.conformance.traffic_oracle import TRAFFIC


def occupancy(run: RunRecord, row: int) -> float | None:
    """The share of the run for which something was at the resource in that row of table Use."""
    use, ops, hops = (columns(run.tables[name]) for name in ("Use", "Op", "Hop"))
    name, sim_ns = use["resource"][row], run.info["sim_ns"]
    if not len(hops["resource"]):
        return None
    if use["kind"][row] in ("pe_internal", "pseudo_channel"):
        return float(use["busy_ns"][row] / sim_ns) if sim_ns else 0.0
    under_way = (
        *zip(ops["component"], ops["t_start"], ops["t_end"], strict=True),
        *zip(hops["resource"], hops["t_start"], hops["t_out"], strict=True),
    )
    spans = sorted((a, b) for where, a, b in under_way if where == name)
    until, covered = 0.0, []
    for begin, end in spans:
        begin, end = max(begin, until), min(end, sim_ns)
        if end > begin:
            covered.append(end - begin)
            until = end
    return math.fsum(covered) / sim_ns if sim_ns else 0.0


def busiest_links(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    used, links = columns(run.tables["Use"]), columns(topology.tables["Link"])
    peak = dict(zip(links["name"], links["bw_gbs"], strict=True))
    kinds = kinds_of(topology)
    rows = [
        (r, kinds[r], used["utilisation"][i], occupancy(run, i), used["busy_ns"][i], used["bytes"][i],
         peak[r], used["transactions"][i], used["wait_ns"][i], used["max_queue"][i])
        for i, r in enumerate(used["resource"])
        if used["is_link"][i] and used["transactions"][i] and params["kind"] in ("", kinds[r])
    ]  # fmt: skip
    return first(rows, lambda row: (-row[2], -row[5], row[0]), params)


def busiest_engines(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    used, kinds = columns(run.tables["Use"]), kinds_of(topology)
    rows = [
        (r, kinds[r], used["utilisation"][i], occupancy(run, i), used["busy_ns"][i], used["bytes"][i],
         used["transactions"][i], used["wait_ns"][i], used["max_queue"][i])
        for i, r in enumerate(used["resource"])
        if not used["is_link"][i] and used["transactions"][i]
        and (params["kind"] or kinds[r] != "pseudo_channel") and params["kind"] in ("", kinds[r])
    ]  # fmt: skip
    return first(rows, lambda row: (-row[2], -row[4], row[0]), params)


def bandwidth_by_kind(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    used, links = columns(run.tables["Use"]), columns(topology.tables["Link"])
    carried = {
        r: n
        for r, n, count in zip(used["resource"], used["bytes"], used["transactions"], strict=True)
        if count
    }
    sim_ns = run.info["sim_ns"]
    rows: Rows = []
    for kind in sorted(set(links["kind"])):
        of_kind = links["kind"] == kind
        busy = of_kind & np.array([link in carried for link in links["name"]])
        total = int(sum(carried[link] for link in links["name"][busy]))
        achieved = total / sim_ns if sim_ns else 0.0
        peak, used_peak = float(links["bw_gbs"][of_kind].sum()), float(links["bw_gbs"][busy].sum())
        share = achieved / used_peak if used_peak else 0.0
        rows.append((kind, int(of_kind.sum()), int(busy.sum()), total, achieved, used_peak, peak, share))
    return rows


def transactions_by_kind(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    t = columns(run.tables["Transaction"])
    rows: Rows = []
    for kind in sorted(set(t["kind"])):
        these = t["kind"] == kind
        latency = (t["t_done"] - t["t_submit"])[these]
        rows.append((kind, int(these.sum()), int(t["bytes"][these].sum()), float(latency.mean()),
                     float(latency.max()), float(t["service_ns"][these].sum()),
                     float(t["wait_ns"][these].sum())))  # fmt: skip
    return rows


def waits_by_resource(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    kinds = {one["resource"]: one["kind"] for one in run.tables["Use"].to_pylist()}
    waits: dict[str, list[tuple[tuple[str, int], float]]] = {}
    for one in run.tables["WaitedFor"].to_pylist():
        here = [one["resource"]]
        if kinds.get(one["resource"]) in ("pseudo_channel", "memory_cache"):
            here.append(one["resource"].rpartition(".")[0])
        for resource in here:
            waits.setdefault(resource, []).append((("transaction", one["txn"]), one["ns"]))
    for op in run.tables["Op"].to_pylist():
        queued = kinds.get(op["component"]) in ("pe_gemm", "pe_math", "pe_fetch_store")
        if queued and op["t_start"] > op["t_ready"]:
            here = waits.setdefault(op["component"], [])
            here.append((("operation", op["number"]), op["t_start"] - op["t_ready"]))
    rows: Rows = [
        (resource, len(found), len({who for who, _ in found}), sum(ns for _, ns in found),
         max(ns for _, ns in found))
        for resource, found in waits.items()
        if resource in kinds and (kinds[resource] == params["kind"] or (
            not params["kind"] and kinds[resource] not in ("pseudo_channel", "memory_cache")))
    ]  # fmt: skip
    return first(rows, lambda row: (-round(row[3], 6), row[0]), params)


def who_waited_for_whom(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    w, t = columns(run.tables["WaitedFor"]), columns(run.tables["Transaction"])
    rows = [
        (
            int(a),
            t["kind"][a],
            t["src"][a],
            int(b),
            t["kind"][b],
            t["src"][b],
            resource,
            int(seq),
            float(since),
            float(ns),
            int(n),
        )
        for a, b, resource, seq, since, ns, n in zip(
            w["txn"], w["holder"], w["resource"], w["seq"], w["t_from"], w["ns"], w["holders"], strict=True
        )
        if ns >= params["min_ns"] and params["resource"] in ("", resource)
    ]
    return first(rows, lambda row: (-row[9], row[0], row[3], row[6], row[7]), params)


def slowest_transactions(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    t = columns(run.tables["Transaction"])
    rows = [
        (int(i), t["kind"][n], t["src"][n], t["dst"][n], int(t["bytes"][n]), t["t_submit"][n],
         t["t_done"][n] - t["t_submit"][n], t["service_ns"][n], t["wait_ns"][n])
        for n, i in enumerate(t["number"])
        if params["kind"] in ("", t["kind"][n])
    ]  # fmt: skip
    return first(rows, lambda row: (-row[6], row[0]), params)


def taken(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    t, h, kinds = columns(run.tables["Transaction"]), columns(run.tables["Hop"]), kinds_of(topology)
    found = t["number"][(t["src"] == params["src"]) & (t["dst"] == params["dst"])
                    & ((t["kind"] == params["kind"]) | (params["kind"] == ""))]  # fmt: skip
    sent = dict(zip(t["number"], t["kind"], strict=True))
    rows = [
        (int(h["txn"][n]), int(h["seq"][n]), h["resource"][n], kinds[h["resource"][n]], h["t_in"][n],
         h["t_out"][n], h["service_ns"][n], h["wait_ns"][n],
         [f"{sent[h['txn'][n]]} {h['txn'][n]}", h["resource"][n], h["resource"][n]])
        for n in range(len(h["txn"]))
        if len(found) and h["txn"][n] == found.min()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row[1], row[2]))


def ucie_seams(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    used, links = columns(run.tables["Use"]), columns(topology.tables["Link"])
    parts = {row["name"]: row for row in topology.tables["Component"].to_pylist()}
    ends = {
        id_: (parts[a], parts[b]) for id_, a, b in zip(links["name"], links["src"], links["dst"], strict=True)
    }
    kinds = kinds_of(topology)
    seams: dict[tuple[int, ...], list[int]] = {}
    for n, resource in enumerate(used["resource"]):
        if used["is_link"][n] and used["transactions"][n] and kinds[resource] == params["kind"]:
            a, b = ends[resource]
            seams.setdefault((a["sip"], a["cube"], b["sip"], b["cube"]), []).append(n)
    rows = [
        (*seam, len(of), int(used["bytes"][of].sum()), float(used["utilisation"][of].max()),
         float(used["busy_ns"][of].sum()), float(used["wait_ns"][of].sum()))
        for seam, of in seams.items()
    ]  # fmt: skip
    return first(rows, lambda row: (-row[6], -row[5], *row[:4]), params)


def imbalance(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    used, parts = columns(run.tables["Use"]), columns(topology.tables["Component"])
    busy = {
        r: n for r, n, t in zip(used["resource"], used["busy_ns"], used["transactions"], strict=True) if t
    }
    rows: Rows = []
    for kind in set(parts["kind"]):
        of = parts["name"][parts["kind"] == kind]
        known = np.array([busy[i] for i in of if i in busy])
        total = math.fsum(known)
        if total > 0:
            most = float(known.max())
            rows.append((kind, len(of), len(known), total / len(known), most, most * len(known) / total))
    return sorted(rows, key=lambda row: (-row[5], row[0]))


def queue_depth(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    h = columns(run.tables["Hop"])
    here = h["resource"] == params["resource"]
    txn, a, b, wait = (h[name][here] for name in ("txn", "t_in", "t_out", "wait_ns"))
    rows: Rows = []
    for number in range(params["intervals"]):
        t0 = params["start_ns"] + number * params["interval_ns"]
        t1 = params["start_ns"] + (number + 1) * params["interval_ns"]
        now = (a < t1) & (b > t0)
        if now.any():
            depth = float((np.minimum(b, t1) - np.maximum(a, t0))[now].sum()) / params["interval_ns"]
            rows.append((t0, len(set(txn[now])), depth, float(wait[now & (b <= t1)].sum())))
    return rows


def costly_pairs(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    w, t = columns(run.tables["WaitedFor"]), columns(run.tables["Transaction"])
    pairs = [(t["src"][a], t["src"][b]) for a, b in zip(w["txn"], w["holder"], strict=True)]
    rows: Rows = []
    for pair in set(pairs):
        of = np.array([p == pair for p in pairs])
        places = len(set(w["resource"][of]))
        rows.append((*pair, int(of.sum()), places, float(w["ns"][of].sum()), float(w["ns"][of].max())))
    return first(rows, lambda row: (-row[4], row[0], row[1]), params)


def cone(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    """Steps by relaxing every edge until nothing changes; ways by looking at every edge again."""
    w, t = (columns(run.tables[name]) for name in ("WaitedFor", "Transaction"))
    at = {int(n): row for row, n in enumerate(t["number"])}
    edges = [
        ("WAITED_FOR", *edge)
        for edge in zip(w["txn"].tolist(), w["holder"].tolist(), w["resource"], w["ns"].tolist(), strict=True)
    ]
    edges += [
        ("CAUSED_BY", effect, cause, "", 0.0)
        for effect, cause in zip(t["number"].tolist(), t["caused_by"].tolist(), strict=True)
        if cause >= 0
    ]
    step = {params["transaction"]: 0}
    while True:
        closer = {b: step[a] + 1 for _, a, b, _, _ in edges if a in step and step.get(b, 10**9) > step[a] + 1}
        if not closer:
            break
        step |= closer
    rows: Rows = []
    for n, steps in step.items():
        if steps and steps <= (params["steps"] or steps):
            ways = [e for e in edges if e[2] == n and step.get(e[1], -9) == steps - 1]
            relation, through, _, resource, lost = min(
                ways, key=lambda e: (e[0] == "CAUSED_BY", -e[4], e[1], e[3])
            )
            own = (t[k][at[n]] for k in ("kind", "src", "dst", "t_submit", "t_done", "wait_ns"))
            rows.append((steps, n, relation, through, resource, lost, *own))
    return first(rows, lambda row: row[:2], params)


def lineage(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    """Steps by relaxing every dependency on a value until nothing changes."""
    d, o = (columns(run.tables[name]) for name in ("DependsOn", "Op"))
    at = {int(n): row for row, n in enumerate(o["number"])}
    edges = [
        edge
        for edge in zip(d["op"].tolist(), d["on"].tolist(), d["hazard"], strict=True)
        if edge[2] in ("handle", "raw")
    ]
    step = {params["op"]: 0}
    while True:
        closer = {b: step[a] + 1 for a, b, _ in edges if a in step and step.get(b, 10**9) > step[a] + 1}
        if not closer:
            break
        step |= closer
    rows: Rows = []
    for n, steps in step.items():
        if steps and steps <= (params["steps"] or steps):
            through, _, hazard = min(e for e in edges if e[1] == n and step.get(e[0], -9) == steps - 1)
            kind, name, source, label, end = (
                o[k][at[n]] if k in o else "" for k in ("kind", "name", "source", "label", "t_end")
            )
            rows.append((steps, n, kind, name, source, hazard, through, label, end))
    return first(rows, lambda row: row[:2], params)


def races(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    x, o = columns(run.tables["Race"]), columns(run.tables["Op"])
    unknown = np.full(len(o["number"]), "")
    lines = dict(zip(o["number"].tolist(), o.get("source", unknown).tolist(), strict=True))
    rows: Rows = [
        (int(x["number"][n]), x["kind"][n], x["touched"][n], int(x["bytes"][n]),
         lines[a], x["first_pe"][n], int(a), x["t_first"][n],
         lines[b], x["second_pe"][n], int(b), x["t_second"][n])
        for n, (a, b) in enumerate(zip(x["first"].tolist(), x["second"].tolist(), strict=True))
    ]  # fmt: skip
    return first(rows, lambda row: row[:1], params)


def met_on_link(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    h, t = columns(run.tables["Hop"]), columns(run.tables["Transaction"])
    here = np.flatnonzero(h["resource"] == params["resource"])
    rows: Rows = []
    for x in here:
        for y in here:
            a, b = int(h["txn"][x]), int(h["txn"][y])
            begin, end = max(h["t_in"][x], h["t_in"][y]), min(h["t_out"][x], h["t_out"][y])
            if (
                a < b
                and h["t_in"][x] < h["t_out"][y]
                and h["t_in"][y] < h["t_out"][x]
                and begin >= params["from_ns"]
            ):
                rows.append((a, b, t["src"][a], t["src"][b], begin, end - begin))
    return first(rows, lambda row: (row[4], row[0], row[1], row[5]), params)


def uses_link(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    h, t = columns(run.tables["Hop"]), columns(run.tables["Transaction"])
    groups: dict[tuple[Any, ...], list[int]] = {}
    for n in np.flatnonzero(h["resource"] == params["resource"]):
        txn = h["txn"][n]
        groups.setdefault((t["src"][txn], t["dst"][txn], t["kind"][txn]), []).append(n)
    rows = [(*key, len(set(h["txn"][of])), int(h["bytes"][of].sum())) for key, of in groups.items()]
    return first(rows, lambda row: (-row[4], *row[:3]), params)


ORACLES: dict[str, Oracle] = {
    "bottleneck/ucie-seams": ucie_seams,
    "bottleneck/imbalance": imbalance,
    "bottleneck/queue-depth": queue_depth,
    "contention/costly-pairs": costly_pairs,
    "contention/cone": cone,
    "kernel/lineage": lineage,
    "kernel/races": races,
    "contention/met-on-link": met_on_link,
    "routing/uses-link": uses_link,
    **CENTRALITY,
    "bottleneck/busiest-links": busiest_links,
    "bottleneck/busiest-engines": busiest_engines,
    "bottleneck/bandwidth-by-kind": bandwidth_by_kind,
    "bottleneck/transactions-by-kind": transactions_by_kind,
    "contention/waits-by-resource": waits_by_resource,
    "contention/who-waited-for-whom": who_waited_for_whom,
    "contention/slowest-transactions": slowest_transactions,
    "routing/taken": taken,
    **TRAFFIC,
    **DISTANCE,
    **CAUSES,
    **LAUNCHES,
    **ENERGY,
    **ROOFLINE,
    **ROWS,
    **CACHED,
    **TENSORS,
}
