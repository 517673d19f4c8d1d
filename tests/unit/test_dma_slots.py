"""Which of its slots an engine gives a job: one that is idle, the one that has been so longest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kernbench.engine.components.dma import DmaEngine


@given(
    slots=st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=5), issuing=st.booleans()
)
def test_the_slot_that_has_been_idle_longest_first_by_number(
    slots: list[tuple[bool, int]], issuing: bool
) -> None:
    engine = DmaEngine("read0", len(slots))
    engine.issuing = issuing
    for slot, (taken, free) in zip(engine.slots, slots, strict=True):
        slot.free = float(free)
        if taken:
            slot.arrive(0.0)
    idle = [(free, number) for number, (taken, free) in enumerate(slots) if not taken]
    expected = engine.slots[min(idle)[1]] if idle and not issuing else None
    assert engine.free_slot() is expected
