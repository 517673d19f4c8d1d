"""What is kept of launches that are over: one entry for each, not one for each of their PEs."""

from __future__ import annotations

from kernbench.engine.program.operations import Op, Order
from kernbench.values.races import END, RaceDetector, Thread
from kernbench.values.tensor_names import TensorNames

PACKAGES, PES, ROUNDS = 4, 16, 12


def rounds() -> tuple[RaceDetector, list[Thread]]:
    """Launches on each package that the host does not wait for; each thread hears of one on the next."""
    races = RaceDetector(TensorNames())
    last: list[Thread] = []
    for turn in range(ROUNDS):
        targets = [[(package, 0, pe) for pe in range(PES)] for package in range(PACKAGES)]
        for places in targets:
            races.launch_submitted(places)
        last = [
            races.thread(turn * PACKAGES + p, place) for p, places in enumerate(targets) for place in places
        ]
        for number, thread in enumerate(last):
            message = Op(turn * 1000 + number, "memory", "send")
            thread.stamp(message)
            assert isinstance(message.order, Order)
            races.sent(message.id, message.order)
        for number, thread in enumerate(last):
            races.received(thread, turn * 1000 + (number + PES) % len(last))
    return races, last


def test_launches_that_are_over_have_one_entry() -> None:
    _, last = rounds()
    for thread in last:
        known = thread.clock._all()
        # Of the present round alone, and what was heard of other packages that has not ended there.
        assert len(known) <= 3 * PES * PACKAGES
        # Nobody asks about the first one: it is the floor of the others.
        assert {launch for launch, _ in known}.isdisjoint(range(1, (ROUNDS - 4) * PACKAGES))


def test_what_is_over_is_known_to_be_before() -> None:
    _, last = rounds()
    for thread in last:
        launch, (package, _, pe) = thread.key
        before = launch - PACKAGES
        assert thread.clock.of((before, (package, 0, pe))) == END
        assert thread.clock.of((before, (package, 0, (pe + 1) % PES))) == END
        heard = launch - package + (package + 1) % PACKAGES
        assert thread.clock.of((heard, ((package + 1) % PACKAGES, 0, pe))) == 1
        assert thread.clock.of((heard, ((package + 1) % PACKAGES, 0, (pe + 1) % PES))) == 0
        assert thread.clock.of((heard - PACKAGES, ((package + 1) % PACKAGES, 0, (pe + 1) % PES))) == END
