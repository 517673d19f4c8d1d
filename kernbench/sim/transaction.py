"""Transactions and the packets that carry them.

A transaction is one thing asked and answered: a read (command out, data back), a write (data out,
acknowledgement back), a launch message (one way). Each direction is one :class:`Packet`: flits of one
message over one path. A transaction collects its hops as it goes; the time it spent at each node and link
is that of its last flit, whose journey has no gaps, so that service and waits add up to its time exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbench.compiled import built_on, core
from kernbench.errors import RoutingError, UsageError
from kernbench.sim.node import TRANSIT, FabricNode, Link
from kernbench.sim.server import Held


class HopRow(NamedTuple):
    """One node or link on a transaction's path. Times in ns; ``resource`` is its number in the machine."""

    resource: int
    t_in: float
    """First flit arrives."""
    t_start: float
    """First flit is served."""
    t_out: float
    """Last flit leaves."""
    service_ns: float
    """Time of the last flit here, less what it waited for others."""
    wait_ns: float
    """Time for which the last flit stood here behind other transactions."""
    bytes: int


Hop = tuple[int, float, float, float, float, float, int]
"""The fields of a :class:`HopRow`: a run notes a hundred thousand of them, each ten times as quickly."""


class Wait(NamedTuple):
    """A transaction stood behind ``holder`` at ``resource`` for ``ns``; ``holders`` > 1: behind so many.

    Of a component whose parts are resources themselves (an HBM slice's pseudo-channels), it is the part.
    ``seq`` is the hop of the transaction at which it stood; all of the wait lay between ``t_from`` and
    ``t_to``, ns.
    """

    holder: int
    resource: int
    ns: float
    holders: int
    seq: int
    t_from: float
    t_to: float


class Access:
    """The requests, one a channel, that stand for one aggregated request and cost the same overheads.

    The ``first`` request pays the overheads of requests on their way out and of data on their way back; the
    last one pays those of acknowledgements and of the component that asked. A store-and-forward component
    waits for all of them and sends them on together.
    """

    __slots__ = ("_held", "first", "open", "size", "unanswered")

    def __init__(self, first: int, size: int) -> None:
        self.first = first
        """Id of its first transaction."""
        self.unanswered = size
        """Writes of it that the memory has not acknowledged."""
        self.open = size
        """Requests of it whose answers have not come back."""
        self.size = size
        """Its transactions."""
        self._held: dict[int, list[tuple[Packet, float]]] = {}

    def reassemble(self, node: int, packet: Packet, time: float) -> list[tuple[Packet, float]]:
        """``packet`` is whole at ``node``: all packets and when they were, or none while some are missing."""
        held = self._held.setdefault(node, [])
        held.append((packet, time))
        return self._held.pop(node) if len(held) == self.size else []


class Transaction:
    """One request and its answer. ``t_submit``, ``t_done`` in ns; ``parent`` is the id of its cause or -1."""

    __slots__ = (
        "_hops", "_waits", "access", "address", "channel", "dst", "id", "ids", "is_write", "kind", "message",
        "nbytes", "note_hop", "on_done", "on_served", "op", "parent", "path", "src", "t_done", "t_first",
        "t_submit", "traced", "wait_ns",
    )  # fmt: skip

    def __init__(
        self,
        id: int,
        kind: str,
        src: str,
        dst: str,
        nbytes: int,
        t_submit: float,
        path: Path,
        *,
        parent: int = -1,
        op: int = -1,
        address: int = 0,
        channel: int = -1,
        is_write: bool = False,
        message: Any = None,
        ids: tuple[str, str] = ("", ""),
        on_done: Callable[[Transaction], None] | None = None,
        traced: bool = True,
    ) -> None:
        self.id = id
        self.kind = kind
        self.src = src
        self.dst = dst
        self.nbytes = nbytes
        self.t_submit = t_submit
        self.t_done = -1.0
        self.path = path
        self.parent = parent
        self.op = op
        self.address = address
        """Byte offset within the destination memory."""
        self.access: Access | None = None
        """The access that it is a part of, with requests of other channels."""
        self.channel = channel
        """The pseudo-channel of the destination that holds all of its bytes; -1 where address bits say so."""
        self.is_write = is_write
        self.message = message
        self.ids = ids
        """Correlation id and request id of the host's message that it belongs to; empty for none."""
        self.on_done = on_done
        self.on_served: Callable[[], None] | None = None
        """Called when the memory has served its last flit: a read is sampled, a write committed."""
        self.traced = traced
        self.forget()
        self.t_first = 0.0
        """When the first byte of the answer to a read came, ns."""
        self.wait_ns = 0.0
        """Time for which it stood behind others, ns; known once it has ended."""

    def forget(self) -> None:
        """Its hops and waits have been gathered: keep them no longer."""
        self._hops: list[Hop] = []
        self._waits: list[Wait] = []
        self.note_hop: Callable[[Hop], None] = self._hops.append
        """Note a hop; for traced transactions alone."""

    @property
    def hops(self) -> Sequence[Hop]:
        """Its hops so far."""
        return tuple(self._hops)

    @property
    def rows(self) -> list[HopRow]:
        """Its hops so far, by name of field."""
        return [HopRow(*hop) for hop in self._hops]

    @property
    def waits(self) -> Sequence[Wait]:
        """Its waits so far."""
        return tuple(self._waits)

    def waited(self) -> float:
        """The time for which it has stood behind others so far, ns."""
        return fsum([wait.ns for wait in self._waits])

    def record_waits(self, resource: int, held: Sequence[Held]) -> float:
        """Note the holders of ``resource`` (:meth:`Server.waited_for`); return the ns waited in all."""
        total = 0.0
        seq = len(self._hops)  # the hop is noted next
        for holder, ns, t_from, t_to, holders in held:
            self._waits.append(Wait(holder.id, resource, ns, holders, seq, t_from, t_to))
            total += ns
        return total


HOP_BITS, FLIT_BITS = 12, 32
"""Bits of a flit's key on the event queue that number the hops of its path and the flits of its message."""


class Path:
    """A route compiled to the objects that carry it: n nodes and the n-1 links between them."""

    __slots__ = ("links", "nodes", "reassembles", "reverse", "weight")

    def __init__(self, nodes: Sequence[FabricNode], links: Sequence[Link]) -> None:
        self.nodes = tuple(nodes)
        self.links = tuple(links)
        if len(self.nodes) >> HOP_BITS:
            raise RoutingError(
                f"the route from '{nodes[0].resource}' to '{nodes[-1].resource}' passes {len(nodes)} "
                f"components, and a route has at most {(1 << HOP_BITS) - 1}; make the machine smaller"
            )
        self.weight = 0.0
        """Sum of the links' routing weights in mm; 0 where it was not routed."""
        self.reverse: Path = self
        end = len(self.nodes) - 1
        self.reassembles = tuple(
            not node.takes_flits if i == end else node.role != TRANSIT for i, node in enumerate(self.nodes)
        )
        """Which nodes wait for the whole message: flits between the first and the last mean nothing there."""

    def latency_ns(self) -> float:
        """Time of a 0-byte message with nothing in its way, both ends' overheads included, ns."""
        return fsum([*(node.overhead_ns for node in self.nodes), *(link.delay_ns for link in self.links)])


class Packet:
    """``nbytes`` of one transaction on their way over one path, as ``ceil(nbytes / flit)`` flits."""

    __slots__ = (
        "feed",
        "feed_hop",
        "key",
        "last",
        "last_bytes",
        "link_in",
        "link_start",
        "links",
        "nbytes",
        "node_in",
        "node_start",
        "nodes",
        "pays",
        "reassembles",
        "transaction",
        "turn",
    )  # fmt: skip

    def __init__(self, transaction: Transaction, path: Path, nbytes: int, flit_bytes: int) -> None:
        self.transaction = transaction
        self.pays = transaction.access is None or transaction.access.first == transaction.id
        """It pays overheads; of the packets of one :class:`Access` one does."""
        self.nodes = path.nodes
        self.links = path.links
        self.reassembles = path.reassembles
        self.nbytes = nbytes
        flits = -(-nbytes // flit_bytes) or 1
        self.last = flits - 1
        self.last_bytes = nbytes - (flits - 1) * flit_bytes
        if self.last >> FLIT_BITS:
            raise UsageError(
                f"{transaction.kind} of {nbytes} bytes from {transaction.src} to {transaction.dst}: that is "
                f"{flits} flits, and a message has at most {1 << FLIT_BITS}; split it, or use larger flits"
            )
        self.key = transaction.id << (HOP_BITS + FLIT_BITS)
        hops = len(self.nodes)
        self.node_in = [0.0] * hops
        self.node_start = [0.0] * hops
        self.link_in = [0.0] * hops
        self.link_start = [0.0] * hops
        self.feed: Sequence[float] = ()
        """Times at which the flits of a message sent as a whole reach the end of their first link."""
        self.feed_hop = -1
        self.turn: Any = None
        """Scratch of the destination while flits come in."""


if not TYPE_CHECKING and core is not None:
    Transaction = built_on(core.Transaction, Transaction)
    Path = built_on(core.Path, Path)
    Packet = built_on(core.Packet, Packet)
    core.register(
        hop_row=HopRow, wait=Wait, routing_error=RoutingError, usage_error=UsageError, exact_sum=fsum,
        node=FabricNode, link=Link, transaction=Transaction, packet=Packet,
    )  # fmt: skip
