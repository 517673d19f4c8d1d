"""Transactions and the packets that carry them.

A transaction is one thing asked and answered: a read (command out, data back), a write (data out,
acknowledgement back), a launch message (one way). Each direction is one :class:`Packet`: flits of one
message over one path. A transaction collects its hops as it goes; what it spent at each place is told by
its last flit, whose journey has no gaps, so that service and waits add up to its time exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kernbench.sim.node import TRANSIT, FabricNode, Link


class HopRow(NamedTuple):
    """One place on a transaction's way. Times in ns; ``resource`` is the machine's resource number."""

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


HOLDERS_NAMED = 8
"""How many holders one wait tells apart."""


class Wait(NamedTuple):
    """A transaction stood behind ``holder`` at ``resource`` for ``ns``; ``holders`` > 1: behind so many.

    Of a component whose parts are resources themselves (an HBM slice's pseudo-channels), it is the part.
    """

    holder: int
    resource: int
    ns: float
    holders: int


class Access:
    """The requests, one a channel, that stand for one aggregated request: together they pay what it would.

    Overheads on the way out and of data on the way back are the ``first`` one's; those of acknowledgements,
    and the asking component's own, the last one's. What stores and forwards messages waits for all of them
    and sends them on together.
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

    def gather(self, node: int, packet: Packet, time: float) -> list[tuple[Packet, float]]:
        """``packet`` is whole at ``node``: all packets and when they were, or none while some are missing."""
        held = self._held.setdefault(node, [])
        held.append((packet, time))
        return self._held.pop(node) if len(held) == self.size else []


class Transaction:
    """One request and its answer. ``t_submit``, ``t_done`` in ns; ``parent`` is the id of its cause or -1."""

    __slots__ = (
        "access", "address", "channel", "dst", "id", "is_write", "kind", "message", "nbytes", "on_done",
        "op", "parent", "path", "rows", "src", "t_done", "t_submit", "traced", "wait_ns", "waits",
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
        """What it is a part of, with requests of other channels."""
        self.channel = channel
        """The pseudo-channel of the destination that holds all of its bytes; -1 where address bits say so."""
        self.is_write = is_write
        self.message = message
        self.on_done = on_done
        self.traced = traced
        self.rows: list[HopRow] = []
        self.waits: list[Wait] = []
        self.wait_ns = 0.0
        """Time for which it stood behind others, ns; known once it has ended."""

    def blame(self, resource: int, held: Sequence[tuple[Any, float]]) -> float:
        """Note who held ``resource`` while this waited; return the ns in all.

        Each holder is one wait, up to :data:`HOLDERS_NAMED` of them. In a longer queue the ones right
        ahead are kept apart and those before them become one wait, under the name of the one that was
        served first: a queue of n would otherwise take n * n / 2 rows.
        """
        if len(held) == 1:
            ((holder, ns),) = held
            self.waits.append(Wait(holder.id, resource, ns, 1))
            return ns
        shares: dict[int, float] = {}
        for holder, ns in held:
            shares[holder.id] = shares.get(holder.id, 0.0) + ns
        total = 0.0
        merge = len(shares) - HOLDERS_NAMED + 1 if len(shares) > HOLDERS_NAMED else 1
        first, merged = -1, 0.0
        for i, (holder_id, ns) in enumerate(shares.items()):
            total += ns
            if i < merge:
                first = holder_id if i == 0 else first
                merged += ns
                if i == merge - 1:
                    self.waits.append(Wait(first, resource, merged, merge))
            else:
                self.waits.append(Wait(holder_id, resource, ns, 1))
        return total


class Path:
    """A route compiled to the objects that carry it: n nodes and the n-1 links between them."""

    __slots__ = ("gathers", "links", "nodes", "reverse")

    def __init__(self, nodes: Sequence[FabricNode], links: Sequence[Link]) -> None:
        self.nodes = tuple(nodes)
        self.links = tuple(links)
        self.reverse: Path = self
        end = len(self.nodes) - 1
        self.gathers = tuple(
            not node.takes_flits if i == end else node.role != TRANSIT for i, node in enumerate(self.nodes)
        )
        """Which nodes wait for the whole message: flits between the first and the last mean nothing there."""

    def latency_ns(self) -> float:
        """Time of a 0-byte message with nothing in its way, both ends' overheads included, ns."""
        return sum(node.overhead_ns for node in self.nodes) + sum(link.delay_ns for link in self.links)


class Packet:
    """``nbytes`` of one transaction on their way over one path, as ``ceil(nbytes / flit)`` flits."""

    __slots__ = (
        "feed", "feed_hop",
        "gathers", "key", "last", "last_bytes", "link_in", "link_start", "links", "nbytes",
        "node_in", "node_start", "nodes", "pays", "transaction", "turn",
    )  # fmt: skip

    def __init__(self, transaction: Transaction, path: Path, nbytes: int, flit_bytes: int) -> None:
        self.transaction = transaction
        self.pays = transaction.access is None or transaction.access.first == transaction.id
        """It pays overheads; of the packets of one :class:`Access` one does."""
        self.nodes = path.nodes
        self.links = path.links
        self.gathers = path.gathers
        self.nbytes = nbytes
        flits = -(-nbytes // flit_bytes) or 1
        self.last = flits - 1
        self.last_bytes = nbytes - (flits - 1) * flit_bytes
        self.key = transaction.id << 44
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
