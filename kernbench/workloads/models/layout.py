"""How a decoder's layer lies on one package: which PE has which columns, and the tensors of a step.

Decode: columns of every matrix are dealt to the PEs of the package, as many to each; the last PEs have
columns that are zero, or none, where they do not divide. An activation is a list of blocks, one for each PE's
columns, each (tokens, columns) and row-major: a PE writes its block as one run of bytes, and reads as many
blocks as it likes as one run. What all PEs read has a copy in each cube. Prefill: see :class:`Strips`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kernbench.host import DPPolicy

Array = NDArray[np.generic]

if TYPE_CHECKING:
    from kernbench.host import Context, Tensor

BY_COLUMNS = DPPolicy("column_wise", "column_wise", even=True)
"""A block of columns on each PE: a weight, or an activation where it is made."""
IN_EACH_CUBE = DPPolicy("replicate", "row_wise", even=True)
"""A copy in each cube, its blocks over the PEs of that cube."""
BY_ROWS = DPPolicy("row_wise", "row_wise", even=True)
"""As many rows on each PE: the cache, and partial results of attention."""


def filled(
    torch: Context,
    name: str,
    shape: tuple[int, ...],
    dp: DPPolicy,
    values: Array | None,
    dtype: str = "f16",
) -> Tensor:
    """A tensor with these values; without any its memory holds nothing yet."""
    if values is None:
        return torch.empty(*shape, dtype=dtype, dp=dp, name=name)
    return torch.from_numpy(values, dp=dp, name=name)


@dataclass(frozen=True, slots=True)
class ColumnSplit:
    """Columns dealt to PEs: ``width`` to each of the first ``count``."""

    width: int
    count: int


def split_columns(columns: int, pes: int, within: int = 0) -> ColumnSplit:
    """As few columns to a PE as are enough; with ``within`` its divisor, or a multiple of it."""
    width = -(-columns // pes)
    while within and within % width and width % within:
        width += 1
    return ColumnSplit(width, -(-columns // width))


@dataclass(frozen=True, slots=True)
class Share:
    """What a package with ``cubes`` times ``pes`` PEs has of a model, and what of it each PE."""

    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    ffn: int
    cubes: int
    pes: int

    @property
    def workers(self) -> int:
        """PEs of the package."""
        return self.cubes * self.pes

    @property
    def group(self) -> int:
        """Heads of queries that share a head of keys."""
        return self.heads // self.kv_heads

    @property
    def span(self) -> int:
        """Columns of these heads."""
        return self.group * self.head_dim

    @property
    def of_hidden(self) -> ColumnSplit:
        """Columns of the residual stream."""
        return split_columns(self.hidden, self.workers)

    @property
    def of_ffn(self) -> ColumnSplit:
        """Columns of gate, and of up."""
        return split_columns(self.ffn, self.workers)

    @property
    def of_q(self) -> ColumnSplit:
        """Columns of q."""
        return split_columns(self.heads * self.head_dim, self.workers, self.span)

    @property
    def of_kv(self) -> ColumnSplit:
        """Columns of k, and of v."""
        return split_columns(self.kv_heads * self.head_dim, self.workers, self.head_dim)


@dataclass(frozen=True, slots=True)
class Keys:
    """How the cache of ``units`` (sequence times head of keys) of ``keys`` each is dealt to ``workers`` PEs.

    Where there are fewer units than PEs, ``parts`` PEs have ``chunk`` keys each of one unit; otherwise each
    PE has ``units_each`` whole ones.
    """

    units: int
    keys: int
    workers: int

    @property
    def units_each(self) -> int:
        """Units of a PE."""
        return -(-self.units // self.workers)

    @property
    def chunk(self) -> int:
        """Keys of a unit that lie together on a PE."""
        return -(-self.keys // max(1, self.workers // self.units))

    @property
    def parts(self) -> int:
        """PEs that share a unit."""
        return -(-self.keys // self.chunk)

    def rows(self) -> NDArray[np.intp]:
        """For each row of the cache, PE after PE, the number of its key (unit * keys + key), or -1."""
        rows = np.full((self.workers, self.units_each, self.chunk), -1)
        for unit in range(self.units):
            for part in range(self.parts):
                own = np.arange(part * self.chunk, min(self.keys, (part + 1) * self.chunk))
                pe, slot = divmod(unit * self.parts + part, self.units_each)
                rows[pe, slot, : len(own)] = unit * self.keys + own
        return rows.reshape(-1)


@dataclass(frozen=True, slots=True)
class Strips:
    """An activation of a prefill: groups of ``rows`` tokens, each a list of strips of ``width`` columns.

    The weights that make it lie in as many strips, dealt to the cubes, and each cube's over its PEs. A group
    is computed by ``parts`` PEs of each cube, which share the cube's strips.
    """

    tokens: int
    groups: int
    parts: int
    rows: int
    count: int
    width: int

    @classmethod
    def of_tokens(cls, tokens: int, columns: int, width: int, cubes: int, pes: int) -> Strips:
        """As many groups as have ROWS tokens each, of as many rows as can be dealt evenly to all PEs."""
        groups = max(n for n in range(1, pes + 1) if pes % n == 0 and (n == 1 or tokens >= n * ROWS))
        even = cubes * pes // groups
        return cls(
            tokens, groups, pes // groups, -(-tokens // (groups * even)) * even, columns // width, width
        )

    def group_of(self, pe: int) -> int:
        """The group that a PE of each cube computes."""
        return pe // self.parts

    def filled(self, group: int) -> int:
        """Rows of a group that are tokens."""
        return max(0, min(self.rows, self.tokens - group * self.rows))

    @property
    def full(self) -> bool:
        """Whether all rows are tokens."""
        return self.filled(self.groups - 1) == self.rows

    @property
    def columns(self) -> int:
        """Of all strips."""
        return self.count * self.width

    @property
    def shape(self) -> tuple[int, int]:
        """As a tensor."""
        return self.groups * self.count * self.rows, self.width

    def at(self, group: int, strip: int, row: int) -> int:
        """Bytes before a row of a strip."""
        return ((group * self.count + strip) * self.rows + row) * self.width * 2

    def each(self, cubes: int) -> int:
        """Strips of a PE at most."""
        return -(-self.count // (cubes * self.parts))

    def of(self, cube: int, cubes: int, pe: int) -> range:
        """The strips that a PE of a cube computes, of those that the cube has weights of."""
        first = (cube * self.parts + pe % self.parts) * self.each(cubes)
        return range(min(self.count, first), min(self.count, first + self.each(cubes)))

    def weights(self, depth: int, cubes: int) -> tuple[int, int]:
        """Shape of the weights, ``depth`` rows to each strip; zero where PEs and strips do not divide."""
        pes = self.groups * self.parts
        rows = -(-self.each(cubes) * self.parts * depth // pes) * pes
        return cubes * rows, self.width

    def weights_at(self, strip: int, depth: int, cubes: int) -> int:
        """Bytes before a strip of weights."""
        cube, own = divmod(strip, self.each(cubes) * self.parts)
        return (cube * (self.weights(depth, cubes)[0] // cubes) + own * depth) * self.width * 2

    def packed(self, w: Array, cubes: int) -> Array:
        """Weights (depth, columns) as they lie."""
        depth = len(w)
        whole = np.zeros(self.weights(depth, cubes), w.dtype)
        for strip in range(self.count):
            first = self.weights_at(strip, depth, cubes) // (2 * self.width)
            whole[first : first + depth] = w[:, strip * self.width : (strip + 1) * self.width]
        return whole

    def laid(self, x: Array) -> Array:
        """(tokens, columns) as it lies; rows behind the tokens are zero."""
        whole = padded(x, self.groups * self.rows, self.columns)
        parts = whole.reshape(self.groups, self.rows, self.count, self.width).transpose(0, 2, 1, 3)
        return np.ascontiguousarray(parts).reshape(self.shape)


ROWS = 32
"""Tokens of a group at least: with fewer, reading weights takes longer than multiplying them."""


def strip_width(columns: int, cubes: int, pes: int, within: int) -> int:
    """Columns of a strip: a divisor of ``within``, 32 or more where there is one.

    Each PE of a cube begins with another strip, so that they read the cube's memory in different places. Of
    the widths that give each PE a strip of its own (or else the narrowest), that which leaves the busiest
    cube the fewest columns; of these the widest.
    """
    divisors = [n for n in range(1, within + 1) if within % n == 0 and columns % n == 0]
    widths = [n for n in divisors if n >= 32] or divisors
    apart = [n for n in widths if columns // n >= cubes * pes] or widths[:1]
    return min(reversed(apart), key=lambda n: -(-(columns // n) // cubes) * n)


def padded(matrix: Array, rows: int, columns: int) -> Array:
    """``matrix`` with zeros below and to the right."""
    return np.pad(matrix, ((0, rows - matrix.shape[0]), (0, columns - matrix.shape[1])))


def blocks(x: Array, width: int, workers: int) -> Array:
    """(rows, columns) as (workers * rows, width): a block of columns for each PE."""
    whole = padded(x, len(x), width * workers)
    return np.ascontiguousarray(whole.reshape(len(x), workers, width).transpose(1, 0, 2)).reshape(-1, width)


def depth(columns: int) -> int:
    """Rows of a tile of f16 weights as wide as a PE's columns: a power of two, some 32 KiB together."""
    return max(16, 1 << int(math.log2(max(1, (32 << 10) // (columns * 2)))))


def tile_bytes(columns: int, given: int, tokens: int, sums: int = 8) -> int:
    """Of the buffers for a tile of weights (given, columns), a bias, and ``sums`` bytes for each of its sums.

    Sums are read and written as f32.
    """
    return columns * (2 * min(depth(columns), given) + sums * tokens + 2)
