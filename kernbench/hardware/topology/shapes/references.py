"""References to parts of a block: ``tile.r``, ``tile[3,5].r``, ``gpu[0:4]``, ``cube0.ucie-N``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernbench.hardware.topology.orders import Coordinates, coordinates
from kernbench.hardware.topology.shapes.expressions import number
from kernbench.hardware.topology.shapes.rows import Array, Element, Rows
from kernbench.support.hints import did_you_mean


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a reference means: parts or blocks, each with where it lies along the axes that were left open.

    The first axis counts fastest; those of arrays further in come before those of arrays that hold them.
    """

    text: str
    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    ends: list[tuple[Coordinates, Element]]


def resolve(text: str, rows: Rows, names: Mapping[str, Any]) -> Chosen:
    """What ``text`` means within ``rows``; ``ValueError`` says what is wrong with it."""
    axes, sizes, found = _resolve(text, text, rows, 0, names)
    return Chosen(text, axes, sizes, found)


def port_rows(element: Element) -> list[int]:
    """Rows of the parts that a link to ``element`` goes to; ``ValueError`` for a block without a port."""
    if element.block is None:
        return [element.row]
    if not element.block.ports:
        raise ValueError("has no port, expected a part in it, or 'port' in the block")
    found = []
    for port in element.block.ports:
        for _, end in resolve(port, element.block, {}).ends:
            found += [element.row + row for row in port_rows(end)]
    return found


def within(element: Element, text: str) -> Element:
    """The part, or block, called ``text`` in a block."""
    if element.block is None:
        raise ValueError(f"is a part without '{text}' in it, expected a block")
    ends = resolve(text, element.block, {}).ends
    if len(ends) != 1:
        raise ValueError(f"'{text}' means {len(ends)} parts, expected one")
    inner = ends[0][1]
    return Element(element.row + inner.row, inner.block)


def _resolve(
    whole: str, text: str, rows: Rows, base: int, names: Mapping[str, Any]
) -> tuple[tuple[str, ...], tuple[int, ...], list[tuple[Coordinates, Element]]]:
    name = _first(text, rows)
    if name is None:
        raise ValueError(f"'{text.partition('[')[0]}' is not a part here, {did_you_mean(text, rows.arrays)}")
    array, rest = rows.arrays[name], text[len(name) :]
    index = ""
    if rest.startswith("["):
        index, closed, rest = rest[1:].partition("]")
        if not closed:
            raise ValueError(f"'{whole}' lacks a ']', expected one")
    picked = _picked(whole, array, index, names)
    if rest and not rest.startswith("."):
        raise ValueError(f"'{whole}' goes on with '{rest}', expected '.' and a part")
    axes, sizes = picked.axes, picked.sizes
    if not rest:
        return axes, sizes, [(at, Element(base + one.row, one.block)) for at, one in picked.ends]
    inner: tuple[tuple[str, ...], tuple[int, ...]] | None = None
    found = []
    known: dict[int, tuple[tuple[str, ...], tuple[int, ...], list[tuple[Coordinates, Element]]]] = {}
    for at, one in picked.ends:
        if one.block is None:
            raise ValueError(f"'{name}' is a part without '{rest[1:]}' in it, expected a block")
        if id(one.block) not in known:
            known[id(one.block)] = _resolve(whole, rest[1:], one.block, 0, names)
        own_axes, own_sizes, ends = known[id(one.block)]
        if inner not in (None, (own_axes, own_sizes)):
            raise ValueError(f"'{whole}' means arrays of unlike shape, expected equal ones")
        inner = own_axes, own_sizes
        found += [((*own, *at), Element(base + one.row + end.row, end.block)) for own, end in ends]
    own_axes, own_sizes = inner or ((), ())
    return (*own_axes, *axes), (*own_sizes, *sizes), found


def _first(text: str, rows: Rows) -> str | None:
    """The name of a part with which ``text`` begins; names may have dots."""
    fitting = [
        one for one in rows.arrays if text.startswith(one) and text[len(one) : len(one) + 1] in ("", ".", "[")
    ]
    return max(fitting, key=len, default=None)


def _picked(whole: str, array: Array, index: str, names: Mapping[str, Any]) -> Chosen:
    """The elements that an index leaves."""
    if not index:
        every = zip(coordinates(array.sizes), array.elements, strict=True)
        return Chosen(whole, array.axes, array.sizes, [(at, one) for at, one in every if one is not None])
    texts = index.split(",")
    if len(texts) != len(array.axes):
        raise ValueError(
            f"'{whole}' has {len(texts)} indices, expected {len(array.axes)}: "
            f"{', '.join(array.axes) or 'none'}"
        )
    ranges = [_range(whole, text.strip(), size, names) for text, size in zip(texts, array.sizes, strict=True)]
    open_axes = [i for i, (chosen, single) in enumerate(ranges) if not single]
    ends = []
    for at in coordinates([len(chosen) for chosen, _ in ranges]):
        place, step = 0, 1
        for i, (chosen, _) in enumerate(ranges):
            place += chosen[at[i]] * step
            step *= array.sizes[i]
        if (one := array.elements[place]) is not None:
            ends.append((tuple(at[i] for i in open_axes), one))
    if not ends:
        raise ValueError(f"'{whole}' means nothing: the map leaves a hole there")
    sizes = tuple(len(ranges[i][0]) for i in open_axes)
    return Chosen(whole, tuple(array.axes[i] for i in open_axes), sizes, ends)


def _range(whole: str, text: str, size: int, names: Mapping[str, Any]) -> tuple[range, bool]:
    if text == "*":
        return range(size), False
    first, colon, behind = text.partition(":")
    begin = _index(whole, first, names) if first.strip() or not colon else 0
    end = begin + 1 if not colon else _index(whole, behind, names) if behind.strip() else size
    if not 0 <= begin < end <= size:
        expected = f"0..{size - 1}" if not colon else f"a range within 0:{size}"
        raise ValueError(f"'{whole}' has the index {text}, expected {expected}")
    return range(begin, end), not colon


def _index(whole: str, text: str, names: Mapping[str, Any]) -> int:
    found = number(text, names)
    if found != int(found):
        raise ValueError(f"'{whole}' has the index {found:g}, expected a whole number")
    return int(found)
