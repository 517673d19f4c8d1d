"""How many programs a product of a layer, or attention to keys, is cut into by its Triton kernels."""

from __future__ import annotations

from dataclasses import dataclass

WIDTH, DEPTH = 64, 64
"""Columns of a block, or keys, and rows of weights in it at once."""
SIDE = 128
"""Rows and columns of a block of many tokens: for a product it reads half of what blocks of 64 do."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """Programs over columns, rows and parts of the sums of a product, and their blocks.

    ``height`` and ``width``: rows and columns of a block. ``part``: rows of weights of each program.
    """

    grid: tuple[int, int, int]
    height: int
    width: int
    part: int

    @classmethod
    def of(cls, tokens: int, n: int, k: int, workers: int) -> Tiles:
        """Of (tokens, k) by (k, n) on ``workers`` PEs."""
        rows = height(tokens, -(-n // SIDE), workers)
        width = SIDE if rows == SIDE else WIDTH
        columns, down = -(-n // width), -(-tokens // rows)
        parts, part = shared(columns * down, k, DEPTH, workers)
        return cls((columns, down, parts), rows, width, part)

    @property
    def blocks(self) -> dict[str, int]:
        """Arguments of a kernel and its launch."""
        return {"BM": self.height, "BN": self.width, "BK": DEPTH, "num_warps": warps(self.height)}


def height(tokens: int, across: int, workers: int) -> int:
    """Rows of a block: 128 where every other PE gets one, ``across`` beside each other; else up to 64."""
    if tokens > SIDE // 2 and 2 * across * -(-tokens // SIDE) >= workers:
        return SIDE
    return min(SIDE // 2, max(16, power(tokens)))


def warps(rows: int) -> int:
    """Of a program with so many rows, on a GPU."""
    return 8 if rows == SIDE else 4


def shared(programs: int, length: int, block: int, workers: int) -> tuple[int, int]:
    """How many programs share each of ``programs`` sums over ``length``, and how much of it each has.

    As many as there are PEs for, with two blocks each at least: as many as are in flight at once.
    """
    blocks = -(-length // block)
    each = -(-blocks // max(1, min(workers // programs, blocks // 2)))
    return -(-blocks // each), each * block


def power(n: int) -> int:
    """The power of two that is not below ``n``."""
    return 1 << (n - 1).bit_length()
