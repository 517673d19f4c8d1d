"""Streams of pieces between PEs: sent within a window, received ahead, forwarded before they are stored.

No PE sends more pieces ahead of what it has received than its peer's ring has slots: stages that send to each
other in a circle cannot block. One piece is received while the one before is reduced.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from kernbench.host.collectives.vectors import Limits, Vector, combine, divisors, load, quotient

if TYPE_CHECKING:
    from kernbench.language import TensorHandle

_FEW = 4
"""Pieces that are sent ahead whatever the ring; of larger rings half, since more pieces would only stand on
the link in front of the credits that go the same way."""

Key = tuple[int, int, int, int]
"""A piece under way: (block, round, chunk, piece)."""


class Sent(NamedTuple):
    """A piece to send."""

    key: Key
    source: Vector | None
    """Where the piece is loaded from; None: it is forwarded as it was received."""
    divisor: int = 1
    """What it is divided by when it is loaded."""


class Taken(NamedTuple):
    """A piece to receive."""

    key: Key
    piece: Vector
    """What is received: as many elements of that type."""
    use: Callable[[Callable[[], TensorHandle]], TensorHandle]
    """Works out what is kept and forwarded from what is received; calls its argument to wait for that."""
    target: Vector | None
    """Where the result is stored, after it has been forwarded."""
    forwarded: bool


class Receives:
    """The receives of one direction, each asked for while the pieces before it are used."""

    def __init__(self, tl: Any, direction: str, pieces: Sequence[Vector], ahead: int) -> None:
        self._tl = tl
        self._direction = direction
        self._pieces = iter(pieces)
        self._futures: deque[Any] = deque()
        for piece in islice(self._pieces, ahead):
            self._ask(piece)

    def _ask(self, piece: Vector) -> None:
        self._futures.append(self._tl.recv_async(self._direction, (piece.elements,), piece.dtype))

    def next(self) -> TensorHandle:
        """Wait for the next piece, and ask for one more."""
        handle: TensorHandle = self._tl.wait(self._futures.popleft())
        for piece in islice(self._pieces, 1):
            self._ask(piece)
        return handle


def flow(tl: Any, to: str, back: str, limits: Limits, sent: Sequence[Sent], taken: Sequence[Taken]) -> None:
    """Send pieces ``to`` one direction, as far ahead of those taken from ``back`` as the window allows."""
    held: dict[Key, TensorHandle] = {}
    at = 0
    ahead = min(limits.window, max(_FEW, limits.window // 2))

    def send(received: int) -> None:
        nonlocal at
        while at < len(sent) and at - received < ahead:
            piece = sent[at]
            if piece.source is None and piece.key not in held:
                return
            source = piece.source
            tl.send(to, held.pop(piece.key) if source is None else load(tl, source, piece.divisor))
            at += 1

    receives = Receives(tl, back, [one.piece for one in taken], limits.ahead(1))
    for received, one in enumerate(taken):
        send(received)
        value = one.use(receives.next)
        if one.forwarded:
            held[one.key] = value
            send(received + 1)
        if one.target is not None:
            tl.store(one.target.address, value)
    while at < len(sent):
        before = at
        send(at)
        assert at > before, "a piece to forward was never received"


def swap(
    tl: Any,
    to: str,
    sources: Sequence[Vector],
    back: str,
    targets: Sequence[Vector],
    limits: Limits,
    op: str | None = None,
) -> None:
    """Send ``sources`` to one peer while ``targets``' worth comes from another (or the same one).

    With ``op`` what comes is reduced with ``targets``, else it replaces them. Sources may be the targets:
    each piece is sent before it changes.
    """
    sent = [Sent((0, 0, 0, i), piece) for i, piece in enumerate(_pieces(sources, limits))]
    taken = [
        Taken((0, 0, 1, i), piece, partial(reduce_received, tl, op, piece, (1, 1)), piece, False)
        for i, piece in enumerate(_pieces(targets, limits))
    ]
    flow(tl, to, back, limits, sent, taken)


def _pieces(vectors: Sequence[Vector], limits: Limits) -> list[Vector]:
    return [piece for vector in vectors for piece in vector.pieces(limits.piece)]


def reduce_received(
    tl: Any, op: str | None, own: Vector, by: tuple[int, int], receive: Callable[[], TensorHandle]
) -> TensorHandle:
    """What is received, reduced with ``own`` if there is an ``op``; ``by`` divides own and the result."""
    if op is None:
        return receive()
    mine = load(tl, own, by[0])
    return quotient(tl, combine(tl, op, receive(), mine), by[1])


@dataclass(frozen=True, slots=True)
class Tree:
    """A PE's part in a tree: directions of its children and of its parent (None at the root)."""

    children: tuple[str, ...]
    parent: str | None


def tree_reduce(tl: Any, vector: Vector, tree: Tree, op: str, limits: Limits, divisor: int = 1) -> None:
    """Reduce ``vector`` towards the root, which keeps the result; the others keep what they had.

    The result is divided by ``divisor``, the same on every PE: see :func:`divisors`.
    """
    first, last = divisors(vector.dtype, divisor)
    pieces = vector.pieces(limits.piece)
    ahead = limits.ahead(len(tree.children))
    children = [Receives(tl, child, pieces, ahead) for child in tree.children]
    for piece in pieces:
        value = load(tl, piece, first)
        for child in children:
            value = combine(tl, op, value, child.next())
        if tree.parent is not None:
            tl.send(tree.parent, value)
        elif tree.children or divisor != 1:
            tl.store(piece.address, quotient(tl, value, last))


def tree_broadcast(tl: Any, vector: Vector, tree: Tree, limits: Limits) -> None:
    """``vector`` of the root becomes that of every PE of the tree."""
    if tree.parent is None and not tree.children:
        return
    pieces = vector.pieces(limits.piece)
    parent = None if tree.parent is None else Receives(tl, tree.parent, pieces, limits.ahead(1))
    for piece in pieces:
        value = load(tl, piece) if parent is None else parent.next()
        for child in tree.children:
            tl.send(child, value)
        if parent is not None:
            tl.store(piece.address, value)
