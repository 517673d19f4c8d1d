"""The machine as the fabric sees it: nodes and links, each a FIFO server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.sim.server import Server
from kernbench.sim.times import wrong_answer
from kernbench.sim.transaction import Packet, Path

if TYPE_CHECKING:
    from kernbench.pgraph import Edge

_INFINITY = float("inf")
TRANSIT = 0
STORE_AND_FORWARD = 1


def overrides(cls: type, name: str, base: type) -> bool:
    """Whether ``cls``, or a class between it and its base class ``base``, has a ``name`` of its own."""
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
    """Set where a transit node also puts packets of its own onto the links that it passes others on to."""
    own_service = False
    """Set where :meth:`service_ns` is to be asked for every flit, not for the first of a packet alone."""

    def __init__(self, resource: str, overhead_ns: float) -> None:
        super().__init__(resource)
        self.overhead_ns = overhead_ns
        self.pipelined = False
        """Of a transit node: ``overhead_ns`` is latency alone. Else one worker serves all flits in turn."""
        self.passes_on = self.at_end = self.asked = self.holds_back = self.foreign = self.overlaps = False
        self.works_out = self.settled = False

    def settle(self) -> None:
        """Look at what paths need to know: once where the class is compiled, as nothing can change then."""
        if self.settled:
            return
        self.passes_on = self.role == TRANSIT
        self.at_end = self.takes_flits
        self.asked = self.own_service
        self.holds_back = self.sends
        self.foreign = hasattr(self, "__dict__")  # a class of Python's, which may do anything
        self.works_out = overrides(type(self), "overhead_ns", FabricNode)
        self.overlaps = self.passes_on and self.pipelined
        if self.overlaps and (self.asked or self.works_out):
            self.holds_back = True  # first flits may leave in another order than they came in
        self.settled = not self.foreign

    def overhead(self) -> float:
        """``overhead_ns``, also where a subclass works it out."""
        ns = self.overhead_ns
        if self.works_out:
            ns = float(getattr(self, "overhead_ns"))  # noqa: B009  (not the field of the compiled class)
        if not 0.0 <= ns < _INFINITY:
            raise wrong_answer(self, "overhead_ns", ns)
        return ns

    def service_ns(self, packet: Packet, flit: int) -> float:
        """Time that flit number ``flit`` of ``packet`` takes at a transit node, or its worker for it, ns."""
        return self.overhead() if flit == 0 and packet.pays else 0.0

    def receive(self, packet: Packet) -> None:
        """A whole message has arrived here and its overhead is paid."""
        raise TypeError(f"'{self.resource}' is not a destination, but a message of kind "
                        f"'{packet.transaction.kind}' ended there")  # fmt: skip

    def receive_flit(self, packet: Packet, flit: int, time: float) -> None:
        """A flit has arrived at a node whose ``takes_flits`` is set."""
        raise TypeError(f"'{self.resource}' takes no flits")

    def answer(self, packet: Packet) -> None:
        """All flits of a packet that it has taken have been served: the time of ``Fabric.answer_at``."""
        raise TypeError(f"'{self.resource}' takes no flits")


class Link(Server):
    """A directed wire: ``bytes / bw_gbs`` ns of occupancy a flit, then ``delay_ns`` of flight."""

    def __init__(self, edge: Edge, flit_bytes: int) -> None:
        super().__init__(edge.id)
        self.edge = edge
        self.kind = str(edge.properties["kind"])
        self.bw_gbs = float(edge.properties["bw_gbs"])
        self.delay_ns = float(edge.properties["delay_ns"])
        self.flit_ns = flit_bytes / self.bw_gbs
        self.issue_ns = 0.0
        """Time for which a message takes the output of its node beyond its bytes, behind its last flit."""
        self.passing = 0
        """Messages whose first flit has come to the node before it, if that is pipelined, and whose last has
        not left."""
        self.ahead = 0.0
        """When the first flit that was booked ahead last is ready; one that comes later does not pass it."""
        self.port: Any = None
        """Where its arbiter decides; None where it serves first come first served."""
        self.streams = 0
        """Messages that crossed it within a PE, without the fabric (:meth:`stream`)."""
        self.streamed_bytes = 0
        self.stream_free = 0.0

    def stream(self, head: float, nbytes: int) -> float:
        """A message within a PE crosses, cut through: its bytes leave as they come.

        Streams go one after the other. They do not queue behind flits of the fabric that cross the same
        link, nor these behind them.

        Args:
            head: when the first byte stands before the link, ns.
            nbytes: size of the message.

        Returns:
            When the last byte would be across if all bytes stood before the link at ``head``. A sender or
            receiver that is slower than the link determines the time itself.
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
        stops.append(not node.passes_on)
    last = nodes[len(nodes) - 1]
    return Path(nodes, links, stops, last.at_end)


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
