"""A kept topology with its router."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache

from kernbench.api.topologies import component, kept_topology
from kernbench.pgraph import PropertyGraph
from kernbench.routing import Route, Router, Traffic
from kernbench.routing.loss import Loss

_LOSSES = 4
"""Machines with a part lost that are kept: the router's tables of each are made as they are needed."""


class Routed:
    """A compiled topology and its router, which is made from it."""

    def __init__(self, graph: PropertyGraph) -> None:
        self.graph = graph
        self.router = Router(graph)
        self._losses: OrderedDict[str, Loss] = OrderedDict()

    def loss(self, lost: str) -> Loss:
        """The same machine without ``lost``; ``RoutingError`` when it has no such part."""
        if lost not in self._losses:
            self._losses[lost] = Loss(self.graph, self.router, lost)
            while len(self._losses) > _LOSSES:
                self._losses.popitem(last=False)
        return self._losses[lost]

    def name(self, text: object) -> str:
        """The component that a user means; ``UsageError`` when there is none."""
        return component(self.graph, str(text))

    def route(self, src: object, dst: object, traffic: object, via: str = "") -> Route:
        """The simulator's route; ``RoutingError`` when there is none."""
        return self.router.route(self.name(src), self.name(dst), Traffic(str(traffic)), via)

    def latency_ns(self, route: Route) -> float:
        """Time of a message without bytes over ``route`` on an idle machine, ns."""
        overheads = sum(float(self.graph.node(name).properties["overhead_ns"]) for name in route.nodes)
        return overheads + sum(float(link.properties["delay_ns"]) for link in route.links)


@lru_cache(maxsize=4)
def routed(spec: str) -> Routed:
    """The topology of that specification, as it was kept."""
    return Routed(kept_topology(spec))
