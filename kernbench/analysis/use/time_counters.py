"""Figures over time, from a kept trace: bandwidth, depth of queues, bytes held in TCM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from kernbench.analysis.trace_tables import Texts, host_of
from kernbench.analysis.windows.time_window import Floats, Window
from kernbench.hardware.kinds import COMPONENT_KINDS
from kernbench.support.dtypes import nbytes


@dataclass(frozen=True)
class Counter:
    """A figure that holds from each of ``times`` (ns, ascending) to the next."""

    place: str
    """The component it belongs to; empty for the machine as a whole."""
    name: str
    unit: str
    times: Floats
    values: Floats


def counters(tables: Mapping[str, pa.Table], window: Window) -> Iterator[Counter]:
    """The counters of a window, those without any change left out.

    - per kind of link and memory the bandwidth, GB/s: each transaction's bytes are spread evenly over the
      time from its first flit's service to its last flit's leaving;
    - per engine the operations that are ready and have not begun;
    - per PE the bytes of values in its TCM, each from the start of the operation that makes it to the end of
      the last one that uses it. Buffers of tiles and queues are not among them.
    """
    yield from _bandwidth(tables, window)
    yield from _queues(tables, window)
    yield from _held_in_tcm(tables, window)


def _bandwidth(tables: Mapping[str, pa.Table], window: Window) -> Iterator[Counter]:
    use = tables["Use"]
    kind_of = dict(zip(use["resource"].to_pylist(), use["kind"].to_pylist(), strict=True))
    counted = {
        name: kind
        for name, kind, is_link in zip(
            use["resource"].to_pylist(), use["kind"].to_pylist(), use["is_link"].to_pylist(), strict=True
        )
        if is_link or (kind_of[name] in COMPONENT_KINDS and COMPONENT_KINDS[kind_of[name]].memory)
    }
    kinds = sorted(set(counted.values()))
    hops = tables["Hop"]
    texts = Texts(hops["resource"])
    codes = np.array([kinds.index(counted[name]) if name in counted else -1 for name in texts.all()], int)
    of = codes[texts.codes] if hops.num_rows else np.zeros(0, int)
    begin, end = hops["t_start"].to_numpy(), hops["t_out"].to_numpy()
    nbytes = hops["bytes"].to_numpy()
    for number, kind in enumerate(kinds):
        chosen = (of == number) & (end > begin)
        rate = nbytes[chosen] / (end[chosen] - begin[chosen])
        yield from _sum_up("", f"{kind} bandwidth", "GB/s", begin[chosen], end[chosen], rate, window)


def _queues(tables: Mapping[str, pa.Table], window: Window) -> Iterator[Counter]:
    ops = tables["Op"]
    texts = Texts(ops["component"])
    begin, end = ops["t_ready"].to_numpy(), ops["t_start"].to_numpy()
    order = np.argsort(texts.codes, kind="stable")
    bounds = np.searchsorted(texts.codes[order], np.arange(len(texts.all()) + 1))
    for number, component in enumerate(texts.all()):
        rows = order[bounds[number] : bounds[number + 1]]
        rows = rows[end[rows] > begin[rows]]
        name = f"{component.rpartition('.')[2]} queue"
        yield from _sum_up(component, name, "operations", begin[rows], end[rows], np.ones(len(rows)), window)


class Value(NamedTuple):
    """A value in the TCM of a PE, from the start of the operation that makes it to its last use, ns."""

    op: int
    tcm: str
    since: float
    until: float
    nbytes: int


def values_in_tcm(tables: Mapping[str, pa.Table]) -> list[Value]:
    """The values that operations made, by the handles that they have; see :func:`counters`.

    A view is its operand's memory, not memory of its own.
    """
    ops, operands = tables["Op"].to_pydict(), tables["Operand"].to_pydict()
    row_of = {number: row for row, number in enumerate(ops["number"])}
    root: dict[int, int] = {}
    made: dict[int, tuple[int, str, float, int]] = {}
    last: dict[int, float] = {}
    of_host = "", host_of(tables)
    columns = [operands[name] for name in ("op", "position", "handle", "shape", "dtype")]
    entries = sorted(zip(*columns, strict=True), key=lambda entry: (entry[0], entry[1] < 0))
    read: dict[int, int] = {}
    for op, position, handle, shape, dtype in entries:
        if handle < 0 or op not in row_of:
            continue
        row = row_of[op]
        if position >= 0:
            base = root.get(handle, handle)
            last[base] = max(last.get(base, 0.0), ops["t_end"][row])
            read.setdefault(op, base)
        elif ops["kind"][row] == "view" and op in read:
            root[handle] = read[op]
        elif (place := ops["component"][row]) not in of_host:
            made[handle] = op, f"{place.rpartition('.')[0]}.pe_tcm", ops["t_start"][row], _bytes(shape, dtype)
            last[handle] = max(last.get(handle, 0.0), ops["t_end"][row])
    return [Value(op, tcm, since, last[handle], n) for handle, (op, tcm, since, n) in made.items()]


def _held_in_tcm(tables: Mapping[str, pa.Table], window: Window) -> Iterator[Counter]:
    by_tcm: dict[str, list[Value]] = {}
    for value in values_in_tcm(tables):
        by_tcm.setdefault(value.tcm, []).append(value)
    for tcm, values in by_tcm.items():
        begin, end, nbytes = (
            np.array(column, float) for column in zip(*(v[2:] for v in values), strict=True)
        )
        yield from _sum_up(tcm, "pe_tcm held", "bytes", begin, end, nbytes, window)


def _bytes(shape: str, dtype: str) -> int:
    sizes = [int(size) for size in shape.split("x")] if shape else []
    return nbytes(sizes or [1], dtype)


def _sum_up(
    place: str, name: str, unit: str, begin: Floats, end: Floats, values: Floats, window: Window
) -> Iterator[Counter]:
    """The sum of ``values`` over the intervals that are under way, if there is any within the window."""
    if not len(begin) or not window.spans:
        return
    first, last = window.spans[0][0], window.spans[-1][1]
    inside = (begin < last) & (end > first)
    if not inside.any():
        return
    begin, end = np.maximum(begin[inside], first), np.minimum(end[inside], last)
    times = np.concatenate([begin, end])
    changes = np.concatenate([values[inside], -values[inside]])
    distinct, position = np.unique(times, return_inverse=True)
    level = np.cumsum(np.bincount(position, changes))
    # Sums of rates are exact to far less than this; what is left of them at the end is rounding.
    yield Counter(place, name, unit, distinct, np.round(level, 6).astype(np.float64) + 0.0)
