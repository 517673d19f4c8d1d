"""Building blocks of collective kernels: pieces of vectors, rings and trees of PEs, exchanges of pairs.

They run inside a kernel on one PE and work on its own memory. Vectors are cut into pieces that fit a slot of
a queue, so that a stage forwards one piece while the next is on its way. No PE ever has more pieces under way
in a direction than its peer's ring has slots: stages that send to each other in a circle cannot block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbench import dtypes

if TYPE_CHECKING:
    from kernbench.kernels import Pointer, TensorHandle

OPS = ("sum", "max", "min", "prod", "avg")
"""Reductions over ranks. ``avg`` is the sum divided by the number of ranks."""

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


@dataclass(frozen=True, slots=True)
class Ring:
    """A PE's part in a ring: the directions to the next and from the one before, its number, their count."""

    forward: str
    back: str
    number: int
    size: int


@dataclass(frozen=True, slots=True)
class Tree:
    """A PE's part in a tree: directions of its children and of its parent (None at the root)."""

    children: tuple[str, ...]
    parent: str | None


def load(tl: Any, vector: Vector) -> TensorHandle:
    """The vector's values."""
    handle: TensorHandle = tl.load(vector.address, (vector.elements,), vector.dtype)
    return handle


def combine(tl: Any, op: str, a: TensorHandle, b: TensorHandle) -> TensorHandle:
    """``a`` and ``b`` reduced elementwise by ``op``; the same bits whichever comes first."""
    handle: TensorHandle = getattr(tl, _COMBINE[op])(a, b)
    return handle


def quotient(tl: Any, value: TensorHandle, divisor: int) -> TensorHandle:
    """``value / divisor``; of integers the part before the point, as NCCL has it."""
    if divisor == 1:
        return value
    if dtypes.dtype(value.dtype).is_float:
        return value / divisor
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


# -- rings ------------------------------------------------------------------------------------------

_Key = tuple[int, int, int]
"""A piece under way: (round, chunk, piece)."""


class _Sent(NamedTuple):
    key: _Key
    source: Vector | None
    """Where the piece is loaded from; None: it is forwarded as it was received."""


class _Taken(NamedTuple):
    key: _Key
    take: Callable[[], TensorHandle]
    """Receive the piece, do what is to be done with it, and return what is forwarded."""
    forwarded: bool


def _flow(tl: Any, ring: Ring, limits: Limits, sent: Sequence[_Sent], taken: Sequence[_Taken]) -> None:
    """Send and receive pieces, as far ahead of the receives as the window allows."""
    held: dict[_Key, TensorHandle] = {}
    at = 0

    def send_next() -> bool:
        nonlocal at
        piece = sent[at]
        if piece.source is None and piece.key not in held:
            return False
        value = held.pop(piece.key) if piece.source is None else load(tl, piece.source)
        tl.send(ring.forward, value)
        at += 1
        return True

    for received, one in enumerate(taken):
        while at < len(sent) and at - received < limits.window and send_next():
            pass
        value = one.take()
        if one.forwarded:
            held[one.key] = value
    while at < len(sent) and send_next():
        pass
    assert at == len(sent), "a piece to forward was never received"


def ring_all_reduce(tl: Any, vector: Vector, ring: Ring, op: str, limits: Limits, divisor: int = 1) -> None:
    """Reduce ``vector`` over a ring, in place: N - 1 steps of reducing chunks, N - 1 of passing them on.

    The result is divided by ``divisor``, here and below.
    """
    if ring.size == 1:
        divide(tl, vector, divisor, limits)
        return
    block = max(1, limits.held // vector.itemsize) * ring.size
    for begin in range(0, vector.elements, block):
        chunks = vector.part(begin, begin + block).chunks(ring.size)
        _ring(tl, chunks, chunks[ring.number], ring, limits, op=op, gather=True, divisor=divisor)


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
    for begin in range(0, result.elements, block):
        parts = [chunk.part(begin, begin + block) for chunk in chunks]
        part = result.part(begin, begin + block)
        _ring(tl, parts, part, ring, limits, op=op, gather=False, divisor=divisor)


def ring_all_gather(tl: Any, chunks: Sequence[Vector], own: Vector, ring: Ring, limits: Limits) -> None:
    """``own`` of PE i becomes chunk i of every PE; all chunks are of one size."""
    copy(tl, own, chunks[ring.number], limits)
    if ring.size == 1:
        return
    block = max(1, limits.held // own.itemsize)
    for begin in range(0, own.elements, block):
        parts = [chunk.part(begin, begin + block) for chunk in chunks]
        _ring(tl, parts, own.part(begin, begin + block), ring, limits, op=None, gather=True)


def _ring(
    tl: Any,
    chunks: Sequence[Vector],
    result: Vector,
    ring: Ring,
    limits: Limits,
    *,
    op: str | None,
    gather: bool,
    divisor: int = 1,
) -> None:
    """One block of a ring: with ``op`` chunk i is left reduced on PE i, ``gather`` passes it on to all."""
    n, me = ring.size, ring.number
    sent: list[_Sent] = []
    taken: list[_Taken] = []

    def pieces(chunk: int) -> list[Vector]:
        return chunks[chunk].pieces(limits.piece)

    def reduced(own: Vector, target: Vector | None) -> TensorHandle:
        mine = load(tl, own)
        value = combine(tl, str(op), tl.recv(ring.back), mine)
        if target is not None:
            value = quotient(tl, value, divisor)
            tl.store(target.address, value)
        return value

    def passed_on(target: Vector) -> TensorHandle:
        value: TensorHandle = tl.recv(ring.back)
        tl.store(target.address, value)
        return value

    if op is not None:
        for step in range(n - 1):
            chunk = (me - 1 - step) % n
            for j, own in enumerate(pieces(chunk)):
                sent.append(_Sent((0, chunk, j), own if step == 0 else None))
            chunk = (me - 2 - step) % n
            targets = result.pieces(limits.piece) if chunk == me else []
            for j, own in enumerate(pieces(chunk)):
                take = partial(reduced, own, targets[j] if targets else None)
                taken.append(_Taken((0, chunk, j), take, gather or chunk != me))
    if gather:
        for step in range(n - 1):
            chunk = (me - step) % n
            for j, own in enumerate(result.pieces(limits.piece) if step == 0 else pieces(chunk)):
                first = step == 0 and op is None
                was_reduced = step == 0 and op is not None
                sent.append(_Sent((0 if was_reduced else 1, chunk, j), own if first else None))
            chunk = (me - 1 - step) % n
            for j, target in enumerate(pieces(chunk)):
                taken.append(_Taken((1, chunk, j), partial(passed_on, target), step < n - 2))
    _flow(tl, ring, limits, sent, taken)


# -- trees ------------------------------------------------------------------------------------------


def tree_reduce(tl: Any, vector: Vector, tree: Tree, op: str, limits: Limits, divisor: int = 1) -> None:
    """Reduce ``vector`` towards the root, which keeps the result; the others keep what they had."""
    for piece in vector.pieces(limits.piece):
        value = load(tl, piece)
        for child in tree.children:
            value = combine(tl, op, value, tl.recv(child))
        if tree.parent is not None:
            tl.send(tree.parent, value)
        elif tree.children or divisor != 1:
            tl.store(piece.address, quotient(tl, value, divisor))


def tree_broadcast(tl: Any, vector: Vector, tree: Tree, limits: Limits) -> None:
    """``vector`` of the root becomes that of every PE of the tree."""
    if tree.parent is None and not tree.children:
        return
    for piece in vector.pieces(limits.piece):
        if tree.parent is None:
            value = load(tl, piece)
        else:
            value = tl.recv(tree.parent)
            tl.store(piece.address, value)
        for child in tree.children:
            tl.send(child, value)


# -- pairs ------------------------------------------------------------------------------------------


def swap(
    tl: Any,
    to: str,
    source: Vector,
    back: str,
    take: Callable[[Any, Vector], None],
    target: Vector,
    limits: Limits,
) -> None:
    """Send ``source`` to one peer while ``target``'s worth comes from another (or the same one).

    ``take`` receives one piece: it gets the handle and where in ``target`` the piece belongs.
    """
    sent = source.pieces(limits.piece)
    taken = target.pieces(limits.piece)
    at = 0
    for received, piece in enumerate(taken):
        while at < len(sent) and at - received < limits.window:
            tl.send(to, load(tl, sent[at]))
            at += 1
        take(tl.recv(back), piece)
    for piece in sent[at:]:
        tl.send(to, load(tl, piece))
