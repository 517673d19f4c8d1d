"""Which transfers are probed: found from the topology by distance, never by fixed numbers.

The first PE of the first package stands for all PEs, the host writes to and reads from that package. Near and
far are by time: what answers a read of one flit soonest is nearest, the lowest address of equals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kernbench.analysis.routes.zero_load import Prediction, ZeroLoadModel
from kernbench.errors import RoutingError, UsageError
from kernbench.hardware.kinds import COMPONENT_KINDS, TRANSLATORS, component_kind, link_kind
from kernbench.hardware.routing import Route, Traffic, router_of
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import Node, PropertyGraph

LOCAL = "pe-local-hbm"
LEVELS = ("pe-same-cube-hbm", "pe-cross-cube-hbm", "pe-cross-sip-hbm")
"""Beyond a PE's own slice, from near to far; each has a ``-best`` and a ``-worst`` case."""
CATEGORIES = {"h2d": "host to device", "d2h": "device to host", "pe-dma": "PE-DMA"}


@dataclass(frozen=True, slots=True)
class Case:
    """One way between an asker and an HBM slice, in one direction."""

    name: str
    category: str
    """One of :data:`CATEGORIES`."""
    is_write: bool
    route: Route
    setup_ns: float
    """Time before the first link: address translation."""
    has_rows: bool = False
    """Whether the memory is DRAM with rows and refreshes: its times have no closed form."""

    @property
    def op(self) -> str:
        """``"read"`` or ``"write"``."""
        return "write" if self.is_write else "read"

    @property
    def title(self) -> str:
        """Name and direction, for messages."""
        return f"{self.name} {self.op}"

    @property
    def src(self) -> str:
        """The component that asks: a PE's DMA or the host CPU."""
        return self.route.nodes[0]

    @property
    def dst(self) -> str:
        """The HBM slice."""
        return self.route.nodes[-1]

    def predict(self, formula: ZeroLoadModel, nbytes: int) -> Prediction:
        """The zero-load prediction for ``nbytes``."""
        ask = formula.write if self.is_write else formula.read
        return ask(self.route, nbytes, self.setup_ns)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A case that this machine does not have, and why."""

    name: str
    reason: str


class CaseCatalogue:
    """The cases of one compiled topology, and those that it has not."""

    def __init__(self, graph: PropertyGraph) -> None:
        self.cases: list[Case] = []
        self.left_out: list[LeftOut] = []
        self._router = router_of(graph)
        self._formula = ZeroLoadModel(graph)
        self._flit = int(graph.properties["flit_bytes"])
        self.limit_bytes: int | None = None
        """The largest transfer that is one message; None for any size."""
        if next(iter(_of_kind(graph, "channel_router")), None) is not None:
            self.limit_bytes = self._flit
        slices = sorted(
            (n for n in graph.nodes() if component_kind(n).sliced),
            key=lambda n: (*_place(n), int(n.properties["slice"])),
        )
        self._with_rows = {node.id for node in slices if "dram" in node.properties}
        dmas = sorted(_of_kind(graph, "pe_dma"), key=lambda n: (*_place(n), int(n.properties["pe"])))
        if not slices or not dmas:
            raise UsageError("the topology has no PE or no HBM slice; there is nothing to probe")
        pe = dmas[0]
        sip, _ = _place(pe)
        self._host(places(graph).part("host_cpu"), [n for n in slices if _place(n)[0] == sip])
        self._pe(pe, slices, _translation_ns(graph, pe))

    def chosen(self, name: str | None) -> list[Case]:
        """Those called ``name``, all for None or ``"all"``; :class:`UsageError` when there are none."""
        if name is None or name == "all":
            return self.cases
        found = [case for case in self.cases if case.name == name]
        if not found:
            reason = next((f" ({out.reason})" for out in self.left_out if out.name == name), "")
            known = ", ".join(dict.fromkeys(case.name for case in self.cases))
            raise UsageError(f"this topology has no case '{name}'{reason}; it has {known}")
        return found

    def _host(self, host: str, slices: list[Node]) -> None:
        """For every number of chiplet seams between ``host`` and cube, the slice that answers soonest."""
        classes: dict[int, list[Route]] = {}
        lost = []
        for node in slices:
            route = self._way(host, node, Traffic.HOST_MEMORY)
            if route is None:
                lost.append(node.id)
            else:
                seams = sum(link_kind(link).seam for link in route.links)
                classes.setdefault(seams, []).append(route)
        nearest = {seams: min(routes, key=self._distance) for seams, routes in sorted(classes.items())}
        for category, is_write in (("h2d", True), ("d2h", False)):
            for seams, route in nearest.items():
                self._add(f"{category}-{seams}hop", category, is_write, route, 0.0)
            if not classes:
                self.left_out.append(LeftOut(f"{category}-1hop", "the host has no way to any HBM slice"))
                continue
            if lost:
                reason = f"the host has no way to {len(lost)} of {len(slices)} slices, first '{lost[0]}'"
                self.left_out.append(LeftOut(category, reason))
            if len(classes) == 1:
                only = next(iter(classes))
                out = f"{category}-{only + 1}hop"
                self.left_out.append(LeftOut(out, f"the host reaches every cube in {only} hop"))

    def _pe(self, pe: Node, slices: list[Node], setup_ns: float) -> None:
        place, number = _place(pe), int(pe.properties["pe"])
        near = [n for n in slices if _place(n) == place]
        own = next((n for n in near if int(n.properties["slice"]) == number), None)
        if own is None:
            self.left_out.append(LeftOut(LOCAL, f"'{pe.id}' has no HBM slice of its own"))
        else:
            self._dma(LOCAL, self._way(pe.id, own, Traffic.PE_DMA), setup_ns)
        others = sorted({_place(n)[0] for n in slices} - {place[0]})[:1]
        levels = (
            ([n for n in near if n is not own], "a cube has no other HBM slice"),
            ([n for n in slices if _place(n)[0] == place[0] and _place(n) != place], "a SIP has one cube"),
            ([n for n in slices if _place(n)[0] in others], "there is one SIP"),
        )
        for level, (nodes, reason) in zip(LEVELS, levels, strict=True):
            self._level(level, pe, nodes, reason, setup_ns)

    def _level(self, level: str, pe: Node, nodes: list[Node], reason: str, setup_ns: float) -> None:
        """Nearest and farthest of ``nodes``."""
        best, worst = f"{level}-best", f"{level}-worst"
        found = {node.id: self._way(pe.id, node, Traffic.PE_DMA) for node in nodes}
        routes = sorted((route for route in found.values() if route is not None), key=self._distance)
        lost = [name for name, route in found.items() if route is None]
        if not routes:
            reason = f"the PE has no way to any such slice ({len(lost)})" if lost else reason
            self.left_out += [LeftOut(name, reason) for name in (best, worst)]
            return
        if lost:
            reason = f"the PE has no way to {len(lost)} of {len(nodes)} such slices, first '{lost[0]}'"
            self.left_out.append(LeftOut(level, reason))
        self._dma(best, routes[0], setup_ns)
        if len(routes) > 1:
            self._dma(worst, routes[-1], setup_ns)
        else:
            self.left_out.append(LeftOut(worst, f"there is one such slice, that of {best}"))

    def _dma(self, name: str, route: Route | None, setup_ns: float) -> None:
        if route is None:
            self.left_out.append(LeftOut(name, "the PE has no way to it"))
        else:
            for is_write in (False, True):
                self._add(name, "pe-dma", is_write, route, setup_ns)

    def _add(self, name: str, category: str, is_write: bool, route: Route, setup_ns: float) -> None:
        self.cases.append(Case(name, category, is_write, route, setup_ns, route.nodes[-1] in self._with_rows))

    def _way(self, src: str, slice_: Node, traffic: Traffic) -> Route | None:
        try:
            return self._router.route(src, slice_.id, traffic)
        except RoutingError:
            return None

    def _distance(self, route: Route) -> float:
        """ns to read one flit, without the noise of rounding: equals shall compare equal."""
        return round(self._formula.read(route, self._flit).ns, 9)


def _translation_ns(graph: PropertyGraph, pe: Node) -> float:
    """Time of an address translation for the DMA ``pe``, ns."""
    part = TRANSLATORS[str(graph.properties["address_model"])]
    translator = graph.node(places(graph).part(part, *_place(pe), int(pe.properties["pe"]))).properties
    return float(translator[COMPONENT_KINDS[part].lookup])


def _of_kind(graph: PropertyGraph, kind: str) -> Iterable[Node]:
    return (node for node in graph.nodes() if node.properties["kind"] == kind)


def _place(node: Node) -> tuple[int, int]:
    return int(node.properties["sip"]), int(node.properties["cube"])
