"""The pairs of parts that a connection joins, by its pattern."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from kernbench.hardware.topology.orders import Coordinates, snake
from kernbench.hardware.topology.shapes.model import PATTERNS, Connect
from kernbench.hardware.topology.shapes.references import Chosen, port_rows, resolve
from kernbench.hardware.topology.shapes.rows import Element, Rows
from kernbench.support.hints import did_you_mean, shown

_FACING = ("mesh", "torus", "ring")
"""Patterns whose neighbours lie along axes, so that ports of theirs face each other."""


@dataclass(frozen=True, slots=True)
class Join:
    """Two ends to be joined; ``axis`` is the number of the axis along which, -1 where there is none."""

    a: Element
    b: Element
    axis: int = -1
    axis_name: str = ""
    ring: bool = False
    """It is part of a closed ring, on which there are two ways."""
    wraps: bool = False
    """It closes a ring."""
    dealt: bool = False
    """One of several equal ways, among which destinations are dealt."""
    along: str = ""
    """The axis whose ports of ``by`` face each other."""
    backwards: bool = False
    """The second end is before the first along it."""


def joins(statement: Connect, rows: Rows, names: Mapping[str, Any]) -> Iterator[Join]:
    """All that ``statement`` joins, in order; ``ValueError`` says what is wrong with it."""
    given = [name for name in PATTERNS if getattr(statement, name) is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none"
        raise ValueError(f"has {found} of the patterns, expected one of {', '.join(PATTERNS)}")
    value = getattr(statement, given[0])
    along = ("mesh", "torus", "all_to_all")
    if statement.axes is not None and given[0] not in along:
        raise ValueError(f"has axes with {given[0]}, expected them with {' or '.join(along)}")
    if statement.by and given[0] not in _FACING:
        raise ValueError(f"has by with {given[0]}, expected it with {' or '.join(_FACING)}")
    yield from _PATTERNS[given[0]](statement, value, rows, names)


def crowd(statement: Connect, rows: Rows, names: Mapping[str, Any]) -> int:
    """Links that a pattern makes which joins many to many, before any is made; 0 for one that does not."""
    value = statement.all if statement.all is not None else statement.all_to_all
    if value is None:
        return 0
    known: dict[int, int] = {}  # by block

    def ports(end: Element) -> int:
        if end.block is None:
            return 1
        if id(end.block) not in known:
            known[id(end.block)] = len(port_rows(end))
        return known[id(end.block)]

    if statement.all is not None:
        one, other = (sum(ports(end) for _, end in chosen.ends) for chosen in _chosen(value, rows, names, 2))
        pairs = one * other
    else:
        squares = (sum(map(ports, group)) ** 2 - sum(ports(end) ** 2 for end in group)
                   for group in _groups(statement, value, rows, names))  # fmt: skip
        pairs = sum(squares) // 2
    return pairs if statement.one_way else 2 * pairs


def _chosen(value: Any, rows: Rows, names: Mapping[str, Any], count: int = 0) -> list[Chosen]:
    texts = value if isinstance(value, list | tuple) else [value]
    if count and len(texts) != count:
        raise ValueError(f"lists {len(texts)} references, expected {count}")
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"is {shown(text)}, expected a reference such as 'tile[0,*].r'")
    return [resolve(text, rows, names) for text in texts]


def _pair(statement: Connect, value: Any, rows: Rows, names: Mapping[str, Any]) -> Iterator[Join]:
    one, other = _chosen(value, rows, names, 2)
    a, b = [end for _, end in one.ends], [end for _, end in other.ends]
    fewer, more = (a, b) if len(a) <= len(b) else (b, a)
    if not fewer or len(more) % len(fewer):
        raise ValueError(
            f"joins {len(a)} of '{one.text}' and {len(b)} of '{other.text}', expected as many, or a multiple"
        )
    many = len(more) // len(fewer)
    for i, end in enumerate(more):
        yield Join(fewer[i // many], end) if fewer is a else Join(end, fewer[i // many])


def _all(statement: Connect, value: Any, rows: Rows, names: Mapping[str, Any]) -> Iterator[Join]:
    one, other = _chosen(value, rows, names, 2)
    for _, a in one.ends:
        for _, b in other.ends:
            yield Join(a, b, dealt=True)


def _axes(statement: Connect, chosen: Chosen) -> list[int]:
    if not chosen.axes:
        raise ValueError(f"'{chosen.text}' is one part, expected an array")
    for axis in statement.axes or ():
        if axis not in chosen.axes:
            raise ValueError(f"'{axis}' is not an axis of '{chosen.text}', {did_you_mean(axis, chosen.axes)}")
    for axis in statement.by:
        if axis not in chosen.axes:
            raise ValueError(f"'{axis}' is not an axis of '{chosen.text}', {did_you_mean(axis, chosen.axes)}")
    wanted = statement.axes or chosen.axes
    return [i for i, axis in enumerate(chosen.axes) if axis in wanted]


def _grid(statement: Connect, value: Any, rows: Rows, names: Mapping[str, Any]) -> Iterator[Join]:
    (chosen,) = _chosen(value, rows, names, 1)
    by_place = dict(chosen.ends)
    closed = statement.torus is not None
    for i in _axes(statement, chosen):
        size = chosen.sizes[i]
        for at, end in chosen.ends:
            last = at[i] == size - 1
            if last and not (closed and size > 2):
                continue
            beside = (*at[:i], 0 if last else at[i] + 1, *at[i + 1 :])
            if beside in by_place:  # the map of an array may leave holes
                yield Join(
                    end,
                    by_place[beside],
                    i,
                    chosen.axes[i],
                    ring=closed and size > 2,
                    wraps=last,
                    along=chosen.axes[i],
                )


def _ring(statement: Connect, value: Any, rows: Rows, names: Mapping[str, Any]) -> Iterator[Join]:
    found = _chosen(value, rows, names, 1 if statement.by else 0)
    ends = [end for chosen in found for end in chosen.ends]
    if statement.by:  # each next to the one before, so that they have ports that face each other
        _axes(statement, found[0])
        by_place = dict(ends)
        ends = [(at, by_place[at]) for at in snake(found[0].sizes) if at in by_place]
    if len(ends) < 2:
        raise ValueError("is a ring of one part, expected two or more")
    for i, (at, end) in enumerate(ends):
        last = i == len(ends) - 1
        if last and len(ends) == 2:
            return
        to, other = ends[0 if last else i + 1]
        along, backwards = _faces(found[0], at, to) if statement.by else ("", False)
        yield Join(end, other, 0, "ring", len(ends) > 2, last, along=along, backwards=backwards)


def _faces(chosen: Chosen, at: Coordinates, to: Coordinates) -> tuple[str, bool]:
    """The axis along which two of a ring lie, and whether the second is before the first.

    The last of an axis and its first, with others between them, face each other as on a torus.
    """
    apart = [i for i, (a, b) in enumerate(zip(at, to, strict=True)) if a != b]
    steps = [to[i] - at[i] for i in apart]
    if len(apart) != 1 or (
        abs(steps[0]) > 1 and {at[apart[0]], to[apart[0]]} != {0, chosen.sizes[apart[0]] - 1}
    ):
        raise ValueError(
            f"'{chosen.text}' has no ring of neighbours: {at} and {to} are not next to each other; expected "
            "an even number along its last axis, or no holes"
        )
    return chosen.axes[apart[0]], (steps[0] < 0) == (abs(steps[0]) == 1)


def _groups(
    statement: Connect, value: Any, rows: Rows, names: Mapping[str, Any]
) -> Collection[list[Element]]:
    """What is joined each with each."""
    (chosen,) = _chosen(value, rows, names, 1)
    wanted = _axes(statement, chosen)
    groups: dict[tuple[int, ...], list[Element]] = {}
    for at, end in chosen.ends:
        groups.setdefault(tuple(c for i, c in enumerate(at) if i not in wanted), []).append(end)
    return groups.values()


def _all_to_all(statement: Connect, value: Any, rows: Rows, names: Mapping[str, Any]) -> Iterator[Join]:
    for group in _groups(statement, value, rows, names):
        for a, b in combinations(group, 2):
            yield Join(a, b)


def _dragonfly(statement: Connect, value: Any, rows: Rows, names: Mapping[str, Any]) -> Iterator[Join]:
    """Port p of group g leads to group g + p + 1; a router has ``per_router`` consecutive ports."""
    (chosen,) = _chosen(value, rows, names, 1)
    ports = statement.per_router
    if type(ports) is not int or ports < 1:
        raise ValueError(f"per_router is {shown(ports)}, expected an integer from 1 on")
    groups: dict[tuple[int, ...], list[Element]] = {}
    for at, end in chosen.ends:
        groups.setdefault(at[1:], []).append(end)
    members: Sequence[list[Element]] = list(groups.values())
    if len(chosen.axes) != 2 or len(members) > len(members[0]) * ports + 1:
        raise ValueError(
            f"'{chosen.text}' is {len(members)} groups, expected an array of groups with an array of routers "
            "each, and at most one group more than a group has ports"
        )
    for g, routers in enumerate(members):
        for t in range(g + 1, len(members)):
            here, there = t - g - 1, len(members) - (t - g) - 1
            yield Join(routers[here // ports], members[t][there // ports])


_PATTERNS: dict[str, Callable[[Connect, Any, Rows, Mapping[str, Any]], Iterator[Join]]] = {
    "pair": _pair,
    "all": _all,
    "mesh": _grid,
    "torus": _grid,
    "ring": _ring,
    "all_to_all": _all_to_all,
    "dragonfly": _dragonfly,
}
