"""How many cycles a matrix engine takes for a block: whole tiles, or the folds of a systolic array.

The closed form is SCALE-Sim's (3.0.0, https://github.com/scalesim-project/SCALE-Sim) and one cycle: it gives
the number of the last one, counted from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil

from kernbench.hardware.topology.fields import numbers
from kernbench.hardware.topology.pe_spec import ARRAYS
from kernbench.support.dtypes import nbytes
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
    """Cycles of each block beside those of its tiles."""
    smallest: tuple[int, float, float] = (0, 0.0, 0.0)
    """Rows, cycles, MACs a cycle: blocks of fewer rows have these cycles and this rate instead."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """MACs a cycle of types whose rate is not ``macs_per_cycle``."""
    phases: Mapping[str, int] = field(default_factory=dict)
    """Passes over the operands by the precision of a product; 1 for a precision that is not named."""
    operand_rate: float = 0.0
    """Bytes of operands that can be loaded in a cycle; 0: no limit."""
    subblock: tuple[int, float] = (0, 0.0)
    """Most native tiles of the output that the engine holds at a time, and cycles before each such group."""

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
        return cls(
            dataflow,
            rows,
            cols,
            (m, k, n),
            macs,
            float(fixed),
            smallest,
            numbers(properties.get("rates")),
            {name: int(times) for name, times in numbers(properties.get("phases")).items()},
            float(properties.get("operand_bytes_per_cycle", 0.0)),
            (int(properties.get("subblock_tiles", 0)), float(properties.get("subblock_cycles", 0.0))),
        )

    def rate(self, dtype: str) -> float:
        """Multiply-accumulates a cycle of operands of ``dtype``."""
        return self.rates.get(dtype, self.macs_per_cycle)

    def cycles(self, block: Block, partial: bool = False, dtype: str = "", precision: str = "") -> float:
        """Cycles for ``block``.

        Args:
            block: (m, k, n) of the product.
            partial: The next block adds to the same outputs. Where they are one fold, the array goes on
                without a drain and fill between the two.
            dtype: Type of the operands; empty: one without a rate of its own, of a byte an element.
            precision: A name in ``phases``; empty: one pass.
        """
        if self.dataflow == "tile":
            least, fixed, rate = self.smallest
            phases = self.phases.get(precision, 1)
            if block[0] < least:  # this rate is that of ``macs_per_cycle``; other types have it in proportion
                rate *= self.rate(dtype) / self.macs_per_cycle
                return fixed + block[0] * block[1] * block[2] / rate * phases
            m, k, n = (ceil(size / tile) for size, tile in zip(block, self.tile, strict=True))
            tile_m, tile_k, tile_n = self.tile
            product = tile_m * tile_k * tile_n / self.rate(dtype) * phases
            held, between = self.subblock
            height, width = subblock(m, n, held) if held else (1, 1)
            if self.operand_rate:
                # A step of a group along K loads each tile of its shorter side once and keeps it for a whole
                # row or column of products; each of these loads a tile of the longer side.
                a, b = tile_m * tile_k, tile_k * tile_n
                elements = a / width + b if width >= height else a + b / height
                product = max(product, elements * _size(dtype) / self.operand_rate)
            groups = m // height * (n // width) if held else 0
            return self.fixed_cycles + m * k * n * product + groups * between
        way = ARRAYS[self.dataflow]
        folds = ceil(block[way.rows] / self.rows) * ceil(block[way.cols] / self.cols)
        streamed = block[way.streams]
        if self.dataflow != "os":
            # The operand that stays is loaded first, a row a cycle.
            return folds * (2 * self.rows + self.cols + streamed - 2)
        if partial and folds == 1:
            return streamed
        return folds * (self.rows + self.cols + streamed - 2)


@lru_cache(maxsize=1024)
def subblock(m: int, n: int, tiles: int) -> tuple[int, int]:
    """Height and width, in tiles, of the groups that an output of ``m`` x ``n`` tiles is computed in.

    They divide it and have at most ``tiles`` tiles. Of such groups it is the largest, then the squarest,
    which loads the fewest operands, then the tallest.
    """
    shapes = [
        (h, w)
        for h in range(1, min(m, tiles) + 1)
        if m % h == 0
        for w in range(1, tiles // h + 1)
        if n % w == 0
    ]
    return max(shapes, key=lambda shape: (shape[0] * shape[1], -max(shape), shape[0]))


def _size(name: str) -> float:
    return nbytes((16,), name) / 16 if name else 1
