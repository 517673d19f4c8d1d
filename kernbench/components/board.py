"""A compiled graph brought to life: one component per node, one link per edge, one clock.

This is what components use of the simulated machine: each other's links and routes, transactions, and the
instruments that watch. The host's side of it is :class:`~kernbench.components.machine.Machine`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, pairwise

from kernbench.address import AddressMap
from kernbench.components.base import Component
from kernbench.components.dma import dma_engines
from kernbench.components.launch import Launch
from kernbench.components.registry import component_class
from kernbench.errors import RoutingError
from kernbench.pgraph import PropertyGraph
from kernbench.routing import Router, Traffic
from kernbench.sim.clock import Clock
from kernbench.sim.fabric import Fabric
from kernbench.sim.flit_fabric import FlitFabric
from kernbench.sim.instrument import Instrument
from kernbench.sim.invariants import InvariantChecker, wanted
from kernbench.sim.node import Link
from kernbench.sim.ops import Op
from kernbench.sim.server import Server
from kernbench.sim.transaction import Path, Transaction


class Board:
    """Components and links, wired.

    ``instruments`` watch it; ``components`` are extra ``impl: module:Class`` entries; ``traced`` False
    keeps no hops (the times are the same). With ``check`` the rules of :mod:`kernbench.sim.invariants` are
    checked as it runs (None: where the environment says so).
    """

    def __init__(
        self,
        graph: PropertyGraph,
        instruments: Sequence[Instrument] = (),
        components: Mapping[str, str] | None = None,
        *,
        traced: bool = True,
        check: bool | None = None,
    ) -> None:
        self.graph = graph
        self.clock = Clock()
        self.router = Router(graph)
        self.addresses = AddressMap(graph)
        self.instruments = tuple(instruments)
        self.checker: InvariantChecker | None = None
        self.traced = traced
        self.flit_bytes = int(graph.properties["flit_bytes"])
        self.fabric: Fabric = FlitFabric(self.clock, self.flit_bytes)
        if wanted(check):
            self.checker = InvariantChecker(self.fabric, self.clock, dma_engines(graph))
            self.fabric = self.checker.fabric
            self.instruments = (self.checker, *self.instruments)
        self.resources: list[Server] = []
        self.in_flight: dict[int, Transaction] = {}
        self._paths: dict[tuple[str, str, Traffic, str], Path] = {}
        self._transaction_ids = count()
        self._op_ids = count()
        self.components: dict[str, Component] = {}
        self.links: dict[tuple[str, str], Link] = {}
        self._wire(components)

    def _wire(self, components: Mapping[str, str] | None) -> None:
        for node in self.graph.nodes():
            impl = str(node.properties["impl"])
            if impl:
                made = component_class(impl, node.id, components)(node, self)
                self.components[node.id] = made
                self.number(made)
        for edge in self.graph.edges("LINK"):
            p = edge.properties
            link = Link(edge.id, str(p["kind"]), float(p["bw_gbs"]), float(p["delay_ns"]), self.flit_bytes)
            self.links[edge.source, edge.target] = link
            self.number(link)
        for component in self.components.values():
            component.wired()
        if self.checker is not None:
            self.checker.attach(self.resources)

    def number(self, server: Server) -> None:
        """Put ``server`` into the table of resources, at whose use the trace counts."""
        server.index = len(self.resources)
        self.resources.append(server)

    def component(self, name: str) -> Component:
        """The component called ``name``."""
        return self.components[name]

    def link(self, source: str, target: str) -> Link:
        """The direct link between two components; :class:`RoutingError` when there is none."""
        try:
            return self.links[source, target]
        except KeyError:
            raise RoutingError(f"no link from '{source}' to '{target}'; add it to the topology") from None

    def path(self, source: str, target: str, traffic: Traffic, via: str = "") -> Path:
        """The compiled route, with its reverse; the same object for the same question.

        ``via`` is the channel router by which it enters a slice that has them.
        """
        key = (source, target, traffic, via)
        path = self._paths.get(key)
        if path is None:
            route = self.router.route(source, target, traffic, via)
            path = self._compile(route.nodes)
            path.reverse = self._compile(route.nodes[::-1])
            self._paths[key] = path
        return path

    def _compile(self, way: Sequence[str]) -> Path:
        return Path([self.components[name] for name in way], [self.links[hop] for hop in pairwise(way)])

    def begin(
        self,
        kind: str,
        path: Path,
        nbytes: int,
        t_submit: float,
        *,
        parent: int = -1,
        op: int = -1,
        address: int = 0,
        channel: int = -1,
        is_write: bool = False,
        message: object = None,
    ) -> Transaction:
        """A new transaction over ``path``, known to be in flight until :meth:`end`."""
        transaction = Transaction(
            next(self._transaction_ids),
            kind,
            path.nodes[0].resource,
            path.nodes[-1].resource,
            nbytes,
            t_submit,
            path,
            parent=parent,
            op=op,
            address=address,
            channel=channel,
            is_write=is_write,
            message=message,
            traced=self.traced,
        )
        self.in_flight[transaction.id] = transaction
        return transaction

    def end(self, transaction: Transaction) -> None:
        """The transaction is answered now: tell the instruments, then whoever waits for it."""
        transaction.t_done = self.clock.now
        if transaction.waits:
            transaction.wait_ns = sum(wait.ns for wait in transaction.waits)
        del self.in_flight[transaction.id]
        for instrument in self.instruments:
            instrument.transaction_done(transaction)
        if transaction.on_done is not None:
            transaction.on_done(transaction)

    def report(self, op: Op) -> None:
        """A component has carried out ``op``."""
        for instrument in self.instruments:
            instrument.op_done(op)

    def started(self, launch: Launch, time: float) -> None:
        """All PEs of ``launch`` begin at ``time``."""
        launch.request.t_start = time
        for instrument in self.instruments:
            instrument.launch_started(launch.id, launch.call.name, len(launch.targets), time)

    def ended(self, launch: Launch) -> None:
        """The host has all answers to ``launch``."""
        for instrument in self.instruments:
            instrument.launch_ended(launch.id)

    def next_op_id(self) -> int:
        """The id of the next data operation."""
        return next(self._op_ids)
