"""How long a transaction spends at each place of its way when nothing else is under way.

A recursion over the flits of its messages, from the figures of the compiled graph: a vector holds one time
per flit, every place maps it to another, and what the last flit spends where it stands is that place's
time, as in a trace. Flits follow each other closely, so a place that becomes faster only helps as far as
the next slowest one lets it; that is why times are worked out for the whole way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kernbench.analysis.steps import Passed
from kernbench.pgraph import Properties, PropertyGraph
from kernbench.probes.formula import FORWARDS_FLITS
from kernbench.topology import names
from kernbench.topology.overrides import SCALED, SCALED_LINK, faster

Times = NDArray[np.float64]


class Alone:
    """Times on the machine of ``graph`` with the parts named in ``factors`` so many times as fast."""

    def __init__(self, graph: PropertyGraph, factors: Mapping[str, float]) -> None:
        self._graph = graph
        self._factors = factors
        self._flit = int(graph.properties["flit_bytes"])
        self._translator = names.TRANSLATORS[str(graph.properties["address_model"])]
        self._figures: dict[str, Properties] = {}
        self._known: dict[tuple[Passed, ...], list[float]] = {}

    def figures(self, place: str) -> Properties:
        """Properties of a component or link, as fast as it is here."""
        found = self._figures.get(place)
        if found is None:
            if place in self._graph:
                found = self._graph.node(place).properties
                scaled = SCALED[str(found["kind"])]
            else:
                found, scaled = self._graph.edge(place).properties, SCALED_LINK
            if place in self._factors:
                found = faster(found, scaled, self._factors[place])
            self._figures[place] = found
        return found

    def number(self, place: str, key: str) -> float:
        """One of :meth:`figures`."""
        return float(self.figures(place)[key])

    def translator(self, place: str) -> str | None:
        """What translates for the DMA ``place``; None for an M_CPU, which knows physical addresses."""
        return self.part_beside(place, self._translator) if self._kind(place) == "pe_dma" else None

    def part_beside(self, place: str, part: str) -> str:
        """The component ``part`` of the PE that ``place`` is in."""
        own = self._graph.node(place).properties
        return names.pe_part(int(own["sip"]), int(own["cube"]), int(own["pe"]), part)

    def stays(self, way: tuple[Passed, ...]) -> list[float]:
        """ns that the last flit spends at each place of ``way``."""
        found = self._known.get(way)
        if found is None:
            found = self._known[way] = self._stays(way)
        return found

    def _stays(self, way: Sequence[Passed]) -> list[float]:
        one_channel = any(self._kind(p.place) == "channel_router" for p in way)
        times = np.zeros(self._flits(way[0].bytes))
        ends: list[float] = []
        for hop, passed in enumerate(way):
            place, nbytes, before = passed.place, passed.bytes, way[hop - 1].bytes if hop else 0
            kind = self._kind(place)
            if not kind:
                if hop and len(times) != self._flits(nbytes):  # a DMA's own row tells of bytes it asks for
                    times = np.full(self._flits(nbytes), times[-1])
                times = self._cross(place, nbytes, times)
            elif kind in ("hbm_ctrl", "sram", "pe_tcm"):
                writing = before > 0  # within a PE nothing is sent, and both ports scale alike
                times = self._memory(place, kind, nbytes, times, writing, one_channel)
            elif hop == 0:
                times = times + self._setup(place)
            elif self._forwards(place, kind, hop, way):
                times = _serve(times, self._first(place, len(times)))
            else:
                times = np.full(len(times), times[-1] + self.number(place, "overhead_ns"))
            ends.append(float(times[-1]))
        return np.diff(ends, prepend=0.0).tolist()

    def _kind(self, place: str) -> str:
        """Kind of a component; empty for a link."""
        return str(self._graph.node(place).properties["kind"]) if place in self._graph else ""

    def _flits(self, nbytes: int) -> int:
        return max(1, -(-nbytes // self._flit))

    def _sizes(self, nbytes: int) -> Times:
        count = self._flits(nbytes)
        sizes = np.full(count, float(self._flit))
        sizes[-1] = nbytes - (count - 1) * self._flit
        return sizes

    def _first(self, place: str, flits: int) -> Times:
        """Service of a worker whose overhead the first flit pays."""
        service = np.zeros(flits)
        service[0] = self.number(place, "overhead_ns")
        return service

    def _setup(self, dma: str) -> float:
        translator = self.translator(dma)
        if translator is None:
            return 0.0
        figures = self.figures(translator)
        return float(figures["lookup_ns" if "lookup_ns" in figures else "tlb_overhead_ns"])

    def _forwards(self, place: str, kind: str, hop: int, way: Sequence[Passed]) -> bool:
        """Whether flits pass as they come; a DMA does so on the way to its own PE's TCM."""
        if kind == "pe_dma":
            return hop < len(way) - 1
        return kind in FORWARDS_FLITS or bool(self.figures(place).get("cut_through"))

    def _cross(self, link: str, nbytes: int, times: Times) -> Times:
        service = self._sizes(nbytes) / self.number(link, "bw_gbs")
        return _serve(times, service) + self.number(link, "delay_ns")

    def _memory(
        self, place: str, kind: str, nbytes: int, times: Times, writing: bool, one_channel: bool
    ) -> Times:
        """Written flits become one acknowledgement, a command becomes the data that leave."""
        if not writing:
            times = np.full(self._flits(nbytes), times[-1])
        if kind == "pe_tcm":
            gbs = self.number(place, "write_gbs" if writing else "read_gbs")
            done = _serve(times, self._first(place, len(times)) + self._sizes(nbytes) / gbs)
        else:
            done = _serve(times, self._first(place, len(times)))
            if kind == "hbm_ctrl":
                done = self._bursts(place, done, 1 if one_channel else int(self.figures(place)["n_channels"]))
        return np.array([done.max()]) if writing else np.maximum.accumulate(done)

    def _bursts(self, place: str, times: Times, channels: int) -> Times:
        """Bursts on channels in turn; which one is first does not matter."""
        burst_ns = self.number(place, "burst_bytes") / self.number(place, "channel_gbs")
        done = np.empty(len(times))
        for channel in range(min(channels, len(times))):
            mine = times[channel::channels]
            done[channel::channels] = _serve(mine, np.full(len(mine), burst_ns))
        return done


def _serve(times: Times, service: Times) -> Times:
    """A FIFO server: each is served at its time or when the one before it is done."""
    total = np.cumsum(service)
    return np.asarray(total + np.maximum.accumulate(times - (total - service)))
