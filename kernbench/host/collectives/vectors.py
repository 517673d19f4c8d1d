"""Vectors in a PE's memory, cut into pieces that fit a slot of a queue, and what is done with a piece."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbench.support import dtypes

if TYPE_CHECKING:
    from kernbench.language import Pointer, TensorHandle

AHEAD = 2
"""Receives under way in a direction: one piece is read from its slot while the one before is used."""

OPS = ("sum", "max", "min", "prod", "avg")
"""Reductions over ranks. ``avg`` is the mean: see :func:`divisors`."""

_COMBINE = {"sum": "add", "avg": "add", "max": "maximum", "min": "minimum", "prod": "mul"}


class Vector(NamedTuple):
    """``elements`` adjoining elements of ``dtype`` at a byte address of the PE's memory."""

    address: int
    elements: int
    dtype: str

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return dtypes.SIZES[self.dtype]

    def part(self, begin: int, end: int) -> Vector:
        """The elements from ``begin`` to ``end`` (exclusive), cut off at the end of the vector."""
        address, elements, dtype = self
        begin, end = min(begin, elements), min(end, elements)
        return Vector(address + begin * dtypes.SIZES[dtype], end - begin, dtype)

    def chunks(self, count: int) -> list[Vector]:
        """``count`` parts whose sizes differ by one element at most; some are empty in a short vector."""
        n = self.elements
        return [self.part(n * i // count, n * (i + 1) // count) for i in range(count)]

    def pieces(self, nbytes: int) -> list[Vector]:
        """Parts of at most ``nbytes`` bytes (at least one element), in order; none of an empty vector."""
        size = max(1, nbytes // self.itemsize)
        if 0 < self.elements <= size:
            return [self]
        return [self.part(i, i + size) for i in range(0, self.elements, size)]


def local(x: Pointer) -> Vector:
    """The PE's own shard of a tensor argument."""
    return Vector(int(x.local), math.prod(x.local_shape), x.dtype)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of what a kernel may have under way.

    Attributes:
        piece: Bytes of a piece; a slot of the queues holds one.
        window: Pieces that may be sent before as many were received; the slots of a ring.
        held: Bytes of pieces that a PE may hold in its scratch.
    """

    piece: int
    window: int
    held: int

    def ahead(self, directions: int) -> int:
        """Pieces that may be asked for before they are needed, in each of so many directions."""
        return max(1, min(AHEAD, self.held // max(1, self.piece * directions)))


def load(tl: Any, vector: Vector, divisor: int = 1) -> TensorHandle:
    """The vector's values, divided by ``divisor``."""
    handle: TensorHandle = tl.load(vector.address, (vector.elements,), vector.dtype)
    return quotient(tl, handle, divisor)


def divisors(dtype: str, divisor: int) -> tuple[int, int]:
    """What each contribution to a mean over ``divisor`` is divided by, and what their sum is.

    Floats are divided first, so that their sum does not overflow, integers last, as NCCL does.
    """
    return (divisor, 1) if dtypes.dtype(dtype).is_float else (1, divisor)


def combine(tl: Any, op: str, a: TensorHandle, b: TensorHandle) -> TensorHandle:
    """``a`` and ``b`` reduced elementwise by ``op``; the same bits whichever comes first."""
    handle: TensorHandle = getattr(tl, _COMBINE[op])(a, b)
    return handle


def quotient(tl: Any, value: TensorHandle, divisor: int) -> TensorHandle:
    """``value / divisor``; of integers the part before the point, as NCCL has it."""
    if divisor == 1:
        return value
    if dtypes.dtype(value.dtype).is_float:
        mean: TensorHandle = value / divisor
        return mean
    whole: TensorHandle = tl.abs(value) // divisor
    negated: TensorHandle = tl.where(tl.less(value, 0), -whole, whole)
    return negated


def divide(tl: Any, vector: Vector, divisor: int, limits: Limits) -> None:
    """Divide every element by ``divisor``, in place."""
    if divisor != 1:
        for piece in vector.pieces(limits.piece):
            tl.store(piece.address, quotient(tl, load(tl, piece), divisor))


def copy(tl: Any, source: Vector, target: Vector, limits: Limits) -> None:
    """Copy a vector within the PE's memory."""
    for a, b in zip(source.pieces(limits.piece), target.pieces(limits.piece), strict=True):
        tl.store(b.address, load(tl, a))
