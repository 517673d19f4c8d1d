"""Energy of a run by part, by line, by launch and by operation, as the graph has it, and static energy.

Charges (:mod:`kernbench.analysis.energy.charges`) are whole femtojoules, and so is the static energy of each
part: what it takes, whatever it does, while the run lasts. Sums by part, by line and by launch therefore have
the same total to the last femtojoule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.analysis.energy.charges import CAUSES, ChargedMachine, Charges, charges, in_fj
from kernbench.analysis.energy.unsimulated import times_of, with_followers
from kernbench.analysis.trace_tables import Ints
from kernbench.hardware.topology.energy import Figures, figures_of
from kernbench.support.pgraph import RunRecord, TopologyRecord

if TYPE_CHECKING:
    import pyarrow as pa

LEVELS = ("run", "part", "line", "launch")
STATIC = "static"
"""What the row of static energy is called among lines: no line of a kernel causes it."""
HOST = "host and launches (no line of a kernel)"
"""What no line of a kernel causes among lines: copies of the host, mapping of tensors, launch messages."""
OUTSIDE = "outside of launches"
"""The row of what no launch causes among launches."""


@dataclass(frozen=True, slots=True)
class EnergyRow:
    """Energy of one part, line or launch; ``dynamic`` and ``static`` in fJ."""

    level: str
    name: str
    kind: str = ""
    launch: int = -1
    dynamic: int = 0
    static: int = 0


class Energy:
    """The energy of a run: ``figures`` are said in addition to those of its machine, and go before them."""

    def __init__(self, run: RunRecord, topology: TopologyRecord, figures: Figures | None = None) -> None:
        given = figures_of(topology.spec, figures or {})
        self.machine = ChargedMachine(topology, given)
        found = charges(run.tables, self.machine, partial(times_of, run.info))
        self.charges = with_followers(found, run.info, self.machine, topology)
        self.sim_ns = float(run.info["sim_ns"])
        self._run = run

    @cached_property
    def static_of(self) -> Ints:
        """Static energy of each component, fJ."""
        return in_fj(self.machine.each("static_mw")[: self.machine.components] * self.sim_ns)

    @property
    def total(self) -> int:
        """All of it, fJ."""
        return int(self.charges.fj.sum() + self.static_of.sum())

    def rows(self) -> Iterator[EnergyRow]:
        """The energy of the run, then by part, by line and by launch."""
        dynamic, static = int(self.charges.fj.sum()), int(self.static_of.sum())
        yield EnergyRow("run", "run", dynamic=dynamic, static=static)
        yield from self._parts()
        yield from self._lines(static)
        yield from self._launches(static)

    def _parts(self) -> Iterator[EnergyRow]:
        machine = self.machine
        spent = sum_by_key(self.charges.part, self.charges.fj, len(machine.names))
        static = [*self.static_of.tolist(), *(0 for _ in machine.names[machine.components :])]
        for name, kind, dynamic, leaked in zip(machine.names, machine.kinds, spent, static, strict=True):
            if dynamic or leaked:
                yield EnergyRow("part", name, kind, dynamic=dynamic, static=leaked)

    def _lines(self, static: int) -> Iterator[EnergyRow]:
        op = self._run.tables["Op"]
        source = dict(zip(op["number"].to_pylist(), op["source"].to_pylist(), strict=True))
        found: dict[str, int] = {}
        ops, rows = np.unique(self.charges.op, return_inverse=True)
        for number, fj in zip(ops.tolist(), sum_by_key(rows, self.charges.fj, len(ops)), strict=True):
            line = source.get(number, "") or HOST
            found[line] = found.get(line, 0) + fj
        for line in sorted(found):
            yield EnergyRow("line", line, dynamic=found[line])
        if static:
            yield EnergyRow("line", STATIC, static=static)

    def _launches(self, static: int) -> Iterator[EnergyRow]:
        launches = self._run.tables["Launch"].to_pylist()
        of = self.charges.launch
        spent = sum_by_key(
            of + 1, self.charges.fj, max([0, *(one["number"] for one in launches), *of.tolist()]) + 2
        )
        shares = shared_out(static, shares_of_time(launches, self.sim_ns))
        for one, share in zip(launches, shares[1:], strict=True):
            yield EnergyRow("launch", one["kernel"], "launch", one["number"], spent[one["number"] + 1], share)
        yield EnergyRow("launch", OUTSIDE, "", -1, spent[0], shares[0])


def clock_share(limit_w: float, static_w: float, dynamic_w: float) -> float:
    """The share of its clock at which what draws ``static_w`` and ``dynamic_w`` keeps ``limit_w``.

    Voltage falls with the clock, so dynamic energy of an operation falls with the square, and power with the
    third power. Static power is taken to stay; where it alone is above the limit, no clock keeps it: 0.
    """
    if static_w + dynamic_w <= limit_w:
        return 1.0
    return float(np.cbrt(max(limit_w - static_w, 0.0) / dynamic_w)) if dynamic_w else 0.0


def sum_by_key(keys: Ints, fj: Ints, count: int) -> list[int]:
    """The sum of each key from 0 to below ``count``, exactly."""
    found = np.zeros(count, np.int64)
    np.add.at(found, keys, fj)
    result: list[int] = found.tolist()
    return result


def shares_of_time(launches: Sequence[Mapping[str, Any]], sim_ns: float) -> list[float]:
    """The ns of a run outside of launches, then of each launch; several at once share their time evenly."""
    spans = [(max(one["t_start"], 0.0), one["t_done"] if one["t_done"] >= 0 else sim_ns) for one in launches]
    times = sorted({0.0, sim_ns, *(time for span in spans for time in span)})
    found = [0.0] * (len(spans) + 1)
    for begin, end in pairwise(times):
        there = [n for n, (first, last) in enumerate(spans, 1) if first <= begin and end <= last] or [0]
        for number in there:
            found[number] += (end - begin) / len(there)
    return found


def shared_out(total: int, weights: Sequence[float]) -> list[int]:
    """Whole numbers with the sum ``total``, as the weights are."""
    whole = sum(weights)
    if not whole:
        return [total, *(0 for _ in weights[1:])]
    marks = [round(total * (upto / whole)) for upto in np.cumsum(weights).tolist()]
    marks[-1] = total
    return [mark - before for mark, before in zip(marks, [0, *marks], strict=False)]


def energy_tables(run: RunRecord, topology: TopologyRecord) -> dict[str, pa.Table]:
    """The tables ``Energy`` and ``Spent`` of a run."""
    import pyarrow as pa

    energy = Energy(run, topology)
    rows = list(energy.rows())
    used = set(run.tables["Use"]["resource"].to_pylist())

    def column(of: Callable[[EnergyRow], Any], kind: pa.DataType) -> pa.Array:
        return pa.array([of(row) for row in rows], kind)

    return {
        "Energy": pa.table({
            "number": pa.array(range(len(rows)), pa.int64()),
            "level": column(lambda row: row.level, pa.string()),
            "name": column(lambda row: row.name, pa.string()),
            "kind": column(lambda row: row.kind, pa.string()),
            "launch": column(lambda row: row.launch, pa.int64()),
            "dynamic_fj": column(lambda row: row.dynamic, pa.int64()),
            "static_fj": column(lambda row: row.static, pa.int64()),
            "energy_fj": column(lambda row: row.dynamic + row.static, pa.int64()),
            "resource": column(lambda r: r.name if r.level == "part" and r.name in used else "", pa.string()),
        }),
        "Spent": _spent(energy.charges, energy.machine),
    }  # fmt: skip


def _spent(found: Charges, machine: ChargedMachine) -> pa.Table:
    """Charges added up by operation (or launch, or run), part and cause."""
    import pyarrow as pa

    keys = np.stack([found.op, found.launch, found.part, found.cause])
    groups, rows = np.unique(keys, axis=1, return_inverse=True)
    op, launch, part, cause = groups
    fj = np.array(sum_by_key(rows.reshape(-1), found.fj, groups.shape[1]), np.int64)
    some = fj > 0
    op, launch, part, cause, fj = (column[some] for column in (op, launch, part, cause, fj))
    names, is_link = np.array(machine.names, object)[part], part >= machine.components
    return pa.table({
        "op": pa.array(op), "launch": pa.array(np.where(op < 0, launch, -1)),
        "of_run": pa.array((op < 0) & (launch < 0)),
        "component": pa.array(np.where(is_link, "", names), pa.string()),
        "link": pa.array(np.where(is_link, names, ""), pa.string()),
        "cause": pa.array(np.array(CAUSES, object)[cause], pa.string()),
        "energy_fj": pa.array(fj),
    })  # fmt: skip
