"""Events at one time happen in the order that the clock documents."""

from __future__ import annotations

from typing import Any

from kernbench.sim.clock import FLIT, Clock


def test_order_at_equal_times() -> None:
    """Flits that were held back, flits that arrive (by key), callbacks, events."""
    clock, seen = Clock(), list[Any]()
    clock.on_flit = lambda _time, key, _packet: seen.append(key)
    clock.timeout(5.0).callbacks.append(lambda _: seen.append("event"))
    clock.call_at(5.0, seen.append, "first call")
    clock.call_at(5.0, seen.append, "second call")
    clock.entries.append((5.0, FLIT, 8, None))
    clock.entries.append((5.0, FLIT, 7, None))
    clock.entries.sort(key=lambda entry: entry[:3])
    clock.leave_at(5.0, seen.append, "held back first")
    clock.leave_at(5.0, seen.append, "held back second")
    clock.call_at(4.0, seen.append, "before")
    clock.run()
    calls = ["first call", "second call", "event"]
    assert seen == ["before", "held back first", "held back second", 7, 8, *calls]
    assert (clock.now, clock.events) == (5.0, 8)
