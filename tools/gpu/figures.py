"""From the rows that ``measure.py`` wrote to figures of a machine: ``python tools/gpu/figures.py rows.csv``.

Only calibration tables are read: latency, bandwidth, launch, one multiprocessor, power. Each figure names its
rows. One multiprocessor is one PE; cycles are of the clock that the rows were measured at. What kernels and
layers took is left alone: it judges a machine that was made of these figures.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

CALIBRATION = ("latency", "bandwidth", "launch", "one multiprocessor", "power")
KIB, MIB = 1 << 10, 1 << 20


class Row(NamedTuple):
    """One measured case; ``params`` are what it was measured with, ``us`` the median of a call."""

    table: str
    case: str
    params: dict[str, Any]
    nbytes: float
    flops: float
    us: float

    @property
    def gbs(self) -> float:
        return self.nbytes / self.us / 1e3


class Figure(NamedTuple):
    """A figure of the machine, and which rows it was made of."""

    key: str
    value: float
    unit: str
    rows: str


def read(file: Path) -> list[Row]:
    """The calibration rows of a file; rows of other tables and cases that failed are left out."""
    with file.open(encoding="utf-8", newline="") as lines:
        found = [
            Row(
                one["table"],
                one["case"],
                json.loads(one["params"]),
                float(one["bytes"]),
                float(one["flops"]),
                float(one["median_us"] or 0),
            )
            for one in csv.DictReader(lines)
            if one["table"] in CALIBRATION
        ]
    return [row for row in found if row.us > 0 or "cycles" in row.params]


class Measured:
    """The rows of one GPU, and the figures that follow from them."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        clocks = [row.params["sm_mhz_after"] for row in self.rows if "sm_mhz_after" in row.params]
        if not clocks:
            raise SystemExit("no latency row says the clock (sm_mhz_after); measure again with measure.py")
        self.ghz = max(clocks) / 1e3

    def of(self, table: str, case: str, **params: Any) -> list[Row]:
        """The rows of a case whose parameters are ``params``; a missing case ends the program."""
        found = [row for row in self.rows if (row.table, row.case) == (table, case)]
        found = [row for row in found if all(row.params.get(k) == v for k, v in params.items())]
        if not found:
            which = f"'{case}'{f' {params}' if params else ''} in table '{table}'"
            raise SystemExit(f"no row {which}; measure it with measure.py")
        return found

    def rounds(self, rows: Sequence[Row]) -> float:
        """Cycles of a round: what the case with more rounds takes longer than the one with fewer."""
        few, many = sorted(rows, key=lambda row: row.params["rounds"])[:: len(rows) - 1]
        return (many.us - few.us) / (many.params["rounds"] - few.params["rounds"]) * self.ghz * 1e3

    def figures(self) -> list[Figure]:
        """All of them, in the order of a machine's file."""
        return [
            Figure("clock.ghz", self.ghz, "GHz", "latency: sm_mhz_after"),
            *self._launch(),
            *self._memory(),
            *self._math(),
            *self._gemm(),
            *self._loads(),
            *self._staging(),
            *self._results(),
            *self._power(),
        ]

    def _launch(self) -> list[Figure]:
        case = "empty kernel, in a graph"
        blocks = sorted({row.params["blocks"] for row in self.of("launch", case)})
        return [
            Figure(
                f"launch.ns, {n} blocks",
                self.of("launch", case, blocks=n)[0].us * 1e3,
                "ns",
                f"launch: {case}",
            )
            for n in blocks
        ]

    def _memory(self) -> list[Figure]:
        again = self.of("latency", "walk again")
        near = min(again, key=lambda row: row.params["footprint_kib"])
        far = [row.params["cycles"] for row in self.of("latency", "walk, each line once")]
        hbm = max(self.of("bandwidth", "read HBM"), key=lambda row: row.gbs)
        kept = self.of("bandwidth", "read again")
        fast = [row for row in kept if row.gbs > 1.3 * hbm.gbs]
        if len(fast) < 2:
            raise SystemExit("no two footprints of 'read again' are faster than memory; measure smaller ones")
        sizes = [row.params["footprint_mib"] for row in fast]
        slope = np.polyfit([row.nbytes for row in fast], [row.us for row in fast], 1)[0]
        alone = [row.gbs for row in self.of("bandwidth", "read again, few blocks", blocks=1)]
        writes = sorted(self.of("bandwidth", "write"), key=lambda row: row.nbytes)
        fits, below = f"read again, {min(sizes)} to {max(sizes)} MiB", "latency: walk"
        return [
            Figure("memory.cache.hit", near.params["cycles"], "cycles", f"{below} again, the smallest"),
            Figure("memory.latency", median(far), "cycles", f"{below}, each line once"),
            Figure("memory.gbs", hbm.gbs, "GB/s", f"bandwidth: read HBM, {hbm.params['blocks']} blocks"),
            Figure("memory.cache.gbs", 1e-3 / slope, "GB/s", f"bandwidth: {fits}, slope"),
            Figure(
                "memory.cache.write_gbs",
                (writes[1].nbytes - writes[0].nbytes) / (writes[1].us - writes[0].us) / 1e3,
                "GB/s",
                f"bandwidth: write, {writes[0].params['mib']} and {writes[1].params['mib']} MiB, slope",
            ),
            Figure("memory.cache.capacity, least", max(sizes), "MiB", f"bandwidth: {fits}"),
            Figure("pe.links.dma_gbs", median(alone), "GB/s", "bandwidth: read again, few blocks: 1"),
            *self._stores(),
        ]

    def _stores(self) -> list[Figure]:
        rows = [row for row in self.rows if row.case == "fill f16"]
        fastest = max((row.gbs for row in rows), default=0.0)
        key, rows_of = "pe.links.dma_gbs, stores", "one multiprocessor: fill f16, the fastest"
        return [Figure(key, fastest, "GB/s", rows_of)] if rows else []

    def _per_round(self, op: str) -> list[tuple[int, float]]:
        """Of each size of a block its elements and the cycles of a round."""
        rows = self.of("one multiprocessor", f"math f32 {op}")
        sizes = sorted({row.params["block"] for row in rows})
        return [(n, self.rounds([row for row in rows if row.params["block"] == n])) for n in sizes]

    def _math(self) -> list[Figure]:
        """Latency and elements a cycle. A round of ``fma`` is issued once and waits for two operations.

        A round of a function has a multiplication or an addition beside it, one of a reduction both.
        """
        both, rate = _line(self._per_round("fma"))
        figures = [("*", both / 2, rate)]
        for op in ("exp", "exp2", "rsqrt", "div", "sum", "max"):
            waited = both if op in ("sum", "max") else both / 2
            own = [(n, cycles - waited - n / rate) for n, cycles in self._per_round(op)]
            figures.append((op, *_line(own)))
        named = [
            (f"pe_math.cycles.{op}", latency, own, f"math f32 {'fma' if op == '*' else op}")
            for op, latency, own in figures
        ]
        return [
            Figure(f"{key}, {what}", value, unit, f"one multiprocessor: {row}")
            for key, latency, own, row in [*named, *self._within(both, rate)]
            for what, value, unit in (("latency", latency, "cycles"), ("rate", own, "elements a cycle"))
        ]

    def _within(self, both: float, rate: float) -> list[tuple[str, float, float, str]]:
        """Sums of rows of at most the vector unit's width; of those with equal elements, the fastest."""
        case = "rows f32 sum"
        points: dict[int, float] = {}
        rows = [row for row in self.rows if row.case == case and row.params["cols"] <= rate + 1]
        for shape in {tuple(row.params[key] for key in ("rows", "cols", "warps")) for row in rows}:
            alike = self.of("one multiprocessor", case, rows=shape[0], cols=shape[1], warps=shape[2])
            n = shape[0] * shape[1]
            points[n] = min(self.rounds(alike) - both - n / rate, points.get(n, np.inf))
        if len(points) < 2:
            return []
        return [("pe_math.reduce.within", *_line(sorted(points.items())), f"{case}, of up to 128 columns")]

    def _gemm(self) -> list[Figure]:
        """Cycles of a product: fixed ones, and multiplications over a rate; from 64 rows on, and below.

        Of tiles with as many multiplications the fastest counts: others lack warps or have narrow operands.
        """
        case = "dot f16, operands on chip"
        sizes = {
            tuple(row.params[k] for k in ("m", "n", "k", "warps"))
            for row in self.of("one multiprocessor", case, blocks=1)
        }
        found = []
        for whole in (True, False):
            points: dict[int, float] = {}
            for m, n, k, warps in sizes:
                if (m >= 64) is whole:
                    rows = self.of("one multiprocessor", case, m=m, n=n, k=k, warps=warps, blocks=1)
                    points[m * n * k] = min(self.rounds(rows), points.get(m * n * k, np.inf))
            fixed, rate = _line(list(points.items()))
            name = "pe_gemm" if whole else "pe_gemm.smallest"
            rows_of = f"one multiprocessor: {case}, m {'from' if whole else 'below'} 64"
            found += [
                Figure(f"{name}.fixed", fixed, "cycles", rows_of),
                Figure(f"{name}.macs_per_cycle", rate, "multiplications a cycle", rows_of),
            ]
        return found

    def _loads(self) -> list[Figure]:
        """A load: fixed cycles, and bytes over a rate, of an iteration of a loop less what is not issue.

        Of a stream, one load, that is cast and addition. Of a product with streamed operands, two loads,
        nothing is: it counts where the matrix engine is busy for at most 0.6 of the time, and of as many
        bytes the fastest.
        """
        stream, dots = "stream f16 from HBM", "dot f16, operands streamed"
        latency, rate = _line(self._per_round("fma"))
        points = []
        for row in self.of("one multiprocessor", stream):
            block = row.params["block"]
            if row.params["stages"] > 2:
                cycles = row.us * self.ghz * 1e3 / (row.params["elements"] / block)
                points.append((1, 2 * block, cycles - 2 * (latency / 2 + block / rate)))
        fixed, macs = (one.value for one in self._gemm()[:2])
        fastest: dict[int, float] = {}
        for row in self.rows:
            if row.case == dots and row.params["stages"] > 3 and row.params["m"] >= 64:
                m, n, bk, k = (row.params[key] for key in ("m", "n", "bk", "k"))
                cycles = row.us * self.ghz * 1e3 / (k / bk)
                if fixed + m * n * bk / macs <= 0.6 * cycles:
                    moved = 2 * bk * (m + n)
                    fastest[moved] = min(cycles, fastest.get(moved, np.inf))
        points += [(2, moved, cycles) for moved, cycles in fastest.items()]
        shares = [(loads / cycles, nbytes / cycles) for loads, nbytes, cycles in points]
        load, per_byte = np.linalg.lstsq(np.array(shares), np.ones(len(shares)), rcond=None)[0]
        rows_of = f"one multiprocessor: {stream}, more than 2 stages; {dots}, more than 3"
        return [
            Figure("pe_dma.issue.load", float(load), "cycles", rows_of),
            Figure("pe_dma.issue.bytes_per_cycle", float(1 / per_byte), "bytes a cycle", rows_of),
        ]

    def _staging(self) -> list[Figure]:
        """What a turn of a loop of one stage takes longer than one of two, by the bytes that it loads.

        Loads wait for products in both. With one stage operands pass through registers on their way to
        shared memory. The median, as shapes of as many bytes differ.
        """
        case = "dot f16, operands streamed"
        turns: dict[tuple[int, ...], dict[int, float]] = {}
        for row in self.of("one multiprocessor", case):
            m, n, bk, warps, k = (row.params[key] for key in ("m", "n", "bk", "warps", "k"))
            took = turns.setdefault((2 * bk * (m + n), m, n, bk, warps), {})
            took[row.params["stages"]] = row.us * self.ghz * 1e3 / (k / bk)
        longer = [(took[1] - took[2]) / shape[0] for shape, took in turns.items() if {1, 2} <= took.keys()]
        return [
            Figure(
                "pe_gemm.staging_bytes_per_cycle",
                1 / median(longer),
                "bytes a cycle",
                f"one multiprocessor: {case}, 1 stage less 2",
            )
        ]

    def _results(self) -> list[Figure]:
        """What a store of results of products takes beside its bytes: fixed cycles, and bytes over a rate.

        Of products on chip, the time that is left with no rounds, less launch, latencies of loads and store,
        issue of two loads, and the store itself.
        """
        case = "dot f16, operands on chip"
        known = {one.key: one.value for one in (*self._launch(), *self._memory(), *self._loads())}
        load, rate = known["pe_dma.issue.load"], known["pe_dma.issue.bytes_per_cycle"]
        stores = known.get("pe.links.dma_gbs, stores", known["pe.links.dma_gbs"]) / self.ghz
        points = []
        rows = self.of("one multiprocessor", case, blocks=1)
        for m, n, k, warps in {tuple(row.params[key] for key in ("m", "n", "k", "warps")) for row in rows}:
            alike = self.of("one multiprocessor", case, m=m, n=n, k=k, warps=warps, blocks=1)
            few = min(alike, key=lambda row: row.params["rounds"])
            cycles = few.us * self.ghz * 1e3 - few.params["rounds"] * self.rounds(alike)
            told = known["launch.ns, 1 blocks"] * self.ghz + 2 * known["memory.cache.hit"]
            told += 2 * load + 2 * k * (m + n) / rate + 4 * m * n / stores
            points.append((4 * m * n, cycles - told, cycles))
        sizes, left, whole = (np.array(column) for column in zip(*sorted(points), strict=True))
        slope, fixed = np.polyfit(sizes, left, 1, w=1 / whole)
        rows_of = f"one multiprocessor: {case}, 1 block, without rounds"
        return [
            Figure("pe_dma.rearrange", float(fixed), "cycles", rows_of),
            Figure("pe_dma.rearrange.bytes_per_cycle", float(1 / slope), "bytes a cycle", rows_of),
        ]

    def _power(self) -> list[Figure]:
        if not any(row.table == "power" for row in self.rows):
            return []
        (idle,) = self.of("power", "idle after")
        static = idle.params["watts"]
        figures = [Figure("energy.static", static, "W", "power: idle after")]
        uses: list[tuple[str, str, Callable[[Row], float]]] = [
            ("read HBM", "pJ a byte", lambda row: row.nbytes),
            ("read cache 16 MiB", "pJ a byte", lambda row: row.nbytes),
            ("dot on chip 128x256x64", "pJ a flop", lambda row: row.flops),
            ("fma on chip", "pJ an element", lambda row: row.flops),
        ]
        for case, unit, amount in uses:
            (row,) = self.of("power", case)
            rate = amount(row) / row.params["seconds"]
            spent = (row.params["watts"] - static) / rate * 1e12
            figures.append(Figure(f"energy.{case}", spent, unit, f"power: {case}"))
        loaded = self.of("power", "dot on chip 128x256x64")[0].params["sm_mhz"] / 1e3
        return [*figures, Figure("clock.loaded_ghz", loaded, "GHz", "power: dot on chip 128x256x64")]


def _line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Fixed cycles, not below 0, and amount a cycle of ``(amount, cycles)``, by relative errors."""
    amounts, cycles = (np.array(column, np.float64) for column in zip(*points, strict=True))
    slope, fixed = np.polyfit(amounts, cycles, 1, w=1 / cycles)
    if fixed < 0:
        return 0.0, float(np.median(amounts / cycles))
    return float(fixed), float(1 / slope)


def main(argv: Sequence[str]) -> None:
    if len(argv) != 1 or not Path(argv[0]).is_file():
        raise SystemExit("give the rows.csv that measure.py wrote: python tools/gpu/figures.py out/rows.csv")
    for figure in Measured(read(Path(argv[0]))).figures():
        print(f"{figure.key:38} {figure.value:12.4g} {figure.unit:24} {figure.rows}")


if __name__ == "__main__":
    main(sys.argv[1:])
