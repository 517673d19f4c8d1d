"""Access to memory: one transaction for each physical request, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from kernbench.address.requests import PhysicalRequest
from kernbench.components.base import Component
from kernbench.program.operations import Region
from kernbench.routing import Traffic
from kernbench.sim.fabric import Fabric
from kernbench.sim.records import ChannelRequests
from kernbench.sim.transaction import Packet, Transaction

_NO_IDS = ("", "")


def regions_of(requests: Sequence[PhysicalRequest]) -> tuple[Region, ...]:
    """The physical bytes that ``requests`` move, a region for each memory, in order."""
    if len(requests) == 1:
        (request,) = requests
        return (Region(request.pa, request.nbytes),)
    found: list[list[int]] = []
    for request in requests:
        if request.opens:
            last = [request.pa, request.nbytes]
            found.append(last)
        else:
            last[1] += request.nbytes
    return tuple([Region(*run) for run in found])


def begin(
    source: Component,
    traffic: Traffic,
    kind: str,
    requests: Iterable[PhysicalRequest],
    t_submit: float,
    op: int,
    is_write: bool,
    ids: tuple[str, str] = _NO_IDS,
) -> list[Transaction]:
    """A transaction for each of ``requests``, by way of its channel router where it has one.

    Those that stand for one aggregated request become one :class:`~kernbench.sim.records.Access`.
    """
    system = source.system
    pieces: list[list[Transaction]] = []
    piece: list[Transaction] = []
    for request in requests:
        path = system.path(source.resource, request.component, traffic, request.via)
        transaction = system.open(kind, path, request.nbytes, t_submit, op, is_write)
        transaction.address = request.offset
        transaction.channel = request.channel
        transaction.ids = ids
        if request.opens:
            piece = []
            pieces.append(piece)
        piece.append(transaction)
    if len(pieces) == 1 and len(pieces[0]) == 1:
        return pieces[0]
    for piece in pieces:
        if len(piece) > 1:
            access = ChannelRequests(piece[0].id, len(piece))
            for part in piece:
                part.access = access
    return [transaction for piece in pieces for transaction in piece]


def send(source: Component, transactions: Sequence[Transaction]) -> None:
    """Send them: data if they write, else commands without bytes.

    Bytes leave in order of address: the requests of one access flit by flit in turn.
    """
    fabric = source.system.fabric
    if len(transactions) > 1:
        _send_several(fabric, transactions)
        return
    one = transactions[0]
    fabric.send(Packet(one, one.path, one.nbytes if one.is_write else 0, fabric.flit_bytes))


def _send_several(fabric: Fabric, transactions: Sequence[Transaction]) -> None:
    packets = [Packet(t, t.path, t.nbytes if t.is_write else 0, fabric.flit_bytes) for t in transactions]
    for _, group in groupby(packets, lambda packet: packet.transaction.access or packet.transaction):
        together = list(group)
        if len(together) > 1:
            fabric.send_together(together)
        else:
            fabric.send(together[0])
