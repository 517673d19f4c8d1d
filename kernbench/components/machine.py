"""A compiled graph brought to life: one component per node, one link per edge, one clock.

This is all that the host side sees of the simulated machine: it submits requests and waits. It knows no
route and calls no component.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count, pairwise
from typing import TypeVar

from kernbench.address import AddressMap
from kernbench.components import flows
from kernbench.components.base import Component
from kernbench.components.dma import dma_engines
from kernbench.components.host import Host
from kernbench.components.launch import Launch
from kernbench.components.registry import component_class
from kernbench.components.request import Request
from kernbench.errors import DeadlockError, LaunchError, RoutingError, UsageError
from kernbench.pe.commands import KernelCall
from kernbench.pgraph import PropertyGraph
from kernbench.routing import Router, Traffic
from kernbench.sim.clock import Clock
from kernbench.sim.fabric import Fabric, FlitFabric
from kernbench.sim.instrument import Instrument
from kernbench.sim.invariants import InvariantChecker, wanted
from kernbench.sim.node import Link
from kernbench.sim.ops import Op, Region
from kernbench.sim.server import Server
from kernbench.sim.transaction import Path, Transaction

AnyRequest = TypeVar("AnyRequest", bound=Request)


class Machine:
    """The simulated machine of one run.

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
        self._open: dict[int, Request] = {}
        self._paths: dict[tuple[str, str, Traffic, str], Path] = {}
        self._transaction_ids = count()
        self._op_ids = count()
        self._launch_ids = count()
        self._request_ids = count()
        self.components: dict[str, Component] = {}
        self.links: dict[tuple[str, str], Link] = {}
        self._wire(components)
        hosts = [c for c in self.components.values() if isinstance(c, Host)]
        if len(hosts) != 1:
            raise UsageError(f"the topology has {len(hosts)} host CPUs; a machine needs exactly one")
        self.host = hosts[0]

    def _wire(self, components: Mapping[str, str] | None) -> None:
        ns_per_mm = float(self.graph.properties["ns_per_mm"])
        for node in self.graph.nodes():
            impl = str(node.properties["impl"])
            if impl:
                made = component_class(impl, node.id, components)(node, self)
                self.components[node.id] = made
                self._number(made)
        for edge in self.graph.edges("LINK"):
            p = edge.properties
            link = Link(
                edge.id,
                str(p["kind"]),
                float(p["bw_gbs"]),
                float(p["distance_mm"]) * ns_per_mm,
                self.flit_bytes,
            )
            self.links[edge.source, edge.target] = link
            self._number(link)
        for component in self.components.values():
            component.wired()
        if self.checker is not None:
            self.checker.attach(self.resources)

    def _number(self, server: Server) -> None:
        server.index = len(self.resources)
        self.resources.append(server)

    # -- what components use ------------------------------------------------------------------------

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

    def _compile(self, names: Sequence[str]) -> Path:
        hops = pairwise(names)
        return Path([self.components[n] for n in names], [self.links[hop] for hop in hops])

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

    def next_launch_id(self) -> int:
        """The id of the next launch."""
        return next(self._launch_ids)

    # -- what the host side uses --------------------------------------------------------------------

    def _request(self, label: str) -> Request:
        return self._opened(Request(label, self.clock.now))

    def _opened(self, request: AnyRequest) -> AnyRequest:
        number = next(self._request_ids)
        self._open[number] = request

        def answered(_: Request) -> None:
            del self._open[number]

        request.on_done = answered
        return request

    def host_write(self, sip: int, regions: Sequence[Region], op: Op | None = None) -> Request:
        """Write from the host to device memory, one transaction a region.

        ``op`` (a ``host_write``) is reported once when the last region is acknowledged.
        """
        request = self._request(f"host write to sip{sip}")
        self.host.transfer(request, regions, is_write=True, op=op)
        return request

    def host_read(self, sip: int, regions: Sequence[Region]) -> Request:
        """Read device memory to the host, one transaction a region."""
        request = self._request(f"host read from sip{sip}")
        self.host.transfer(request, regions, is_write=False, op=None)
        return request

    def flow(
        self, src: str, dst: str, offset: int, nbytes: int, *, is_write: bool, start_ns: float | None = None
    ) -> flows.Transfer:
        """One transfer between ``src`` and byte ``offset`` of memory ``dst``; time passes, no values move.

        ``src``: a PE (``sip0.cube0.pe0``), ``host``, or an M_CPU; ``dst``: an HBM slice, an SRAM or a TCM.
        ``start_ns`` (default: now) is when the source gets it. :class:`UsageError` for what is no source or
        memory or does not fit it, :class:`RoutingError` where the source's traffic cannot get there.
        """
        source, traffic = flows.endpoint(self, src)
        region = Region(flows.address_of(self, dst, offset, nbytes), nbytes)
        self.path(source.resource, dst, traffic)
        begin = self.clock.now if start_ns is None else start_ns
        if not begin >= self.clock.now:
            raise UsageError(f"a transfer cannot start at {begin} ns, it is {self.clock.now} ns already")
        transfer = flows.Transfer(source.resource, dst, nbytes, is_write=is_write, t_submit=begin)
        self._opened(transfer)
        self.clock.call_at(begin, flows.start, self, transfer, source, traffic, region)
        return transfer

    def map(
        self, sip: int, pes: Sequence[tuple[int, int]], entries: Sequence[tuple[int, int, int]]
    ) -> Request:
        """Install ``entries`` (va, pa, nbytes) in the MMUs of ``pes`` (cube, pe); done when all are in."""
        request = self._request(f"map on sip{sip}")
        self.host.map(request, sip, pes, entries, install=True)
        return request

    def unmap(self, sip: int, pes: Sequence[tuple[int, int]], ranges: Sequence[tuple[int, int]]) -> Request:
        """Remove ``ranges`` (va, nbytes) from the MMUs of ``pes`` (cube, pe)."""
        request = self._request(f"unmap on sip{sip}")
        self.host.map(request, sip, pes, [(va, 0, n) for va, n in ranges], install=False)
        return request

    def launch(self, call: KernelCall, targets: Sequence[tuple[int, int, int]]) -> Request:
        """Start ``call`` on every (sip, cube, pe) of ``targets`` at one common instant."""
        if not targets:
            raise LaunchError(
                f"launch of '{call.name}': no PE holds a shard of its arguments; pass a placed tensor"
            )
        number = self.next_launch_id()
        request = self._request(f"launch {number} of '{call.name}' on {len(targets)} PEs")
        self.host.launch(Launch(number, call, tuple(sorted(targets)), request))
        return request

    def wait(self, *requests: Request) -> None:
        """Let simulated time run until all of ``requests`` are answered; raise the first one's error."""
        for request in requests:
            if not request.done and not self.clock.advance(request):
                raise DeadlockError(self._deadlock(request))
            if request.error is not None:
                raise request.error
        if self.checker is not None and not self.clock.entries:
            self._check_at_rest(self.checker)

    def settle(self) -> None:
        """Of a checked machine: let happen what is left to happen, then see that nothing is unanswered."""
        if self.checker is not None:
            while self.clock.entries:
                self.clock.step()
            self._check_at_rest(self.checker)

    def _check_at_rest(self, checker: InvariantChecker) -> None:
        waiting = [line for component in self.components.values() for line in component.waiting()]
        checker.at_rest(list(self.in_flight.values()), waiting)

    def _deadlock(self, request: Request) -> str:
        lines = [
            f"nothing can happen any more at {self.clock.now:.3f} ns, but '{request.label}' is unanswered"
        ]
        for transaction in list(self.in_flight.values())[:10]:
            where = (
                self.resources[transaction.rows[-1].resource].resource
                if transaction.rows
                else transaction.src
            )
            lines.append(
                f"transaction {transaction.id} ({transaction.kind}, {transaction.src} to {transaction.dst}, "
                f"sent at {transaction.t_submit:.3f} ns) was last seen at {where}"
            )
        for component in self.components.values():
            lines.extend(component.waiting())
            if len(lines) > 40:
                lines.append("...")
                break
        return "; ".join(lines)
