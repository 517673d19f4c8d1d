"""The machine as its components see it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.ledger import Ledger
from kernbench.engine.core.node import Link, path_along
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Path
from kernbench.engine.program.launches import Launch, Target
from kernbench.engine.program.operations import Op
from kernbench.errors import RoutingError
from kernbench.hardware.address import AddressMap
from kernbench.hardware.routing import Router, Traffic
from kernbench.support.pgraph import PropertyGraph

if TYPE_CHECKING:
    from kernbench.engine.components.base import Component


class System(Ledger):
    """Other components, links, routes, transactions, instruments; all times are in ns, all sizes in bytes.

    :class:`~kernbench.engine.machine.machine.Machine` is one, wired.
    """

    graph: PropertyGraph
    """The compiled topology."""
    router: Router
    flit_bytes: int
    """Bytes of a flit."""
    addresses: AddressMap
    """Map from physical addresses to memories."""
    components: dict[str, Component]
    """All components by name."""
    links: dict[tuple[str, str], Link]
    """All links by their ends."""
    resources: list[Server]
    """Components and links, and parts of them, whose use the trace counts."""

    @property
    def instruments(self) -> tuple[Instrument, ...]:
        """The observers of the run."""
        return self._instruments

    @instruments.setter
    def instruments(self, instruments: tuple[Instrument, ...]) -> None:
        self._instruments = instruments
        self.inform(instruments)

    def register(self, server: Server) -> None:
        """Add ``server`` to the resources."""
        server.index = len(self.resources)
        self.resources.append(server)

    def component(self, name: str) -> Component:
        """The component called ``name``. Raises ``KeyError`` when there is none."""
        return self.components[name]

    def link(self, source: str, target: str) -> Link:
        """The direct link between two components.

        Raises:
            RoutingError: there is no such link.
        """
        try:
            return self.links[source, target]
        except KeyError:
            raise RoutingError(f"no link from '{source}' to '{target}'; add it to the topology") from None

    def new_path(self, source: str, target: str, traffic: str, via: str) -> Path:
        """See :meth:`Ledger.new_path`."""
        route = self.router.route(source, target, Traffic(traffic), via)
        path = path_along(route.nodes, self.components, self.links)
        path.weight = route.weight
        path.make_reverse = partial(path_along, route.back, self.components, self.links)
        return path

    def served(self, op: Op) -> None:
        """Called when memory has served the last byte of ``op``: it takes effect now."""
        op.t_effect = self.clock.now
        for op_served in self.when_served:
            op_served(op)

    def launch_started(self, launch: Launch, time: float) -> None:
        """Called when all PEs of ``launch`` begin, at ``time`` ns."""
        launch.request.t_start = time
        for instrument in self.instruments:
            instrument.launch_started(launch.id, launch.kernel.name, len(launch.targets), time)

    def kernel_ended(self, launch: Launch, target: Target) -> None:
        """Called when the kernel of ``launch`` on PE ``target``, and all that it started, has ended."""
        raise NotImplementedError

    def launch_ended(self, launch: Launch) -> None:
        """Called when the host has all answers to ``launch``."""
        for instrument in self.instruments:
            instrument.launch_ended(launch.id)
