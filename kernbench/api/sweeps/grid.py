"""The points of a sweep: lists and ranges of values, multiplied out."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from kernbench.errors import UsageError
from kernbench.support.sizes import PATTERN as SIZE
from kernbench.support.sizes import read_size

MOST_POINTS = 100_000
"""Points of one sweep, and values of one range."""
_NUMBER = rf"(?:{SIZE}|[-+]?\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"(?P<begin>{_NUMBER})\.\.(?P<end>{_NUMBER})(?:(?P<operation>[*+])(?P<by>{_NUMBER}))?")
_NO_RANGE = re.compile(rf"{_NUMBER}\.\.|\.\.{_NUMBER}$")
_OPENING, _CLOSING = "[{(", "]})"


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One point before it is run: the bench's parameters, the topology and what is changed of it."""

    topology: Any
    params: Mapping[str, object]
    topo: Mapping[str, object]


def values(given: object, name: str = "value") -> list[object]:
    """All values that ``given`` stands for; ``name`` is what errors call it.

    A text may have several parts between commas (``"1,2,4"``; commas in brackets do not count), each a value
    or a range with both ends: ``8..11`` counts by 1, ``8..64+8`` by 8, ``1KiB..1MiB*2`` doubles. The items
    of a list are values, ranges among them. Anything else is one value.
    """
    if isinstance(given, str):
        parts = _parts(given)
        if len(parts) > 1 and not all(parts):
            raise UsageError(
                f"{name}: '{given}' has an empty part; write values between commas, such as 1,2,4"
            )
        return [value for part in parts for value in _range(part, name)]
    if hasattr(given, "tolist"):
        given = given.tolist()
    if isinstance(given, Iterable) and not isinstance(given, Mapping):
        found = [
            value for item in given for value in (_range(item, name) if isinstance(item, str) else [item])
        ]
        if not found:
            raise UsageError(f"{name} has no values; give it one or more")
        return found
    return [given]


def _parts(text: str) -> list[str]:
    """The text between commas that are in no brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found]


def _number(text: str) -> Decimal:
    size = read_size(text)
    return Decimal(text) if size is None else Decimal(size)


def _range(part: str, name: str) -> list[object]:
    match = _RANGE.fullmatch(part.strip())
    if match is None:
        if _NO_RANGE.match(part.strip()):
            raise UsageError(f"{name}: '{part}' is not a range; give both ends, such as 8..64 or 8..64*2")
        return [part]
    # Decimals, so that 0.1..0.5+0.1 ends at 0.5 and not at 0.5000000000000001.
    begin, end, by = (_number(match[name] or "1") for name in ("begin", "end", "by"))
    operation = match["operation"] or "+"
    if end < begin:
        raise UsageError(
            f"{name}: the range '{part}' ends below its beginning; write the smaller number first"
        )
    if operation == "*" and (by <= 1 or begin <= 0):
        raise UsageError(
            f"{name}: the range '{part}' does not grow; a factor must be above 1, the beginning above 0"
        )
    if operation == "+" and by <= 0:
        raise UsageError(f"{name}: the range '{part}' does not grow; a step must be above 0")
    found: list[object] = []
    while begin <= end:
        whole = begin == begin.to_integral_value()
        found.append(int(begin) if whole else float(begin))
        if len(found) > MOST_POINTS:
            raise UsageError(
                f"{name}: the range '{part}' has more than {MOST_POINTS} values; take larger steps"
            )
        begin = begin * by if operation == "*" else begin + by
    return found


def grid(
    topologies: Sequence[Any],
    params: Mapping[str, object] | None = None,
    topo: Mapping[str, object] | None = None,
    points: Sequence[Mapping[str, Any]] | None = None,
) -> list[GridPoint]:
    """All combinations, the last key fastest; each of ``points`` is a grid of its own over the common keys.

    ``points`` have ``params`` (or ``set``), ``topo`` and ``topology``, which come before the common ones.
    ``UsageError`` for a bad range and for more than :data:`MOST_POINTS`.
    """
    found: list[GridPoint] = []
    for own in points if points is not None else ({},):
        here = own.get("topology")
        if here is not None and not isinstance(here, list | tuple):
            here = [here]
        for point in _combinations(
            topologies if here is None else here,
            {**(params or {}), **(own.get("set") or {}), **(own.get("params") or {})},
            {**(topo or {}), **(own.get("topo") or {})},
        ):
            found.append(point)
            if len(found) > MOST_POINTS:
                raise UsageError(f"a sweep of more than {MOST_POINTS} points; take fewer values")
    if not found:
        raise UsageError("a sweep without points; give at least one")
    return found


def _combinations(
    topologies: Sequence[Any], params: Mapping[str, object], topo: Mapping[str, object]
) -> Iterator[GridPoint]:
    axes = [values(given, f"parameter '{name}'") for name, given in params.items()]
    axes += [values(given, f"topology key '{name}'") for name, given in topo.items()]
    for topology in topologies:
        for combination in itertools.product(*axes):
            cut = len(params)
            yield GridPoint(
                topology,
                dict(zip(params, combination[:cut], strict=True)),
                dict(zip(topo, combination[cut:], strict=True)),
            )
