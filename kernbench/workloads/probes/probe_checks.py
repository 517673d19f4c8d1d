"""The invariants of every probe, whatever the machine.

Each check is one function from the measured rows to one :class:`Finding`; :data:`CHECKS` lists them. Equal
within the measurement's tolerance counts as equal. Nothing is checked in silence: where a machine or a choice
of cases leaves nothing to compare, the finding says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import fsum

from kernbench.workloads.probes.cases import LEVELS, LOCAL
from kernbench.workloads.probes.measurements import CaseRow, Measurement


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check. ``ok`` is None where there was nothing to compare."""

    name: str
    ok: bool | None
    detail: str

    @property
    def line(self) -> str:
        """``[v] name: detail``; ``[x]`` for a violation, ``[-]`` for nothing to compare."""
        mark = "-" if self.ok is None else "v" if self.ok else "x"
        return f"[{mark}] {self.name}: {self.detail}"


class Machines(str):
    """Not as expected, but what the machine's own figures come to: no violation."""

    __slots__ = ()


Broken = Iterator[str | None]
"""The results of a check, one for each item that it looks at: None where all is well, else the fault."""


def check(rows: Sequence[CaseRow]) -> list[Finding]:
    """The findings of all checks, in order."""
    closed = [row for row in rows if not row.case.has_rows]
    found = []
    for name, nothing, look in CHECKS:
        compared = closed if look in _OF_CLOSED_FORMS else rows
        left = len(rows) - len(compared)
        dram = f"rows and refreshes of DRAM have no closed form: {left} of {len(rows)} ways left out"
        found.append(_finding(name, nothing if compared or not left else dram, look(compared)))
        if left and compared:
            found[-1] = replace(found[-1], detail=f"{found[-1].detail}; {dram}")
    return found


def _finding(name: str, nothing: str, looked: Iterable[str | None]) -> Finding:
    results = list(looked)
    own = [result for result in results if isinstance(result, Machines)]
    broken = [result for result in results if result is not None and not isinstance(result, Machines)]
    if not results:
        return Finding(name, None, nothing)
    if broken:
        return Finding(name, False, f"{len(broken)} of {len(results)} wrong; first: {broken[0]}")
    rest = f", the others by this machine's figures; first: {own[0]}" if own else ""
    return Finding(name, True, f"{len(results) - len(own)} of {len(results)}{rest}")


def formula_is_simulation(rows: Sequence[CaseRow]) -> Broken:
    """The simulated time is that of the formula."""
    for row, m in _all(rows):
        yield _unless(
            abs(m.difference_ns) <= m.tolerance_ns,
            f"{_what(row, m)} takes {m.actual_ns:.9g} ns, formula {m.prediction.ns:.9g} ns"
            f" ({m.difference_ns:+.3g} ns){_culprit(m)}",
        )


def hops_are_formulas(rows: Sequence[CaseRow]) -> Broken:
    """The transfer takes the router's way, and passes every place on it when the formula says."""
    for row, m in _all(rows):
        taken, planned = [hop.name for hop in m.hops], [hop.name for hop in m.prediction.hops]
        if taken != planned:
            at = next((a for a, b in zip(taken, planned, strict=False) if a != b), "its end")
            yield f"{_what(row, m)} leaves the way of the router at {at}"
        else:
            yield _unless(not _culprit(m), f"{_what(row, m)}{_culprit(m)}")


def hops_add_up(rows: Sequence[CaseRow]) -> Broken:
    """The times at the places of the way add up to the whole, without any waiting for others."""
    for row, m in _all(rows):
        gap = m.service_ns + m.wait_ns - m.actual_ns
        slack = m.tolerance_ns
        yield _unless(
            abs(gap) <= slack and m.wait_ns <= slack,
            f"{_what(row, m)}: {m.service_ns:.9g} ns at its places and {m.wait_ns:.9g} ns of waiting"
            f" against {m.actual_ns:.9g} ns in all",
        )


def causes_add_up(rows: Sequence[CaseRow]) -> Broken:
    """The breakdown by cause adds up to the formula's time, and no share is negative."""
    for row, m in _all(rows):
        shares = m.prediction.breakdown().values()
        yield _unless(
            abs(fsum(shares) - m.prediction.ns) <= m.tolerance_ns and min(shares) >= 0.0,
            f"{_what(row, m)}: causes add up to {fsum(shares):.9g} ns of {m.prediction.ns:.9g} ns",
        )


def fabric_is_paid(rows: Sequence[CaseRow]) -> Broken:
    """All of the payload crosses every link between asker and memory once, in its direction, at its speed."""
    for row, m in _all(rows):
        nodes = row.case.route.nodes if row.case.is_write else row.case.route.back
        due = [f"{a}->{b}" for a, b in pairwise(nodes)]
        links = {hop.name: hop for hop in m.hops if hop.gbs is not None and hop.nbytes}
        fast = [  # faster than the link can be
            name
            for name, hop in links.items()
            if hop.gbs is not None and hop.t_out - hop.t_in + m.tolerance_ns < hop.nbytes / hop.gbs
        ]
        paid = list(links) == due and all(hop.nbytes == m.nbytes for hop in links.values())
        yield _unless(
            paid and not fast,
            f"{_what(row, m)}: its bytes are faster than the link at {fast[0]}"
            if fast
            else f"{_what(row, m)}: its bytes cross {len(links)} links, its way has {len(due)}",
        )


def bandwidth_is_bounded(rows: Sequence[CaseRow]) -> Broken:
    """Effective bandwidth stays within that of the slowest place."""
    for row, m in _all(rows):
        slowest = m.prediction.bottleneck_gbs
        yield _unless(
            m.effective_gbs <= slowest * (1 + 1e-12),
            f"{_what(row, m)}: {m.effective_gbs:.6g} GB/s through {slowest:.6g} GB/s",
        )


def bytes_take_time(rows: Sequence[CaseRow]) -> Broken:
    """More bytes never take less time."""
    for row in rows:
        for less, more in pairwise(row.by_size.values()):
            yield _unless(
                less.actual_ns <= more.actual_ns + more.tolerance_ns,
                f"{row.case.title}: {more.nbytes} bytes take {more.actual_ns:.9g} ns,"
                f" {less.nbytes} bytes {less.actual_ns:.9g} ns",
            )


def near_before_far(rows: Sequence[CaseRow]) -> Broken:
    """Local <= same cube <= other cube <= other SIP (the nearest of each), for reads and for writes.

    The first holds on every machine, for a PE's own memory hangs on its own router. That the others hold is
    a matter of design: a wide, sparse cube beside quick seams can be nearer to its neighbour than to itself.
    """
    order = [LOCAL, *(f"{level}-best" for level in LEVELS)]
    for op in ("read", "write"):
        present = [row for name in order for row in rows if _is(row, name, op)]
        yield from _rising(present[:2], always=any(row.case.name == LOCAL for row in present))
        yield from _rising(present[1:])


def best_before_worst(rows: Sequence[CaseRow]) -> Broken:
    """Within a level of distance the nearest is not later than the farthest."""
    for level in LEVELS:
        for op in ("read", "write"):
            pair = (f"{level}-best", f"{level}-worst")
            yield from _rising([row for name in pair for row in rows if _is(row, name, op)])


def seams_take_time(rows: Sequence[CaseRow]) -> Broken:
    """Host transfers never get shorter with the number of chiplet seams between host and cube."""
    for category in ("h2d", "d2h"):
        yield from _rising([row for row in rows if row.case.category == category])


def one_flit_is_symmetric(rows: Sequence[CaseRow]) -> Broken:
    """A single flit takes as long out (and its acknowledgement back) as in (and its command out).

    Behind a cache it does not: a write is done there, a read misses, and the formula says so.
    """
    reads = {(row.case.src, row.case.dst): row for row in rows if not row.case.is_write}
    for row in rows:
        back = reads.get((row.case.src, row.case.dst))
        if row.case.is_write and back is not None:
            for nbytes, m in row.by_size.items():
                if m.flits == 1:
                    other, said = back.by_size[nbytes].actual_ns, back.by_size[nbytes].prediction.ns
                    wrong = _unless(
                        abs(m.actual_ns - other) <= m.tolerance_ns,
                        f"{nbytes} bytes take {m.actual_ns:.9g} ns as {row.case.title},"
                        f" {other:.9g} ns as {back.case.title}",
                    )
                    own = wrong is not None and abs(m.prediction.ns - said) > m.tolerance_ns
                    yield Machines(wrong) if own else wrong


def nothing_is_left(rows: Sequence[CaseRow]) -> Broken:
    """When a transfer is answered, nothing is outstanding any more."""
    for row, m in _all(rows):
        yield _unless(m.unfinished == 0, f"{_what(row, m)}: {m.unfinished} events or transactions are left")


CHECKS: tuple[tuple[str, str, Callable[[Sequence[CaseRow]], Broken]], ...] = (
    ("formula equals simulation", "no case", formula_is_simulation),
    ("every hop passed when the formula says", "no case", hops_are_formulas),
    ("hop times add up", "no case", hops_add_up),
    ("causes add up", "no case", causes_add_up),
    ("reads and writes pay every link", "no case", fabric_is_paid),
    ("effective bandwidth within the bottleneck", "no case", bandwidth_is_bounded),
    ("more bytes take no less time", "needs two sizes", bytes_take_time),
    ("local <= same cube <= other cube <= other SIP", "needs two of these cases", near_before_far),
    ("best <= worst", "needs both cases of a distance", best_before_worst),
    ("h2d and d2h grow with hops", "needs two numbers of hops", seams_take_time),
    ("one flit: read as long as write", "needs one flit read and written on one way", one_flit_is_symmetric),
    ("nothing outstanding at the end", "no case", nothing_is_left),
)
"""Name, what is missing where there is nothing to compare, and the check."""
_OF_CLOSED_FORMS = (
    formula_is_simulation, hops_are_formulas, bytes_take_time, near_before_far, best_before_worst,
    seams_take_time, one_flit_is_symmetric,
)  # fmt: skip
"""Checks of times that a closed form gives; when rows open and refreshes come depends on the moment."""


def _all(rows: Iterable[CaseRow]) -> Iterator[tuple[CaseRow, Measurement]]:
    return ((row, measurement) for row in rows for measurement in row.by_size.values())


def _unless(well: bool, wrong: str) -> str | None:
    return None if well else wrong


def _what(row: CaseRow, m: Measurement) -> str:
    return f"{row.case.title} of {m.nbytes} bytes"


def _is(row: CaseRow, name: str, op: str) -> bool:
    return row.case.name == name and row.case.op == op


def _rising(rows: Sequence[CaseRow], always: bool = False) -> Broken:
    """At every size, none of ``rows`` is quicker than the one before it.

    Unless that must be so ``always``, a machine whose figures make it so has it its way.
    """
    for near, far in pairwise(rows):
        for nbytes, m in far.by_size.items():
            before = near.by_size[nbytes]
            wrong = _unless(
                before.actual_ns <= m.actual_ns + m.tolerance_ns,
                f"{_what(far, m)} takes {m.actual_ns:.9g} ns, {near.case.title} {before.actual_ns:.9g} ns",
            )
            due = before.prediction.ns > m.prediction.ns + m.tolerance_ns
            yield Machines(wrong) if wrong and due and not always else wrong


def _culprit(m: Measurement) -> str:
    """The first place on the way that does not do what the formula says; empty if all do.

    A first flit that comes late to a place is the doing of the place before.
    """
    before = None
    for took, due in zip(m.hops, m.prediction.hops, strict=False):
        for word, place, is_, should in (
            ("first", before or took, took.t_in, due.t_in),
            ("last", took, took.t_out, due.t_out),
        ):
            if took.name == due.name and abs(is_ - should) > m.tolerance_ns:
                return f"; {place.name} passes on the {word} flit at {is_:.9g} ns, formula {should:.9g} ns"
        before = took
    return ""
