"""Uncontended times from the rules of the machine alone: a max-plus recursion over flits.

Written apart from the engine: it reads the compiled graph's properties and a list of component names,
shares no code with ``kernbench.engine.core`` or ``kernbench.engine.components``, has no clock and no queue. A
vector holds one time per flit; every place on the way maps it to another.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from kernbench.support.pgraph import PropertyGraph

Times = np.ndarray

TRANSIT = {"router", "switch", "ucie_port", "ucie_conn", "io_noc", "io_ucie", "io_ucie_conn", "pe_dma"}
"""Kinds that pass each flit on as it comes; a PE's DMA does so on the way to its own TCM."""


class MaxPlus:
    """The closed form for one compiled graph."""

    def __init__(self, graph: PropertyGraph) -> None:
        self.flit = int(graph.properties["flit_bytes"])
        self.node = {n.id: n.properties for n in graph.nodes()}
        self.link = {(e.source, e.target): e.properties for e in graph.edges("LINK")}

    def sizes(self, nbytes: int) -> Times:
        """Bytes of each flit: whole ones, then the rest; a message of 0 bytes is one flit of 0."""
        count = max(1, -(-nbytes // self.flit))
        sizes = np.full(count, float(self.flit))
        sizes[-1] = nbytes - (count - 1) * self.flit
        return sizes

    @staticmethod
    def serve(times: Times, service: Times) -> Times:
        """A FIFO server: out[i] = service[i] + max(in[i], out[i-1]), solved in closed form."""
        total = np.cumsum(service)
        return total + np.maximum.accumulate(times - (total - service))

    def cross(self, source: str, target: str, times: Times, sizes: Times) -> Times:
        """Over one link: bytes / bandwidth each, then the flight."""
        link = self.link[source, target]
        return self.serve(times, sizes / float(link["bw_gbs"])) + float(link["delay_ns"])

    def through(self, name: str, times: Times) -> Times:
        """Through a component that is not the end of the way."""
        properties = self.node[name]
        overhead = float(properties["overhead_ns"])
        if properties["kind"] in TRANSIT or properties.get("cut_through"):
            service = np.zeros(len(times))
            service[0] = overhead
            return self.serve(times, service)
        return np.full(len(times), times[-1] + overhead)

    def way(self, names: Sequence[str], start: Times, sizes: Times) -> Times:
        """From the first component's output to the arrival of each flit at the last."""
        times = start
        for here, there in itertools.pairwise(names):
            if here != names[0]:
                times = self.through(here, times)
            times = self.cross(here, there, times, sizes)
        return times

    def tcm_gbs(self, dma: str, beside: str, *, out: bool) -> float:
        """What the link between a PE's TCM and its DMA moves, where it is slower than that to ``beside``."""
        tcm = f"{dma.rpartition('.')[0]}.pe_tcm"
        if self.node[dma]["kind"] != "pe_dma" or beside == tcm:
            return 0.0
        gbs = float(self.link[(tcm, dma) if out else (dma, tcm)]["bw_gbs"])
        return gbs if gbs < float(self.link[dma, beside]["bw_gbs"]) else 0.0

    def leaving(self, names: Sequence[str], sizes: Times) -> Times:
        """When each flit is put onto the first link: at once, or so that its last byte goes as it comes."""
        gbs = self.tcm_gbs(names[0], names[1], out=True)
        if not gbs:
            return np.zeros(len(sizes))
        return np.cumsum(sizes) / gbs - sizes / float(self.link[names[0], names[1]]["bw_gbs"])

    def bursts(self, name: str, address: int, times: Times) -> Times:
        """When each burst of a slice is done: its channel serves it whole, in order of arrival."""
        properties = self.node[name]
        channels, burst = int(properties["n_channels"]), int(properties["burst_bytes"])
        index = ((address + self.flit * np.arange(len(times))) // burst) % channels
        done = np.empty(len(times))
        for channel in range(channels):
            mine = index == channel
            if mine.any():
                service = np.full(int(mine.sum()), burst / float(properties["channel_gbs"]))
                done[mine] = self.serve(times[mine], service)
        return done

    def write_ns(self, names: Sequence[str], nbytes: int, address: int = 0) -> float:
        """A write to a memory, acknowledgement included; ``address`` counts within an HBM slice."""
        sizes = self.sizes(nbytes)
        arrived = self.way(names, self.leaving(names, sizes), sizes)
        committed = self.served(names[-1], address, arrived, sizes, "write").max()
        return float(self.finish(names[::-1], np.array([committed]), np.zeros(1)))

    def read_ns(self, names: Sequence[str], nbytes: int, address: int = 0) -> float:
        """A read from a memory: command out, data back in order, and into a TCM as they come."""
        (command,) = self.way(names, np.zeros(1), np.zeros(1))
        sizes = self.sizes(nbytes)
        ready = self.served(names[-1], address, np.full(len(sizes), command), sizes, "read")
        back = names[::-1]
        came = self.way(back, np.maximum.accumulate(ready), sizes)
        end = float(came[-1]) + float(self.node[names[0]]["overhead_ns"])
        gbs = self.tcm_gbs(names[0], names[1], out=False)
        if gbs:
            first = came[0] - sizes[0] / float(self.link[names[1], names[0]]["bw_gbs"])
            end = max(end, float(first) + nbytes / gbs)
        return end

    def served(self, name: str, address: int, times: Times, sizes: Times, op: str) -> Times:
        """When a memory has each flit: at its port, or after its own overhead and (HBM) at its channels."""
        properties = self.node[name]
        if properties["kind"] == "pe_tcm":
            service = sizes / float(properties[f"{op}_gbs"])
            service[0] += float(properties["overhead_ns"])
            return self.serve(times, service)
        entered = self.enter(name, times)
        return self.bursts(name, address, entered) if properties["kind"] == "hbm_ctrl" else entered

    def enter(self, name: str, times: Times) -> Times:
        """A memory's own overhead, once a transaction."""
        service = np.zeros(len(times))
        service[0] = float(self.node[name]["overhead_ns"])
        return self.serve(times, service)

    def finish(self, names: Sequence[str], start: Times, sizes: Times) -> float:
        """The way back, and the overhead of the component that asked."""
        return float(self.way(names, start, sizes)[-1]) + float(self.node[names[-1]]["overhead_ns"])
