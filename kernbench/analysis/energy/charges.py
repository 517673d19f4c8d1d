"""What a run's bytes, messages and operations cost in energy: one charge for each, in whole femtojoules.

Everything is counted from the trace, after the run: a message at each link and component that it went
through, bytes at the memory that they were read from or written to, multiply-accumulates, elements of MATH.
Each charge is rounded once, to a femtojoule, and from there on whole numbers are added up: whatever the
charges are summed by, the sums have the same total.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from kernbench.analysis.trace_tables import Ints, RowsOf, Texts, rows_of
from kernbench.engine.program.math_rates import MathRates, passes_of
from kernbench.errors import UsageError
from kernbench.hardware.kinds import LINK_KINDS
from kernbench.hardware.topology.energy import Figures
from kernbench.support.dtypes import DTYPES, PACKED, nbytes
from kernbench.support.dtypes import dtype as dtype_named
from kernbench.support.pgraph import TopologyRecord, further_link_properties

Times = Callable[[Ints, NDArray[np.float64]], Ints]
"""How often what belongs to launches, or to none, happens, and when it is in the trace."""
FJ_PER_PJ = 1000.0
LINK, TRANSIT, MEMORY, MAC, MATH = CAUSES = ("link", "transit", "memory", "mac", "math")
"""What energy went into: wires, passing messages on, bytes of memories, GEMMs, MATH."""
_OVERFLOW = 2.0**60


class Charges(NamedTuple):
    """Energy by what it was spent for, in arrays: ``fj`` for ``op`` of ``launch`` at ``part``.

    ``op`` and ``launch`` are -1 where there is none; ``part`` is a row of :attr:`ChargedMachine.names`,
    ``cause`` of :data:`CAUSES`.
    """

    op: Ints
    launch: Ints
    part: Ints
    cause: Ints
    fj: Ints


class ChargedMachine:
    """The parts of a machine with their figures: components first, then links."""

    def __init__(self, topology: TopologyRecord, figures: Figures) -> None:
        components, links = (topology.tables[name].to_pylist() for name in ("Component", "Link"))
        self.names: list[str] = [row["name"] for row in (*components, *links)]
        self.kinds: list[str] = [row["kind"] for row in (*components, *links)]
        self.components = len(components)
        wires = [str(p.get("wire", "")) for p in further_link_properties(topology)] or [""] * len(links)
        self._said_of = [*((kind, "") for kind in self.kinds[: len(components)]),
                         *zip(self.kinds[len(components) :], wires, strict=True)]  # fmt: skip
        self.parents: list[str] = [row["parent"] for row in components]
        self.index = {name: number for number, name in enumerate(self.names)}
        self.flit_bytes = max(topology.flit_bytes, 1)
        self.figures = figures
        self._attributes = {row["name"]: row["attributes"] for row in components}
        mm = np.array([0.0] * self.components + [row["distance_mm"] for row in links])
        self.per_byte = self.each("pj_per_byte") + self.each("pj_per_byte_mm") * mm
        self.per_flit, self.per_message = self.each("pj_per_flit"), self.each("pj_per_message")
        caches = {self.parents[n] for n, kind in enumerate(self.kinds) if kind == "memory_cache"}
        self.behind_cache = np.array([name in caches for name in self.names], np.bool_)
        """Which parts are memories with a cache before them."""
        self.per_read, self.per_write = self.each("pj_per_byte_read"), self.each("pj_per_byte_write")

    def each(self, key: str) -> NDArray[np.float64]:
        """One figure of each part, of a link that of its wire before that of its kind; 0 without one."""
        known = {}
        for kind, wire in set(self._said_of):
            own = {} if wire in LINK_KINDS else self.figures.get(wire, {})
            known[kind, wire] = own.get(key, self.figures.get(kind, {}).get(key, 0.0))
        return np.array([known[sort] for sort in self._said_of], np.float64)

    def attributes(self, part: int) -> dict[str, Any]:
        """Properties of a component's own kind."""
        found: dict[str, Any] = json.loads(self._attributes[self.names[part]] or "{}")
        return found

    def of(self, column: pa.ChunkedArray) -> Ints:
        """By row the part that it names; -1 for one that the machine does not have."""
        return rows_of(column, self.index)

    @cached_property
    def _siblings(self) -> dict[tuple[str, str], int]:
        return {(self.parents[n], self.kinds[n]): n for n in range(self.components)}

    def sibling(self, parts: Ints, kind: str) -> Ints:
        """By row the part of that ``kind`` in the same PE or cube; -1 where there is none."""
        known, rows = np.unique(parts, return_inverse=True)
        found = [
            self._siblings.get((self.parents[n], kind), -1) if 0 <= n < self.components else -1
            for n in known.tolist()
        ]
        return np.array(found, np.int64)[rows] if len(found) else rows

    def is_kind(self, parts: Ints, kind: str) -> NDArray[np.bool_]:
        """Whether each part is of that kind."""
        which = np.array([*(one == kind for one in self.kinds), False])
        return np.asarray(which[parts])


def charges(tables: Mapping[str, pa.Table], machine: ChargedMachine, times: Times) -> Charges:
    """Everything that a run spent energy for, not yet added up; ``times`` says how often each happens."""
    sent = _sent(tables, times)
    found = [
        _hops(tables, machine, sent),
        _cached(tables, machine, sent),
        _dma_in_tcm(tables, machine, sent),
        _macs(tables, machine, times),
        _math(tables, machine, times),
    ]
    return Charges(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def in_fj(pj: NDArray[np.float64]) -> Ints:
    """Whole femtojoules, halves to even."""
    fj = np.rint(pj * FJ_PER_PJ)
    if fj.size and (fj.sum() >= _OVERFLOW):
        raise UsageError("the energy of the run is beyond 1,150 J, the most that is added up")
    return fj.astype(np.int64)


class _Sent(NamedTuple):
    """Transactions by row."""

    number: Ints
    op: Ints
    launch: Ints
    reads: NDArray[np.bool_]
    times: Ints


def _sent(tables: Mapping[str, pa.Table], times: Times) -> _Sent:
    sent = tables["Transaction"]
    reads = Texts(sent["kind"]).rows(lambda kind: kind.endswith("read"))
    number, op, launch = (sent[name].to_numpy() for name in ("number", "op", "launch"))
    return _Sent(number, op, launch, reads, times(launch, sent["t_submit"].to_numpy()))


def _hops(tables: Mapping[str, pa.Table], machine: ChargedMachine, sent: _Sent) -> Charges:
    """Messages at links and components, bytes at the memories where they lie."""
    hop = tables["Hop"]
    of = RowsOf(sent.number).of(hop["txn"].to_numpy())
    part, nbytes = machine.of(hop["resource"]), hop["bytes"].to_numpy()
    known = part >= 0
    of, part, nbytes = of[known], part[known], nbytes[known]
    access = np.where(sent.reads[of], machine.per_read[part], machine.per_write[part])
    access[machine.behind_cache[part]] = 0.0
    flits = -(-nbytes // machine.flit_bytes)
    passing = flits * machine.per_flit[part] + machine.per_message[part]
    is_link = part >= machine.components
    where = np.where(is_link, CAUSES.index(LINK), CAUSES.index(TRANSIT))
    fj = in_fj(nbytes * machine.per_byte[part] + passing) * sent.times[of]
    memory = in_fj(nbytes * access) * sent.times[of]
    some = memory > 0
    return Charges(
        np.concatenate([sent.op[of], sent.op[of][some]]),
        np.concatenate([sent.launch[of], sent.launch[of][some]]),
        np.concatenate([part, part[some]]),
        np.concatenate([where, np.full(int(some.sum()), CAUSES.index(MEMORY))]),
        np.concatenate([fj, memory[some]]),
    )


def _cached(tables: Mapping[str, pa.Table], machine: ChargedMachine, sent: _Sent) -> Charges:
    """Behind a cache: bytes of a transaction that the cache moved there, those that memory moved there."""
    if "CacheUse" not in tables:
        return Charges(*(np.zeros(0, np.int64) for _ in Charges._fields))
    table, whole = tables["CacheUse"], tables["Transaction"]
    table = table.filter(pa.array(table["txn"].to_numpy() >= 0))
    of = RowsOf(sent.number).of(table["txn"].to_numpy())
    cache = machine.of(table["resource"])
    memory = machine.of(whole["dst"].take(pa.array(of)))
    rate = np.where(sent.reads[of], machine.per_read[cache], machine.per_write[cache])
    names = ("fetched_bytes", "written_bytes", "coalesced_bytes")
    fetched, written, coalesced = (table[name].to_numpy() for name in names)
    fj = np.concatenate(
        [
            in_fj((whole["bytes"].to_numpy()[of] - coalesced) * rate),
            in_fj(fetched * machine.per_read[memory] + written * machine.per_write[memory]),
        ]
    )
    of, part, some = np.concatenate([of, of]), np.concatenate([cache, memory]), fj > 0
    of, part, fj = of[some], part[some], fj[some]
    where = np.full(len(of), CAUSES.index(MEMORY))
    return Charges(sent.op[of], sent.launch[of], part, where, fj * sent.times[of])


def _dma_in_tcm(tables: Mapping[str, pa.Table], machine: ChargedMachine, sent: _Sent) -> Charges:
    """The other end of transfers of PE_DMA: its PE's TCM, which no message goes through.

    A DMA read writes into it; a DMA write, or a message to another PE's queue, reads from it.
    """
    table = tables["Transaction"]
    kinds = Texts(table["kind"])
    tcm = machine.sibling(machine.of(table["src"]), "pe_tcm")
    dma = machine.is_kind(machine.of(table["src"]), "pe_dma") & (tcm >= 0)
    into = dma & kinds.rows(lambda kind: kind == "dma_read")
    out_of = dma & kinds.rows(lambda kind: kind in ("dma_write", "ipcq_token"))
    if "Split" in tables:  # a multicast is read once
        out_of &= ~np.isin(table["number"].to_numpy(), tables["Split"]["txn"].to_numpy())
    rows = np.flatnonzero(into | out_of)
    part = tcm[rows]
    rate = np.where(into[rows], machine.per_write[part], machine.per_read[part])
    fj = in_fj(table["bytes"].to_numpy()[rows] * rate) * sent.times[rows]
    return Charges(sent.op[rows], sent.launch[rows], part, np.full(len(rows), CAUSES.index(MEMORY)), fj)


def _macs(tables: Mapping[str, pa.Table], machine: ChargedMachine, times: Times) -> Charges:
    """GEMMs: of a composite all at once, at the engine of the PE that it ran on."""
    op = tables["Op"]
    rows = np.flatnonzero(op["flops"].to_numpy() > 0)
    on = machine.of(op["component"].take(pa.array(rows)))
    part = np.where(machine.is_kind(on, "pe_gemm"), on, machine.sibling(on, "pe_gemm"))
    rows, part = rows[part >= 0], part[part >= 0]
    types = _operands(tables)
    per_mac = machine.figures.get("pe_gemm", {}).get("pj_per_mac", {})
    results = op["dtype"].take(pa.array(rows)).to_pylist()
    pj = [
        _figure(per_mac, _widest(types.get(number, ()), result))
        for number, result in zip(op["number"].to_numpy()[rows].tolist(), results, strict=True)
    ]
    macs = op["flops"].to_numpy()[rows] / 2
    return _at_ops(op, rows, part, MAC, in_fj(macs * np.array(pj, np.float64)), times)


def _math(tables: Mapping[str, pa.Table], machine: ChargedMachine, times: Times) -> Charges:
    """MATH: elements times passes; of a composite's stages, which have no shapes, what their time was for."""
    op = tables["Op"]
    on = machine.of(op["component"])
    rows = np.flatnonzero(machine.is_kind(on, "pe_math"))
    types, per_op = _operands(tables), machine.figures.get("pe_math", {}).get("pj_per_op", {})
    names = ("number", "parent", "name", "dtype", "t_start", "t_end")
    columns = [op[name].take(pa.array(rows)).to_pylist() for name in names]
    whole = dict(zip(op["number"].to_pylist(), op["dtype"].to_pylist(), strict=True))
    engines: dict[int, tuple[dict[str, int], MathRates | None, float, float]] = {}
    pj = []
    for part, (number, parent, name, dtype, start, end) in zip(
        on[rows].tolist(), zip(*columns, strict=True), strict=True
    ):
        if part not in engines:
            has = machine.attributes(part)
            lanes, ghz = float(has.get("lanes", 0)), float(has.get("clock_ghz", 0.0))
            engines[part] = passes_of(has), MathRates.of(has), ghz, lanes
        passes, rates, ghz, lanes = engines[part]
        if number in types:
            shapes = ([int(n) for n in shape.split("x") if n.isdigit()] for _, shape, _ in types[number])
            done = max(map(math.prod, shapes)) * passes.get(name, 1)
        else:
            done = round((end - start) * (lanes * ghz))
            if rates is not None and (rate := rates.find(name, 0, 0)):
                done = round(((end - start) * ghz - rate[0]) * rate[1]) * passes.get(name, 1)
        pj.append(done * _figure(per_op, dtype or whole.get(parent, "")))
    return _at_ops(op, rows, on[rows], MATH, in_fj(np.array(pj, np.float64)), times)


def _at_ops(op: pa.Table, rows: Ints, part: Ints, cause: str, fj: Ints, times: Times) -> Charges:
    number, launch, at = (op[name].to_numpy()[rows] for name in ("number", "launch", "t_start"))
    return Charges(number, launch, part, np.full(len(rows), CAUSES.index(cause)), fj * times(launch, at))


def _figure(figures: Mapping[str, float], dtype: str) -> float:
    """pJ of a type. Without a figure of its own a packed type, or an integer of up to 8 bits, costs what i8
    does, and a larger integer what i32 does for each lane of 32 bits that it takes."""
    if dtype in figures or (dtype not in DTYPES and dtype not in PACKED):
        return figures.get(dtype, 0.0)
    known = dtype_named(dtype)
    if dtype in PACKED or (known.itemsize == 1 and not known.is_float):
        return figures.get("i8", 0.0)
    return 0.0 if known.is_float else figures.get("i32", 0.0) * max(1, known.itemsize // 4)


_Operand = tuple[int, str, str]


def _operands(tables: Mapping[str, pa.Table]) -> dict[int, list[_Operand]]:
    """By operation its operands: position, shape, type."""
    found: dict[int, list[_Operand]] = {}
    names = ("op", "position", "shape", "dtype")
    for op, *operand in zip(*(tables["Operand"][name].to_pylist() for name in names), strict=True):
        found.setdefault(op, []).append(tuple(operand))
    return found


def _widest(operands: Any, otherwise: str) -> str:
    """The type in which the first two operands are multiplied: the wider one, floats before integers."""
    inputs = [name for at, _, name in operands if at in (0, 1) and (name in DTYPES or name in PACKED)]
    return max(inputs, key=lambda name: (dtype_named(name).is_float, nbytes((16,), name)), default=otherwise)
