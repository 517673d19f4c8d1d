"""The least time of a step by three numbers of a package: its arithmetic, its memory, its links to others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernbench.analysis.use.roofline import rates_of
from kernbench.hardware.kinds import Traffic
from kernbench.hardware.routing import router_of
from kernbench.hardware.topology.places import SLICE, places
from kernbench.support import dtypes
from kernbench.support.pgraph import PropertyGraph, topology_record
from kernbench.workloads.models.quantized import CACHES

if TYPE_CHECKING:
    from kernbench.workloads.models.config import Model

_OTHERS = 8
"""Packages to which routes are looked at, beside the last one: the links of the first are the same then."""


@dataclass(frozen=True, slots=True)
class Peaks:
    """Peaks of a package, each a ns: flops of products, bytes of its memory, bytes that it sends."""

    flops: float
    memory: float
    links: float

    @classmethod
    def of(cls, graph: PropertyGraph, sips: Sequence[int]) -> Peaks:
        """The peaks of the first of ``sips``; its links are those on routes to the others."""
        first, found, router = sips[0], places(graph), router_of(graph)
        cubes = sorted({int(n.properties["cube"]) for n in graph.nodes("Pe") if n.properties["sip"] == first})
        sent: dict[str, float] = {}
        for other in dict.fromkeys((*sips[1 : 1 + _OTHERS], *sips[1:][-1:])):
            for cube in cubes:
                ends = found.find("pe_dma", first, cube, 0), found.find(SLICE, other, cube, 0)
                if ends[0] is None or ends[1] is None:
                    continue
                for link in router.route(ends[0], ends[1], Traffic.PE_DMA).links:
                    at = [graph.node(end).properties["sip"] == first for end in (link.source, link.target)]
                    if at == [True, False]:
                        sent[link.id] = float(link.properties["bw_gbs"])
        return cls(*rates_of(topology_record(graph), first), sum(sent.values()))


@dataclass(frozen=True, slots=True)
class Roof:
    """ns of a step on each of its packages at those rates, embedding and vocabulary left out.

    The work of a layer is its products and attention, each as long as its flops or its bytes take, whichever
    is longer; then two all_reduces. ``memory`` and ``compute`` have the time of the parts that each bounds.
    """

    compute: float
    memory: float
    links: float

    @classmethod
    def of(cls, peaks: Peaks, model: Model, phase: str, tokens: int, keys: int, packages: int) -> Roof:
        """The roof of a step of ``tokens`` tokens; in decode each sees ``keys`` keys of its own."""
        decode = phase == "decode"
        q, kv = model.heads * model.head_dim, model.kv_heads * model.head_dim
        hit, each = model.routed(tokens)
        ffn = model.ffn // model.chosen * hit
        products = ((tokens, model.hidden, q + 2 * kv), (tokens, q, model.hidden),
                    (each, model.hidden, 2 * ffn), (each, ffn, model.hidden))  # fmt: skip
        weigh = model.weights.nbytes
        work = [(2.0 * m * a * b, weigh(a, b) + 2 * m * (a + b)) for m, a, b in products]
        seen = tokens * keys if decode else tokens * (tokens + 1) // 2
        cached = 2 * dtypes.SIZES[CACHES[model.cache]] * kv * (seen if decode else tokens)
        work.append((4 * seen * q, cached + 4 * tokens * q))
        spent = {"compute": 0.0, "memory": 0.0}
        for flops, nbytes in work:
            ns = {"compute": flops / packages / peaks.flops, "memory": nbytes / packages / peaks.memory}
            longest = max(ns, key=lambda what: ns[what])
            spent[longest] += ns[longest] * model.layers
        sent = 2 * 2 * (packages - 1) / packages * tokens * model.hidden * 2
        links = sent / peaks.links * model.layers if packages > 1 and peaks.links else 0.0
        return cls(spent["compute"], spent["memory"], links)

    @property
    def ns(self) -> float:
        """ns of the step."""
        return self.compute + self.memory + self.links

    @property
    def bound(self) -> str:
        """What most of it is spent on."""
        return max(("compute", "memory", "links"), key=lambda what: float(getattr(self, what)))
