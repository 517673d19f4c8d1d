"""The machine as the fabric sees it: nodes that flits pass, and links that carry them.

Both are servers. What a flit costs is stated here and nowhere else: at a node :meth:`FabricNode.service_ns`,
on a link :meth:`Link.reserve`. The fabric decides only when they are asked.

A node's class says what it is: transit or store and forward, an endpoint that takes flits or whole messages.
A user's subclass may override any of the methods below (:data:`HOOKS`). Which of them it does is worked out
once, when the class is made, as a mask of bits that the engine tests instead of looking methods up: a flit
at a shipped router never leaves compiled code, one at a user's router calls what he overrides. Also tried:
looking at every method of every object (a list of names that must not be replaced, and flags in each
subclass), and asking every node for every flit (twice the time of traffic).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.engine.core.server import Server
from kernbench.engine.core.times import wrong_answer
from kernbench.engine.core.transaction import Packet, Path

if TYPE_CHECKING:
    from kernbench.support.pgraph import Edge

_INFINITY = float("inf")
TRANSIT = 0
STORE_AND_FORWARD = 1

SERVICE, OVERHEAD, ENTRY, COMMITS, TRANSFORM = 1, 2, 4, 8, 16
"""Bits of :data:`HOOKS`: methods that the engine asks only where they are overridden."""
_SERVICE, _OVERHEAD, _ENTRY, _COMMITS, _TRANSFORM = 1, 2, 4, 8, 16
HOOKS = {
    "service_ns": SERVICE, "overhead_ns": OVERHEAD, "entry_ns": ENTRY, "commit": COMMITS, "fetch": COMMITS,
    "transform": TRANSFORM,
}  # fmt: skip
"""Bits of the methods that are only called where a subclass overrides them, by name."""


_masks: dict[type, int] = {}


def hooks_of(cls: type) -> int:
    """The mask of hooks that a user's class, or a user's base class of it, overrides."""
    mask = _masks.get(cls)
    if mask is None:
        own = [above for above in cls.__mro__ if not above.__module__.startswith("kernbench.")]
        mask = _masks[cls] = hooks_in([name for above in own for name in vars(above)])
    return mask


def hooks_in(names: Iterable[str]) -> int:
    """The mask of the hooks among ``names``."""
    mask = 0
    for name in names:
        mask |= HOOKS.get(name, 0)
    return mask


def overrides(cls: type, name: str, base: type) -> bool:
    """Whether ``cls``, or a class between it and its base class ``base``, defines ``name``."""
    for above in cls.__mro__:
        if above is base:
            return False
        if name in above.__dict__:
            return True
    raise TypeError(f"{cls.__name__} is not a {base.__name__}")


class FabricNode(Server):
    """A component as the fabric sees it.

    ``role``: a ``TRANSIT`` node hands every flit on as it comes, and the first flit of a packet takes
    ``overhead_ns``; a ``STORE_AND_FORWARD`` node waits for the whole message and pays once. A node whose
    ``takes_flits`` is set gets every flit of a packet that ends at it (memories); others receive the whole
    message at once. These are looked at when a path is made.
    """

    role = STORE_AND_FORWARD
    takes_flits = False
    sends = False
    """Set if a transit node injects packets of its own into links to which it also forwards."""
    own_service = False
    """Set if :meth:`service_ns` must be called for every flit, not only for the first of a packet."""

    def __init__(self, resource: str, overhead_ns: float) -> None:
        super().__init__(resource)
        self.overhead_ns = overhead_ns
        self.pipelined = False
        """Whether ``overhead_ns`` of a transit node is latency only; else one worker serves all flits."""
        self.hooks = hooks_of(type(self))
        self.is_transit = self.is_endpoint = self.custom_service = self.reorders = False
        self.is_python_subclass = False
        self.settled = False

    def settle(self) -> None:
        """Look at what paths need to know: once where the class is compiled, as nothing can change then."""
        if self.settled:
            return
        self.is_python_subclass = hasattr(self, "__dict__")  # a class of Python's, which may do anything
        if self.is_python_subclass:  # methods may have been replaced on the object itself
            own = [name for name, value in self.__dict__.items() if callable(value)]
            self.hooks = hooks_of(type(self)) | hooks_in(own)
        self.is_transit = self.role == TRANSIT and not self.hooks & _TRANSFORM
        self.is_endpoint = self.takes_flits
        self.custom_service = self.own_service or self.hooks & _SERVICE != 0
        # First flits may leave in another order than they came in.
        varies = self.custom_service or self.hooks & _OVERHEAD != 0
        self.reorders = self.sends or (self.is_transit and self.pipelined and varies)
        self.settled = not self.is_python_subclass

    def overhead(self) -> float:
        """``overhead_ns``, also if a subclass computes it."""
        ns = self.overhead_ns
        if self.hooks & _OVERHEAD:
            ns = float(getattr(self, "overhead_ns"))  # noqa: B009  (not the field of the compiled class)
        if not 0.0 <= ns < _INFINITY:
            raise wrong_answer(self, "overhead_ns", ns)
        return ns

    def service_ns(self, packet: Packet, flit: int) -> float:
        """Time that flit number ``flit`` of ``packet`` takes at a transit node, or of its worker, ns.

        Called for the first flit; if a class overrides it, for every flit.
        """
        return self.overhead() if flit == 0 and packet.pays else 0.0

    def transform(self, packet: Packet) -> Packet:
        """The packet that goes on instead of ``packet``, which is complete: see :meth:`Packet.resized`.

        A node that overrides it waits for whole messages, and forwards the bytes of the packet that it
        returns.
        """
        return packet

    def receive(self, packet: Packet) -> None:
        """Called when a whole message has arrived here and its overhead is paid."""
        raise TypeError(f"'{self.resource}' is not a destination, but a message of kind "
                        f"'{packet.transaction.kind}' ended there")  # fmt: skip

    def receive_flit(self, packet: Packet, flit: int, time: float) -> None:
        """Called when a flit has arrived at a node whose ``takes_flits`` is set."""
        raise TypeError(f"'{self.resource}' takes no flits")

    def answer(self, packet: Packet) -> None:
        """Called when all flits of a packet that the node has taken are served (``Fabric.answer_at``)."""
        raise TypeError(f"'{self.resource}' takes no flits")


class Link(Server):
    """A directed wire, and the output of the node before it."""

    def __init__(self, edge: Edge, flit_bytes: int) -> None:
        super().__init__(edge.id)
        self.edge = edge
        self.kind = str(edge.properties["kind"])
        self.bw_gbs = float(edge.properties["bw_gbs"])
        self.delay_ns = float(edge.properties["delay_ns"])
        self.flit_ns = flit_bytes / self.bw_gbs
        self.issue_ns = 0.0
        """Time for which a message takes the output of its node beyond its bytes, behind its last flit."""
        self.port: Any = None
        """Its port, if an arbiter decides; None if it serves first come first served."""
        Link.reset(self)

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        Server.reset(self)
        self.passing = 0
        """Messages whose first flit has come to the node before it, if that is pipelined, and whose last has
        not left."""
        self.earliest = 0.0
        """When the last first flit that was booked ahead is ready; a later one does not overtake it."""
        self.streams = 0
        """Messages that crossed it within a PE, without the fabric (:meth:`stream`)."""
        self.streamed_bytes = 0
        self.stream_free = 0.0
        if self.port is not None:
            self.port.reset()

    def reserve(self, packet: Packet, flit: int, at: float) -> tuple[float, float, float]:
        """Book the output for a flit at ``at`` or, first come first served, as soon as it is free; final.

        A flit takes ``bytes / bw_gbs`` ns to send and ``delay_ns`` to arrive. The last flit of a message
        holds the output for ``issue_ns`` more.

        Returns:
            When its first byte is sent, when its last one has been, and when that is at the far end, ns.
        """
        server = self if self.port is None else self.port
        if flit != packet.last:
            duration = taken = self.flit_ns
        else:
            duration = packet.last_bytes / self.bw_gbs
            taken = duration + self.issue_ns
        start = server.occupy(at, taken, packet.transaction)
        end = start + duration
        return start, end, end + self.delay_ns

    def stand_for(self, other: Server) -> None:
        """See :meth:`Server.stand_for`; who comes to either link requests it when ready, not before."""
        Server.stand_for(self, other)
        link: Link = other  # type: ignore[assignment]
        link.passing += 1
        self.passing += 1

    def tally(self) -> list[Any]:
        """See :meth:`Server.tally`."""
        return [*Server.tally(self), self.streams, self.streamed_bytes]

    def grow(self, like: Server, before: list[Any]) -> None:
        """See :meth:`Server.grow`."""
        link: Link = like  # type: ignore[assignment]
        if self.like is not None:
            self.passing -= 1
            link.passing -= 1
        Server.grow(self, like, before)
        self.streams += link.streams - before[5]
        self.streamed_bytes += link.streamed_bytes - before[6]
        self.stream_free = max(self.stream_free, link.stream_free)

    def stream(self, head: float, nbytes: int) -> float:
        """Send a message within a PE across, cut through: its bytes leave as they arrive.

        Streams cross one after the other. They and flits of the fabric on the same link do not delay each
        other.

        Args:
            head: when the first byte is at the link, ns.
            nbytes: size of the message.

        Returns:
            When the last byte would be across if all bytes were at the link at ``head``. If sender or
            receiver are slower than the link, they determine the time.
        """
        start = self.stream_free if self.stream_free > head else head
        end = start + nbytes / self.bw_gbs
        self.stream_free = end
        self.streams += 1
        self.streamed_bytes += nbytes
        self.arrive(start)
        self.leave(end + self.delay_ns, nbytes, nbytes / self.bw_gbs, 0.0)
        return end


def path_over(nodes: Sequence[FabricNode], links: Sequence[Link]) -> Path:
    """The path over ``links``, each from one of ``nodes`` to the next; it settles what the nodes are."""
    stops = []
    for node in nodes:
        node.settle()
        stops.append(not node.is_transit)
    last = nodes[len(nodes) - 1]
    return Path(nodes, links, stops, last.is_endpoint)


def path_along(
    route: Sequence[str], nodes: Mapping[str, FabricNode], links: Mapping[tuple[str, str], Link]
) -> Path:
    """The path over the components that ``route`` names; ``links`` has those between two by their names."""
    passed, crossed = [], []
    before = ""
    for name in route:
        passed.append(nodes[name])
        if before:
            crossed.append(links[before, name])
        before = name
    return path_over(passed, crossed)
