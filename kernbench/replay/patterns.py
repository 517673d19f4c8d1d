"""Where in a tensor the wrong elements are, in words: rows, columns, steps."""

from __future__ import annotations

from typing import Any

import numpy as np

Mask = np.ndarray[Any, np.dtype[np.bool_]]


def where_wrong(wrong: Mask) -> str:
    """The pattern of the true elements: ``rows 40-47``, ``every 2nd column from 1, rows 0-3``, ...

    Axes that are wrong all over are left out. ``part of`` stands before the box around elements that do not
    fill it.
    """
    axes, parts, filled = [np.unique(indices) for indices in np.nonzero(wrong)], [], 1
    for axis, found in enumerate(axes):
        filled *= found.size
        if found.size < wrong.shape[axis]:
            parts.append(_indices(_axis_name(axis, wrong.ndim), found))
    words = ", ".join(parts) or "the whole tensor"
    return words if filled == int(wrong.sum()) else f"part of {words}"


def _axis_name(axis: int, ndim: int) -> str:
    if ndim == 1:
        return "element"
    if ndim == 2:
        return ("row", "column")[axis]
    return f"index of axis {axis}"


def _indices(name: str, found: np.ndarray[Any, Any]) -> str:
    first, last = int(found[0]), int(found[-1])
    plural = name.replace("index", "indices") if name.startswith("index") else f"{name}s"
    if first == last:
        return f"{name} {first}"
    steps = np.unique(np.diff(found))
    if steps.size > 1:
        return f"{found.size} {plural} from {first} to {last}"
    step = int(steps[0])
    return (
        f"{plural} {first}-{last}" if step == 1 else f"every {_ordinal(step)} {name} from {first} to {last}"
    )


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
