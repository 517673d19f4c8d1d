"""Which transactions meet at a place, in order of time: a sweep against all pairs."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from kernbench.analysis.use.contention import Overlap, first_overlaps

TIMES = st.integers(0, 6).map(float)
HOPS = st.lists(st.tuples(st.integers(0, 9), TIMES, TIMES), max_size=24).map(
    lambda hops: sorted((txn, min(a, b), max(a, b)) for txn, a, b in hops)
)


def all_pairs(hops: list[tuple[int, float, float]], from_ns: float) -> list[Overlap]:
    """Compared all with all: two meet when the later one arrives, before the other has left."""
    found = []
    for (a, begin_a, end_a), (b, begin_b, end_b) in combinations(hops, 2):
        now, until = max(begin_a, begin_b), min(end_a, end_b)
        if a != b and begin_a < end_b and begin_b < end_a and now >= from_ns:
            found.append((now, min(a, b), max(a, b), until - now))
    return sorted(found)


@given(hops=HOPS, from_ns=TIMES, limit=st.integers(0, 12))
def test_the_first_overlaps_are_those_of_all_pairs(
    hops: list[tuple[int, float, float]], from_ns: float, limit: int
) -> None:
    hops.sort(key=lambda hop: (hop[1], hop[0], hop[2]))
    assert first_overlaps(hops, from_ns, limit) == all_pairs(hops, from_ns)[:limit]
