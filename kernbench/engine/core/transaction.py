"""Transactions and the packets that carry them.

A transaction is one thing asked and answered: a read (command out, data back), a write (data out,
acknowledgement back), a launch message (one way). Each direction is one :class:`Packet`: flits of one
message over one path. A transaction collects its hops as it goes; the time it spent at each node and link
is that of its last flit, whose journey has no gaps, so that service and waits add up to its time exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from kernbench.engine.core.columns import Doubles, Hops, Waits
from kernbench.engine.core.occupancy import OccupancyLog
from kernbench.engine.core.records import Hop, HopRow, Wait
from kernbench.engine.core.server import Server
from kernbench.errors import RoutingError, UsageError

if TYPE_CHECKING:
    from kernbench.engine.core.node import FabricNode, Link

_NO_IDS = ("", "")
LINK_START, NODE_OUT = 3, 4
"""Places of the times at which the first flit of a packet was put onto its links, and at which the one that
came last leaves pipelined nodes."""
HOP_BITS, FLIT_BITS = 12, 32
"""Bits of a flit's key on the event queue that number the hops of its path and the flits of its message."""


class Transaction:
    """One request and its answer. ``t_submit``, ``t_done`` in ns; ``parent`` is the id of its cause or -1."""

    def __init__(
        self,
        id: int,
        kind: str,
        src: str,
        dst: str,
        nbytes: int,
        t_submit: float,
        path: Path,
    ) -> None:
        self.prepare(id, kind, src, dst, nbytes, t_submit, path)

    def prepare(
        self, id: int, kind: str, src: str, dst: str, nbytes: int, t_submit: float, path: Path
    ) -> None:
        """Reset all further attributes."""
        self.id = id
        self.kind = kind
        self.src = src
        self.dst = dst
        self.nbytes = nbytes
        self.t_submit = t_submit
        self.t_done = -1.0
        self.path = path
        self.parent = -1
        self.split_from = -1
        """Of a leg of a multicast the id of the transaction whose copy it is; -1 of any other."""
        self.op = -1
        self.address = 0
        """Byte offset within the destination memory."""
        self.access: Any = None
        """The :class:`~kernbench.engine.components.access.ChannelRequests` that it is a part of, if any."""
        self.gathered: Any = None
        """The :class:`~kernbench.hardware.address.runs.Gathered` runs that it moves, where they are many."""
        self.channel = -1
        """The pseudo-channel of the destination that holds all of its bytes; -1 if address bits select it."""
        self.is_write = False
        self.message: Any = None
        self.ids = _NO_IDS
        """Correlation id and request id of the host's message that it belongs to; empty for none."""
        self.on_done: Callable[[Transaction], None] | None = None
        self.on_served: Callable[[], None] | None = None
        """Called when the memory has served its last flit: a read is sampled, a write committed."""
        self.traced = True
        self.t_first = 0.0
        """When the first byte of the answer to a read came, ns."""
        self.wait_ns = 0.0
        """Time that it waited for others, ns; known once it has ended, NaN if it is not traced."""
        self.hop_rows: Hops | None = None
        self.wait_rows: Waits | None = None

    def forget(self) -> None:
        """Drop its hops and waits, which have been gathered."""
        self.hop_rows = None
        self.wait_rows = None

    @property
    def hops(self) -> Sequence[Hop]:
        """Its hops so far."""
        return () if self.hop_rows is None else tuple(self.hop_rows.tuples())

    @property
    def rows(self) -> list[HopRow]:
        """Its hops so far, by name of field."""
        return [HopRow(*hop) for hop in self.hops]

    @property
    def waits(self) -> Sequence[Wait]:
        """Its waits so far."""
        return () if self.wait_rows is None else tuple([Wait(*row[1:]) for row in self.wait_rows.tuples()])

    def waited(self) -> float:
        """Time that it has waited for others so far, ns."""
        return 0.0 if self.wait_rows is None else fsum(self.wait_rows.times())

    def hop(
        self,
        resource: int,
        t_in: float,
        t_start: float,
        t_out: float,
        service_ns: float,
        wait_ns: float,
        nbytes: int,
    ) -> None:
        """Note a hop, the fields of a :class:`HopRow`; only for traced transactions."""
        if self.hop_rows is None:
            self.hop_rows = Hops()
        self.hop_rows.add(resource, t_in, t_start, t_out, service_ns, wait_ns, nbytes)

    def wait(self, holder: int, resource: int, ns: float, holders: int, t_from: float, t_to: float) -> None:
        """Note one wait at the hop that comes next, the fields of a :class:`Wait`."""
        if self.wait_rows is None:
            self.wait_rows = Waits()
        seq = 0 if self.hop_rows is None else self.hop_rows.count
        self.wait_rows.add(self.id, holder, resource, ns, holders, seq, t_from, t_to)

    def wait_for(self, holder: int, resource: int, t_from: float, t_to: float) -> float:
        """Record a wait behind ``holder`` from ``t_from`` to ``t_to``; return its ns, 0 if not traced."""
        if not self.traced:
            return 0.0
        self.wait(holder, resource, t_to - t_from, 1, t_from, t_to)
        return t_to - t_from

    def note_waits(self, resource: int, server: Server, begin: float, end: float) -> float:
        """Record who held ``server``, part of ``resource``, from ``begin`` to ``end``; return the ns waited.

        0 if it is not traced.
        """
        if not self.traced:
            return 0.0
        n = server.blockers(self, begin, end)
        return self.note_blockers(resource, server.log, n) if n else 0.0

    def note_blockers(self, resource: int, log: OccupancyLog, n: int) -> float:
        """Record the ``n`` blockers that ``log`` found at ``resource``; return the total wait in ns."""
        total = 0.0
        if n:
            found = log.found
            k = n
            while k:
                k -= 1
                who = found.holder[k]
                if isinstance(who, Transaction):
                    other = who
                    holder = other.id
                else:
                    holder = who.id
                self.wait(
                    holder, resource, found.ns.at[k], found.holders[k], found.t_from.at[k], found.t_to.at[k]
                )
                total += found.ns.at[k]
                found.holder[k] = None
        return total


class Path:
    """A route compiled to the objects that carry it: n nodes and the n-1 links between them."""

    def __init__(
        self, nodes: Sequence[FabricNode], links: Sequence[Link], stops: Sequence[bool], takes_flits: bool
    ) -> None:
        """``stops``: which of ``nodes`` are no transit nodes; ``takes_flits``: whether the last one does."""
        self.nodes = tuple(nodes)
        self.links = tuple(links)
        if len(self.nodes) >> HOP_BITS:
            raise RoutingError(
                f"the route from '{nodes[0].resource}' to '{nodes[len(nodes) - 1].resource}' passes "
                f"{len(nodes)} components, and a route has at most {(1 << HOP_BITS) - 1}; "
                "make the machine smaller"
            )
        self.hops = len(self.links)
        if len(self.nodes) <= self.hops:
            raise ValueError(f"a path of {len(self.nodes)} components over {self.hops} links")
        self.weight = 0.0
        """Sum of the links' routing weights in mm; 0 where it was not routed."""
        self.make_reverse: Callable[[], Path] | None = None
        """Makes the path of the answers on first use; None if this path is its own reverse."""
        self._reverse: Path | None = None
        before = tuple(stops[: self.hops])
        self.reassembles = (*before, not takes_flits)
        """Which nodes wait for the whole message: flits between the first and the last mean nothing there."""
        self.sinks = (*before, True)
        """Which nodes take flits as they come: they leave an input buffer on arrival."""

    @property
    def reverse(self) -> Path:
        """The path of answers."""
        back = self._reverse
        if back is None:
            back = self._reverse = self if self.make_reverse is None else self.make_reverse()
        return back


class Packet:
    """``nbytes`` of one transaction on their way over one path, as ``ceil(nbytes / flit)`` flits."""

    def __init__(self, transaction: Transaction, path: Path, nbytes: int, flit_bytes: int) -> None:
        self.prepare(transaction, path, nbytes, flit_bytes)

    def prepare(self, transaction: Transaction, path: Path, nbytes: int, flit_bytes: int) -> None:
        """Set up the packet."""
        if flit_bytes < 1 or nbytes < 0:
            raise ValueError(f"a packet of {nbytes} bytes in flits of {flit_bytes}")
        self.transaction = transaction
        self.path = path
        self.pays = transaction.access is None or transaction.access.first == transaction.id
        """Whether it pays overheads; of the packets of one access, one does."""
        self.nbytes = nbytes
        flits = (nbytes + flit_bytes - 1) // flit_bytes
        if not flits:
            flits = 1
        self.last = flits - 1
        self.last_bytes = nbytes - (flits - 1) * flit_bytes
        if self.last >> FLIT_BITS:
            raise UsageError(
                f"{transaction.kind} of {nbytes} bytes from {transaction.src} to {transaction.dst}: that is "
                f"{flits} flits, and a message has at most {1 << FLIT_BITS}; split it, or use larger flits"
            )
        self.stride = path.hops + 1
        self.times = Doubles().sized(5 * self.stride)
        """Of each node when the first flit came and was served, then of each link, then of each node when the
        flit that came last leaves, if it is pipelined: ``stride`` floats each."""
        self.feed: Any = None
        """Times at which the flits of a message sent as a whole reach the end of their first link."""
        self.feed_hop = -1
        self.state: Any = None
        """State that the destination keeps while its flits arrive."""
        self.done = 0.0
        self.done_by: Any = None
        """When the latest flit is served there, and by which server."""
        self.channels: Any = None
        """Its virtual channel on each link; None if it has none."""
        self.branches: Any = None
        """Of a multicast, by hop of its path, the packets that copy it from that node on."""
        self.entered: Any = None
        """Of such a copy, the link over which its flits come to the first node of its path."""

    def resized(self, nbytes: int, flit_bytes: int) -> Packet:
        """A packet of ``nbytes`` that goes on in its place: see :meth:`FabricNode.transform`."""
        other = Packet(self.transaction, self.path, nbytes, flit_bytes)
        other.pays, other.branches, other.entered = self.pays, self.branches, self.entered
        return other

    def feeds(self) -> Doubles:
        """Memory for one time for each flit."""
        feed = self.feed = Doubles().sized(self.last + 1)
        return feed

    def time_at(self, place: int, i: int) -> float:
        """When its first flit passed ``place`` of the ``i``-th node or link, ns; see ``times``."""
        return self.times.at[place * self.stride + i]
