"""A compiled graph brought to life: one component per node, one link per edge, one clock.

The host side submits requests and waits; it knows no route and calls no component. Components use the
machine through :class:`~kernbench.engine.components.system.System`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from kernbench.engine.components.host import Host
from kernbench.engine.components.m_cpu import MCpu
from kernbench.engine.components.pe_cpu import PeCpu
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.system import System
from kernbench.engine.core.clock import Clock, Finishable
from kernbench.engine.core.fabric import Fabric
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.invariants import InvariantChecker, wanted
from kernbench.engine.core.node import FabricNode
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Path
from kernbench.engine.machine import transfers
from kernbench.engine.machine.alike_pes import AlikePes
from kernbench.engine.machine.deadlock import (
    circle_of_buffers,
    deadlock,
    fold_lines,
    last_seen,
    waiting_lines,
)
from kernbench.engine.machine.goals import NEVER, Answered
from kernbench.engine.machine.launch_times import LaunchTimes
from kernbench.engine.machine.wiring import wire
from kernbench.engine.program.commands import BoundKernel
from kernbench.engine.program.launches import Launch, Request, Target
from kernbench.engine.program.operations import Op, Region
from kernbench.engine.program.queues import RingEntry
from kernbench.errors import (
    DeadlockError,
    LaunchError,
    LimitError,
    RoutingError,
    UsageError,
)
from kernbench.hardware.address import AddressMap
from kernbench.hardware.routing import Router, router_of
from kernbench.hardware.topology import faults
from kernbench.hardware.topology.harvest import without
from kernbench.hardware.topology.places import places
from kernbench.support import collector
from kernbench.support.pgraph import PropertyGraph

Ids = tuple[str, str]
"""Correlation id and request id of a message."""
NO_IDS: Ids = ("", "")


class Machine(System):
    """The simulated machine of one run.

    Args:
        graph: the compiled topology; its nodes and edges are what the components and links hold.
        instruments: observe the run.
        components: extra ``impl: module:Class`` entries.
        traced: False keeps no hops and knows no waits; the times are the same.
        check: check the rules of :mod:`kernbench.engine.core.invariants` as it runs; None: where the
        environment
            says so.

    Raises:
        UsageError: the topology does not have exactly one host CPU.
        ConfigError: an ``impl`` is not registered or is not a component.
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
        super().__init__(Clock())
        self.graph = graph
        self.wired_from: object = None
        """See :mod:`kernbench.engine.machine.kept`."""
        self.router = router_of(graph)
        self._lost: frozenset[str] = frozenset()
        """Links that routes lead around now."""
        self.addresses = AddressMap(graph)
        self.checker: InvariantChecker | None = None
        self.flit_bytes = int(graph.properties["flit_bytes"])
        with collector.paused():
            self._wire(components)
        hosts = [c for c in self.components.values() if isinstance(c, Host)]
        if len(hosts) != 1:
            raise UsageError(f"the topology has {len(hosts)} host CPUs; a machine needs exactly one")
        self.host = hosts[0]
        self.start_run(instruments, traced=traced, check=check)

    def reset(self) -> None:
        """Make the machine what it was when it had been wired, however its run ended: it may start another.

        What is wired stays: components, links, paths, the address map. What a run changes is made anew by the
        ``reset`` of each part (:meth:`Server.reset`), so that a run is the same as on a fresh machine.

        Raises:
            UsageError: a component or an arbiter is a user's: make a new machine.
        """
        if not self.keepable:
            raise UsageError("a machine with components or arbiters of yours is used once; make a new one")
        if self.checker is not None:
            self.checker.detach()
        self.forget()
        if self._lost:
            self._lose(frozenset())
        self.clock.reset()
        self.fabric.reset()
        for resource in self.resources:
            resource.reset()

    def start_run(
        self, instruments: Sequence[Instrument] = (), *, traced: bool = True, check: bool | None = None
    ) -> None:
        """A run begins on a machine on which nothing has happened; the arguments are those of the class."""
        for time, lost in faults.changes(self.graph):
            self.clock.call_at(time, self._lose, lost)
        self.traced = traced
        if not traced:
            ports = [link.port for link in self.links.values() if link.port is not None]
            parts = [part for one in self.components.values() for part in one.parts]
            for server in (*self.resources, *ports, *parts):
                if isinstance(server, Server):
                    server.forget_holders()
        self._launch_times = LaunchTimes(self.busy_intervals, places(self.graph))
        self.launches = 0
        """How many there have been."""
        self.alike: AlikePes | None = None
        """Which PEs of launches are simulated for others; None: each for itself."""
        self.open_launches: dict[Request, Launch] = {}
        """Those that the host has no answer to."""
        self.beyond = np.zeros((len(self.resources), 4))
        """What is to be added to what the parts count: see :data:`kernbench.engine.core.counts.Counts`."""
        self.checker = InvariantChecker(self.clock) if wanted(check) else None
        self.instruments = (*([self.checker] if self.checker else []), *instruments)
        if self.checker is not None:
            engines = {
                name: c.dma.counts for name, c in self.components.items() if isinstance(c, PeDma | MCpu)
            }
            servers: dict[FabricNode, tuple[Server, ...]] = {
                c: tuple(c.servers()) for c in self.components.values()
            }
            self.checker.attach(self.resources, servers, engines, self.in_flight)
        for instrument in self.instruments:
            instrument.started(self.resources, self.clock)

    def _wire(self, components: Mapping[str, str] | None) -> None:
        """Build it all, on the clock."""
        self.fabric = Fabric(self.clock, self.flit_bytes)
        self.keepable = wire(self, components)
        """Whether nothing of a user's is wired in: nobody else knows what a run changes there."""
        self._pe_cpus = [c for c in self.components.values() if isinstance(c, PeCpu)]

    # -- the host's requests --------------------------------------------------------------------------

    def _request(self, label: str, ids: Ids) -> Request:
        return Request(label, self.clock.now, ids)

    def host_write(
        self, sip: int, regions: Sequence[Region], op: Op | None = None, *, ids: Ids = NO_IDS
    ) -> Request:
        """Write from the host to device memory, one transaction a region.

        ``op`` (a ``host_write``) is reported once when the last region is acknowledged.
        """
        request = self._request(f"host write to sip{sip}", ids)
        self.host.transfer(request, regions, is_write=True, op=op)
        return request

    def host_read(self, sip: int, regions: Sequence[Region], *, ids: Ids = NO_IDS) -> Request:
        """Read device memory to the host, one transaction a region."""
        request = self._request(f"host read from sip{sip}", ids)
        self.host.transfer(request, regions, is_write=False, op=None)
        return request

    def flow(
        self, src: str, dst: str, offset: int, nbytes: int, *, is_write: bool, start_ns: float | None = None
    ) -> transfers.Transfer:
        """One transfer between a source and a memory; time passes, no values move.

        Args:
            src: a PE (``sip0.cube0.pe0``), ``host``, or an M_CPU.
            dst: an HBM slice, an SRAM or a TCM.
            offset: first byte within ``dst``.
            nbytes: size of the transfer.
            is_write: from ``src`` to ``dst``, else back.
            start_ns: when the source gets it; now by default.

        Raises:
            UsageError: no such source or memory, the bytes do not fit it, or the time is past.
            RoutingError: the source's traffic cannot get there.
        """
        source, traffic = transfers.endpoint(self, src)
        region = Region(transfers.address_of(self, dst, offset, nbytes), nbytes)
        self.path(source.resource, dst, traffic)
        begin = self.clock.now if start_ns is None else start_ns
        if not begin >= self.clock.now:
            raise UsageError(f"a transfer cannot start at {begin} ns, it is {self.clock.now} ns already")
        transfer = transfers.Transfer(source.resource, dst, nbytes, is_write=is_write, t_submit=begin)
        self.clock.call_at(begin, transfers.start, self, transfer, source, traffic, region)
        return transfer

    def map(
        self,
        sip: int,
        pes: Sequence[tuple[int, int]],
        entries: Sequence[tuple[int, int, int]],
        *,
        install: bool = True,
        ids: Ids = NO_IDS,
    ) -> Request:
        """Install ``entries`` (va, pa, nbytes) in the MMUs of ``pes`` (cube, pe), or remove them.

        It is done when all have.
        """
        request = self._request(f"{'map' if install else 'unmap'} on sip{sip}", ids)
        self.host.map(request, sip, pes, entries, install=install)
        return request

    def set_up_queues(
        self,
        sip: int,
        rings: Mapping[tuple[int, int], tuple[RingEntry, ...]],
        *,
        install: bool = True,
        ids: Ids = NO_IDS,
    ) -> Request:
        """Install directions of queues in the PEs (cube, pe) of ``rings``, or remove them.

        A PE's new direction of a name that it has takes that one's place, empty.
        """
        request = self._request(f"{'setup' if install else 'removal'} of queues on sip{sip}", ids)
        self.host.set_up_queues(request, sip, rings, install=install)
        return request

    def launch(
        self, kernel: BoundKernel, targets: Sequence[Target], *, fail_fast: bool = True, ids: Ids = NO_IDS
    ) -> Request:
        """Start ``kernel`` on every (sip, cube, pe) of ``targets`` at one common instant.

        The first failure is the request's error. With ``fail_fast`` it stops the kernels of the other PEs;
        else they run on.

        Raises:
            LaunchError: ``targets`` is empty.
            UsageError: ``targets`` names a PE twice or one that the topology lacks.
        """
        if not targets:
            raise LaunchError(
                f"launch of '{kernel.name}': no PE holds a shard of its arguments; pass a placed tensor"
            )
        for target, times in Counter(targets).items():
            if places(self.graph).find("pe_cpu", *target) is None:
                raise UsageError(f"launch of '{kernel.name}': the topology has no such PE as {target}")
            if times > 1:
                raise UsageError(f"launch of '{kernel.name}': names PE {target} twice; name each PE once")
        number = self._next_launch()
        request = self._request(f"launch {number} of '{kernel.name}' on {len(targets)} PEs", ids)
        launch = Launch(number, kernel, tuple(sorted(targets)), request, fail_fast)
        self.open_launches[request] = launch
        request.when_done(partial(self._answered, request))
        self.host.launch(launch)
        return request

    def _answered(self, request: Request) -> None:
        del self.open_launches[request]

    def follow(self, led: Request, sip: int, *, ids: Ids = NO_IDS) -> Request:
        """A launch on package ``sip`` that is not carried out: it is over when ``led``, one like it, is."""
        request = self._request(f"launch {self._next_launch()}, which follows {led.label}", ids)
        request.open, request.led = 1, led

        def over() -> None:
            request.t_start, request.late_ns = led.t_start, led.late_ns
            request.pe_times = {(sip, cube, pe): times for (_, cube, pe), times in led.pe_times.items()}
            request.part_done(led.t_done, led.error)

        led.when_done(over)
        return request

    def _next_launch(self) -> int:
        self.launches += 1
        return self.launches - 1

    def wait(self, *requests: Request) -> None:
        """Let simulated time run until all of ``requests`` are answered; raise the first one's error.

        Raises:
            DeadlockError: nothing can happen any more and a request is unanswered.
        """
        for request in requests:
            if not request.done and not self.advance(request):
                raise self.deadlock(request.label)
            if request.error is not None:
                raise request.error
        self.check_at_rest()

    def advance(self, goal: Finishable) -> bool:
        """Let time run until ``goal.done``; False when nothing is left to happen and it is still not done.

        Where nothing else is left to happen, kernels that wait for a queue whose other end has failed are
        stopped, with that failure as the cause.
        """
        while not self._advance(goal):
            starved = [cpu for cpu in self._pe_cpus if cpu.starved_by() is not None]
            if not starved:
                return False
            for cpu in starved:
                cpu.stop_starved()
        return True

    def close(self) -> None:
        """The run is over: stop the kernels that a failure or a deadlock has left suspended.

        Their ``finally`` blocks run. The machine is of no further use before it is :meth:`reset`.
        """
        for cpu in self._pe_cpus:
            cpu.abandon()

    def _advance(self, goal: Finishable) -> bool:
        try:
            return self.clock.advance(goal)
        except LimitError as limit:
            raise LimitError("; ".join([str(limit), *self.unanswered()])) from None

    def drain(self) -> None:
        """Let time run until no transaction is under way: messages that no kernel waits for arrive too."""
        self._advance(Answered(self.in_flight))

    def check_at_rest(self) -> None:
        """Of a checked machine in which nothing is left to happen: see that nothing is unanswered.

        Not while a kernel waits for a queue: the host may still launch the kernel at the other end.
        """
        if self.checker is None or not self.clock.idle():
            return
        if not any(cpu.waits_for_queue for cpu in self._pe_cpus):
            self._check_at_rest(self.checker)

    def settle(self) -> None:
        """The run has gone well: see that what it says can be relied upon.

        Of a checked machine what is left to happen happens first, within the run's limits; then nothing must
        be unanswered.

        Raises:
            InvariantError: something is unanswered, or was wrong.
            LimitError: something is unanswered at a limit of the run.
        """
        if self.checker is not None:
            try:
                self._advance(NEVER)
            except LimitError:
                if self.in_flight:
                    raise
            self._check_at_rest(self.checker)

    def _check_at_rest(self, checker: InvariantChecker) -> None:
        waiting = [line for component in self.components.values() for line in component.waiting()]
        checker.at_rest(self.under_way(), waiting)

    @property
    def failure(self) -> Exception | None:
        """How a kernel failed, if one has; of several that on the first PE."""
        return next((cpu.failure for cpu in self._pe_cpus if cpu.failure is not None), None)

    def unanswered(self) -> list[str]:
        """Where transactions under way were last, and which component waits; those that are alike once."""
        return fold_lines(self._waiting())

    def deadlock(self, stuck: str, notes: Sequence[str] = (), remedy: str = "") -> DeadlockError:
        """The error that says that nothing can happen any more, with ``notes`` about who waits for what.

        ``remedy`` is what would end it where no PEs wait for each other.
        """
        if circle := circle_of_buffers(self.links.values()):
            return DeadlockError(
                "\n  ".join([f"deadlock at {self.clock.now:.3f} ns: {stuck} cannot finish", *circle]), circle
            )
        if self.in_flight and not remedy:
            at = last_seen(self.under_way()[0], self.resources)
            remedy = f"'{at}' has to pass on, answer or end the message that it has"
        waiting = [*notes, *self._waiting()]
        return deadlock(self.clock.now, stuck, self.components.values(), waiting, remedy)

    def _waiting(self) -> list[str]:
        return waiting_lines(self.under_way(), self.resources, self.components.values())

    # -- what components use (System) -----------------------------------------------------------------

    def kernel_ended(self, launch: Launch, target: Target) -> None:
        """See :meth:`System.kernel_ended`."""
        ended = launch.request.pe_times
        leader = launch.leaders.get(target)
        if leader is None or leader not in ended:
            times = self._launch_times.kernel_ended(launch, target, launch.start_ns, self.clock.now)
        else:
            times = ended[leader]
        ended[target] = times
        if self.alike is not None and leader is None:
            self.alike.kernel_ended(launch)

    def launch_started(self, launch: Launch, time: float) -> None:
        """See :meth:`System.launch_started`."""
        super().launch_started(launch, time)
        launch.begun = True
        if self.alike is not None:
            self.alike.launch_started(launch)

    def _lose(self, lost: frozenset[str]) -> None:
        """From now on routes lead around the links ``lost``, and over all others."""
        self._lost = lost
        self.router = Router(without(self.graph, set(lost))) if lost else router_of(self.graph)
        self.paths.clear()
        for component in self.components.values():
            if isinstance(component, PeDma) and component.queue_channel is not None:
                component.queue_channel.forget_paths()

    def new_path(self, source: str, target: str, traffic: str, via: str) -> Path:
        """See :meth:`Ledger.new_path`."""
        try:
            return super().new_path(source, target, traffic, via)
        except RoutingError as error:
            if not self._lost:
                raise
            some = ", ".join(f"'{link}'" for link in sorted(self._lost)[:2])
            raise RoutingError(
                f"{error}: {some} {'...' * (len(self._lost) > 2)}lost at {self.clock.now:g} ns"
            ) from None
