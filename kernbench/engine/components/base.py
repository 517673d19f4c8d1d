"""The base of every hardware component.

A component is built from one node of the compiled graph and reaches the others only by sending packets
over links. To replace one, subclass :class:`Component` (or a built-in one), give it an ``impl`` name in a
components file and name that in the topology.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from kernbench.engine.components.system import System
from kernbench.engine.core.node import FabricNode, Link
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Packet, Transaction
from kernbench.engine.program.messages import ControlMessage
from kernbench.engine.program.operations import Op
from kernbench.hardware.routing import Traffic
from kernbench.hardware.topology.nodes import Location, location
from kernbench.support.pgraph import Node


def is_users_class(cls: type) -> bool:
    """Whether the class is a user's, so that it may override anything."""
    return not cls.__module__.startswith("kernbench.")


class Blocked(NamedTuple):
    """A wait for the queues of other PEs: for a message, or else for a free slot; any one peer may end it."""

    receives: bool
    peers: list[Location]


class Component(FabricNode):
    """One component. ``self.properties`` are its node's; ``self.system`` the machine it is wired into."""

    def __init__(self, node: Node, system: System) -> None:
        properties = node.properties
        super().__init__(node.id, float(properties["overhead_ns"]))
        self.pipelined = properties.get("worker") == "pipelined"
        self.node = node
        self.system = system
        self.clock = system.clock
        self._direct: dict[Component, Link] = {}
        """Links over which it has passed tokens."""
        self._last_to: Component | None = None
        self._last_link: Link | None = None
        """The one over which it has passed the last token: mostly the next goes the same way."""
        self._location: Location | None = None
        self.read_ns = self.write_ns = 0.0
        """Busy time of reading and of writing, for components that do both at once."""
        self.parts: list[Any] = []
        """Parts with state of a run, such as ports and engines; each has a ``reset``."""

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        FabricNode.reset(self)
        self._last_to = self._last_link = None
        self.read_ns = self.write_ns = 0.0
        for part in self.parts:
            part.reset()

    def number(self, key: str) -> float:
        """Property ``key`` of the node as a float."""
        return float(self.node.properties[key])

    def integer(self, key: str) -> int:
        """Property ``key`` of the node as an int."""
        return int(self.node.properties[key])

    @property
    def location(self) -> Location:
        """(sip, cube, pe), -1 where the component is above that level."""
        found = self._location
        if found is None:
            found = self._location = location(self.node)
        return found

    def wired(self) -> None:
        """Called when all components exist and are linked: look up neighbours here."""

    def post(
        self,
        kind: str,
        to: str,
        traffic: Traffic,
        message: ControlMessage,
        *,
        nbytes: int = 0,
        parent: int = -1,
        op: int = -1,
    ) -> Transaction:
        """Send a one-way message of ``nbytes`` (0: pays overheads and distance alone) to component ``to``."""
        system = self.system
        path = system.path(self.resource, to, traffic)
        transaction = system.begin(
            kind, path, nbytes, self.clock.now, parent=parent, op=op, message=message, ids=message.ids
        )  # fmt: skip
        system.fabric.send(Packet(transaction, path, nbytes, system.fabric.flit_bytes))
        return transaction

    def take_turn(self, owner: object) -> float:
        """Queue ``owner``, which arrives now, for the overhead; return when it has been paid, ns."""
        now = self.clock.time
        overhead = self.overhead()
        begun = self.occupy(now, overhead, owner)
        self.arrive(now)
        self.leave(begun + overhead, 0, overhead, begun - now)
        return begun + overhead

    def count_use(self, write: bool, busy_ns: float) -> None:
        """Count use of a part that works in two directions in parallel: its use is that of the busier one."""
        if write:
            self.write_ns += busy_ns
        else:
            self.read_ns += busy_ns
        self._busy_ns = self.read_ns if self.read_ns > self.write_ns else self.write_ns

    def tally(self) -> list[Any]:
        """See :meth:`Server.tally`."""
        return [*FabricNode.tally(self), self.read_ns, self.write_ns]

    def grow(self, like: Server, before: list[Any]) -> None:
        """See :meth:`Server.grow`."""
        FabricNode.grow(self, like, before)
        one: Component = like  # type: ignore[assignment]
        if one.read_ns or one.write_ns:
            self.count_use(False, one.read_ns - before[5])
            self.count_use(True, one.write_ns - before[6])

    def forward(self, to: Component, function: Callable[..., None], *args: Any) -> None:
        """Pass a token over the direct link to ``to``: after the link's flight time, ``function(*args)``."""
        delay = self.crossed(to)
        if delay > 0.0:
            self.clock.call_at(self.clock.time + delay, function, *args)
        else:
            function(*args)

    def crossed(self, to: Component) -> float:
        """Count a token on the direct link to ``to``; returns the link's flight time, ns."""
        link = self._link_to(to)
        link.transactions += 1
        return link.delay_ns

    def crossing(self, to: Component) -> float:
        """The flight time of the direct link to ``to``, ns."""
        return self._link_to(to).delay_ns

    def _link_to(self, to: Component) -> Link:
        link = self._last_link
        if link is None or to is not self._last_to:
            link = self._direct.get(to)
            if link is None:
                link = self._direct[to] = self.system.link(self.resource, to.resource)
            self._last_to, self._last_link = to, link
        return link

    def finish(self, op: Op, t_ready: float, t_start: float, t_end: float) -> None:
        """Record a data operation that this component has executed; nothing else writes the op log."""
        op.component = self.resource
        op.t_ready = t_ready
        op.t_start = t_start
        op.t_end = t_end
        self.system.report(op)

    def blocked(self) -> list[Blocked]:
        """Its waits for queues of other PEs, oldest first."""
        return []

    def servers(self) -> Iterator[Server]:
        """The servers among its attributes, alone or in lists, such as ports and channels."""
        for value in getattr(self, "__dict__", {}).values():
            for one in value if isinstance(value, list | tuple) else (value,):
                if isinstance(one, Server) and not isinstance(one, FabricNode | Link):
                    yield one

    def waiting(self) -> list[str]:
        """Open waits of this component, one line each, for the report of a deadlock."""
        return []
