"""The tiled GEMM pipeline of a PE: what a run did in each stage, and the least that its topology needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from kernbench.analysis.routes.zero_load import ZeroLoadModel
from kernbench.engine.program.dataflows import MatrixEngine
from kernbench.hardware.topology.places import places
from kernbench.support import dtypes
from kernbench.support.pgraph import PropertyGraph
from kernbench.workloads.probes.cases import LOCAL, CaseCatalogue

STAGES = {"dma_in": "DMA in", "fetch": "fetch", "gemm": "GEMM", "dma_out": "DMA out"}
"""Stages of the pipeline and how people call them."""
_STAGE_OF = {"DMA_READ": "dma_in", "FETCH": "fetch", "GEMM": "gemm", "DMA_WRITE": "dma_out"}


@dataclass(frozen=True, slots=True)
class Hardware:
    """Figures of one PE from its compiled topology; times in ns, rates in GB/s."""

    tile: tuple[int, int, int]
    tile_ns: float
    macs_per_ns: float
    tcm_read_gbs: float
    tcm_write_gbs: float
    cases: tuple[Any, ...]
    formula: ZeroLoadModel

    @classmethod
    def of(cls, graph: PropertyGraph) -> Hardware:
        """The figures of PE 0 of cube 0."""
        gemm = graph.node(places(graph).part("pe_gemm", 0, 0, 0)).properties
        tcm = graph.node(places(graph).part("pe_tcm", 0, 0, 0)).properties
        engine, clock_ghz = MatrixEngine.of(gemm), float(gemm["clock_ghz"])
        cases = sorted(CaseCatalogue(graph).chosen(LOCAL), key=lambda case: case.is_write)
        return cls(
            engine.tile,
            engine.cycles(engine.tile, True, "f16") / clock_ghz,
            engine.rate("f16") * clock_ghz,
            float(tcm["read_gbs"]),
            float(tcm["write_gbs"]),
            tuple(cases),
            ZeroLoadModel(graph),
        )

    def dma_ns(self, nbytes: int, write: bool) -> tuple[float, float]:
        """Zero-load time of a DMA transfer with the own HBM slice, and what its narrowest link takes of it.

        The rest is the round trip: of transfers that follow each other it is paid once.
        """
        found = self.cases[write].predict(self.formula, nbytes)
        return found.ns, nbytes / found.bottleneck_gbs


def measure_stages(run: Any, shape: tuple[int, int, int], hardware: Hardware) -> dict[str, Any]:
    """Stages of the run of one composite GEMM: busy time (overlaps once), occupancy, count; windows; shares.

    ``occupancy`` is the busy time's share of the PE's window, from its first operation to its last.
    ``mac_utilisation`` is the share of that window in which the GEMM engine worked, ``mac_efficiency`` the
    share of its multiply-accumulates that were the product's own.
    """
    ops = run.ops
    on_pe = ops["launch"] >= 0
    begin, end = ops["t_start"], ops["t_end"]
    window = float(end[on_pe].max() - begin[on_pe].min())
    whole = np.flatnonzero(on_pe & (ops["name"].astype(str) == "composite_gemm"))[0]
    row: dict[str, Any] = {
        "pe_window_ns": window,
        "composite_window_ns": float(end[whole] - begin[whole]),
    }
    stages, named = ops["stage"].astype(str), ops["name"].astype(str)
    for stage, key in _STAGE_OF.items():
        here = on_pe & (stages == stage)
        if key == "dma_in":  # loads that pin an operand in TCM beforehand are DMA as well
            here |= on_pe & (named == "dma_read") & (ops["parent"] < 0)
        busy = union_ns(begin[here], end[here])
        row |= {
            f"{key}_busy_ns": busy,
            f"{key}_occupancy": busy / window,
            f"{key}_count": int(here.sum()),
        }
    m, k, n = shape
    useful = m * k * n / hardware.macs_per_ns
    row["mac_utilisation"] = row["gemm_busy_ns"] / window
    row["mac_efficiency"] = useful / window
    return row


def ideal(shape: tuple[int, int, int], variant: str, dtype: str, hardware: Hardware) -> dict[str, float]:
    """The same shares for a pipeline without gaps: each stage works as soon as it has something to work on.

    Pinned operands are loaded one after the other, each with its round trip. Of what is streamed the first
    step's tiles pay the round trip of DMA, fetch and GEMM; every further step costs what its slowest stage
    needs; the last tile of the result is stored and written back, round trip included.
    """
    m, k, n = shape
    tm, tk, tn = hardware.tile
    item = dtypes.dtype(dtype).itemsize
    load_ns = sum_ns(
        hardware.dma_ns(nbytes, write=False)[0]
        for nbytes, pinned in ((m * k * item, variant != "ref_ref"), (k * n * item, variant == "load_load"))
        if pinned
    )
    tiles = ceil(m / tm) * ceil(n / tn)
    steps = tiles * ceil(k / tk)
    a, b, c = (min(m, tm) * min(k, tk) * item, min(k, tk) * min(n, tn) * item, min(m, tm) * min(n, tn) * item)
    streamed = [nbytes for nbytes, on in ((a, variant == "ref_ref"), (b, variant != "load_load")) if on]
    first_ns = [hardware.dma_ns(nbytes, write=False) for nbytes in streamed]
    in_ns = sum_ns(wire for _, wire in first_ns)
    fetch_ns = (a + b) / hardware.tcm_read_gbs
    # The first operand's round trip; the second follows it at the rate of the narrowest link.
    fill_ns = (first_ns[0][0] + sum_ns(wire for _, wire in first_ns[1:]) if first_ns else 0.0) + fetch_ns
    out_ns, out_wire = hardware.dma_ns(c, write=True)
    slowest = max(in_ns, fetch_ns, hardware.tile_ns, out_wire * tiles / steps)
    drain_ns = c / hardware.tcm_write_gbs + out_ns
    window = load_ns + fill_ns + hardware.tile_ns + (steps - 1) * slowest + drain_ns
    return {
        "ideal_window_ns": window,
        "ideal_mac_utilisation": steps * hardware.tile_ns / window,
        "ideal_mac_efficiency": m * k * n / hardware.macs_per_ns / window,
    }


def union_ns(begin: np.ndarray[Any, Any], end: np.ndarray[Any, Any]) -> float:
    """ns during which any of the intervals is under way."""
    total, covered = 0.0, float("-inf")
    for first, last in sorted(zip(begin.tolist(), end.tolist(), strict=True)):
        total += max(0.0, last - max(first, covered))
        covered = max(covered, last)
    return total


def sum_ns(values: Any) -> float:
    """The sum of times, rounded once."""
    from math import fsum

    return fsum(values)


def under_tile(shape: tuple[int, int, int], hardware: Hardware) -> bool:
    """Whether the shape does not fill a tile of the hardware in some dimension."""
    return any(size < tile for size, tile in zip(shape, hardware.tile, strict=True))


def shape_of(text: str) -> tuple[int, int, int]:
    """``"32x128x64"`` as (M, K, N)."""
    m, k, n = (int(size) for size in text.split("x"))
    return m, k, n


def row_of(shape: tuple[int, int, int], variant: str) -> Mapping[str, Any]:
    """Parameters of ``matmul-composite`` for a shape."""
    m, k, n = shape
    return {"m": m, "k": k, "n": n, "variant": variant}
