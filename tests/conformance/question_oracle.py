"""Answers to the library's questions, worked out from the raw columns with numpy and plain Python."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from graph.store import RunRecord, TopologyRecord

Rows = list[tuple[Any, ...]]
Oracle = Callable[[RunRecord, TopologyRecord, Mapping[str, Any]], Rows]


def _columns(table: pa.Table) -> dict[str, np.ndarray[Any, Any]]:
    return {
        name: table[name].to_numpy()
        if pa.types.is_floating(table[name].type) or pa.types.is_integer(table[name].type)
        else np.array(table[name].to_pylist(), dtype=object)
        for name in table.column_names
    }


def _kinds(topology: TopologyRecord) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for name in ("Link", "Component"):
        part = topology.tables[name]
        pairs |= dict(zip(part["id"].to_pylist(), part["kind"].to_pylist(), strict=True))
    return pairs


def _sorted(rows: Rows, key: Callable[[tuple[Any, ...]], Any], params: Mapping[str, Any]) -> Rows:
    return sorted(rows, key=key)[: params.get("limit", len(rows))]


def busiest_links(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    used, links = _columns(run.tables["Used"]), _columns(topology.tables["Link"])
    peak = dict(zip(links["id"], links["bw_gbs"], strict=True))
    kinds = _kinds(topology)
    rows = [
        (r, kinds[r], used["utilisation"][i], used["busy_ns"][i], used["bytes"][i], peak[r],
         used["transactions"][i], used["wait_ns"][i], used["max_queue"][i])
        for i, r in enumerate(used["resource"])
        if used["is_link"][i] and params["kind"] in ("", kinds[r])
    ]  # fmt: skip
    return _sorted(rows, lambda row: (-row[2], -row[4], row[0]), params)


def busiest_engines(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    used, kinds = _columns(run.tables["Used"]), _kinds(topology)
    rows = [
        (r, kinds[r], used["utilisation"][i], used["busy_ns"][i], used["bytes"][i], used["transactions"][i],
         used["wait_ns"][i], used["max_queue"][i])
        for i, r in enumerate(used["resource"])
        if not used["is_link"][i] and params["kind"] in ("", kinds[r])
    ]  # fmt: skip
    return _sorted(rows, lambda row: (-row[2], -row[3], row[0]), params)


def bandwidth_by_kind(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    used, links = _columns(run.tables["Used"]), _columns(topology.tables["Link"])
    carried = dict(zip(used["resource"], used["bytes"], strict=True))
    sim_ns = run.info["sim_ns"]
    rows: Rows = []
    for kind in sorted(set(links["kind"])):
        of_kind = links["kind"] == kind
        busy = of_kind & np.array([link in carried for link in links["id"]])
        total = int(sum(carried[link] for link in links["id"][busy]))
        achieved = total / sim_ns if sim_ns else 0.0
        peak, used_peak = float(links["bw_gbs"][of_kind].sum()), float(links["bw_gbs"][busy].sum())
        share = achieved / used_peak if used_peak else 0.0
        rows.append((kind, int(of_kind.sum()), int(busy.sum()), total, achieved, used_peak, peak, share))
    return rows


def transactions_by_kind(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    t = _columns(run.tables["Transaction"])
    rows: Rows = []
    for kind in sorted(set(t["kind"])):
        these = t["kind"] == kind
        latency = (t["t_done"] - t["t_submit"])[these]
        rows.append((kind, int(these.sum()), int(t["bytes"][these].sum()), float(latency.mean()),
                     float(latency.max()), float(t["service_ns"][these].sum()),
                     float(t["wait_ns"][these].sum())))  # fmt: skip
    return rows


def waits_by_resource(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    w = _columns(run.tables["WaitedFor"])
    rows: Rows = []
    for resource in sorted(set(w["resource"])):
        here = w["resource"] == resource
        ns = w["ns"][here]
        waiters = len(set(w["txn"][here].tolist()))
        rows.append((resource, int(here.sum()), waiters, float(ns.sum()), float(ns.max())))
    return _sorted(rows, lambda row: (-row[3], row[0]), params)


def who_waited_for_whom(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    w, t = _columns(run.tables["WaitedFor"]), _columns(run.tables["Transaction"])
    rows = [
        (int(a), t["kind"][a], t["src"][a], int(b), t["kind"][b], t["src"][b], resource, float(ns))
        for a, b, resource, ns in zip(w["txn"], w["holder"], w["resource"], w["ns"], strict=True)
        if ns >= params["min_ns"] and params["resource"] in ("", resource)
    ]
    return _sorted(rows, lambda row: (-row[7], row[0], row[3], row[6]), params)


def slowest_transactions(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    t = _columns(run.tables["Transaction"])
    rows = [
        (int(i), t["kind"][n], t["src"][n], t["dst"][n], int(t["bytes"][n]), t["t_submit"][n],
         t["t_done"][n] - t["t_submit"][n], t["service_ns"][n], t["wait_ns"][n])
        for n, i in enumerate(t["id"])
        if params["kind"] in ("", t["kind"][n])
    ]  # fmt: skip
    return _sorted(rows, lambda row: (-row[6], row[0]), params)


def taken(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    t, h, kinds = _columns(run.tables["Transaction"]), _columns(run.tables["Hop"]), _kinds(topology)
    found = t["id"][(t["src"] == params["src"]) & (t["dst"] == params["dst"])
                    & ((t["kind"] == params["kind"]) | (params["kind"] == ""))]  # fmt: skip
    rows = [
        (int(h["txn"][n]), int(h["seq"][n]), h["resource"][n], kinds[h["resource"][n]], h["t_in"][n],
         h["t_out"][n], h["service_ns"][n], h["wait_ns"][n])
        for n in range(len(h["txn"]))
        if len(found) and h["txn"][n] == found.min()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row[1], row[2]))


ORACLES: dict[str, Oracle] = {
    "bottleneck/busiest-links": busiest_links,
    "bottleneck/busiest-engines": busiest_engines,
    "bottleneck/bandwidth-by-kind": bandwidth_by_kind,
    "bottleneck/transactions-by-kind": transactions_by_kind,
    "contention/waits-by-resource": waits_by_resource,
    "contention/who-waited-for-whom": who_waited_for_whom,
    "contention/slowest-transactions": slowest_transactions,
    "routing/taken": taken,
}

UCIE = {"ucie_internal", "ucie_to_router", "ucie_mesh", "io_to_cube"}
NOT_FOR = {"COMMAND": set[str](), "MCPU_DMA": {"pe_internal", "pe_to_router"}}
NOT_FOR["HOST_MEMORY"] = NOT_FOR["MCPU_DMA"]


def least_weight(topology: TopologyRecord, src: str, dst: str, traffic: str) -> tuple[float, int] | None:
    """The least routing weight from ``src`` to ``dst`` in one cube, and the fewest links that give it."""
    links, kinds = _columns(topology.tables["Link"]), _kinds(topology)
    banned = NOT_FOR.get(traffic, UCIE)
    best: dict[str, tuple[float, int]] = {}
    queue: list[tuple[float, int, str]] = [(0.0, 0, src)]
    while queue:
        weight, hops, here = heapq.heappop(queue)
        if here in best:
            continue
        best[here] = (weight, hops)
        if here not in (src, dst) and kinds[here] != "router":
            continue  # other components do not pass traffic on
        for n in np.flatnonzero(links["src"] == here):
            if links["kind"][n] not in banned:
                heapq.heappush(queue, (weight + float(links["routing_weight"][n]), hops + 1, links["dst"][n]))
    return best.get(dst)
