"""How close the work of a run came to what its hardware allows, as the graph has it.

Work is an operation, what a PE did in a launch, or a launch. It makes ``flops`` (two for each
multiply-accumulate of a GEMM) and moves bytes to and from memories, over links of chiplets and over those
between chiplets. None can take less time than at full rate: ``light_ns`` (speed of light) is the longest of
those times, ``bound`` names what takes it, and ``share`` is ``light_ns`` by the time that the work took.

Bytes are compared with all parts of one kind that the work touched, as if they were spread evenly. Of links
of several kinds, which the same bytes cross one after the other, that kind counts which needs the most time.
So does that port of TCMs: they read and write at the same time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from kernbench.analysis.path.model_time import carried_out, launch_name
from kernbench.analysis.trace_tables import Texts
from kernbench.hardware.kinds import COMPONENT_KINDS, LINK_KINDS
from kernbench.hardware.topology.fields import numbers
from kernbench.support.pgraph import RunRecord, TopologyRecord

LEVELS = ("operation", "pe", "launch")
MEMORIES = ("hbm", "sram", "tcm")
"""What memories are called; a kind of component says which it is."""
LINK, PACKAGE = "link", "package"
"""Links within a chiplet; die-to-die links and those between packages."""
BETWEEN = frozenset(kind.kind for kind in LINK_KINDS.values() if kind.seam) | {"pcie"}
WITHIN_PE = frozenset(kind.kind for kind in LINK_KINDS.values() if kind.within_pe)
"""Links whose bytes the trace does not give by operation; the TCM at their end counts them."""
_READS, _WRITES = ("dma_read", "tcm_read"), ("dma_write", "tcm_write")
COMPUTE = "gemm"
"""The bound that moves no bytes."""


@dataclass(slots=True)
class _Work:
    """Work under one key: bytes ``touched`` by memory component and direction, ``crossed`` by link."""

    launch: int
    name: str
    op: int = -1
    source: str = ""
    flops: dict[str, int] = field(default_factory=dict)
    """By the type of the operands."""
    begin: float = math.inf
    end: float = -math.inf
    pes: set[str] = field(default_factory=set)
    touched: dict[tuple[str, str], int] = field(default_factory=dict)
    crossed: dict[str, int] = field(default_factory=dict)

    def cover(self, begin: float, end: float) -> None:
        """Let it last from ``begin`` to ``end`` at least."""
        self.begin, self.end = min(self.begin, begin), max(self.end, end)


@dataclass(frozen=True, slots=True)
class _Peaks:
    """Rates of a topology, in flops and bytes a ns."""

    kinds: Mapping[str, str]
    pes: Mapping[str, str]
    flops: Mapping[str, Mapping[str, float]]
    """Of each PE by type, and of all other types, empty."""
    rates: Mapping[tuple[str, str], float]
    links: Mapping[str, tuple[str, float]]
    """Kind and rate of each link of whose bytes the trace knows the operation."""


def work_tables(run: RunRecord, topology: TopologyRecord) -> dict[str, pa.Table]:
    """The table ``Work`` of a run: its operations, the PEs of each launch, and its launches."""
    follows = {one["launch"]: one["follows"] for one in run.info.get("launches") or () if "follows" in one}
    launches = {row["number"]: row for row in run.tables["Launch"].to_pylist()}
    for number, one in enumerate(run.info.get("launches") or ()):
        if number in launches and carried_out(one):
            launches[number]["kernel"] = launch_name(one)
    peaks = _peaks(topology.tables)
    crossed = _bytes_by_link(run.tables, peaks)
    rows = [
        {"level": level, **_row(work, peaks)}
        for level in LEVELS
        for work in _works(run.tables, launches, peaks, crossed, level)
    ]
    of_launch = {row["launch"]: row for row in rows if row["level"] == "launch"}
    rows += [{**of_launch[led], "launch": number} for number, led in follows.items() if led in of_launch]
    rows = [{"number": number, **row} for number, row in enumerate(rows)]
    return {"Work": pa.Table.from_pylist(rows)} if rows else {}


def _peaks(topology: Mapping[str, pa.Table]) -> _Peaks:
    kinds: dict[str, str] = {}
    pes: dict[str, str] = {}
    flops: dict[str, dict[str, float]] = {}
    rates: dict[tuple[str, str], float] = {}
    inward: dict[str, list[float]] = {}
    links = topology["Link"]
    wires: dict[str, tuple[str, float]] = {}
    columns = (links[name].to_pylist() for name in ("name", "kind", "dst", "bw_gbs"))
    for name, kind, dst, gbs in zip(*columns, strict=True):
        inward.setdefault(dst, []).append(gbs)
        if kind not in WITHIN_PE:
            wires[name] = kind, gbs
    for row in topology["Component"].to_pylist():
        name, kind, has = row["name"], row["kind"], json.loads(row.get("attributes") or "{}")
        kinds[name] = kind
        if row["pe"] >= 0 and row["parent"]:
            pes[name] = row["parent"]
        if kind == "pe_gemm":
            of_types = {"": has.get("macs_per_cycle", 0.0), **numbers(has.get("rates"))}
            ghz = has.get("clock_ghz", 0.0)
            flops[row["parent"]] = {dtype: 2.0 * rate * ghz for dtype, rate in of_types.items()}
        for direction in ("read", "write") if _roof(kind) else ():
            # A slice of HBM has one rate for both directions, a cache before it and a TCM have one for each,
            # an SRAM has that of its link.
            of_cache = has.get("cache_write_gbs" if direction == "write" else "cache_gbs")
            of_slice = of_cache or has.get("slice_gbs")
            own = of_slice or has.get(f"{direction}_gbs")
            rates[name, direction] = own or math.fsum(inward.get(name, ()))
    return _Peaks(kinds, pes, flops, rates, wires)


def rates_of(topology: TopologyRecord, sip: int) -> tuple[float, float]:
    """Flops of products and bytes from and to HBM in a ns, of a package; caches do not count."""
    flops = gbs = 0.0
    for row in topology.tables["Component"].to_pylist():
        has = json.loads(row.get("attributes") or "{}") if row["sip"] == sip else {}
        if row["kind"] == "pe_gemm":
            flops += 2.0 * has.get("macs_per_cycle", 0.0) * has.get("clock_ghz", 0.0)
        elif _roof(row["kind"]) == "hbm":
            gbs += has.get("slice_gbs", 0.0)
    return flops, gbs


def _bytes_by_link(tables: Mapping[str, pa.Table], peaks: _Peaks) -> list[tuple[int, str, int]]:
    """Bytes by operation and link, of all that an operation sent."""
    sent = tables["Transaction"]
    number, op = sent["number"].to_numpy(), sent["op"].to_numpy()
    op_of = np.full(int(number.max(initial=-1)) + 1, -1)
    op_of[number] = op
    places = Texts(tables["Hop"]["resource"])
    names = places.all()
    is_link = np.array([name in peaks.links for name in names], bool)
    nbytes, by = tables["Hop"]["bytes"].to_numpy(), op_of[tables["Hop"]["txn"].to_numpy()]
    hops = is_link[places.codes] & (nbytes > 0) & (by >= 0)
    keys, where = np.unique(by[hops] * len(names) + places.codes[hops], return_inverse=True)
    sums = np.zeros(len(keys), np.int64)
    np.add.at(sums, where, nbytes[hops])
    return [
        (key // len(names), names[key % len(names)], count)
        for key, count in zip(keys.tolist(), sums.tolist(), strict=True)
    ]


def _works(
    tables: Mapping[str, pa.Table],
    launches: Mapping[int, Mapping[str, Any]],
    peaks: _Peaks,
    crossed: Sequence[tuple[int, str, int]],
    by: str,
) -> Sequence[_Work]:
    names = [
        "number",
        "launch",
        "parent",
        "component",
        "name",
        "label",
        "source",
        "flops",
        "t_start",
        "t_end",
    ]
    ops, known = tables["Op"], tables["Op"].column_names
    operands = zip(
        *(tables["Operand"][name].to_pylist() for name in ("op", "position", "dtype")), strict=True
    )
    multiplied = {op: dtype for op, position, dtype in operands if position == 0}
    empty = [""] * ops.num_rows
    columns = [ops[name].to_pylist() if name in known else empty for name in names]
    named = dict(zip(columns[0], zip(columns[5], columns[4], columns[6], strict=True), strict=True))
    found: dict[Any, _Work] = {}
    work_of: dict[int, _Work] = {}
    for number, launch, parent, component, *_, flops, begin, end in zip(*columns, strict=True):
        if launch < 0:
            continue
        whole = parent if parent in named else number
        pe = peaks.pes.get(component, "")
        key = {"operation": whole, "pe": (launch, pe), "launch": launch}[by]
        work = found.get(key)
        if work is None:
            shown = {"operation": "", "pe": pe, "launch": launches.get(launch, {}).get("kernel") or ""}[by]
            work = found[key] = _Work(launch, shown)
            if by == "operation":
                label, name, source = named[whole]
                work.op, work.name, work.source = whole, label or name, source
        if flops:
            dtype = multiplied.get(number, "")
            work.flops[dtype] = work.flops.get(dtype, 0) + flops
        work.pes |= {pe} - {""}
        work.cover(begin, end)
        work_of[number] = work
    for number, work in found.items() if by == "launch" else ():
        if number in launches:
            work.cover(launches[number]["t_start"], launches[number]["t_done"])
    sent = tables["Transaction"]
    moved = zip(*(sent[name].to_pylist() for name in ("op", "kind", "dst", "bytes")), strict=True)
    for op, kind, dst, nbytes in moved:
        if op in work_of and kind in (*_READS, *_WRITES) and _roof(peaks.kinds.get(dst, "")):
            place = (dst, "read" if kind in _READS else "write")
            touched = work_of[op].touched
            touched[place] = touched.get(place, 0) + nbytes
    for op, link, nbytes in crossed:
        if op in work_of:
            over = work_of[op].crossed
            over[link] = over.get(link, 0) + nbytes
    return [work for key, work in found.items() if by != "pe" or key[1]]


def _row(work: _Work, peaks: _Peaks) -> dict[str, Any]:
    flops = sum(work.flops.values())
    peak, least = _compute(work, peaks)
    moved: dict[str, int] = {}
    light = {COMPUTE: least}
    for memory in MEMORIES:
        here = {place: n for place, n in work.touched.items() if _roof(peaks.kinds[place[0]]) == memory}
        light[memory], moved[memory] = _in_memories(memory, here, peaks)
    for level in (LINK, PACKAGE):
        light[level], moved[level] = _over_links(level, work.crossed, peaks)
    bound = max(light, key=lambda name: light[name])
    memory = max(moved, key=lambda name: light[name])
    least, ns = light[bound], work.end - work.begin
    return {
        "launch": work.launch,
        "op": work.op,
        "name": work.name,
        "source": work.source,
        "flops": flops,
        **{f"{name}_bytes": nbytes for name, nbytes in moved.items()},
        "memory": memory if moved[memory] else "",
        "intensity": flops / moved[memory] if moved[memory] else 0.0,
        "ns": ns,
        "achieved_tflops": flops / ns / 1e3 if ns > 0 else 0.0,
        "attainable_tflops": flops / least / 1e3 if least > 0 else 0.0,
        "peak_tflops": peak / 1e3,
        "achieved_gbs": moved[memory] / ns if ns > 0 else 0.0,
        "peak_gbs": moved[memory] / light[memory] if light[memory] > 0 else 0.0,
        "light_ns": least,
        "share": least / ns if ns > 0 else 0.0,
        "bound": bound if least > 0 else "",
        **{f"{name}_gbs": moved[name] / light[name] if light[name] > 0 else 0.0 for name in moved},
    }


def _compute(work: _Work, peaks: _Peaks) -> tuple[float, float]:
    """Peak flops a ns of its engines, in the mix of types of ``work``, and the least time of its products."""
    engines = [peaks.flops[pe] for pe in work.pes if pe in peaks.flops]
    of_type = {
        dtype: math.fsum(engine.get(dtype, engine[""]) for engine in engines) for dtype in work.flops or ("",)
    }
    if len(set(of_type.values())) == 1:
        (peak,) = set(of_type.values())
        return peak, sum(work.flops.values()) / peak if peak else 0.0
    least = math.fsum(work.flops[dtype] / peak for dtype, peak in of_type.items() if peak)
    return sum(work.flops.values()) / least, least


def _roof(kind: str) -> str:
    """What a kind of component is called as a memory; empty for all but memories."""
    found = COMPONENT_KINDS.get(kind)
    return found.roof if found is not None and found.memory else ""


def _in_memories(memory: str, touched: Mapping[tuple[str, str], int], peaks: _Peaks) -> tuple[float, int]:
    """The least time for the bytes of what is called ``memory``, and those bytes, of the port that binds."""
    directions = (("read",), ("write",)) if memory == "tcm" else (("read", "write"),)
    longest = 0.0, 0
    for together in directions:
        moved = {place: nbytes for place, nbytes in touched.items() if place[1] in together}
        memories = {name: peaks.rates[name, direction] for name, direction in moved}
        nbytes, rate = sum(moved.values()), math.fsum(memories.values())
        longest = max(longest, (nbytes / rate if rate else 0.0, nbytes))
    return longest


def _over_links(level: str, crossed: Mapping[str, int], peaks: _Peaks) -> tuple[float, int]:
    """The least time for the bytes that cross links of a level, and those bytes, of the kind that binds."""
    by_kind: dict[str, list[tuple[int, float]]] = {}
    for link, nbytes in crossed.items():
        kind, gbs = peaks.links[link]
        if (kind in BETWEEN) == (level == PACKAGE):
            by_kind.setdefault(kind, []).append((nbytes, gbs))
    longest = 0.0, 0
    for of in by_kind.values():
        nbytes, rate = sum(n for n, _ in of), math.fsum(gbs for _, gbs in of)
        longest = max(longest, (nbytes / rate if rate else 0.0, nbytes))
    return longest
