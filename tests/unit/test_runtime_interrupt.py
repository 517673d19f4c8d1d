"""An interrupt that got lost on its way is raised again by the event loop."""

from __future__ import annotations

import os
import signal
from heapq import heappush

import pytest

from kernbench.runtime.process import interruptible
from kernbench.sim.clock import FLIT, Clock


class Never:
    done = False


class Interrupting:
    """Has Ctrl-C strike in its finaliser, where Python drops it."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.usefixtures("at_a_terminal")
def test_an_interrupt_dropped_by_a_finaliser_still_ends_the_run() -> None:
    clock = Clock()

    def tick() -> None:
        if clock.now == 5.0:
            Interrupting()
        assert clock.now < 1000.0, "the interrupt was lost"
        clock.call_at(clock.now + 1.0, tick)

    clock.call_at(0.0, tick)
    with pytest.raises(KeyboardInterrupt), interruptible(clock):
        clock.advance(Never())


@pytest.mark.usefixtures("at_a_terminal")
def test_it_does_so_where_nothing_but_flits_move() -> None:
    clock = Clock()

    def arrive(time: float, key: int, packet: object) -> None:
        if time == 5.0:
            Interrupting()
        assert time < 1000.0, "the interrupt was lost"
        heappush(clock.entries, (time + 1.0, FLIT, key, packet))

    clock.on_flit = arrive
    heappush(clock.entries, (0.0, FLIT, 0, None))
    with pytest.raises(KeyboardInterrupt), interruptible(clock):
        clock.advance(Never())


def test_a_handler_of_the_program_is_left_alone() -> None:
    def own(*_: object) -> None:
        """The program's own."""

    before = signal.signal(signal.SIGINT, own)
    try:
        with interruptible(Clock()):
            assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)
