"""A run as large as wanted, made up on a real machine: for measuring stores without simulating for minutes.

Routes are the router's. A twentieth as many transactions as there are hops cross one hot link, in a queue;
the others go between random places. Every transaction waited for up to four others at the last link of its
way. Times are of no meaning, but consistent with each other: every hop begins where the one before it ended,
the first transaction is the launch of all the others and the one that ends last its answer, so that the
critical path can be walked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernbench.hardware.routing import Router, Traffic
from kernbench.support.pgraph import PropertyGraph, RunRecord

Ints = NDArray[np.int64]
HOT_SLICE = "sip0.cube0.hbm_ctrl.pe0"
HOT_LINK = f"sip0.cube0.r0c0->{HOT_SLICE}"
PAIRS = 1500
HOLDERS = 4
TENSORS = 16
SERVICE_NS = 16.0
PE_CPU = "sip0.cube0.pe0.pe_cpu"
_LOCAL = [f"sip0.cube0.pe{number}.pe_dma" for number in range(8)]


def made_up_run(graph: PropertyGraph, hops: int, seed: int = 1, **info: Any) -> RunRecord:
    """About ``hops`` hops on ``graph``, which is the default machine or like it."""
    rng = np.random.default_rng(seed)
    ids = [node.id for node in graph.nodes()]
    links = [edge.id for edge in graph.edges("LINK")]
    number = {name: at for at, name in enumerate([*ids, *links])}
    routes = _routes(graph, rng)
    ways = [[number[name] for name in _interleaved(route)] for route in routes]
    lengths = np.array([len(way) for way in ways])
    flat, begin = np.concatenate(ways), np.concatenate([[0], np.cumsum(lengths)[:-1]])

    hot = rng.integers(0, len(_LOCAL), hops // 20)
    far = len(_LOCAL) + rng.integers(0, PAIRS, hops)
    room = hops - int(lengths[hot].sum())
    far = far[: int(np.searchsorted(np.cumsum(lengths[far]), room))]
    way = rng.permutation(np.concatenate([hot, far]))
    count = len(way)
    submitted = np.sort(rng.random(count)) * count * 8.0
    length = lengths[way]
    first = np.concatenate([[0], np.cumsum(length)[:-1]])
    txn = np.repeat(np.arange(count), length)
    seq = np.arange(len(txn)) - first[txn]
    place = flat[begin[way][txn] + seq]
    waited = rng.random(len(txn)) * 10.0
    spent = np.cumsum(waited + SERVICE_NS)
    t_out = submitted[txn] + spent - np.concatenate([[0.0], spent])[first][txn]
    done = t_out[first + length - 1]
    last = place[first + length - 2]
    waiter, holder = _waits(last)
    names = pa.array([*ids, *links])
    kinds = pa.array([str(node.properties["kind"]) for node in graph.nodes()]
                     + [str(edge.properties["kind"]) for edge in graph.edges("LINK")])  # fmt: skip
    ends = np.array([[number[route[0]], number[route[-1]]] for route in map(_nodes, routes)])[way]
    answer = int(done.argmax())
    ends[0], ends[answer] = (number["host.cpu"], number[PE_CPU]), (number[PE_CPU], number["host.cpu"])
    ops = count // 2
    end = np.maximum(done[: 2 * ops : 2], done[1 : 2 * ops : 2])
    launch = {"kernel": "made_up", "t_submit": float(submitted[0]), "t_start": float(done[0]),
              "t_done": float(done.max()), "pes": len(_LOCAL), "pe_ns": 0.0, "late_ns": 0.0}  # fmt: skip
    kind, sent_for = way % 2, np.minimum(np.arange(count) // 2, ops - 1)
    kind[[0, answer]] = 2, 3
    # The answer comes when the operation that ended last before it is over.
    sent_for[[0, answer]] = -1, int(np.where(end <= submitted[answer], end, -1.0).argmax())

    def named(places: Ints, values: pa.Array = names) -> pa.DictionaryArray:
        return pa.DictionaryArray.from_arrays(places.astype(np.int32), values)

    busy = np.bincount(place, minlength=len(names))
    used = np.union1d(np.union1d(np.flatnonzero(busy), flat), ends.ravel())
    lost = rng.random(len(waiter)) * 10.0
    tables: dict[str, dict[str, Any]] = {
        "Transaction": {
            "number": np.arange(count),
            "kind": named(kind, pa.array(["dma_read", "dma_write", "launch", "launch_done"])),
            "src": named(ends[:, 0]), "dst": named(ends[:, 1]), "bytes": np.full(count, 4096),
            "t_submit": submitted, "t_done": done,
            "service_ns": SERVICE_NS * length, "wait_ns": np.bincount(txn, waited),
            "op": sent_for, "launch": np.zeros(count, np.int64),
            "route": way, "caused_by": np.where(np.arange(count) % 2 == 1, np.arange(count) - 1, -1),
        },
        "Launch": {"number": [0], **{name: [value] for name, value in launch.items()}},
        "Route": {"number": np.arange(len(ways)), "hops": lengths, "mm": np.zeros(len(ways))},
        "Via": {
            "route": np.repeat(np.arange(len(ways)), lengths),
            "seq": (np.arange(len(flat)) - np.repeat(begin, lengths)).astype(np.int32),
            "resource": named(flat),
        },
        "Hop": {
            "txn": txn, "seq": seq.astype(np.int32), "resource": named(place),
            "t_in": t_out - SERVICE_NS - waited, "t_start": t_out - SERVICE_NS, "t_out": t_out,
            "service_ns": np.full(len(txn), SERVICE_NS), "wait_ns": waited, "bytes": np.full(len(txn), 4096),
        },
        "WaitedFor": {
            "txn": waiter, "holder": holder, "seq": (length[waiter] - 2).astype(np.int32),
            "resource": named(last[waiter]), "ns": lost, "t_from": submitted[waiter],
            "t_to": submitted[waiter] + lost, "holders": np.ones(len(waiter), np.int64),
        },
        "Op": {
            "number": np.arange(ops), "kind": ["memory"] * ops, "name": ["dma_read"] * ops,
            "stage": [""] * ops,
            "component": named(ends[1 : 2 * ops : 2, 0]), "launch": np.zeros(ops, np.int64),
            "parent": np.full(ops, -1), "bytes": np.full(ops, 8192), "t_ready": submitted[: 2 * ops : 2],
            "t_start": submitted[: 2 * ops : 2], "t_end": end,
            "label": ["load"] * ops,
        },
        "Tensor": {
            "number": np.arange(TENSORS), "name": [f"t{n}" for n in range(TENSORS)],
            "shape": ["1024x1024"] * TENSORS, "dtype": ["f16"] * TENSORS,
            "bytes": np.full(TENSORS, 1 << 21), "memory": ["hbm"] * TENSORS,
        },
        "Placed": {
            "tensor": np.arange(TENSORS), "component": [HOT_SLICE] * TENSORS,
            "bytes": np.full(TENSORS, 1 << 21),
        },
        "Access": {
            "op": np.arange(ops), "tensor": np.arange(ops) % TENSORS, "is_write": np.zeros(ops, bool),
            "offset": np.arange(ops) * 8192 % (1 << 21), "bytes": np.full(ops, 8192),
        },
        "DependsOn": {"op": np.arange(1, ops), "on": np.arange(ops - 1), "hazard": ["raw"] * (ops - 1)},
        "Awaited": {"op": np.arange(1, 2 * ops) // 2, "txn": np.arange(1, 2 * ops)},
        "Use": {
            "resource": named(used), "is_link": used >= len(ids), "kind": named(used, kinds),
            "bytes": 4096 * busy[used], "busy_ns": SERVICE_NS * busy[used],
            "wait_ns": np.bincount(place, waited, len(names))[used], "utilisation": busy[used] / busy.max(),
            "transactions": busy[used], "max_queue": np.full(len(used), 3),
        },
    }  # fmt: skip
    properties = {"bench": "made-up", "sim_ns": float(done.max()), "hops": len(txn), "seed": seed,
                  "topology_name": str(graph.properties["name"]), "tensors": TENSORS,
                  "launches": [{"launch": 0, **launch}]}  # fmt: skip
    return RunRecord(properties | info, {name: pa.table(columns) for name, columns in tables.items()})


def _routes(graph: PropertyGraph, rng: np.random.Generator) -> list[Any]:
    """The ways to the hot slice from the PEs beside it, then those between random PEs and slices."""
    router = Router(graph)
    kinds = {kind: [node.id for node in graph.nodes() if node.properties["kind"] == kind]
             for kind in ("pe_dma", "hbm_ctrl")}  # fmt: skip
    pairs = [(source, HOT_SLICE) for source in _LOCAL]
    for a, b in rng.integers(0, (len(kinds["pe_dma"]), len(kinds["hbm_ctrl"])), (PAIRS, 2)):
        pairs.append((kinds["pe_dma"][a], kinds["hbm_ctrl"][b]))
    return [router.route(source, target, Traffic.PE_DMA) for source, target in pairs]


def _nodes(route: Any) -> tuple[str, ...]:
    nodes: tuple[str, ...] = route.nodes
    return nodes


def _interleaved(route: Any) -> list[str]:
    """Component, link, component, ... as a transaction goes through them."""
    names = [route.nodes[0]]
    for link, node in zip(route.links, route.nodes[1:], strict=True):
        names += [link.id, node]
    return names


def _waits(last: Ints) -> tuple[Ints, Ints]:
    """Waiter and holder: each transaction and up to ``HOLDERS`` that took the same last link before it."""
    order = np.argsort(last, kind="stable")
    found: list[tuple[Ints, Ints]] = []
    for back in range(1, HOLDERS + 1):
        same = last[order[back:]] == last[order[:-back]]
        found.append((order[back:][same], order[:-back][same]))
    return np.concatenate([w for w, _ in found]), np.concatenate([h for _, h in found])
