"""In which order the places of an array are numbered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Coordinates = tuple[int, ...]


def in_order(sizes: Sequence[int], order: str) -> Iterator[Coordinates]:
    """All places of an array as ``order`` (``index`` or ``snake``) numbers them."""
    return snake(sizes) if order == "snake" else coordinates(sizes)


def coordinates(sizes: Sequence[int]) -> Iterator[Coordinates]:
    """All places of an array, the first axis counting fastest."""
    if not sizes:
        yield ()
        return
    for outer in coordinates(sizes[1:]):
        for first in range(sizes[0]):
            yield (first, *outer)


def snake(sizes: Sequence[int]) -> Iterator[Coordinates]:
    """All places of an array, each next to the one before."""
    if not sizes:
        yield ()
        return
    *inner, last = sizes
    plane = list(snake(inner))
    for at in range(last):
        yield from ((*own, at) for own in (plane if at % 2 == 0 else reversed(plane)))
