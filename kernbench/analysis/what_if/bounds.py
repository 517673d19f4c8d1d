"""How long a run takes at least, because one part has so much to do.

A critical path is one chain. Where transfers overlap, as those of a composite do, a part that serves them
almost without a gap sets the time, whichever of them the path went through: its first work has to reach it,
it has to do all of its work, and then the rest is still to be done. So with other parts faster, the run
takes at least what is before, the work, and what is after. Links, memories and compute engines have such
work; waits of DMA engines and latencies of routers are none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kernbench.analysis.path.path_steps import CriticalPath
from kernbench.analysis.trace_tables import Ints, rows_of
from kernbench.analysis.use.occupancy import unite
from kernbench.analysis.windows.time_window import Floats
from kernbench.hardware.kinds import COMPONENT_KINDS
from kernbench.hardware.topology.overrides import Speeds

_COMPUTING = ("pe_gemm", "pe_math")


class Bounds:
    """The work of each part within the spans of a critical path, ready to be asked with any speeds.

    A span is a part of the path without a gap: the path of several launches has one for each of them.

    Args:
        tables: The run's trace.
        path: Its critical path.
        launches: The launches that the path is of; only their work counts. Empty: all work.
    """

    def __init__(
        self, tables: Mapping[str, pa.Table], path: CriticalPath, launches: Sequence[int] = ()
    ) -> None:
        self._starts = np.array([step.t_start for step in path.steps])
        self._ends = np.array([step.t_end for step in path.steps])
        self._spans = np.concatenate([[0], np.flatnonzero(self._starts[1:] != self._ends[:-1]) + 1])
        """Index of each span's first step."""
        used = {name: tables["Use"][name].to_numpy() for name in ("resource", "kind", "is_link", "busy_ns")}
        self._causes = [*map(_cause, used["kind"].tolist(), used["is_link"].tolist())]
        self._number = {name: number for number, name in enumerate(used["resource"].tolist())}
        where, work, begin, end = _work(tables, self._number, self._causes, used["busy_ns"], launches)

        count, span = len(self._number), np.searchsorted(self._starts[self._spans], begin, "right") - 1
        inside = (span >= 0) & (end <= np.append(self._ends[self._spans[1:] - 1], self._ends[-1])[span])
        key = (span * count + where)[inside]
        self._place, at = np.unique(key, return_inverse=True)
        """Number of each span and part with work: that of the span, times all parts, and that of the part."""
        self._needs = np.bincount(at, work[inside], minlength=len(self._place))
        first, last = np.full(len(self._place), np.inf), np.full(len(self._place), -np.inf)
        np.minimum.at(first, at, begin[inside])
        np.maximum.at(last, at, end[inside])
        # Of a transfer on the path that it belongs to, how much comes before and after is not known.
        opens, closes = _transfers(path)
        self._from = opens[np.searchsorted(self._starts, first, "right") - 1]
        self._to = closes[np.searchsorted(self._ends, last, "left")]

    def beyond(self, new: Floats, factors: Mapping[str, Speeds]) -> list[tuple[str, float]]:
        """What the busiest part of each span adds to a path.

        Args:
            new: ns of each step of the path as it would be.
            factors: Speeds of parts.

        Returns:
            By span the cause of time at the part that would set it, and by how many ns that exceeds the
            steps; spans that no part exceeds are left out.
        """
        count = len(self._number)
        speed = np.ones(count)
        for name in factors.keys() & self._number.keys():
            speed[self._number[name]] = factors[name].rates
        passed = np.concatenate([[0.0], np.cumsum(new)])  # before each step
        more = self._needs / speed[self._place % count] - (passed[self._to] - passed[self._from])
        found = {}
        for row in np.argsort(more, kind="stable").tolist():
            if more[row] > 0.0:
                found[self._place[row] // count] = self._causes[self._place[row] % count], float(more[row])
        return list(found.values())


def _work(
    tables: Mapping[str, pa.Table],
    number: Mapping[str, int],
    causes: Sequence[str],
    busy: Floats,
    launches: Sequence[int],
) -> tuple[Ints, Floats, Floats, Floats]:
    """Place, ns, begin and end of the work of links and memories by hop, and of engines by operation."""
    hop, op, sent = tables["Hop"], tables["Op"], tables["Transaction"]
    works = np.append(np.array([bool(cause) for cause in causes], bool), False)
    at, on = rows_of(hop["resource"], number), rows_of(op["component"], number)
    own, own_op = np.ones(len(at), bool), np.ones(len(on), bool)
    if launches:
        own_txn = sent["number"].to_numpy()[np.isin(sent["launch"].to_numpy(), launches)]
        own, own_op = np.isin(hop["txn"].to_numpy(), own_txn), np.isin(op["launch"].to_numpy(), launches)
    moved = hop["bytes"].to_numpy() * works[at]
    whole = np.bincount(at[at >= 0], moved[at >= 0], minlength=len(busy))
    rate = np.append(busy / np.where(whole > 0, whole, 1.0), 0.0)
    some = own & (moved > 0)
    engine = own_op & np.isin(on, [row for row, cause in enumerate(causes) if cause == "compute"])
    place, begin, end = unite(on[engine], op["t_start"].to_numpy()[engine], op["t_end"].to_numpy()[engine])
    return (
        np.concatenate([at[some], place]),
        np.concatenate([moved[some] * rate[at[some]], end - begin]),
        np.concatenate([hop["t_start"].to_numpy()[some], begin]),
        np.concatenate([hop["t_out"].to_numpy()[some], end]),
    )


def _transfers(path: CriticalPath) -> tuple[Ints, Ints]:
    """By step the first step of its transfer, and the step after its last; of others itself and the next."""
    opens, closes = np.arange(len(path.steps)), np.arange(len(path.steps)) + 1
    of: dict[int, list[int]] = {}
    for index, step in enumerate(path.steps):
        if step.transaction >= 0:
            of.setdefault(step.transaction, []).append(index)
    for steps in of.values():
        opens[steps], closes[steps] = steps[0], steps[-1] + 1
    return opens, closes


def _cause(kind: str, is_link: bool) -> str:
    """The cause of time at a part whose work is its own; empty for others."""
    if is_link:
        return "link"
    if kind in _COMPUTING:
        return "compute"
    known: Any = COMPONENT_KINDS.get(kind)
    return known.cause if known is not None and known.memory else ""
