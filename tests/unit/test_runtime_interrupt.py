"""An interrupt that got lost on its way is raised again by the loop of events, or of a sweep's points."""

from __future__ import annotations

import os
import signal

import pytest

import kernbench as kb
from kernbench.engine.core.clock import Carrier, Clock
from kernbench.engine.core.node import FabricNode, path_over
from kernbench.engine.core.transaction import Packet, Transaction
from kernbench.support.time_limit import interruptible


class Never:
    done = False


class Interrupting:
    """Has Ctrl-C strike in its finaliser, where Python drops it."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_dropped_by_a_finaliser_still_ends_the_run() -> None:
    clock = Clock()

    def tick() -> None:
        if clock.now == 5.0:
            Interrupting()
        assert clock.now < 1000.0, "the interrupt was lost"
        clock.call_at(clock.now + 1.0, tick)

    clock.call_at(0.0, tick)
    with pytest.raises(KeyboardInterrupt), interruptible(clock.interrupt):
        clock.advance(Never())


def test_it_does_so_where_nothing_but_flits_move() -> None:
    clock = Clock()

    class Moving(Carrier):
        def flit_arrives(self, time: float, packet: Packet, hop: int, flit: int) -> None:
            if time == 5.0:
                Interrupting()
            assert time < 1000.0, "the interrupt was lost"
            clock.entries.flit_at(time + 1.0, 0, hop, flit, packet)

    clock.carrier = Moving()
    path = path_over([FabricNode("here", 0.0)], [])
    moved = Packet(Transaction(0, "m", "here", "here", 0, 0.0, path), path, 0, 64)
    clock.entries.flit_at(0.0, 0, 0, 0, moved)
    with pytest.raises(KeyboardInterrupt), interruptible(clock.interrupt):
        clock.advance(Never())


@pytest.mark.daily("1")
@pytest.mark.usefixtures("workdir")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_ends_at_an_interrupt_that_a_finaliser_drops(jobs: int) -> None:
    points: list[object] = []

    def first(point: object) -> None:
        points.append(point)
        if len(points) == 1:
            Interrupting()

    with pytest.raises(KeyboardInterrupt):
        kb.sweep(
            "gemm-single-pe", "minimal", params={"m": "16,32,48,64,80,96,112,128"}, jobs=jobs, on_point=first
        )
    assert len(points) < 3


def test_a_handler_of_the_program_is_left_alone() -> None:
    def own(*_: object) -> None:
        """The program's own."""

    before = signal.signal(signal.SIGINT, own)
    try:
        with interruptible(Clock().interrupt):
            assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)
