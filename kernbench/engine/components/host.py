"""The tray's host CPU: where host reads and writes, maps and launches enter the fabric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from kernbench.engine.components import access
from kernbench.engine.components.base import Component
from kernbench.engine.core.transaction import Packet
from kernbench.engine.program.launches import Launch, Request
from kernbench.engine.program.messages import (
    LaunchDone,
    LaunchMessage,
    MapMessage,
    QueueMessage,
    SetupMessage,
)
from kernbench.engine.program.operations import Op, Region, has_values
from kernbench.engine.program.queues import RingEntry
from kernbench.errors import UsageError
from kernbench.hardware.address.page_table import Entries
from kernbench.hardware.routing import Traffic
from kernbench.hardware.topology.places import places


class Host(Component):
    """Submits the runtime's requests and takes the answers."""

    def wired(self) -> None:
        """Find the IO CPUs of every SIP."""
        self._io_cpus: dict[int, list[str]] = {}
        self._nearest: dict[tuple[int, int], str] = {}
        self._launch_ns = self.number("launch_ns")
        for name, component in sorted(self.system.components.items()):
            if component.node.properties["kind"] == "io_cpu":
                self._io_cpus.setdefault(component.location[0], []).append(name)

    def io_cpu(self, sip: int, cube: int) -> str:
        """Name of the IO CPU that takes the commands for a cube: the nearest by routing weight, then by name.

        Raises:
            UsageError: there is no such SIP.
        """
        found = self._nearest.get((sip, cube))
        if found is None:
            if sip not in self._io_cpus:
                there = f"{len(self._io_cpus)} SIPs of the topology have one"
                raise UsageError(f"there is no io_cpu in sip {sip}, which kernels need; {there}")
            m_cpu, path = places(self.system.graph).part("m_cpu", sip, cube), self.system.path
            found = min(self._io_cpus[sip], key=lambda io_cpu: path(io_cpu, m_cpu, Traffic.COMMAND).weight)
            self._nearest[sip, cube] = found
        return found

    def _by_io_cpu(self, sip: int, cubes: Iterable[int]) -> dict[str, list[int]]:
        """The IO CPUs that take the commands for ``cubes``, and the cubes of each, ascending."""
        found: dict[str, list[int]] = {}
        for cube in sorted(set(cubes)):
            found.setdefault(self.io_cpu(sip, cube), []).append(cube)
        return found

    def transfer(self, request: Request, regions: Sequence[Region], *, is_write: bool, op: Op | None) -> None:
        """Read or write device memory, a transaction for each slice (or channel) that the regions touch.

        Raises:
            UsageError: the regions hold no bytes.
        """
        addresses = self.system.addresses
        requests = [asked for region in regions for asked in addresses.requests(*region)]
        if not requests:
            raise UsageError(f"{request.label}: it names no bytes; give at least one region of one byte")
        request.open = 1
        begun = self.clock.now

        made: list[access.Requests] = []

        def done() -> None:
            request.wait_ns = made.pop().wait_ns  # kept there, it would be in a cycle of references
            if op is not None:
                self.finish(op, begun, begun, self.clock.now)
            request.part_done(self.clock.now)

        served = None if op is None or not has_values(op) else partial(self.system.served, op)
        made.append(access.Requests(done, served))
        sent = access.begin(
            self,
            Traffic.HOST_MEMORY,
            "host_write" if is_write else "host_read",
            requests,
            begun,
            op=op.id if op is not None else -1,
            is_write=is_write,
            ids=request.ids,
        )
        made[0].await_all(sent)
        if op is not None:
            op.transactions += [transaction.id for transaction in sent]
        access.send(self, sent)

    def map(
        self,
        request: Request,
        sip: int,
        pes: Sequence[tuple[int, int]],
        entries: Sequence[tuple[int, int, int]],
        *,
        install: bool,
    ) -> None:
        """Send map or unmap entries down the tree of one SIP; every MMU answers when it is done."""
        request.open = len(pes)
        if not pes:
            request.part_done(self.clock.now)
            return
        self._set_up(sip, MapMessage(request, tuple(sorted(pes)), Entries(entries), install))

    def set_up_queues(
        self,
        request: Request,
        sip: int,
        rings: Mapping[tuple[int, int], tuple[RingEntry, ...]],
        *,
        install: bool,
    ) -> None:
        """Send directions of queues down the tree of one SIP; every PE_IPCQ answers when it is done."""
        request.open = len(rings)
        self._set_up(sip, QueueMessage(request, rings, install))

    def _set_up(self, sip: int, message: SetupMessage) -> None:
        """Send a share of ``message`` to each IO CPU of ``sip`` that takes commands for its PEs."""
        for io_cpu, cubes in self._by_io_cpu(sip, (cube for cube, _ in message.pes)).items():
            share = message.share([pe for pe in message.pes if pe[0] in cubes])
            self.post(share.kind, io_cpu, Traffic.COMMAND, share, nbytes=share.nbytes)

    def launch(self, launch: Launch) -> None:
        """Send the launch to the IO CPUs of every SIP that takes part, after ``launch_ns``."""
        shares = [
            (io_cpu, LaunchMessage(launch, tuple(cubes)))
            for sip in launch.sips()
            for io_cpu, cubes in self._by_io_cpu(sip, launch.cubes(sip)).items()
        ]
        launch.request.open = len(shares)
        if self._launch_ns:
            self.clock.call_at(self.clock.now + self._launch_ns, self._post_launch, shares)
        else:
            self._post_launch(shares)

    def _post_launch(self, shares: Sequence[tuple[str, LaunchMessage]]) -> None:
        for io_cpu, message in shares:
            self.post("launch", io_cpu, Traffic.COMMAND, message)

    def receive(self, packet: Packet) -> None:
        """Receive an acknowledgement, the data of a read, or the end of a SIP's share of a launch."""
        transaction = packet.transaction
        self.system.end(transaction)
        message = transaction.message
        if isinstance(message, LaunchDone):
            launch = message.launch
            if launch.request.open == 1:
                self.system.launch_ended(launch)
            launch.request.part_done(self.clock.now, launch.failure)
