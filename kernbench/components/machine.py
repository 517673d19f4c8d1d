"""The simulated machine as the host side sees it: it submits requests and waits.

The host side knows no route and calls no component.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count

from kernbench.components import deadlock, flows
from kernbench.components.board import Board
from kernbench.components.host import Host
from kernbench.components.launch import Launch
from kernbench.components.request import Request
from kernbench.errors import DeadlockError, LaunchError, UsageError
from kernbench.pe.commands import KernelCall
from kernbench.pgraph import PropertyGraph
from kernbench.sim.instrument import Instrument
from kernbench.sim.invariants import InvariantChecker
from kernbench.sim.ops import Op, Region
from kernbench.topology import names


class Machine(Board):
    """The simulated machine of one run. Its arguments are those of :class:`Board`."""

    def __init__(
        self,
        graph: PropertyGraph,
        instruments: Sequence[Instrument] = (),
        components: Mapping[str, str] | None = None,
        *,
        traced: bool = True,
        check: bool | None = None,
    ) -> None:
        super().__init__(graph, instruments, components, traced=traced, check=check)
        hosts = [c for c in self.components.values() if isinstance(c, Host)]
        if len(hosts) != 1:
            raise UsageError(f"the topology has {len(hosts)} host CPUs; a machine needs exactly one")
        self.host = hosts[0]
        self._launch_ids = count()

    def _request(self, label: str) -> Request:
        return Request(label, self.clock.now)

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
        for place, times in Counter(targets).items():
            if names.pe_part(*place, "pe_cpu") not in self.components:
                raise UsageError(f"launch of '{call.name}': the topology has no such PE as {place}")
            if times > 1:
                raise UsageError(f"launch of '{call.name}': names PE {place} twice; name each PE once")
        number = next(self._launch_ids)
        request = self._request(f"launch {number} of '{call.name}' on {len(targets)} PEs")
        self.host.launch(Launch(number, call, tuple(sorted(targets)), request))
        return request

    def wait(self, *requests: Request) -> None:
        """Let simulated time run until all of ``requests`` are answered; raise the first one's error."""
        for request in requests:
            if not request.done and not self.clock.advance(request):
                raise DeadlockError(deadlock.report(self, request.label))
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
