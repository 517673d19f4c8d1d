"""Events at one time happen in the order that the clock documents."""

from __future__ import annotations

from typing import Any

from kernbench.engine.core.clock import Carrier, Clock
from kernbench.engine.core.node import FabricNode, path_over
from kernbench.engine.core.transaction import Packet, Transaction


class Noting(Carrier):
    """Notes who arrives."""

    def __init__(self, seen: list[Any]) -> None:
        self.seen = seen

    def flit_arrives(self, time: float, packet: Packet, hop: int, flit: int) -> None:
        self.seen.append((packet.transaction.id, hop, flit))

    def step(self, what: int, packet: Packet, hop: int, flit: int) -> None:
        self.seen.append(("step", what, hop))


def packet(number: int) -> Packet:
    path = path_over([FabricNode("here", 0.0)], [])
    return Packet(Transaction(number, "m", "here", "here", 0, 0.0, path), path, 0, 64)


def test_order_at_equal_times() -> None:
    """Flits that were held back, flits that arrive (by number), callbacks, events."""
    clock, seen = Clock(), list[Any]()
    clock.carrier = Noting(seen)
    clock.timeout(5.0).callbacks.append(lambda _: seen.append("event"))
    clock.call_at(5.0, seen.append, "first call")
    clock.call_at(5.0, seen.append, "second call")
    for number, hop, flit in ((8, 0, 0), (7, 2, 0), (7, 1, 3), (7, 1, 2)):
        clock.entries.flit_at(5.0, number, hop, flit, packet(number))
    clock.entries.put_at_start(5.0, 3, 1, 0, packet(9))
    clock.entries.put_at_start(5.0, 4, 2, 0, packet(9))
    clock.call_at(4.0, seen.append, "before")
    clock.run()
    flits = [(7, 1, 2), (7, 1, 3), (7, 2, 0), (8, 0, 0)]
    calls = ["first call", "second call", "event"]
    assert seen == ["before", ("step", 3, 1), ("step", 4, 2), *flits, *calls]
    assert (clock.now, clock.events) == (5.0, 10)
