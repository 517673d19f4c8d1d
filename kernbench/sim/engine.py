"""Which engine a machine runs on: the compiled one where it does what the Python classes say.

The compiled engine has its own methods of servers, transactions, packets, the fabric and the clock, and does
not look whether a class has others. So a machine runs on the Python engine where one of these has been
replaced: by a component that overrides ``occupy``, by a test that plants a fault. That is decided when the
machine is wired.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import simpy

from kernbench.compiled import VARIABLE, core
from kernbench.errors import UsageError
from kernbench.sim.booking import Booking
from kernbench.sim.clock import Clock
from kernbench.sim.fabric import Fabric
from kernbench.sim.flit_fabric import FlitFabric
from kernbench.sim.node import FabricNode, Link
from kernbench.sim.server import Server
from kernbench.sim.transaction import Packet, Path, Transaction

_CLASSES = (Clock, Booking, FlitFabric, Server, FabricNode, Link, Transaction, Path, Packet)
"""Classes whose methods the core has too."""
_AS_SHIPPED = [(vars(cls), dict(vars(cls))) for cls in _CLASSES]
_OF_SERVERS = frozenset(
    {name for name in dir(Server) if not name.startswith("__")} | {"__getattribute__", "__setattr__"}
)
"""Methods of a node that the core has too, and the attributes that it reads."""
_OVERRIDDEN = _OF_SERVERS - {"leave"}
"""Those that a component must not override to run on the core. It does call a node's own ``leave``."""
_SETTLED = ("role", "takes_flits", "sends", "own_service", "plain_service")
"""Attributes of a node that are asked for once, when the first path over it is compiled."""


def intact() -> bool:
    """Whether the methods of the simulator are those that were imported."""
    return all(now == shipped for now, shipped in _AS_SHIPPED)


def fits(classes: Iterable[type[FabricNode]]) -> bool:
    """Whether the compiled engine is there and does what these classes of components say."""
    return core is not None and intact() and not any(_overrides(cls) for cls in set(classes))


def _overrides(cls: type[FabricNode]) -> bool:
    for above in cls.__mro__:
        if above is FabricNode:
            break
        if not _OVERRIDDEN.isdisjoint(vars(above)):
            return True
        if any(hasattr(vars(above).get(name), "__get__") for name in _SETTLED):
            return True
    return False


def suits(components: Iterable[FabricNode]) -> bool:
    """Whether none of these components has replaced a method of its own, as an attribute of the object."""
    replaced = _OF_SERVERS | {"service_ns"}
    return all(replaced.isdisjoint(vars(component)) for component in components)


def made(compiled: bool, flit_bytes: int) -> tuple[Clock, Fabric]:
    """A clock and a fabric upon it, of the compiled engine or of the Python one."""
    if compiled and not TYPE_CHECKING:
        clock = CompiledClock()
        return clock, core.Fabric(clock, flit_bytes)
    clock = Clock()
    return clock, FlitFabric(clock, flit_bytes)


if not TYPE_CHECKING and core is not None:

    class CompiledClock(core.Clock, Clock):
        """As :class:`Clock`, its queue and its loop in C; events of SimPy lie in the same queue."""

        def __init__(self) -> None:
            self._queue = self.entries
            self._active_proc = None
            simpy.core.BoundClass.bind_early(self)

        def schedule(self, event: Any, priority: int = simpy.events.NORMAL, delay: float = 0) -> None:
            """See :meth:`simpy.Environment.schedule`."""
            self.event_at(self._now + delay, priority, event)

        def peek(self) -> float:
            """See :meth:`simpy.Environment.peek`."""
            return self.next_time()

        def advance(self, goal: Any) -> bool:
            """See :meth:`Clock.advance`."""
            if not intact():
                raise UsageError(
                    "methods of the simulator have been replaced since the machine was made; replace them "
                    f"before that, or set {VARIABLE}=1"
                )
            return core.Clock.advance(self, goal)

        def _empty(self) -> None:
            raise simpy.core.EmptySchedule

        def _carry_event(self, time: float, event: Any) -> None:
            callbacks, event.callbacks = event.callbacks, None
            try:
                for callback in callbacks:
                    callback(event)
            except simpy.core.StopSimulation:
                # As in Clock._carry_out.
                event.callbacks = callbacks[callbacks.index(callback) + 1 :]
                self.event_at(time, simpy.events.URGENT, event, first=True)
                raise
            if not event._ok and not event.defused:
                raise event._value
