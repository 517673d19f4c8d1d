"""The use of each of a run's resources within a window of its time, worked out from the trace.

A resource's recorded busy time is distributed over its hops, or over its operations, in proportion to what
determines their service: bytes on links and in memories, the time during which operations are under way, the
same overhead for every message elsewhere, during which others may pass: that time is busy once. A
pseudo-channel has its own bytes of each hop at its slice. When each was busy says
:mod:`kernbench.analysis.windows.busy_course`; bytes move over links and into memories at those times.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernbench.analysis.trace_tables import rows_of
from kernbench.analysis.use.occupancy import unite, united, with_occupancy
from kernbench.analysis.windows.busy_course import Course, course_of
from kernbench.analysis.windows.time_window import Floats, Intervals, Window
from kernbench.analysis.windows.unsimulated_use import COUNTED, Beyond
from kernbench.hardware.kinds import COMPONENT_KINDS

_ROUNDING = 1.0 + 1e-12
"""Times that a stay's length is exceeded by for rounding alone."""


def resource_use(tables: Mapping[str, pa.Table], window: Window, sim_ns: float) -> dict[str, NDArray[Any]]:
    """The use of each resource of a run within ``window``: its table ``Use``, of the window alone.

    ``busy_ns`` and ``utilisation`` say how much a resource did of what it could have done: a link or memory
    the bytes that it moved, any other part its time in service. ``occupied_ns`` and ``occupancy`` say for how
    long something was there (:mod:`kernbench.analysis.use.occupancy`); they are NaN for a run that kept no
    hops. ``wait_ns`` is what transactions and operations waited for the resource. ``sim_ns`` is the run's
    length.
    """
    if window.spans == ((0.0, sim_ns),):
        found = {name: tables["Use"][name].to_numpy() for name in tables["Use"].column_names}
    else:
        found = use_within(tables, window)
    if "Hop" in tables and tables["Hop"].num_rows:
        return with_occupancy(found, tables, window)
    unknown = np.full(len(found["resource"]), np.nan)
    return {**found, "occupied_ns": unknown, "occupancy": unknown}


def use_within(tables: Mapping[str, pa.Table], window: Window) -> dict[str, NDArray[Any]]:
    """The use of each resource within ``window``: see :meth:`Usage.within`."""
    return Usage(tables).within(window)


class Usage:
    """The use of a run's resources, for any number of windows."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        self.all = {name: tables["Use"][name].to_numpy() for name in tables["Use"].column_names}
        """The columns of the table ``Use``: that of the whole run."""
        self.beyond = Beyond(tables, self.all)
        self.recorded = self.beyond.simulated(self.all)
        """The same of what was simulated."""
        hops = {
            name: tables["Hop"][name].to_numpy() for name in ("t_in", "t_start", "t_out", "wait_ns", "bytes")
        }
        ops = {name: tables["Op"][name].to_numpy() for name in ("t_ready", "t_start", "t_end", "bytes")}
        used = self.recorded
        names, kinds = used["resource"], used["kind"]
        count = len(names)
        index = {name: number for number, name in enumerate(names.tolist())}

        weighs = used["is_link"].astype(bool) | np.isin(
            kinds, [kind.kind for kind in COMPONENT_KINDS.values() if kind.memory]
        )
        untimed = np.isin(kinds, [kind.kind for kind in COMPONENT_KINDS.values() if kind.untimed])
        at = rows_of(tables["Hop"]["resource"], index)
        on = rows_of(tables["Op"]["component"], index)
        by_op = np.array([kind in BY_OPERATION for kind in kinds], dtype=bool)
        lasts = hops["t_out"] > hops["t_start"]
        by_op |= np.isin(np.arange(count), on) & ~np.isin(np.arange(count), at[lasts])
        by_op = np.append(by_op, False)  # for what names nothing that was used, whose row is -1
        hop = (at >= 0) & ~(by_op[at] & (at == _senders(tables, on)))
        op = by_op[on]
        self.of_hop, self.of_op = hop, op
        """Which hops and operations count: at an engine its operations, and hops that none of them sent."""
        where, begin, end = at[hop], hops["t_start"][hop], hops["t_out"][hop]
        starts, ends, ready = ops["t_start"][op], ops["t_end"][op], ops["t_ready"][op]
        self.dealt_of, dealt = _dealt(tables, index)
        """The transaction of each entry of a pseudo-channel."""
        self.entries = join((
            ServedEntries(where, hops["bytes"][hop], hops["t_in"][hop], begin, end, hops["wait_ns"][hop]),
            ServedEntries(on[op], ops["bytes"][op], ready, starts, ends, starts - ready),
            dealt,
        ))  # fmt: skip
        """Those hops, those operations, and what pseudo-channels had, in this order."""
        # Operations of one engine overlap where it has several in flight; its time is busy once.
        engine, begun, ended = unite(on[op], starts, ends)
        bytewise, passes = weighs[where], ~weighs[where] & ~by_op[where]
        spent = _overheads(where[passes], begin[passes], used["busy_ns"])
        passing = unite(
            where[passes], begin[passes], np.minimum(begin[passes] + spent[where[passes]], end[passes])
        )
        self._stays = tuple(
            np.concatenate(columns)
            for columns in zip(
                (where[bytewise], hops["bytes"][hop][bytewise], begin[bytewise], end[bytewise]),
                (passing[0], passing[2] - passing[1], passing[1], passing[2]),
                (engine, ended - begun, begun, ended),
                (dealt.where, dealt.nbytes, dealt.begin, dealt.end),
                _during_launches(tables, untimed & (used["busy_ns"] > 0)),
                strict=True,
            )
        )
        """Place, weight, begin and end of what keeps resources busy."""

        there = self.entries
        self.whole = {
            key: np.bincount(there.where, values, minlength=count)
            for key, values in (("wait", there.wait), ("bytes", there.nbytes), ("n", None))
        }
        self.parts = np.arange(count)
        unnamed = (self.whole["n"] == 0) | ((self.whole["bytes"] == 0) & (used["bytes"] > 0))
        for number in np.flatnonzero(unnamed).tolist():
            self.parts[number] = stands_for(number, names[number], kinds, index)
        self.as_busy = weighs & (used["busy_ns"] > 0)
        """Where bytes are what takes time: they move while the resource is busy."""
        # Where no more than one was ever present, which is at most resources, there is nothing to count.
        self._several = np.zeros(count, dtype=bool)
        self._several[self.parts[used["max_queue"] > 1]] = True

    @cached_property
    def course(self) -> Course:
        """When each resource was busy."""
        count = len(self.parts)
        where, weight, begin, end = self._stays
        order = np.argsort(where, kind="stable")
        first = np.searchsorted(where[order], np.arange(count + 1))
        # A part that nothing names is busy when the resource is that stands for it.
        rows = np.concatenate([order, *(
            order[first[by] : first[by + 1]] for by in self.parts[self.parts != np.arange(count)].tolist()
        )])  # fmt: skip
        others = np.flatnonzero(self.parts != np.arange(count))
        there = np.diff(first)
        of = np.concatenate([where[order], np.repeat(others, there[self.parts[others]])])
        whole = np.bincount(of, weight[rows], minlength=count)
        scale = self.recorded["busy_ns"] / np.where(whole > 0, whole, 1.0)
        length = end[rows] - begin[rows]
        work = _within_stays(of, weight[rows] * scale[of], np.where(length > 0, length, np.inf), count)
        return course_of(of, work, begin[rows], end[rows])

    @cached_property
    def _times(self) -> tuple[Intervals, Intervals]:
        """When the entries were there, and the intervals of the course."""
        there = self.entries
        entries = Intervals(np.minimum(there.arrived, there.begin), there.end)
        return entries, Intervals(self.course.begin, self.course.end)

    def within(self, window: Window) -> dict[str, NDArray[Any]]:
        """The use of each resource within ``window``: the columns of a run's table ``Use``, in its order.

        Resources without use there are left out. ``utilisation`` is a share of the window's length.
        ``max_queue`` is the most that were present at once at a time of the window.
        """
        found, rows = self._simulated(window)
        if window.accounted and self.beyond:
            for number, (base, _) in enumerate(self.beyond.bases):
                cut = window.cut(*base)
                part = self._simulated(cut)[0] if cut.spans else {}
                for key in COUNTED if part else ():
                    more = self.beyond.share(number, key, part[key], self._in_bases[number][key])
                    found[key] = (found[key] + more).astype(found[key].dtype)
            found["busy_ns"] = np.minimum(found["busy_ns"], window.ns)
            found["utilisation"] = found["busy_ns"] / (window.ns or 1.0)
            rows |= found["transactions"] > 0
        return {key: values[rows] for key, values in found.items()}

    @cached_property
    def _in_bases(self) -> list[dict[str, NDArray[Any]]]:
        """By repeat the use within the interval that stands for it."""
        return [self._simulated(Window("", (base,)))[0] for base, _ in self.beyond.bases]

    def _simulated(self, window: Window) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
        """The columns of :meth:`within` of what was simulated, of all resources; which have use there."""
        used, parts, count = self.recorded, self.parts, len(self.recorded["resource"])
        there = self.entries
        some = there.taken(self._times[0].near(window))
        share = window.share(some.begin, some.end)
        # Where the first flit did not wait, later ones did.
        served = np.where(some.begin > some.arrived, some.begin, some.end)
        waited = window.share(np.minimum(some.arrived, served), served)
        found = {
            key: np.bincount(some.where, values, minlength=count)
            for key, values in (
                ("wait", some.wait * waited), ("bytes", some.nbytes * share), ("n", (share > 0) * 1.0),
            )
        }  # fmt: skip
        queue = some.most_at_once(self._several, (share > 0) | (waited > 0))

        def scaled(key: str, recorded: NDArray[Any]) -> Floats:
            whole = self.whole[key]
            share = np.where(whole > 0, found[key] / np.where(whole > 0, whole, 1.0), 0.0)
            return np.asarray(recorded * share[parts])

        busy = np.minimum(
            self.course.within(window, count, self._times[1].near(window)), window.ns
        )  # last bits of sums could exceed it
        per_ns = used["bytes"] / np.where(used["busy_ns"] > 0, used["busy_ns"], 1.0)
        rows = found["n"][parts] > 0
        result = {
            "resource": used["resource"],
            "is_link": used["is_link"],
            "kind": used["kind"],
            "bytes": _whole_number(np.where(self.as_busy, busy * per_ns, scaled("bytes", used["bytes"]))),
            "busy_ns": busy,
            "wait_ns": scaled("wait", used["wait_ns"]),
            "utilisation": busy / window.ns if window.ns > 0 else busy * 0.0,
            "transactions": _whole_number(scaled("n", used["transactions"])),
            "max_queue": np.minimum(queue[parts], used["max_queue"]),
        }
        return result, rows


BY_OPERATION = frozenset({"pe_gemm", "pe_math", "pe_dma", "pe_fetch_store", "pe_scheduler"})
"""Kinds whose service is that of operations rather than of messages."""


def _whole_number(values: Floats) -> NDArray[np.int64]:
    """The nearest whole numbers, halves upwards, as texts of queries round too; last bits do not count."""
    return np.floor(values + (0.5 + 1e-9)).astype(np.int64)


def _senders(tables: Mapping[str, pa.Table], on: NDArray[np.int64]) -> NDArray[np.int64]:
    """By hop the row of the component whose operation sent its transaction; -2 where that was not used."""
    number_of, sent = (tables["Transaction"][name].to_numpy() for name in ("number", "op"))
    sender = _looked_up(sent, tables["Op"]["number"].to_numpy(), on)
    return _looked_up(tables["Hop"]["txn"].to_numpy(), number_of, sender)


def _looked_up(
    wanted: NDArray[np.int64], keys: NDArray[np.int64], values: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The value of each key that is ``wanted``; -2 where there is none."""
    if not len(keys):
        return np.full(len(wanted), -2, np.int64)
    order = np.argsort(keys, kind="stable")
    found = order[np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)]
    return np.where(keys[found] == wanted, np.where(values[found] < 0, -2, values[found]), -2)


_CARRIERS = frozenset({"pe_dma", "pe_fetch_store"})
"""Kinds whose operations move the bytes on the wires within a PE, which messages do not cross."""


def stands_for(number: int, name: str, kinds: NDArray[Any], index: Mapping[str, int]) -> int:
    """The resource in whose proportions ``name`` is used where no hop or operation says when.

    Of a part, such as a pseudo-channel, that is the component it is in; of a wire within a PE, the end
    whose operations move bytes over it.
    """
    source, arrow, target = name.partition("->")
    ends = (source, target) if arrow else (name.rpartition(".")[0],)
    found = [index[end] for end in ends if end in index]
    return next((one for one in found if not arrow or kinds[one] in _CARRIERS), number)


def _during_launches(tables: Mapping[str, pa.Table], there: NDArray[np.bool_]) -> tuple[Any, ...]:
    """Place, weight, begin and end of what is ``there``, if it works evenly while any launch is under way."""
    begin, end = (tables["Launch"][name].to_numpy() for name in ("t_start", "t_done"))
    begin, end = united(begin, end)
    where = np.repeat(np.flatnonzero(there), len(begin))
    begin, end = (np.tile(times, int(there.sum())) for times in (begin, end))
    return where, end - begin, begin, end


def _overheads(where: NDArray[np.int64], begin: Floats, busy: Floats) -> Floats:
    """ns for which each place serves a message, of the ``busy`` ns for which it served any.

    Its services are equally long, begin at ``begin``, and may overlap: gaps between beginnings count up to
    that length, and the last one whole.
    """
    found = np.zeros(len(busy))
    if not len(where):
        return found
    order = np.lexsort((begin, where))
    places, first = np.unique(where[order], return_index=True)
    for place, begins in zip(places.tolist(), np.split(begin[order], first[1:]), strict=True):
        gaps = np.sort(np.append(np.diff(begins), np.inf))
        shorter = np.concatenate([[0.0], np.cumsum(gaps[:-1])])  # all of the gaps before each one
        lengths = (busy[place] - shorter) / np.arange(len(gaps), 0, -1)
        found[place] = max(lengths[np.argmax(lengths <= gaps)], 0.0)
    return found


def _within_stays(where: NDArray[np.int64], work: Floats, most: Floats, count: int) -> Floats:
    """``work`` at ``count`` places, none above ``most``: what is over goes to the others in proportion.

    Where bytes cost unlike times, such as short runs that take whole bursts, proportion alone would have a
    message served for longer than it was there. A place whose stays have no room for all keeps proportions.
    """
    room = np.bincount(where, np.where(work > 0, most, 0.0), minlength=count)
    fits = room >= np.bincount(where, work, minlength=count)
    for _ in range(len(work)):  # each time a stay is full, at least
        over = fits[where] & (work > most * _ROUNDING)
        if not over.any():
            break
        below = fits[where] & (work < most)
        excess = np.bincount(where, np.where(over, work - most, 0.0), minlength=count)
        base = np.bincount(where, np.where(below, work, 0.0), minlength=count)
        scale = 1.0 + excess / np.where(base > 0, base, np.inf)
        work = np.where(over, most, np.where(below, work * scale[where], work))
    return work


def _dealt(
    tables: Mapping[str, pa.Table], index: Mapping[str, int]
) -> tuple[NDArray[np.int64], ServedEntries]:
    """What pseudo-channels had of hops at their slices, and whose these are; none in older records."""
    if "Dealt" not in tables or not tables["Dealt"].num_rows:
        none = np.zeros(0)
        return np.zeros(0, np.int64), ServedEntries(np.zeros(0, np.int64), none, none, none, none, none)
    dealt, count = tables["Dealt"], len(index)
    slice_of = np.array([index.get(name.rpartition(".")[0], -1) for name in index], np.int64)
    channel, txn = rows_of(dealt["resource"], index), dealt["txn"].to_numpy()
    hop = {name: tables["Hop"][name].to_numpy() for name in ("txn", "t_in", "t_start", "t_out")}
    at = rows_of(tables["Hop"]["resource"], index)
    there = np.flatnonzero(np.isin(at, np.unique(slice_of[channel])))
    there = there[np.argsort(hop["txn"][there] * count + at[there], kind="stable")]
    keys, wanted = hop["txn"][there] * count + at[there], txn * count + slice_of[channel]
    some = np.flatnonzero(np.isin(wanted, keys))  # a window's tables have those of its hops alone
    row = there[np.searchsorted(keys, wanted[some])]
    wait = tables["WaitedFor"]
    stood = rows_of(wait["resource"], index)
    behind = np.flatnonzero(stood >= 0)
    own = txn[some] * count + channel[some]
    order = np.argsort(own, kind="stable")
    waits = wait["txn"].to_numpy()[behind] * count + stood[behind]
    found = np.minimum(np.searchsorted(own[order], waits), max(len(own) - 1, 0))
    hit = own[order][found] == waits if len(own) else np.zeros(len(waits), bool)
    wait_ns = np.zeros(len(own))
    np.add.at(wait_ns, order[found[hit]], wait["ns"].to_numpy()[behind][hit])
    return txn[some], ServedEntries(
        channel[some],
        dealt["bytes"].to_numpy()[some],
        hop["t_in"][row],
        hop["t_start"][row],
        hop["t_out"][row],
        wait_ns,
    )


def join(parts: tuple[ServedEntries, ...]) -> ServedEntries:
    """All of several, one after the other."""
    return ServedEntries(*map(np.concatenate, zip(*parts, strict=True)))


class ServedEntries(NamedTuple):
    """Hops or operations, in arrays: where each was served, and when."""

    where: NDArray[np.int64]
    nbytes: NDArray[Any]
    arrived: Floats
    begin: Floats
    end: Floats
    wait: Floats

    def taken(self, chosen: NDArray[Any]) -> ServedEntries:
        """Those that are ``chosen``."""
        return ServedEntries(
            self.where[chosen], self.nbytes[chosen], self.arrived[chosen], self.begin[chosen],
            self.end[chosen], self.wait[chosen],
        )  # fmt: skip

    def most_at_once(self, several: NDArray[np.bool_], within: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Per resource, the most of those ``within`` that were present at once; touching ones do not meet.

        Where ``several`` is false there never was more than one.
        """
        count = len(several)
        inside = within & (self.end > self.arrived)
        most = np.bincount(self.where[inside], minlength=count) > 0
        inside &= several[self.where]
        where = self.where[inside]
        resource = np.concatenate([where, where])
        times = np.concatenate([self.end[inside], self.arrived[inside]])
        change = np.concatenate([-np.ones(len(where)), np.ones(len(where))])
        order = np.lexsort((change, times, resource))
        level = np.cumsum(change[order])  # every resource's changes add up to 0
        found = most.astype(np.float64)
        np.maximum.at(found, resource[order], level)
        return found.astype(np.int64)
