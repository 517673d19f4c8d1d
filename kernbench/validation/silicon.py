"""Cycles that traces of a Wormhole chip take on a model of it, beside those that the chip took."""

from __future__ import annotations

from functools import cache
from statistics import fmean

from kernbench.engine.machine.machine import Machine
from kernbench.validation import wormhole
from kernbench.validation.noc_trace import Chip, Trace, read_traces, replay
from kernbench.validation.row_statistics import Statistic
from kernbench.validation.table_file import Case, folder, lines_of
from kernbench.workloads.probes.noc_events import END

_CHIP = Chip(wormhole.worker, wormhole.memory)
_TRACES, _GOLDEN = "wormhole_traces.csv.gz", "wormhole_golden.csv"
KERNEL_END = 20
"""Cycles by which the reference's figure is less than the last event of its trace."""
_HERE = (1, 1)
_THERE = {"itself": [_HERE], "column": [(1, 4), (1, 8)], "row": [(4, 1), (8, 1)], "other": [(4, 4), (8, 8)]}
"""Workers that a read goes to, by how they lie to the one that reads."""


def idle_read(case: Case) -> float:
    """Cycles from the issue of a read to its first flit with nothing else under way.

    The mean of there and back: the sum of hops is the same for all nodes that lie alike.
    """
    machine = Machine(wormhole.machine(), traced=False)
    pairs = [(a, b) for there in _THERE[case["to"]] for a, b in ((_HERE, there), (there, _HERE))]
    found = []
    for a, b in pairs:
        read = machine.flow(
            wormhole.worker(*a, 0), wormhole.memory(*b, 0), 0, wormhole.FLIT_BYTES, is_write=False
        )
        machine.wait(read)
        found.append(read.ns - wormhole.FLIT_BYTES / wormhole.WORKER[0])
    return fmean(found)


def cycles(case: Case) -> float:
    """Cycles that a trace takes, to the end of its last barrier."""
    trace = _traces()[case["trace"]]
    # Where nothing follows a barrier it does not matter how long it takes.
    goes_on = any(event.type.endswith(END) for events in trace.values() for event in events[:-1])
    return _replay(case["trace"], case["loop"] == "closed" and goes_on) - KERNEL_END


def mean_error(case: Case) -> Statistic:
    """Mean over the traces of a kind (reshard, dram or all) of how far off their cycles are, %."""
    errors = [
        abs(cycles({**case, **line}) / line["golden_cycles"] - 1.0)
        for line in lines_of(_GOLDEN)
        if case["kind"] in ("all", "dram" if line["trace"].startswith("DRAM") else "reshard")
    ]
    return Statistic(100.0 * fmean(errors), len(errors), len(errors))


@cache
def _traces() -> dict[str, Trace]:
    return read_traces(folder() / _TRACES)


@cache
def _replay(name: str, closed: bool) -> float:
    return replay(wormhole.machine(), _CHIP, _traces()[name], closed=closed)
