"""Access to memory: one transaction for each physical request, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from kernbench.address import PhysicalRequest
from kernbench.components.base import Component
from kernbench.routing import Traffic
from kernbench.sim.records import Access
from kernbench.sim.transaction import Packet, Transaction


def begin(
    source: Component,
    traffic: Traffic,
    kind: str,
    requests: Iterable[PhysicalRequest],
    t_submit: float,
    *,
    op: int,
    is_write: bool,
    ids: tuple[str, str] = ("", ""),
) -> list[Transaction]:
    """A transaction for each of ``requests``, by way of its channel router where it has one.

    Those that stand for one aggregated request become one :class:`~kernbench.sim.records.Access`.
    """
    system = source.system
    pieces: list[list[Transaction]] = []
    for request in requests:
        transaction = system.begin(
            kind,
            system.path(source.resource, request.component, traffic, request.via),
            request.nbytes,
            t_submit,
            op=op,
            address=request.offset,
            channel=request.channel,
            is_write=is_write,
            ids=ids,
        )
        if request.opens:
            pieces.append([])
        pieces[-1].append(transaction)
    if len(pieces) == 1 and len(pieces[0]) == 1:
        return pieces[0]
    for piece in pieces:
        if len(piece) > 1:
            access = Access(piece[0].id, len(piece))
            for part in piece:
                part.access = access
    return [transaction for piece in pieces for transaction in piece]


def send(source: Component, transactions: Sequence[Transaction]) -> None:
    """Send them: data if they write, else commands without bytes.

    Bytes leave in order of address: the requests of one access flit by flit in turn.
    """
    system = source.system
    if len(transactions) == 1:
        (one,) = transactions
        system.fabric.send(Packet(one, one.path, one.nbytes if one.is_write else 0, system.flit_bytes))
        return
    packets = [Packet(t, t.path, t.nbytes if t.is_write else 0, system.flit_bytes) for t in transactions]
    for _, group in groupby(packets, lambda packet: packet.transaction.access or packet.transaction):
        together = list(group)
        if len(together) > 1:
            system.fabric.send_together(together)
        else:
            system.fabric.send(together[0])
