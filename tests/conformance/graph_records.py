"""Small, consistent records: a mesh of routers with memories and engines, and traffic over it.

All times are multiples of a quarter nanosecond, so that sums are exact in any order and answers can be
compared for equality.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from graph.columns import arrow_schema
from graph.schema import SCHEMA
from graph.store import RunRecord, TopologyRecord

QUARTERS = st.integers(0, 4000).map(lambda n: n / 4)
CHANNEL = "pseudo_channel"
KINDS = ("router_mesh", "router_to_hbm", "pe_to_router")
HAZARDS = ("raw", "war", "waw", "handle", "stage", "slot", "issue")
TEXT = st.text("ab'\"`$\\/;{} \n→é", max_size=12)
"""Names and labels as mean as users may make them."""


def table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as the archive table of that name."""
    return pa.Table.from_pylist(rows, schema=arrow_schema(SCHEMA.table(name)))


@st.composite
def topologies(draw: st.DrawFn) -> TopologyRecord:
    """One cube with 1 to 9 routers in a mesh, each with a memory or DMA engine, and links both ways.

    Memories may contain pseudo-channels, which no link leads to.
    """
    width, height = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    components: list[dict[str, Any]] = []
    links: list[dict[str, Any]] = []
    within: dict[str, str] = {}

    def component(id_: str, kind: str, x: float, y: float) -> str:
        components.append({
            "id": id_, "name": id_, "kind": kind, "impl": f"builtin.{kind}", "label": kind.title(), "sip": 0,
            "cube": 0, "pe": -1, "x_mm": x, "y_mm": y, "overhead_ns": draw(QUARTERS), "attributes": "{}",
        })  # fmt: skip
        return id_

    def link(a: str, b: str, kind: str, weight: float) -> None:
        for source, target in ((a, b), (b, a)):
            links.append({
                "id": f"{source}->{target}", "kind": kind, "src": source, "dst": target,
                "bw_gbs": draw(st.sampled_from([128.0, 256.0])), "distance_mm": weight,
                "routing_weight": weight,
            })  # fmt: skip

    weight = st.integers(0, 4).map(lambda n: n / 2)
    for y in range(height):
        for x in range(width):
            here = component(f"r{y}c{x}", "router", 2.0 * x, 2.0 * y)
            if x:
                link(f"r{y}c{x - 1}", here, KINDS[0], draw(weight))
            if y:
                link(f"r{y - 1}c{x}", here, KINDS[0], draw(weight))
            if draw(st.booleans()):
                memory = component(f"hbm{y}{x}", "hbm_ctrl", 2.0 * x, 2.0 * y)
                link(memory, here, KINDS[1], draw(weight))
                for channel in range(draw(st.integers(0, 2))):
                    within[component(f"{memory}.pc{channel}", CHANNEL, 2.0 * x, 2.0 * y)] = memory
            else:
                link(component(f"dma{y}{x}", "pe_dma", 2.0 * x, 2.0 * y), here, KINDS[2], draw(weight))
    component("cube0", "cube", 0.0, 0.0)
    contains = [{"parent": within.get(c["id"], "cube0"), "child": c["id"]} for c in components[:-1]]
    tables = {
        "Component": table("Component", components),
        "Link": table("Link", links),
        "Contains": table("Contains", contains),
    }
    return TopologyRecord(f"t{draw(st.integers(0, 10**12))}", draw(TEXT), draw(TEXT), tables)


def _pairs(count: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Pairs of numbers below ``count``; repeated pairs and pairs of the same are included."""
    if not count:
        return st.just([])
    number = st.integers(0, count - 1)
    return st.lists(st.tuples(number, number), max_size=8)


@st.composite
def runs(draw: st.DrawFn, topology: TopologyRecord) -> RunRecord:
    """Traffic on ``topology``: up to 8 transactions and 6 operations, with hops, waits and dependencies."""
    components = topology.tables["Component"]["id"].to_pylist()
    link_ids = topology.tables["Link"]["id"].to_pylist()
    kind_of = dict(zip(link_ids, topology.tables["Link"]["kind"].to_pylist(), strict=True))
    kind_of |= dict(zip(components, topology.tables["Component"]["kind"].to_pylist(), strict=True))
    channels = [id_ for id_ in components if kind_of[id_] == CHANNEL]
    places = [(id_, True) for id_ in link_ids]
    places += [(id_, False) for id_ in components if id_ not in channels]
    busy = draw(st.lists(st.sampled_from(places), min_size=1, max_size=4))
    sent, ops = draw(st.integers(0, 8)), draw(st.integers(0, 6))
    hops: list[dict[str, Any]] = []
    transactions: list[dict[str, Any]] = []
    for number in range(sent):
        way = draw(st.lists(st.sampled_from(busy) | st.sampled_from(places), max_size=4))
        start, nbytes = draw(QUARTERS), draw(st.integers(0, 2**40))
        rows = []
        for seq, (resource, is_link) in enumerate(way):
            service, wait = draw(QUARTERS), draw(QUARTERS)
            rows.append({
                "txn": number, "seq": seq, "resource": resource, "is_link": is_link, "t_in": start,
                "t_start": start + wait, "t_out": start + wait + service, "service_ns": service,
                "wait_ns": wait, "bytes": nbytes,
            })  # fmt: skip
        service, wait = sum(r["service_ns"] for r in rows), sum(r["wait_ns"] for r in rows)
        hops += rows
        transactions.append({
            "id": number, "kind": draw(st.sampled_from(["dma_read", "dma_write", "launch"])),
            "src": draw(st.sampled_from(components)), "dst": draw(st.sampled_from(components)),
            "bytes": nbytes,
            "t_submit": start, "t_done": start + service + wait, "service_ns": service, "wait_ns": wait,
            "op": draw(st.integers(-1, ops - 1)),
        })  # fmt: skip
    waits = [
        {
            "txn": a,
            "holder": b,
            "resource": draw(st.sampled_from(places))[0],
            "ns": draw(QUARTERS),
            "holders": draw(st.integers(1, 3)),
        }
        for a, b in draw(_pairs(sent))
    ]
    caused = [
        {"parent": draw(st.integers(0, n - 1)), "child": n} for n in range(1, sent) if draw(st.booleans())
    ]
    op_rows = [
        {
            "id": number, "kind": "memory", "name": "dma_read", "stage": "", "launch": 0, "bytes": 256,
            "component": draw(st.sampled_from(["", *components])), "parent": draw(st.integers(-1, ops - 1)),
            "t_ready": 0.0, "t_start": 1.0, "t_end": 2.0, "label": draw(TEXT),
        }
        for number in range(ops)
    ]  # fmt: skip
    used = [
        {
            "resource": resource, "is_link": is_link, "kind": kind_of[resource],
            "bytes": sum(h["bytes"] for h in hops if h["resource"] == resource),
            "busy_ns": sum(h["service_ns"] for h in hops if h["resource"] == resource),
            "wait_ns": sum(h["wait_ns"] for h in hops if h["resource"] == resource),
            "utilisation": draw(st.integers(0, 4)) / 4,
            "transactions": len({h["txn"] for h in hops if h["resource"] == resource}), "max_queue": 1,
        }
        for resource, is_link in dict.fromkeys((h["resource"], h["is_link"]) for h in hops)
    ]  # fmt: skip
    used += [
        {"resource": channel, "is_link": False, "kind": CHANNEL, "bytes": draw(st.integers(0, 2**30)),
         "busy_ns": draw(QUARTERS), "wait_ns": 0.0, "utilisation": 0.5, "transactions": 1, "max_queue": 0}
        for channel in channels if draw(st.booleans())
    ]  # fmt: skip
    tables = {
        "Transaction": table("Transaction", transactions),
        "Caused": table("Caused", caused),
        "Hop": table("Hop", hops),
        "WaitedFor": table("WaitedFor", waits),
        "Op": table("Op", op_rows),
        "DependsOn": table(
            "DependsOn",
            [{"op": a, "on": b, "hazard": draw(st.sampled_from(HAZARDS))} for a, b in draw(_pairs(ops))],
        ),
        "Moved": table("Moved", [{"op": t["op"], "txn": t["id"]} for t in transactions if t["op"] >= 0]),
        "Used": table("Used", used),
    }
    info = {
        "bench": draw(st.sampled_from(["gemm", "copy", "it's \"x\""])), "topology": topology.id,
        "params": {"m": 4}, "started_at": f"2025-01-0{draw(st.integers(1, 9))}T00:00:00Z", "status": "ok",
        "sim_ns": draw(QUARTERS), "wall_s": 0.5, "hops": len(hops), "tags": [draw(TEXT)],
    }  # fmt: skip
    return RunRecord(info, tables)


def sample(bench: str = "gemm", **info: Any) -> tuple[RunRecord, TopologyRecord]:
    """A fixed small record: two routers and a memory, two transactions of which one waits for the other."""
    places = (("dma", "pe_dma", 0.0), ("r0", "router", 0.0), ("r1", "router", 2.0), ("hbm", "hbm_ctrl", 2.0))
    components = [
        {
            "id": id_, "name": id_, "kind": kind, "impl": f"builtin.{kind}", "label": kind.title(), "sip": 0,
            "cube": 0, "pe": -1, "x_mm": x, "y_mm": 0.0, "overhead_ns": 2.0, "attributes": "{}",
        }
        for id_, kind, x in places
    ]  # fmt: skip
    links = [
        {
            "id": f"{a}->{b}", "kind": kind, "src": a, "dst": b, "bw_gbs": 256.0, "distance_mm": 2.0,
            "routing_weight": 2.0,
        }
        for x, y, kind in (("dma", "r0", KINDS[2]), ("r0", "r1", KINDS[0]), ("r1", "hbm", KINDS[1]))
        for a, b in ((x, y), (y, x))
    ]  # fmt: skip
    way = (
        ("dma->r0", True),
        ("r0", False),
        ("r0->r1", True),
        ("r1", False),
        ("r1->hbm", True),
        ("hbm", False),
    )
    hops = [
        {
            "txn": txn, "seq": seq, "resource": resource, "is_link": is_link, "t_in": 1.0 * seq,
            "t_start": 1.0 * seq + txn * (seq == 0), "t_out": 1.0 * seq + 1, "service_ns": 1.0,
            "wait_ns": 1.0 * txn * (seq == 0), "bytes": 256,
        }
        for txn in (0, 1)
        for seq, (resource, is_link) in enumerate(way)
    ]  # fmt: skip
    transactions = [
        {
            "id": txn, "kind": "dma_read", "src": "dma", "dst": "hbm", "bytes": 256, "t_submit": 0.0,
            "t_done": 6.0 + txn, "service_ns": 6.0, "wait_ns": 1.0 * txn, "op": txn,
        }
        for txn in (0, 1)
    ]  # fmt: skip
    ops = [
        {
            "id": op, "kind": "memory", "name": "dma_read", "stage": "", "component": "dma", "launch": 0,
            "parent": -1, "bytes": 256, "t_ready": 0.0, "t_start": 0.0, "t_end": 6.0 + op, "label": "load",
        }
        for op in (0, 1)
    ]  # fmt: skip
    used = [
        {
            "resource": resource, "is_link": is_link, "kind": "x", "bytes": 512, "busy_ns": 2.0,
            "wait_ns": 1.0, "utilisation": 0.25, "transactions": 2, "max_queue": 1,
        }
        for resource, is_link in way
    ]  # fmt: skip
    run = RunRecord(
        {"bench": bench, "sim_ns": 7.0, **info},
        {
            "Transaction": table("Transaction", transactions),
            "Hop": table("Hop", hops),
            "WaitedFor": table(
                "WaitedFor", [{"txn": 1, "holder": 0, "resource": "dma->r0", "ns": 1.0, "holders": 1}]
            ),
            "Op": table("Op", ops),
            "DependsOn": table("DependsOn", [{"op": 1, "on": 0, "hazard": "issue"}]),
            "Moved": table("Moved", [{"op": 0, "txn": 0}, {"op": 1, "txn": 1}]),
            "Used": table("Used", used),
        },
    )
    tables = {
        "Component": table("Component", components),
        "Link": table("Link", links),
        "Contains": table("Contains", [{"parent": "r0", "child": "dma"}]),
    }
    return run, TopologyRecord("0123456789abcdef", "small", "spec: 1", tables)
