"""Meshes of chiplets under traffic at every router, beside CNSim: a ns is a cycle, a link moves a flit in it.

There a packet takes a cycle for each stage of a router: routing while it waits, then as the first of its
queue a cycle to get a virtual channel (none where there is one stage) and one to move. Sources and ends have
no queue.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kernbench.engine.machine.goals import NEVER
from kernbench.hardware.topology import compile_topology, load
from kernbench.support.pgraph import PropertyGraph
from kernbench.validation import mesh
from kernbench.validation.table_file import Case

DIE_TO_DIE = {"parallel": (2, 1), "serial": (4, 2)}
"""Cycles, and flits a cycle, of a link between chiplets; one of each within."""
_TERMINAL = f"{mesh.__name__}:{mesh.Terminal.__name__}"


@lru_cache(maxsize=1)
def machine(chips: int, nodes: int, link: str, vcs: int, buffer: int, stages: int) -> PropertyGraph:
    """``chips`` x ``chips`` chiplets of ``nodes`` x ``nodes`` routers; ``link`` is that between chiplets."""
    k = chips * nodes
    allocation = min(stages - 1, 1)
    delay = float(stages - allocation)
    hop = {"gbs": mesh.FLIT_BYTES, "delay_ns": delay, "buffer_flits": buffer, "vcs": vcs, "credit_ns": 1.0,
           "allocation_ns": float(allocation), "arbiter": "round_robin"}  # fmt: skip
    changes: dict[str, object] = {
        "parts.tile.shape": {"x": k, "y": k},
        "blocks.tile.parts.src": {"kind": "source", "impl": _TERMINAL},
        "blocks.tile.parts.mem": {"kind": "memory", "impl": _TERMINAL, "size_bytes": 1 << 20},
        "wires.hop": hop,
        "wires.inject": {"gbs": 1e6, "delay_ns": 1.0},
        "blocks.tile.connect.1.wire": {"gbs": 1e6},
    }
    graph = compile_topology(load("mesh-8x8", changes))
    for edge in graph.edges("LINK"):
        chiplets = {tuple(at // nodes for at in _at(end)) for end in (edge.source, edge.target)}
        if len(chiplets) > 1:
            cycles, flits = DIE_TO_DIE[link]
            own = {"bw_gbs": float(flits * mesh.FLIT_BYTES), "delay_ns": delay + cycles - 1.0 / flits}
            edge.properties = {**edge.properties, **own}
    return graph


def latency(case: Case) -> float:
    """Mean cycles of a packet at the injected ``rate``, flits a router and cycle."""
    chips, nodes = int(case["k_chip"]), int(case["k_node"])
    k = chips * nodes
    graph = machine(chips, nodes, str(case["d2d"]), *(int(case[key]) for key in ("vcs", "buffer", "stages")))
    more: Case = {"traffic": "others"}
    if case["traffic"] == "bittranspose":
        partners = _transposed(chips, nodes)
        sends = partners != np.arange(k * k)
        more = {"traffic": "", "partners": partners, "shares": sends * (k * k / sends.sum())}
    settings = {**more, "k": k, "packet_flits": int(case["packet"]), "graph": graph}
    return mesh.mean_latency(settings, float(case["rate"]))


def zero_load(case: Case) -> float:
    """Largest difference from flits + sum over the way of (stages + cycles of a link), all pairs."""
    chips, nodes, stages = (int(case[key]) for key in ("k_chip", "k_node", "stages"))
    k = chips * nodes
    graph = machine(chips, nodes, str(case["d2d"]), *(int(case[key]) for key in ("vcs", "buffer")), stages)
    alone = mesh.Mesh({"k": k, "packet_flits": int(case["packet"]), "graph": graph})
    worst = 0.0
    for source, target in ((i, j) for i in range(k * k) for j in range(k * k) if i != j):
        (a, b), (c, d) = (divmod(i, k) for i in (source, target))
        hops, crossed = abs(a - c) + abs(b - d), abs(a // nodes - c // nodes) + abs(b // nodes - d // nodes)
        alone.send(source, target)
        alone.machine.advance(NEVER)
        cycles = hops * (stages + 1) + crossed * (DIE_TO_DIE[str(case["d2d"])][0] - 1 if crossed else 0)
        worst = max(worst, abs(alone.latencies[-1] - (int(case["packet"]) + cycles)))
    return worst


def _at(name: str) -> tuple[int, int]:
    x, y = name.partition(".")[0].removeprefix("tile").split("_")
    return int(x), int(y)


def _transposed(chips: int, nodes: int) -> np.ndarray:
    """Where each router sends: the halves of the bits of its number exchanged, routers counted by chiplet."""
    k = chips * nodes
    half = (k * k).bit_length() // 2
    number = np.arange(k * k)
    chip, node = np.divmod(number, nodes * nodes)
    place = (chip // chips * nodes + node // nodes) * k + chip % chips * nodes + node % nodes
    found = np.empty_like(number)
    found[place] = place[(number << half | number >> half) & (k * k - 1)]
    return found
