"""Which engine a machine runs on: the compiled one where it does what the Python classes say.

The compiled engine has its own methods of servers, transactions, packets, the fabric and the clock, and does
not look whether a class has others. So a machine runs on the Python engine where one of these has been
replaced, in a class or on an object: by a component that overrides ``occupy``, by a test that plants a fault.
That is decided when the machine is built. One that is replaced later is an error (:func:`check_unchanged`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import simpy

from kernbench.compiled import VARIABLE, core
from kernbench.errors import UsageError
from kernbench.sim.booking import Booking
from kernbench.sim.clock import PATIENCE, Clock
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
_OF_OBJECTS = _OF_SERVERS | {"service_ns"}
"""Those that an object must not replace to run on the core."""
_SETTLED = ("role", "takes_flits", "sends", "own_service", "plain_service")
"""Attributes of a node that are asked for once, when the first path over it is compiled."""


def intact() -> bool:
    """Whether the methods of the simulator are those that were imported."""
    return all(now == shipped for now, shipped in _AS_SHIPPED)


def fits(classes: Iterable[type[FabricNode]]) -> bool:
    """Whether the compiled engine is there and does what these classes of components say."""
    return core is not None and intact() and not any(_overrides(cls) for cls in set(classes))


def _overrides(cls: type[Server]) -> bool:
    own = _OVERRIDDEN if issubclass(cls, FabricNode) else _OF_SERVERS
    for above in cls.__mro__:
        if above in (FabricNode, Server):
            break
        if not own.isdisjoint(vars(above)):
            return True
        if any(hasattr(vars(above).get(name), "__get__") for name in _SETTLED):
            return True
    return False


def suits(servers: Iterable[Server]) -> bool:
    """Whether the core does what these components and links say, and the servers that they are made of.

    It does not where one of them has replaced a method of its own, as an attribute of the object, or where
    a component has brought a server of a class of its own.
    """
    return next(_unsuited(servers), None) is None


def _unsuited(servers: Iterable[Server]) -> Iterator[str]:
    """Methods that the core would not call: who has which."""
    known: dict[type[Server], bool] = {}
    for server in servers:
        for one in (server, *_within(server)):
            if not _OF_OBJECTS.isdisjoint(vars(one)):
                names = ", ".join(sorted(_OF_OBJECTS & vars(one).keys()))
                yield f"'{one.resource}' has {names} of its own"
            cls = type(one)
            if cls not in known:
                known[cls] = _overrides(cls)
            if known[cls]:
                yield f"'{one.resource}' is a {cls.__name__}, with methods of its own"


def _within(server: Server) -> Iterator[Server]:
    """Ports, slots and channels that a component holds."""
    for value in vars(server).values():
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, Server) and not isinstance(one, FabricNode | Link):
                yield one


def check_unchanged(servers: Iterable[Server]) -> None:
    """At the end of a run on the core: see that these have not replaced methods while it ran.

    Raises:
        UsageError: one has, and the core has not called it.
    """
    if (changed := next(_unsuited(servers), None)) is not None:
        raise changed_too_late(changed)


def changed_too_late(what: str) -> UsageError:
    """The error for a method that was replaced after the machine was built: ``what`` says whose."""
    return UsageError(
        f"{what} since the machine was made, which the compiled core does not call; replace methods in "
        f"__init__ or wired(), or set {VARIABLE}=1"
    )


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
            self._background = set()
            self.patience = PATIENCE
            simpy.core.BoundClass.bind_early(self)

        def schedule(self, event: Any, priority: int = simpy.events.NORMAL, delay: float = 0) -> None:
            """See :meth:`simpy.Environment.schedule`."""
            self.event_at(self._now + delay, priority, event)

        def _events(self) -> Iterable[Any]:
            return self.entries.objects()

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
