"""Measures a store on a run with a million hops: ``python -m tests.bench_store [HOPS [URL]]``, by hand.

With the URL of a Neo4j server that store is measured, else the embedded one and the one in memory.

The run is made up (random places of a real topology's size), so figures are about the store alone.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graph.questions import ask, load_library
from graph.store import RunRecord, TopologyRecord, open_store

PER_TRANSACTION = 20
SIDE = 64
EXAMPLES = {
    "routing/taken": {"src": "", "dst": ""},
}
COMMON = {"resource": "r1c1->r1c2", "transaction": 7, "before": "x", "after": "y", "bench": "made up"}
"""Parameters of questions that must be given, where any value will do."""


def topology() -> TopologyRecord:
    """A mesh of 64 x 64 routers: 4,096 components and 16,128 links, about the default machine."""
    rows, cols = (axis.ravel() for axis in np.mgrid[0:SIDE, 0:SIDE])
    names = np.array([f"r{row}c{col}" for row, col in zip(rows, cols, strict=True)])
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    pairs = [(number[:, :-1], number[:, 1:]), (number[:-1], number[1:])]
    a = np.concatenate([x.ravel() for x, _ in pairs] + [y.ravel() for _, y in pairs])
    b = np.concatenate([y.ravel() for _, y in pairs] + [x.ravel() for x, _ in pairs])
    count, links = len(names), len(a)
    components = pa.table({
        "id": names, "name": names, "kind": ["router"] * count, "impl": ["builtin.router"] * count,
        "label": ["Router"] * count, "sip": np.zeros(count, np.int32), "cube": np.zeros(count, np.int32),
        "pe": np.full(count, -1, np.int32), "x_mm": cols * 2.5, "y_mm": rows * 2.0,
        "overhead_ns": np.full(count, 2.0), "attributes": ["{}"] * count,
    })  # fmt: skip
    wires = pa.table({
        "id": [f"{names[x]}->{names[y]}" for x, y in zip(a, b, strict=True)], "kind": ["router_mesh"] * links,
        "src": names[a], "dst": names[b], "bw_gbs": np.full(links, 256.0), "distance_mm": np.full(links, 2.5),
        "routing_weight": np.full(links, 2.5),
    })  # fmt: skip
    return TopologyRecord("bench", "bench", "", {"Component": components, "Link": wires})


def run(machine: TopologyRecord, hops: int) -> RunRecord:
    """``hops`` hops of a twentieth as many transactions, each of which waited once."""
    rng = np.random.default_rng(1)
    transactions = hops // PER_TRANSACTION
    ids, links = machine.tables["Component"]["id"].to_numpy(), machine.tables["Link"]["id"].to_numpy()
    places = pa.array(np.concatenate([links, ids]))
    number = rng.integers(0, len(places), hops)
    start, service = rng.random(hops) * 1e6, rng.random(hops)
    txn = np.repeat(np.arange(transactions), PER_TRANSACTION)
    ends = rng.integers(0, len(ids), (2, transactions))
    used, first = np.unique(number, return_index=True)
    ops = transactions // 2
    tables: dict[str, Any] = {
        "Transaction": {
            "id": np.arange(transactions),
            "kind": np.array(["dma_read", "dma_write"])[np.arange(transactions) % 2],
            "src": ids[ends[0]], "dst": ids[ends[1]], "bytes": np.full(transactions, 4096),
            "t_submit": start[::PER_TRANSACTION], "t_done": start[::PER_TRANSACTION] + 100,
            "service_ns": np.full(transactions, 90.0), "wait_ns": np.full(transactions, 10.0),
            "op": np.arange(transactions) // 2,
        },
        "Hop": {
            "txn": txn, "seq": np.tile(np.arange(PER_TRANSACTION, dtype=np.int32), transactions),
            "resource": pa.DictionaryArray.from_arrays(number.astype(np.int32), places),
            "is_link": number < len(links), "t_in": start, "t_start": start, "t_out": start + service,
            "service_ns": service, "wait_ns": rng.random(hops), "bytes": np.full(hops, 4096),
        },
        "WaitedFor": {
            "txn": np.arange(transactions), "holder": rng.permutation(transactions),
            "resource": places.take(pa.array(number[::PER_TRANSACTION])), "ns": rng.random(transactions),
            "holders": np.ones(transactions, int),
        },
        "Op": {
            "id": np.arange(ops), "kind": ["memory"] * ops, "name": ["dma_read"] * ops, "stage": [""] * ops,
            "component": ids[rng.integers(0, len(ids), ops)], "launch": np.zeros(ops, int),
            "parent": np.full(ops, -1), "bytes": np.full(ops, 4096), "t_ready": start[:ops],
            "t_start": start[:ops], "t_end": start[:ops] + 10, "label": ["load"] * ops,
        },
        "DependsOn": {"op": np.arange(1, ops), "on": np.arange(ops - 1), "hazard": ["raw"] * (ops - 1)},
        "Moved": {"op": np.arange(transactions) // 2, "txn": np.arange(transactions)},
        "Used": {
            "resource": places.take(pa.array(used)), "is_link": used < len(links),
            "kind": ["router"] * len(used), "bytes": np.full(len(used), 4096),
            "busy_ns": service[first], "wait_ns": service[first],
            "utilisation": rng.random(len(used)), "transactions": np.full(len(used), 9),
            "max_queue": np.full(len(used), 3),
        },
    }  # fmt: skip
    return RunRecord(
        {"bench": "made up", "sim_ns": 1e6, "hops": hops}, {k: pa.table(v) for k, v in tables.items()}
    )


def timed(what: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What ``call`` returns; its time goes to the screen."""
    start = time.perf_counter()
    answer = call(*arguments, **named)
    print(f"{what:45} {time.perf_counter() - start:8.3f} s", flush=True)
    return answer


def main(hops: int, server: str = "") -> None:
    """Keep, project and ask, on both stores, or on a server."""
    machine = timed("make up a topology", topology)
    record = timed("make up a run", run, machine, hops)
    if server:
        print(f"\n{server}, {hops:,} hops")
        measure(server, machine, record)
        return
    with tempfile.TemporaryDirectory() as folder:
        for url in (str(Path(folder) / "store"), "memory:"):
            print(f"\n{'memory:' if url == 'memory:' else 'embedded'}, {hops:,} hops")
            measure(url, machine, record)


def measure(url: str, machine: TopologyRecord, record: RunRecord) -> None:
    """Keep, project and ask on one store."""
    library = load_library(Path(__file__).parents[1] / "queries")
    store = open_store(url)
    timed("keep", store.keep, record, machine)
    timed("first query (builds the graph)", store.query, "RETURN 1 AS x", run="last")
    if url != "memory:" and "://" not in url:
        for part in ("runs", "cache"):
            size = sum(file.stat().st_size for file in (Path(url) / part).rglob("*") if file.is_file())
            print(f"{part} take {size / 1e6:.1f} MB")
        store.close()
        store = open_store(url)
        timed("first query of a new process (opens the cache)", store.query, "RETURN 1 AS x", run="last")
    pair = store.query("MATCH (t:Transaction {id: 7}) RETURN t.src AS src, t.dst AS dst", run="last")
    params = EXAMPLES | {"routing/taken": pair.dicts()[0]}
    for turn in ("first", "warm"):
        for name, question in library.items():
            if question.derived:
                print(f"{turn:5} {name:39} not measured: the router works out its {question.derived[0]}")
                continue
            given = {key: COMMON[key] for key in question.params if key in COMMON}
            timed(f"{turn:5} {name}", ask, store, question, **given | params.get(name, {}))
    hop = "MATCH (t:Transaction)-[h:HOP]->(l:Link) RETURN l.id AS id, sum(h.wait_ns) AS w ORDER BY w"
    timed("warm  every hop summed by link", store.query, hop, run="last")
    store.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, *sys.argv[2:3])
