"""Small, consistent records: a mesh of routers with memories and engines, and traffic over it.

All times are multiples of a quarter nanosecond, so that sums are exact in any order and answers can be
compared for equality.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st
from kernbench_graph.added import ADDED
from kernbench_graph.archive.canonical import arrow_schema
from kernbench_graph.records import RunRecord, TopologyRecord
from kernbench_graph.schema import SCHEMA
from kernbench_graph.store import GraphStore

from kernbench.analysis.derived_tables import Machine, derived_tables

CACHE_COUNTS = (
    "hits", "misses", "again", "merged", "writes", "evictions", "fetched_bytes", "written_bytes",
    "coalesced", "coalesced_bytes",
)  # fmt: skip
QUARTERS = st.integers(0, 4000).map(lambda n: n / 4)
CHANNEL = "pseudo_channel"
KINDS = ("router_mesh", "router_to_hbm", "pe_to_router")
HAZARDS = ("raw", "war", "waw", "handle", "stage", "slot", "issue")
TEXT = st.text("ab'\"`$\\/;{} \n→é", max_size=12)
"""Names and labels as mean as users may make them."""


def table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    """Rows as the archive table of that name, without columns that have defaults and are in no row."""
    known = arrow_schema(SCHEMA.table(name))
    given = [field for field in known if not rows or field.name in rows[0]]
    return pa.Table.from_pylist(rows, schema=pa.schema(given))


EVERYTHING = "MATCH (n) OPTIONAL MATCH (n)-[r]->(m) RETURN count(*) AS rows"
"""A text that leaves labels and types open, so that a store has all of a graph for those asked after it."""


def nodes_of_run(label: str) -> str:
    """Cypher that finds the nodes ``n`` of a label that a run has, those of its topology included."""
    if SCHEMA.label(label).record == "run":
        return f"MATCH (n:`{label}`) WHERE n.id = $run OR n.id STARTS WITH ($run + '/')"
    machine = "MATCH (:Run {id: $run})-[:RAN_ON]->(m:Topology)"
    return f"{machine} MATCH (n:`{label}`) WHERE n.id = m.id OR n.id STARTS WITH (m.id + '/')"


@st.composite
def topologies(draw: st.DrawFn) -> TopologyRecord:
    """One cube with 1 to 9 routers in a mesh, each with a memory or DMA engine, and links both ways.

    Memories may contain pseudo-channels, which no link leads to.
    """
    width, height = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    components: list[dict[str, Any]] = []
    links: list[dict[str, Any]] = []

    def component(name: str, kind: str, x: float, y: float, parent: str = "cube0", **own: Any) -> str:
        components.append({
            "name": name, "kind": kind, "impl": f"builtin.{kind}", "label": kind.title(), "parent": parent,
            "sip": 0, "cube": 0, "pe": -1, "x_mm": x, "y_mm": y, "overhead_ns": draw(QUARTERS),
            "attributes": json.dumps(own),
        })  # fmt: skip
        return name

    def link(a: str, b: str, kind: str, weight: float) -> None:
        for source, target in ((a, b), (b, a)):
            links.append({
                "name": f"{source}->{target}", "kind": kind, "src": source, "dst": target,
                "bw_gbs": draw(st.sampled_from([128.0, 256.0])), "delay_ns": weight / 8,
                "distance_mm": weight, "routing_weight": weight,
            })  # fmt: skip

    weight = st.integers(0, 4).map(lambda n: n / 2)
    for y in range(height):
        for x in range(width):
            here = component(f"r{y}c{x}", "router", 2.0 * x, 2.0 * y, row=y, col=x)
            if x:
                link(f"r{y}c{x - 1}", here, KINDS[0], draw(weight))
            if y:
                link(f"r{y - 1}c{x}", here, KINDS[0], draw(weight))
            if draw(st.booleans()):
                memory = component(f"hbm{y}{x}", "hbm_ctrl", 2.0 * x, 2.0 * y, slice_gbs=draw(QUARTERS))
                link(memory, here, KINDS[1], draw(weight))
                for channel in range(draw(st.integers(0, 2))):
                    component(f"{memory}.pc{channel}", CHANNEL, 2.0 * x, 2.0 * y, memory, channel=channel)
            else:
                link(component(f"dma{y}{x}", "pe_dma", 2.0 * x, 2.0 * y), here, KINDS[2], draw(weight))
    component("cube0", "cube", 0.0, 0.0, parent="")
    tables = {"Component": table("Component", components), "Link": table("Link", links)}
    return TopologyRecord(f"t{draw(st.integers(0, 10**12))}", draw(TEXT), draw(TEXT), tables, flit_bytes=256)


def _pairs(count: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    """Pairs of numbers below ``count``; repeated pairs and pairs of the same are included."""
    if not count:
        return st.just([])
    number = st.integers(0, count - 1)
    return st.lists(st.tuples(number, number), max_size=8)


@st.composite
def runs(draw: st.DrawFn, topology: TopologyRecord) -> RunRecord:
    """Traffic on ``topology``: up to 8 transactions, 6 operations, 2 launches and 2 tensors."""
    components = topology.tables["Component"]["name"].to_pylist()
    link_ids = topology.tables["Link"]["name"].to_pylist()
    kind_of = dict(zip(link_ids, topology.tables["Link"]["kind"].to_pylist(), strict=True))
    kind_of |= dict(zip(components, topology.tables["Component"]["kind"].to_pylist(), strict=True))
    channels = [id_ for id_ in components if kind_of[id_] == CHANNEL]
    places = [(id_, True) for id_ in link_ids]
    places += [(id_, False) for id_ in components if id_ not in channels]
    busy = draw(st.lists(st.sampled_from(places), min_size=1, max_size=4))
    sent, ops = draw(st.integers(0, 8)), draw(st.integers(0, 6))
    launches, tensors = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    hops: list[dict[str, Any]] = []
    known: dict[tuple[str, ...], int] = {}
    transactions: list[dict[str, Any]] = []
    for number in range(sent):
        way = draw(st.lists(st.sampled_from(busy) | st.sampled_from(places), max_size=4))
        start, nbytes = draw(QUARTERS), draw(st.integers(0, 2**40))
        rows = []
        for seq, (resource, _) in enumerate(way):
            service, wait = draw(QUARTERS), draw(QUARTERS)
            rows.append({
                "txn": number, "seq": seq, "resource": resource, "t_in": start, "t_start": start + wait,
                "t_out": start + wait + service, "service_ns": service,
                "wait_ns": wait, "bytes": nbytes,
            })  # fmt: skip
        service, wait = sum(r["service_ns"] for r in rows), sum(r["wait_ns"] for r in rows)
        hops += rows
        transactions.append({
            "number": number, "kind": draw(st.sampled_from(["dma_read", "dma_write", "launch"])),
            "src": draw(st.sampled_from(components)), "dst": draw(st.sampled_from(components)),
            "bytes": nbytes,
            "t_submit": start, "t_done": start + service + wait, "service_ns": service, "wait_ns": wait,
            "op": draw(st.integers(-1, ops - 1)), "caused_by": draw(st.integers(-1, number - 1)),
            "launch": draw(st.integers(-1, launches - 1)), "request": draw(st.sampled_from(["", "r0"])),
            "route": known.setdefault(tuple(resource for resource, _ in way), len(known)) if way else -1,
        })  # fmt: skip
    waits = [
        {
            "txn": a,
            "holder": b,
            "seq": draw(st.integers(0, 3)),
            "resource": draw(st.sampled_from(places))[0],
            "ns": (ns := draw(QUARTERS)),
            "t_from": (begun := draw(QUARTERS)),
            "t_to": begun + ns,
            "holders": draw(st.integers(1, 3)),
        }
        for a, b in draw(_pairs(sent))
    ]
    op_rows = [
        {
            "number": number, "kind": "memory", "name": "dma_read", "stage": "", "bytes": 256,
            "launch": draw(st.integers(-1, launches - 1)),
            "component": draw(st.sampled_from(["", *components])), "parent": draw(st.integers(-1, ops - 1)),
            "t_ready": 0.0, "t_start": number / 4, "t_end": number / 4 + 2.0, "label": draw(TEXT),
        }
        for number in range(ops)
    ]  # fmt: skip
    others = [(name, False) for sent_ in transactions for name in (sent_["src"], sent_["dst"])]
    others += [(op["component"], False) for op in op_rows if op["component"]]
    crossed = [(hop["resource"], "->" in hop["resource"]) for hop in hops]
    use = [
        {
            "resource": resource, "is_link": is_link, "kind": kind_of[resource],
            "bytes": sum(h["bytes"] for h in hops if h["resource"] == resource),
            "busy_ns": sum(h["service_ns"] for h in hops if h["resource"] == resource),
            "wait_ns": sum(h["wait_ns"] for h in hops if h["resource"] == resource),
            "utilisation": draw(st.integers(0, 4)) / 4,
            "transactions": len({h["txn"] for h in hops if h["resource"] == resource}), "max_queue": 1,
        }
        for resource, is_link in dict.fromkeys(crossed + others)
    ]  # fmt: skip
    use += [
        {"resource": channel, "is_link": False, "kind": CHANNEL, "bytes": draw(st.integers(0, 2**30)),
         "busy_ns": draw(QUARTERS), "wait_ns": 0.0, "utilisation": 0.5, "transactions": 1, "max_queue": 0}
        for channel in channels if (channel, False) not in others and draw(st.booleans())
    ]  # fmt: skip
    banks = [one["resource"] for one in use if one["kind"] == CHANNEL]
    found = [(-1, bank) for bank in banks] + [(n, bank) for n in range(sent) for bank in banks[:2]]
    length = dict(zip(link_ids, topology.tables["Link"]["distance_mm"].to_pylist(), strict=True))
    tables = {
        "Use": table("Use", use),
        "Launch": table("Launch", [
            {"number": n, "kernel": draw(TEXT), "source": "k.py:3", "t_submit": 0.0, "t_start": 1.0,
             "t_done": 9.0, "pe_ns": draw(QUARTERS), "pes": 4, "late_ns": 0.0}
            for n in range(launches)
        ]),
        "Route": table("Route", [
            {"number": n, "hops": len(way), "mm": sum(length.get(name, 0.0) for name in way)}
            for way, n in known.items()
        ]),
        "Via": table("Via", [
            {"route": n, "seq": seq, "resource": name}
            for way, n in known.items() for seq, name in enumerate(way)
        ]),
        "Transaction": table("Transaction", transactions),
        "Hop": table("Hop", hops),
        "RowUse": table("RowUse", [
            {"txn": txn, "resource": bank, "hits": draw(st.integers(0, 9)), "misses": draw(st.integers(0, 3)),
             "conflicts": draw(st.integers(0, 3)), "refreshes": draw(st.integers(0, 1)),
             "row_ns": draw(QUARTERS), "refresh_ns": draw(QUARTERS)}
            for txn, bank in found
        ]),
        "CacheUse": table("CacheUse", [
            {"txn": txn, "resource": bank, **{name: draw(st.integers(0, 3)) for name in CACHE_COUNTS},
             "miss_ns": draw(QUARTERS)}
            for txn, bank in found
        ]),
        "WaitedFor": table("WaitedFor", waits),
        "Op": table("Op", op_rows),
        "DependsOn": table(
            "DependsOn",
            [{"op": a, "on": b, "hazard": draw(st.sampled_from(HAZARDS))} for a, b in draw(_pairs(ops))],
        ),
        "Awaited": table(
            "Awaited", [{"op": t["op"], "txn": t["number"]} for t in transactions if t["op"] >= 0]
        ),
        "Tensor": table("Tensor", [
            {"number": n, "name": draw(TEXT), "shape": "4x4", "dtype": "f16", "bytes": 32, "memory": "hbm"}
            for n in range(tensors)
        ]),
        "Placed": table("Placed", [
            {"tensor": n, "component": draw(st.sampled_from(components)), "bytes": 32} for n in range(tensors)
        ]),
        "Access": table("Access", [
            {"op": n, "tensor": draw(st.integers(0, tensors - 1)), "is_write": draw(st.booleans()),
             "offset": draw(st.integers(0, 31)), "bytes": draw(st.integers(0, 2**33))}
            for n in range(ops if tensors else 0)
        ]),
        "Race": table("Race", [
            {"number": n, "kind": draw(st.sampled_from(["write-write", "write-read"])), "touched": draw(TEXT),
             "addr": draw(st.integers(0, 2**50)), "bytes": draw(st.integers(1, 2**33)), "first": a,
             "second": b, "first_pe": "sip0.cube0.pe0", "second_pe": draw(TEXT), "t_first": draw(QUARTERS),
             "t_second": draw(QUARTERS)}
            for n, (a, b) in enumerate(draw(_pairs(ops)))
        ]),
        "Reading": table("Reading", [
            {"number": n, "kind": draw(st.sampled_from(["energy", "heat"])),
             "resource": draw(st.sampled_from(["", *(row["resource"] for row in use)])),
             "launch": draw(st.integers(-1, launches - 1)),
             "columns": json.dumps({"pj": draw(QUARTERS), "cause": draw(TEXT)} if n else {})}
            for n in range(draw(st.integers(0, 3)))
        ]),
    }  # fmt: skip
    blocks = min(ops, 3) if launches else 0
    tables["Block"] = table("Block", [
        {"number": n, "launch": n % launches, "x": n, "y": 0, "z": 1, "pe": components[n % len(components)],
         "t_start": n / 4, "t_end": n / 2 + 1.0}
        for n in range(blocks)
    ])  # fmt: skip
    sent_for = [(-1, t["number"], t["op"]) for t in transactions if t["op"] >= 0]
    tables["OfBlock"] = table("OfBlock", [
        {"op": op, "txn": txn, "block": of % 3}
        for op, txn, of in [*((n, -1, n) for n in range(ops)), *sent_for] if of % 3 < blocks
    ])  # fmt: skip
    info = {
        "bench": draw(st.sampled_from(["gemm", "copy", "it's \"x\""])), "topology": topology.id,
        "params": {"m": 4}, "started_at": f"2025-01-0{draw(st.integers(1, 9))}T00:00:00Z", "status": "ok",
        "sim_ns": draw(QUARTERS), "latency_ns": draw(st.just(0.0) | QUARTERS),
        "wall_s": 0.5, "hops": len(hops), "tags": [draw(TEXT)], "tensors": tensors,
    }  # fmt: skip
    return RunRecord(info, tables)


def sample(bench: str = "gemm", **info: Any) -> tuple[RunRecord, TopologyRecord]:
    """A fixed small record: two routers and a memory, two transactions of which one waits for the other."""
    places = (("dma", "pe_dma", 0.0), ("r0", "router", 0.0), ("r1", "router", 2.0), ("hbm", "hbm_ctrl", 2.0))
    components = [
        {
            "name": name, "kind": kind, "impl": f"builtin.{kind}", "label": kind.title(), "sip": 0,
            "parent": "r0" if name == "dma" else "", "cube": 0, "pe": -1, "x_mm": x, "y_mm": 0.0,
            "overhead_ns": 2.0, "attributes": '{"row": 1, "note": "x"}' if kind == "router" else "{}",
        }
        for name, kind, x in places
    ]  # fmt: skip
    links = [
        {
            "name": f"{a}->{b}", "kind": kind, "src": a, "dst": b, "bw_gbs": 256.0, "delay_ns": 0.02,
            "distance_mm": 2.0, "routing_weight": 2.0,
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
            "txn": txn, "seq": seq, "resource": resource, "t_in": 1.0 * seq,
            "t_start": 1.0 * seq + txn * (seq == 0), "t_out": 1.0 * seq + 1, "service_ns": 1.0,
            "wait_ns": 1.0 * txn * (seq == 0), "bytes": 256,
        }
        for txn in (0, 1)
        for seq, (resource, _) in enumerate(way)
    ]  # fmt: skip
    transactions = [
        {
            "number": txn, "kind": "dma_read", "src": "dma", "dst": "hbm", "bytes": 256, "t_submit": 0.0,
            "t_done": 6.0 + txn, "service_ns": 6.0, "wait_ns": 1.0 * txn, "op": txn, "launch": 0, "route": 0,
            "caused_by": txn - 1,
        }
        for txn in (0, 1)
    ]  # fmt: skip
    ops = [
        {
            "number": op, "kind": "memory", "name": "dma_read", "stage": "", "component": "dma", "launch": 0,
            "parent": -1, "bytes": 256, "t_ready": 0.0, "t_start": 0.0, "t_end": 6.0 + op, "label": "load",
            "source": "k.py:7", "dtype": "f16", "flops": 0, "m": 0, "k": 0, "n": 0,
        }
        for op in (0, 1)
    ]  # fmt: skip
    use = [
        {
            "resource": resource, "is_link": is_link, "kind": "pe_dma" if resource == "dma" else "x",
            "bytes": 512, "busy_ns": 2.0,
            "wait_ns": 1.0, "utilisation": 0.25, "transactions": 2 * (resource != "dma"), "max_queue": 1,
        }
        for resource, is_link in (*way, ("dma", False))
    ]  # fmt: skip
    run = RunRecord(
        {"bench": bench, "sim_ns": 7.0, **info},
        {
            "Use": table("Use", use),
            "Launch": table("Launch", [
                {"number": 0, "kernel": "gemm", "source": "k.py:1", "t_submit": 0.0, "t_start": 0.0,
                 "t_done": 7.0, "pe_ns": 7.0, "pes": 1, "late_ns": 0.0}
            ]),
            "Route": table("Route", [{"number": 0, "hops": len(way), "mm": 6.0}]),
            "Via": table("Via", [{"route": 0, "seq": n, "resource": r} for n, (r, _) in enumerate(way)]),
            "Transaction": table("Transaction", transactions),
            "Hop": table("Hop", hops),
            "WaitedFor": table("WaitedFor", [
                {"txn": 1, "holder": 0, "seq": 0, "resource": "dma->r0", "ns": 1.0, "t_from": 0.0,
                 "t_to": 1.0, "holders": 1}
            ]),
            "Op": table("Op", ops),
            "DependsOn": table("DependsOn", [{"op": 1, "on": 0, "hazard": "issue"}]),
            "Awaited": table("Awaited", [{"op": 0, "txn": 0}, {"op": 1, "txn": 1}]),
            "Tensor": table("Tensor", [
                {"number": 0, "name": "a", "shape": "16x8", "dtype": "f16", "bytes": 256, "memory": "hbm"}
            ]),
            "Placed": table("Placed", [{"tensor": 0, "component": "hbm", "bytes": 256}]),
            "Access": table("Access", [
                {"op": op, "tensor": 0, "is_write": bool(op), "offset": 0, "bytes": 256} for op in (0, 1)
            ]),
            "Race": table("Race", [
                {"number": 0, "kind": "read-write", "touched": "tensor 'a' rows 0-15 (dma)", "addr": 0,
                 "bytes": 256, "first": 0, "second": 1, "first_pe": "dma", "second_pe": "r0",
                 "t_first": 6.0, "t_second": 7.0}
            ]),
            "Reading": table("Reading", [
                {"number": 0, "kind": "energy", "resource": "dma", "launch": 0,
                 "columns": '{"cause": "moving", "pj": 2.5}'}
            ]),
        },
    )  # fmt: skip
    tables = {"Component": table("Component", components), "Link": table("Link", links)}
    return run, TopologyRecord("0123456789abcdef", "small", "spec: 1", tables, "1", 256, 0.01)


def steps(run: RunRecord) -> dict[str, pa.Table]:
    """For these tests a critical path, with a step for each transaction, and a value of each operation."""
    used = run.tables["Use"]["resource"].to_pylist()
    launches = {-1, *run.tables["Launch"]["number"].to_pylist()}
    rows = [
        {
            "number": n, "cause": "queue", "ns": txn["t_done"] - txn["t_submit"], "t_from": txn["t_submit"],
            "t_to": txn["t_done"], "resource": txn["src"], "activity": f"{txn['kind']} {n}", "source": "",
            "in_kernel": False,
            "launch": txn.get("launch", -1) if txn.get("launch", -1) in launches else -1, "seq": n - 1,
            "place": txn["src"] if txn["src"] in used else "", "txn": txn["number"], "op": txn["op"],
            "before": n - 1, "path": "run", "position": n + 1, "of_run": True, "place_kind": "",
        }
        for n, txn in enumerate(run.tables["Transaction"].to_pylist())
    ]  # fmt: skip
    return {
        "Path": table("Path", [{"name": "run", "ns": 1.0}]),
        "Explained": table("Explained", [{"window": "run", "path": "run"}]),
        "Step": table("Step", rows),
        "Kept": table("Kept", [
            {"op": op["number"], "component": op["component"], "t_from": op["t_start"], "t_to": op["t_end"],
             "bytes": op["bytes"], "held": op["bytes"], "tcm_size": 2**20}
            for op in run.tables["Op"].to_pylist() if op["component"]
        ]),
    }  # fmt: skip


def made(run: RunRecord, table: str, machine: Machine) -> Mapping[str, pa.Table]:
    """What a store works out from a run: what stands above, and all else as KernBench does."""
    made_up = table in ("Path", "Explained", "Step", "Kept") and not run.info.get("config_hash")
    return steps(run) if made_up else derived_tables(run, table, machine)


def made_here(store: GraphStore) -> Callable[[RunRecord, str], Mapping[str, pa.Table]]:
    """The same as a store's ``computed``."""
    return lambda run, table: made(run, table, lambda: store.load_topology(str(run.info["topology"])))


def with_steps(run: RunRecord, topology: TopologyRecord) -> RunRecord:
    """The run as its graph has it, with what was worked out."""
    found: dict[str, pa.Table] = {}
    for entry in SCHEMA.tables:
        if (entry.fact or entry.computed) and entry.name not in found:
            found |= {entry.name: table(entry.name, []), **made(run, entry.name, lambda: topology)}
    added = {entry.name: run.tables[entry.name] for entry in SCHEMA.tables if entry.name in ADDED}
    return RunRecord(run.info, {**run.tables, **found, **added})


def add_to(store: GraphStore, run_id: str) -> None:
    """Add to a run kept of :func:`sample` rows of every table that can be added to."""
    ends = {"src": "dma", "dst": "hbm", "traffic": "PE_DMA"}
    far = {"reachable": True, "weight": 6.0, "hops": 3, "ns": 8.06}
    near = {"reachable": False, "weight": 0.0, "hops": 0, "ns": 0.0}
    detour = {**ends, "name": "d", "fault": "r1", "transactions": 2, "reachable": True, "weight": 6.0,
              "new_weight": 7.5, "ns": 8.0, "new_ns": 9.5}  # fmt: skip
    marked = {"component": "r0", "link": "r0->r1", "use": "r0", "launch": 0, "op": 1, "txn": 1, "tensor": 0,
              "route": 0}  # fmt: skip
    marks = [{"annotation": "heat", "value": float(n), "text": ""} for n in range(len(marked))]
    blank = {name: "" if isinstance(key, str) else -1 for name, key in marked.items()}
    added = {
        "route": {
            "Way": [{**ends, "name": "w", "via": "", "weight": 6.0, "hops": 3, "ns": 8.06}],
            "Passed": [{"way": "w", "seq": 1, "link": "dma->r0"}, {"way": "w", "seq": 2, "link": "r0->r1"}],
        },
        "routes": {
            "Routes": [{**ends, "name": "k", "via": "", "lost": "r1", "most": 3}],
            "Alternative": [{"name": "k: 1", "routes": "k", "rank": 1, "weight": 6.0, "hops": 3, "ns": 8.06,
                             "gbs": 256.0}],
            "AlternativePassed": [{"alternative": "k: 1", "seq": 1, "link": "dma->r0"}],
        },
        "distances": {
            "Reach": [{"name": "r", "src": "dma", "kind": "", "traffic": "PE_DMA"}],
            "Reached": [{"reach": "r", "component": "hbm", **far}, {"reach": "r", "component": "r1", **near}],
        },
        "fault": {
            "Fault": [{"name": "r1", "links": 4}],
            "Detour": [detour],
            "DetourPassed": [{"detour": "d", "seq": 1, "link": "dma->r0"}],
        },
        "points": {
            "SinglePoints": [{**ends, "name": "p"}],
            "Needed": [{"points": "p", "seq": 1, "link": "dma->r0", "component": ""},
                       {"points": "p", "seq": 2, "link": "", "component": "r0"}],
        },
        "cut": {
            "Cut": [{"name": "c", "kind": "between", "src": "dma", "dst": "", "gbs": 256.0, "straight": True,
                     "first": "dma", "exact": True}],
            "Crossed": [{"cut": "c", "link": "dma->r0", "back": False},
                        {"cut": "c", "link": "r0->dma", "back": True}],
        },
        "cone": {
            "Cone": [{"name": "cone", "txn": 1}],
            "Behind": [{"cone": "cone", "txn": 0, "depth": 1, "relation": "WAITED_FOR", "through": 1,
                        "resource": "dma->r0", "lost_ns": 1.0}],
        },
        "meetings": {
            "Meetings": [{"name": "m", "resource": "r0", "from_ns": 0.0, "most": 50}],
            "Meeting": [{"name": "m: 0", "meetings": "m", "first": 0, "second": 1, "t_ns": 1.0,
                         "together_ns": 1.0}],
        },
        "lineage": {
            "Lineage": [{"name": "l", "op": 1}],
            "CameFrom": [{"lineage": "l", "op": 0, "depth": 1, "hazard": "raw", "through": 1}],
        },
        "note": {
            "Annotation": [{"name": "heat", "holds": "number", "nodes": len(marks)}],
            "Mark": [{**mark, **blank, one: marked[one]} for mark, one in zip(marks, marked, strict=True)],
        },
    }  # fmt: skip
    for name, tables in added.items():
        store.add(run_id, name, {key: table(key, rows) for key, rows in tables.items()})
