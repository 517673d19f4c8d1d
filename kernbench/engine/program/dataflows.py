"""How many cycles a matrix engine takes for a block: whole tiles, or the folds of a systolic array.

The closed form is SCALE-Sim's (3.0.0, https://github.com/scalesim-project/SCALE-Sim) and one cycle: it gives
the number of the last one, counted from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from kernbench.hardware.topology.pe_spec import ARRAYS
from kernbench.support.pgraph import Properties

Block = tuple[int, int, int]
"""(m, k, n) of a product."""


@dataclass(frozen=True, slots=True)
class MatrixEngine:
    """A matrix engine's ``dataflow``, array and native tile."""

    dataflow: str
    rows: int
    cols: int
    tile: Block
    macs_per_cycle: float
    fixed_cycles: float = 0.0
    """Of every block, with whole tiles."""
    smallest: tuple[int, float, float] = (0, 0.0, 0.0)
    """Blocks of fewer rows than this many take so many cycles, and multiplications at this rate, instead."""

    @classmethod
    def of(cls, properties: Properties) -> MatrixEngine:
        """That of a PE_GEMM with these properties."""
        m, k, n = (int(properties[f"tile_{side}"]) for side in "mkn")
        dataflow, macs = str(properties["dataflow"]), float(properties["macs_per_cycle"])
        fixed, least, small, rate = (
            properties.get(key, 0)
            for key in ("fixed_cycles", "smallest_m", "smallest_fixed", "smallest_macs")
        )
        smallest = int(least), float(small), float(rate)
        rows, cols = int(properties["rows"]), int(properties["cols"])
        return cls(dataflow, rows, cols, (m, k, n), macs, float(fixed), smallest)

    def cycles(self, block: Block, partial: bool = False) -> float:
        """Cycles for ``block``.

        ``partial``: the next block adds to the same outputs. Where they are one fold, the array goes on
        without a drain and fill between the two.
        """
        if self.dataflow == "tile":
            least, fixed, rate = self.smallest
            if block[0] < least:
                return fixed + block[0] * block[1] * block[2] / rate
            passes = 1
            for size, tile in zip(block, self.tile, strict=True):
                passes *= ceil(size / tile)
            return self.fixed_cycles + passes * (
                self.tile[0] * self.tile[1] * self.tile[2] / self.macs_per_cycle
            )
        way = ARRAYS[self.dataflow]
        folds = ceil(block[way.rows] / self.rows) * ceil(block[way.cols] / self.cols)
        streamed = block[way.streams]
        if self.dataflow != "os":
            # The operand that stays is loaded first, a row a cycle.
            return folds * (2 * self.rows + self.cols + streamed - 2)
        if partial and folds == 1:
            return streamed
        return folds * (self.rows + self.cols + streamed - 2)
