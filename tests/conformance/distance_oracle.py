"""Answers to questions about what links carried over a whole run: how far, and over which cut."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kernbench_graph.records import RunRecord, TopologyRecord

from tests.conformance.oracle_columns import Oracle, Rows


def bytes_by_distance(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    links = {row["name"]: row for row in topology.tables["Link"].to_pylist()}
    of: dict[str, list[tuple[int, float]]] = {}
    for use in run.tables["Use"].to_pylist():
        if use["resource"] in links and use["transactions"]:
            link = links[use["resource"]]
            of.setdefault(link["kind"], []).append((use["bytes"], use["bytes"] * link["distance_mm"]))
    total = math.fsum(product for found in of.values() for _, product in found)
    rows: Rows = []
    for kind, found in of.items():
        moved, product = sum(size for size, _ in found), math.fsum(of_one for _, of_one in found)
        if moved:
            rows.append(
                (kind, len(found), moved, product, product / moved, product / total if total else 0.0, total)
            )
    return sorted(rows, key=lambda row: (-row[3], -row[2], row[0]))


def wires_between_packages(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    sip = {row["name"]: row["sip"] for row in topology.tables["Component"].to_pylist()}
    seams = {row["name"] for row in topology.tables["Link"].to_pylist() if sip[row["src"]] != sip[row["dst"]]}
    sent = {row["number"]: row for row in run.tables["Transaction"].to_pylist()}
    wires: dict[int, int] = {}
    for hop in run.tables["Hop"].to_pylist():
        if hop["resource"] in seams and hop["bytes"] > 0 and params["kind"] in ("", sent[hop["txn"]]["kind"]):
            wires[hop["txn"]] = wires.get(hop["txn"], 0) + 1
    of: dict[str, dict[int, list[int]]] = {}
    for txn, crossed in wires.items():
        of.setdefault(sent[txn]["kind"], {}).setdefault(crossed, []).append(sent[txn]["bytes"])
    return [
        (kind, crossed, len(found), sum(found), sum(found) / sum(map(sum, groups.values())))
        for kind, groups in sorted(of.items())
        for crossed, found in sorted(groups.items())
    ]


def bandwidth_over_a_cut(run: RunRecord, topology: TopologyRecord, params: Mapping[str, Any]) -> Rows:
    """Between single components, or one of them and everything else: no groups are generated."""
    links, sim_ns = topology.tables["Link"].to_pylist(), float(run.info["sim_ns"])
    src, dst = params["src"], params["dst"]
    ends = {(link["src"], link["dst"]) for link in links}
    straight = any(src in pair and dst in ("", *pair) for pair in ends)
    other = dst if straight else ""
    crossing = [
        link for link in links if src in (pair := (link["src"], link["dst"])) and other in ("", *pair)
    ]
    used = {row["resource"]: row for row in run.tables["Use"].to_pylist() if row["transactions"]}
    of: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for link in crossing:
        of.setdefault(("out" if link["src"] == src else "back", link["kind"]), []).append(link)
    rows: Rows = []
    for (direction, kind), found in of.items():
        busy = [used[link["name"]] for link in found if link["name"] in used]
        moved, peak = sum(row["bytes"] for row in busy), sum(link["bw_gbs"] for link in found)
        rate = moved / sim_ns if sim_ns else 0.0
        most = max((row["utilisation"] for row in busy), default=0.0)
        rows.append((direction, kind, straight, len(found), len(busy), moved, rate, peak, rate / peak, most))
    return sorted(rows, key=lambda row: (row[0] == "back", row[1]))


DISTANCE: dict[str, Oracle] = {
    "bottleneck/bytes-by-distance": bytes_by_distance,
    "routing/bandwidth-over-a-cut": bandwidth_over_a_cut,
    "routing/wires-between-packages": wires_between_packages,
}
