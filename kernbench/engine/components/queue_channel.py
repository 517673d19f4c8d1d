"""PE_DMA's third channel: tokens and credits of queues over the fabric, slots in memory.

Tokens and credits are one-way messages from PE_DMA to PE_DMA. They leave in the order in which PE_IPCQ
gives them, and share links with everything else. A token that has arrived whole is written to its slot:
that takes ``overhead + bytes / bandwidth`` of the slot's memory, and for SRAM and HBM a write transaction
from the PE to the bank after it; reading a slot is the same the other way round. Slots in TCM are written
and read through the TCM's ports, at the slower of the two bandwidths. In SRAM and HBM one write and one
read at a time pay the memory's time; the transactions overlap with the next ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from kernbench.engine.components import access
from kernbench.engine.components.base import Component
from kernbench.engine.components.multicast import Leg, branches_of, legs_of
from kernbench.engine.components.pe_tcm import PeTcm
from kernbench.engine.components.queue_ring import QueueCredit, QueueToken
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Packet, Path, Transaction
from kernbench.engine.program.operations import Op
from kernbench.engine.program.queues import BUFFER_KINDS
from kernbench.hardware.routing import Traffic
from kernbench.hardware.topology.nodes import Location
from kernbench.hardware.topology.places import places

if TYPE_CHECKING:
    from kernbench.engine.components.pe_dma import PeDma
    from kernbench.engine.components.pe_ipcq import PeIpcq

Done = Callable[[float], None]
"""Called with the time at which the work began, ns, when it is over."""


@dataclass(eq=False, slots=True)
class Loop:
    """A path that leads back to where it begins, and what was sent over it and its reverse."""

    path: Path
    transactions: int = 0
    nbytes: int = 0


def copy_op(owner: Component, parent: Op, stage: str, nbytes: int) -> Op:
    """The record of a copy to or from a slot, for ``owner``'s command ``parent``."""
    op = Op(owner.system.next_op_id(), "queue", "ipcq_copy")
    op.launch = parent.launch
    op.parent = parent.id
    op.stage = stage
    op.nbytes = nbytes
    return op


class QueueChannel:
    """The queue channel of one PE_DMA, ``owner``; it serves the PE's ``ipcq``."""

    def __init__(self, owner: PeDma, ipcq: PeIpcq) -> None:
        self._owner = owner
        self._system = owner.system
        self._ipcq = ipcq
        tcm = owner.sibling("pe_tcm")
        assert isinstance(tcm, PeTcm)
        self._tcm = tcm
        self._tiers = {
            kind: (ipcq.number(f"{kind}_gbs"), ipcq.number(f"{kind}_overhead_ns")) for kind in BUFFER_KINDS
        }
        self._credit_bytes = ipcq.integer("credit_bytes")
        self._paths: dict[Location, Path] = {}
        self._credit_paths: dict[Location, Path] = {}
        self._trees: dict[tuple[Location, ...], list[Leg]] = {}
        self._loop: Loop | None = None
        self.reset()

    def reset(self) -> None:
        """See :meth:`Server.reset`."""
        self._slot_servers = {
            False: Server(f"{self._owner.resource}#queue_read"),
            True: Server(f"{self._owner.resource}#queue_write"),
        }
        self._tokens_from = 0.0
        """When the last token left; none overtakes it."""
        if self._loop is not None:
            self.close(None)

    def close(self, loop: Loop | None) -> None:
        """From now on the way from the PE to itself is ``loop``."""
        if loop is self._loop:
            return
        self.forget_paths()
        self._loop = loop
        if loop is not None:
            here = self._ipcq.location
            self._paths[here], self._credit_paths[here] = loop.path, loop.path.reverse

    def forget_paths(self) -> None:
        """Called when routes have changed."""
        self._paths.clear()
        self._credit_paths.clear()
        self._trees.clear()

    def path(self, peer: Location) -> Path:
        """The route of tokens to ``peer``'s DMA; credits from there come back over its reverse."""
        path = self._paths.get(peer)
        if path is None:
            to = places(self._system.graph).part("pe_dma", *peer)
            path = self._paths[peer] = self._system.path(self._owner.resource, to, Traffic.PE_DMA)
        return path

    def trunks(self, peers: tuple[Location, ...]) -> list[Leg]:
        """The trees over which a multicast goes to ``peers``."""
        found = self._trees.get(peers)
        if found is None:
            found = self._trees[peers] = legs_of([self.path(peer) for peer in peers])
        return found

    def send_tokens(self, tokens: Sequence[QueueToken], peers: tuple[Location, ...], parent: int) -> None:
        """Put a token onto the fabric, or those of a multicast, one to each of ``peers``.

        ``parent`` is the transaction whose credit they needed, or -1. The bytes come from the PE's TCM, like
        those of a DMA write: all at once if the link from there is as fast as the one to the router, and
        otherwise as they come.
        """
        clock, nbytes = self._owner.clock, tokens[0].nbytes
        head = self._owner.from_tcm(nbytes) if nbytes else clock.now
        gbs = self._owner.feeding_gbs() if nbytes else 0.0
        if not gbs and self._tokens_from > clock.now:
            clock.call_at(self._tokens_from, self._put_tokens, tokens, peers, parent, head, gbs)
        else:
            self._put_tokens(tokens, peers, parent, head, gbs)

    def _put_tokens(
        self,
        tokens: Sequence[QueueToken],
        peers: tuple[Location, ...],
        parent: int,
        head: float,
        gbs: float,
    ) -> None:
        def begin(leg: Leg) -> Transaction:
            token = tokens[leg.end]
            transaction = self._open("ipcq_token", leg.path, token.nbytes, token, token.op.id, parent)
            token.transaction = transaction.id
            token.op.transactions.append(transaction.id)
            return transaction

        first: Transaction | None = None
        for trunk in self.trunks(peers):
            whole = begin(trunk)
            if first is not None:  # over another first link; the bytes are read once
                whole.split_from = first.id
            branches = branches_of(trunk, whole, self._system.fabric.flit_bytes, begin)
            first = first or whole
            if not gbs:
                access.send(self._owner, [whole], branches)
                continue
            (self._tokens_from,) = access.send_fed(self._owner, [whole], head, gbs, branches)
            self._owner.dma.fed_hop(whole, head, self._tokens_from)

    def send_credit(self, credit: QueueCredit, peer: Location, parent: int) -> None:
        """Return a credit to ``peer`` for a token that it sent; ``parent`` is what carried the token."""
        path = self._credit_paths.get(peer)
        if path is None:
            forth = self._system.path(
                places(self._system.graph).part("pe_dma", *peer), self._owner.resource, Traffic.PE_DMA
            )
            path = self._credit_paths[peer] = forth.reverse
        credits = self._open("ipcq_credit", path, self._credit_bytes, credit, credit.op, parent)
        access.send(self._owner, [credits])

    def _open(self, kind: str, path: Path, nbytes: int, message: object, op: int, parent: int) -> Transaction:
        loop = self._loop
        if loop is not None and (path is loop.path or path is loop.path.reverse):
            loop.transactions += 1
            loop.nbytes += nbytes
        return self._system.begin(
            kind, path, nbytes, self._owner.clock.now, parent=parent, op=op, message=message, is_write=True
        )

    def receive(self, packet: Packet) -> None:
        """Take a token or a credit that has arrived completely."""
        transaction = packet.transaction
        message = transaction.message
        self._system.end(transaction)
        if isinstance(message, QueueCredit):
            self._owner.forward(self._ipcq, self._ipcq.credit_arrived, message, transaction.id)
        else:
            assert isinstance(message, QueueToken)
            self._ipcq.token_arrived(message)

    def write_slot(self, token: QueueToken, buffer_kind: str, done: Done) -> None:
        """Write a token that has arrived to its slot."""
        self._access(token, buffer_kind, token.op, True, done)

    def read_slot(self, token: QueueToken, buffer_kind: str, op: Op, done: Done) -> None:
        """Read a slot for the kernel."""
        self._access(token, buffer_kind, op, False, done)

    def _access(self, token: QueueToken, buffer_kind: str, op: Op, write: bool, done: Done) -> None:
        owner, nbytes = self._owner, token.nbytes
        ready = owner.clock.time
        if not nbytes:
            done(ready)
            return
        gbs, overhead = self._tiers[buffer_kind]
        if buffer_kind == "tcm":
            self._tcm.access(owner, op, nbytes, write=write, done=done, gbs=gbs, overhead_ns=overhead)
            return
        sent = access.begin(
            owner,
            Traffic.PE_DMA,
            "ipcq_slot_write" if write else "ipcq_slot_read",
            self._system.addresses.requests(token.address, nbytes),
            ready,
            op=op.id,
            is_write=write,
        )
        server = self._slot_servers[write]
        duration = overhead + nbytes / gbs
        start = server.occupy(ready, duration, sent[0])
        access.Requests(partial(done, start), partial(self._system.served, op)).await_all(sent)
        for transaction in sent:
            transaction.parent = token.transaction
            op.transactions.append(transaction.id)
            wait = 0.0
            if start > ready:
                wait = transaction.note_waits(owner.index, server, ready, start)
            owner.wait_ns += wait
            if transaction.traced:
                end = start + duration
                transaction.hop(owner.index, ready, start, end, end - ready - wait, wait, transaction.nbytes)
        owner.clock.call_at(start + duration, access.send, owner, sent)
