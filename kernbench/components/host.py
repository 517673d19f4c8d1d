"""The tray's host CPU: where host reads and writes, maps and launches enter the fabric."""

from __future__ import annotations

from collections.abc import Sequence

from kernbench.components import access
from kernbench.components.base import Component
from kernbench.components.launch import Launch
from kernbench.components.messages import LaunchDone, LaunchMessage, MapMessage
from kernbench.components.request import Request
from kernbench.errors import UsageError
from kernbench.routing import Traffic
from kernbench.sim.ops import Op, Region
from kernbench.sim.transaction import Packet, Transaction


class Host(Component):
    """Submits what the runtime asks for and takes the answers."""

    def wired(self) -> None:
        """Find the IO CPU of every SIP (the first of its IO chiplets, by name)."""
        self._io_cpus: dict[int, str] = {}
        for name, component in sorted(self.machine.components.items()):
            if component.node.properties["kind"] == "io_cpu":
                self._io_cpus.setdefault(component.place[0], name)

    def io_cpu(self, sip: int) -> str:
        """Name of the IO CPU that takes the commands for ``sip``."""
        try:
            return self._io_cpus[sip]
        except KeyError:
            raise UsageError(
                f"sip {sip} does not exist; the topology has {len(self._io_cpus)} SIPs"
            ) from None

    def transfer(self, request: Request, regions: Sequence[Region], *, is_write: bool, op: Op | None) -> None:
        """Read or write device memory, a transaction for each slice (or channel) that the regions touch."""
        addresses = self.machine.addresses
        requests = [asked for region in regions for asked in addresses.requests(*region)]
        request.open = len(requests)
        begun = self.clock.now

        def answered(transaction: Transaction) -> None:
            request.wait_ns = max(request.wait_ns, transaction.wait_ns)
            if op is not None and request.open == 1:
                self.finish(op, begun, begun, self.clock.now)
            request.part_done(self.clock.now)

        if not requests:
            if op is not None:
                self.finish(op, begun, begun, begun)
            request.part_done(begun)
            return
        sent = access.begin(
            self,
            Traffic.HOST_MEMORY,
            "host_write" if is_write else "host_read",
            requests,
            begun,
            op=op.id if op is not None else -1,
            is_write=is_write,
        )
        for transaction in sent:
            transaction.on_done = answered
            if op is not None:
                op.transactions.append(transaction.id)
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
        """Send map or unmap entries down the tree of one SIP; every MMU answers by being done."""
        request.open = len(pes)
        if not pes:
            request.part_done(self.clock.now)
            return
        message = MapMessage(request, tuple(sorted(pes)), entries, install)
        self.post(message.kind, self.io_cpu(sip), Traffic.COMMAND, message, nbytes=message.nbytes)

    def launch(self, launch: Launch) -> None:
        """Send the launch to the IO CPU of every SIP that takes part."""
        launch.request.open = len(launch.sips())
        for sip in launch.sips():
            self.post("launch", self.io_cpu(sip), Traffic.COMMAND, LaunchMessage(launch))

    def receive(self, packet: Packet) -> None:
        """An acknowledgement, the data of a read, or the end of a SIP's share of a launch."""
        transaction = packet.transaction
        self.machine.end(transaction)
        message = transaction.message
        if isinstance(message, LaunchDone):
            launch = message.launch
            if launch.request.open == 1:
                self.machine.ended(launch)
            launch.request.part_done(self.clock.now, launch.failure)
