"""The two peaks of traffic: each flow's bottleneck bandwidth, and its max-min fair throughput.

Both look at bandwidth only: bytes a flow could move a nanosecond if latency, overheads and DMA queues cost
nothing. A flow's path is the one of its data: towards the memory for a write, back from it for a read. It is
limited by the links of that path and by the memory at its end: all pseudo-channels of an HBM slice together
(reads and writes share them), a TCM's port of that direction; an SRAM is as fast as its link.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import NamedTuple

from kernbench.engine.machine.machine import Machine
from kernbench.engine.machine.transfers import address_of, endpoint
from kernbench.hardware.kinds import component_kind
from kernbench.workloads.probes.traffic_flow import Flow


class Peaks(NamedTuple):
    """Per flow: ``path_gbs``, its bottleneck bandwidth; ``fair_gbs``, its max-min fair throughput. GB/s."""

    path_gbs: list[float]
    fair_gbs: list[float]


def peaks(machine: Machine, flows: Sequence[Flow]) -> Peaks:
    """Both peaks of each flow, as if all were under way at the same time. Repetitions count once."""
    number: dict[str, int] = {}
    capacity: list[float] = []
    paths: list[list[int]] = []
    for flow in flows:
        limits = _limits(machine, flow)
        for resource, gbs in limits.items():
            if resource not in number:
                number[resource] = len(capacity)
                capacity.append(gbs)
        paths.append([number[resource] for resource in limits])
    return Peaks([min(capacity[r] for r in path) for path in paths], max_min_shares(paths, capacity))


def _limits(machine: Machine, flow: Flow) -> dict[str, float]:
    """The resources that limit a flow, with their GB/s: the links on the path of its data, and the memory.

    Where a slice's channels have requests of their own, those that the flow's bytes are spread over count,
    each with its wire, as one resource as fast as they are together.
    """
    source, traffic = endpoint(machine, flow.src)
    address = address_of(machine, flow.dst, flow.offset, flow.bytes)
    ways: list[dict[str, float]] = []
    for request in machine.addresses.requests(address, flow.bytes):
        path = machine.path(source.resource, request.component, traffic, request.via)
        links = path.links if flow.is_write else path.reverse.links
        way = {link.resource: link.bw_gbs for link in links}
        if request.channel >= 0:
            memory = machine.component(request.component)
            way[f"{request.component}#{request.channel}"] = memory.number("channel_gbs")
        ways.append(way)
    limits = {link: gbs for link, gbs in ways[0].items() if all(link in way for way in ways)}
    spread = {link: gbs for way in ways for link, gbs in way.items() if link not in limits}
    if spread:
        limits[" ".join(sorted(spread))] = fsum(min(g for k, g in w.items() if k in spread) for w in ways)
    return {**limits, **_memory(machine, flow)}


def _memory(machine: Machine, flow: Flow) -> dict[str, float]:
    memory = machine.component(flow.dst)
    kind = memory.node.properties["kind"]
    if "cache_gbs" in memory.node.properties:
        return {flow.dst: memory.number("cache_gbs")}
    if component_kind(memory.node).sliced:
        return {flow.dst: memory.integer("n_channels") * memory.number("channel_gbs")}
    if kind == "pe_tcm":
        return {f"{flow.dst}#{flow.op}": memory.number("write_gbs" if flow.is_write else "read_gbs")}
    return {}


def max_min_shares(ways: Sequence[Sequence[int]], capacity: Sequence[float]) -> list[float]:
    """The max-min fair rate of each flow; ``ways`` are the resources that it uses, each at most once.

    Progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2): the rates of all flows rise together
    until a resource is full; its flows keep their rate, the others go on. No flow's rate can then be raised
    without lowering one that is not larger. A flow that uses nothing has rate infinity.
    """
    users: list[list[int]] = [[] for _ in capacity]
    for flow, way in enumerate(ways):
        for resource in way:
            users[resource].append(flow)
    left = [float(c) for c in capacity]
    rising = [len(u) for u in users]
    shares = [float("inf")] * len(ways)
    settled = [not way for way in ways]
    filling = [r for r, count in enumerate(rising) if count]
    while filling:
        level = min(left[r] / rising[r] for r in filling)
        # Resources that fill up at the same level do so at once; rounding must not tell them apart.
        for full in [r for r in filling if left[r] / rising[r] <= level * (1 + 1e-12)]:
            for flow in users[full]:
                if settled[flow]:
                    continue
                settled[flow] = True
                shares[flow] = level
                for resource in ways[flow]:
                    left[resource] = max(0.0, left[resource] - level)
                    rising[resource] -= 1
        filling = [r for r in filling if rising[r]]
    return shares
