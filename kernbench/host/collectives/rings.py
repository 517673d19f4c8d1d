"""Rings of PEs: chunks are reduced step by step on their way around, and passed on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kernbench.host.collectives.streams import Sent, Taken, flow, reduce_received, swap
from kernbench.host.collectives.vectors import Limits, Vector, copy, divide, divisors


@dataclass(frozen=True, slots=True)
class Ring:
    """A PE's part in a ring: the directions to the next and from the one before, its number, their count."""

    forward: str
    back: str
    number: int
    size: int


def ring_all_reduce(tl: Any, vector: Vector, ring: Ring, op: str, limits: Limits, divisor: int = 1) -> None:
    """Reduce ``vector`` over a ring, in place: N - 1 steps of reducing chunks, N - 1 of passing them on.

    The result is divided by ``divisor``, the same on every PE, here and below: see :func:`divisors`.
    """
    if ring.size == 1:
        divide(tl, vector, divisor, limits)
        return
    moves = _RingMoves(tl, ring, limits, op, True, divisor)
    for chunks in blocks(vector, ring.size, limits):
        moves.add(chunks, chunks[ring.number])
    moves.carry_out()


def blocks(vector: Vector, size: int, limits: Limits) -> list[list[Vector]]:
    """The chunks of each block of a vector that a ring of ``size`` PEs reduces."""
    block = max(1, limits.held // vector.itemsize) * size
    return [vector.part(begin, begin + block).chunks(size) for begin in range(0, vector.elements, block)]


def ring_all_reduce_by_steps(
    tl: Any, vector: Vector, ring: Ring, op: str, limits: Limits, divisor: int = 1
) -> None:
    """As :func:`ring_all_reduce`, step by step: a chunk is passed on when all of it is there."""
    chunks, n, me = vector.chunks(ring.size), ring.size, ring.number
    first, last = divisors(vector.dtype, divisor)
    divide(tl, vector, first, limits)
    for step in range(n - 1):
        sent, taken = chunks[(me - 1 - step) % n], chunks[(me - 2 - step) % n]
        swap(tl, ring.forward, [sent], ring.back, [taken], limits, op)
    divide(tl, chunks[me], last, limits)
    for step in range(n - 1):
        sent, taken = chunks[(me - step) % n], chunks[(me - 1 - step) % n]
        swap(tl, ring.forward, [sent], ring.back, [taken], limits)


def ring_reduce_scatter(
    tl: Any,
    chunks: Sequence[Vector],
    result: Vector,
    ring: Ring,
    op: str,
    limits: Limits,
    divisor: int = 1,
) -> None:
    """Chunk i of every PE, reduced, becomes ``result`` on PE i; all chunks are of one size."""
    if ring.size == 1:
        copy(tl, chunks[0], result, limits)
        divide(tl, result, divisor, limits)
        return
    block = max(1, limits.held // result.itemsize)
    moves = _RingMoves(tl, ring, limits, op, False, divisor)
    for begin in range(0, result.elements, block):
        end = begin + block
        moves.add([chunk.part(begin, end) for chunk in chunks], result.part(begin, end))
    moves.carry_out()


def ring_all_gather(tl: Any, chunks: Sequence[Vector], own: Vector, ring: Ring, limits: Limits) -> None:
    """``own`` of PE i becomes chunk i of every PE; all chunks are of one size."""
    copy(tl, own, chunks[ring.number], limits)
    if ring.size == 1:
        return
    block = max(1, limits.held // own.itemsize)
    moves = _RingMoves(tl, ring, limits, None, True)
    for begin in range(0, own.elements, block):
        end = begin + block
        moves.add([chunk.part(begin, end) for chunk in chunks], own.part(begin, end))
    moves.carry_out()


class _RingMoves:
    """What one PE sends and takes in a ring, block by block; the blocks of a vector follow without a gap.

    With ``op`` chunk i of a block is left reduced on PE i, ``gather`` passes it on to all.
    """

    def __init__(
        self, tl: Any, ring: Ring, limits: Limits, op: str | None, gather: bool, divisor: int = 1
    ) -> None:
        self._tl, self._ring, self._limits = tl, ring, limits
        self._op, self._gather, self._divisor = op, gather, divisor
        self._sent: list[Sent] = []
        self._taken: list[Taken] = []
        self._blocks = 0

    def add(self, chunks: Sequence[Vector], result: Vector) -> None:
        """One more block: its chunks, and where this PE's own one is or is to be."""
        if self._op is not None:
            self._reduce(chunks, result, self._op)
        if self._gather:
            self._pass_on(chunks, result)
        self._blocks += 1

    def carry_out(self) -> None:
        """Send and take all of it."""
        flow(self._tl, self._ring.forward, self._ring.back, self._limits, self._sent, self._taken)

    def _pieces(self, vector: Vector) -> list[Vector]:
        return vector.pieces(self._limits.piece)

    def _reduce(self, chunks: Sequence[Vector], result: Vector, op: str) -> None:
        n, me = self._ring.size, self._ring.number
        for step in range(n - 1):
            chunk = (me - 1 - step) % n
            first, after = divisors(result.dtype, self._divisor)
            for j, own in enumerate(self._pieces(chunks[chunk])):
                self._sent.append(Sent((self._blocks, 0, chunk, j), own if step == 0 else None, first))
            chunk = (me - 2 - step) % n
            last = chunk == me
            targets: list[Vector | None] = list(self._pieces(result)) if last else []
            for j, own in enumerate(self._pieces(chunks[chunk])):
                use = partial(reduce_received, self._tl, op, own, (first, after if last else 1))
                target = targets[j] if last else None
                key = (self._blocks, 0, chunk, j)
                self._taken.append(Taken(key, own, use, target, self._gather or not last))

    def _pass_on(self, chunks: Sequence[Vector], result: Vector) -> None:
        n, me = self._ring.size, self._ring.number
        for step in range(n - 1):
            chunk = (me - step) % n
            own = step == 0 and self._op is None
            reduced_here = step == 0 and self._op is not None
            for j, piece in enumerate(self._pieces(result if step == 0 else chunks[chunk])):
                key = (self._blocks, 0 if reduced_here else 1, chunk, j)
                self._sent.append(Sent(key, piece if own else None))
            chunk = (me - 1 - step) % n
            for j, piece in enumerate(self._pieces(chunks[chunk])):
                use = partial(reduce_received, self._tl, None, piece, (1, 1))
                self._taken.append(Taken((self._blocks, 1, chunk, j), piece, use, piece, step < n - 2))
