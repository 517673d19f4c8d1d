"""Simulated results against a reference that was computed without the simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernbench.engine.program.operations import Op
from kernbench.errors import VerificationError
from kernbench.support import dtypes
from kernbench.support.bounded import Bounded

Writer = Callable[[tuple[int, ...]], Op | None]
"""From the index of an element to the operation that wrote it last, if that is known."""


Holder = Callable[[NDArray[np.bool_]], str]
"""From a mask of elements to the PEs that hold them, in words."""


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """How two arrays differ: the first differing index (C order), both values there, the extent."""

    index: tuple[int, ...]
    actual: float
    expected: float
    allowed: float
    """How far apart the two may be."""
    wrong: NDArray[np.bool_]
    """Which elements differ."""
    count: int
    size: int
    max_abs: float
    """Largest ``|actual - expected|`` over the differing elements; inf where only one is NaN or infinite."""
    max_rel: float
    """Largest ``|actual - expected| / |expected|`` over the differing elements; inf for expected zeros."""


def difference(
    actual: ArrayLike, expected: ArrayLike | Bounded, dtype: str, tolerance: float | None = None
) -> Difference | None:
    """How ``actual`` differs from ``expected`` beyond ``tolerance`` (``dtype``'s); None when it does not.

    Floats agree when ``|a - e| <= tolerance * (1 + |e|)`` (rtol and atol alike), or within the bound of a
    :class:`Bounded` reference where there is no ``tolerance``. NaN agrees with NaN and an infinity with
    itself only; integers must be equal. Both arrays have one shape.
    """
    a, e = _widen(actual), _widen(expected.value if isinstance(expected, Bounded) else expected)
    allowed: Any
    if isinstance(expected, Bounded) and tolerance is None and dtypes.dtype(dtype).is_float:
        expected = expected.rounded(dtype)
        e, allowed = expected.value, expected.error
    else:
        tolerance = dtypes.dtype(dtype).tolerance if tolerance is None else tolerance
        with np.errstate(invalid="ignore"):
            allowed = tolerance + tolerance * np.abs(e)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        error = np.abs(a - e)
        # inf - inf and everything with NaN is NaN here: no comparison below is true of it.
        agree = (a == e) | (np.isnan(a) & np.isnan(e))
        agree |= np.isfinite(e) & (error <= allowed)
        if agree.all():
            return None
        wrong = ~agree
        absolute = np.where(np.isfinite(error), error, np.inf)[wrong]
        relative = np.where(np.isfinite(absolute), absolute / np.abs(e[wrong]), np.inf)
    first = int(np.argmax(wrong))
    index = tuple(int(i) for i in np.unravel_index(first, a.shape))
    return Difference(
        index=index,
        actual=a[index].item(),
        expected=e[index].item(),
        allowed=np.broadcast_to(allowed, a.shape)[index].item(),
        wrong=wrong,
        count=int(wrong.sum()),
        size=a.size,
        max_abs=float(absolute.max()),
        max_rel=float(relative.max()),
    )


def compare(
    name: str,
    actual: ArrayLike,
    expected: ArrayLike | Bounded,
    dtype: str,
    writer: Writer | None = None,
    *,
    tolerance: float | None = None,
    holder: Holder | None = None,
) -> None:
    """Raise :class:`VerificationError` unless ``actual`` equals ``expected``.

    The message names the tensor, the first differing index, both values, how many elements differ and where
    they are, the largest absolute and relative error and, as far as ``writer`` knows it, the operation and
    the source line that wrote the first of them.

    Args:
        name: Name of the tensor.
        actual: Simulated values.
        expected: Reference of equal shape; a :class:`Bounded` one says how far off each element may be.
        dtype: Type of the values.
        writer: From an index to the operation that wrote the element last.
        tolerance: ``rtol`` and ``atol``; by default those of ``dtype``, or a bounded reference's own.
        holder: From the mask of differing elements to the PEs that hold them.
    """
    shapes = np.shape(actual), np.shape(expected)
    if shapes[0] != shapes[1]:
        raise VerificationError(
            f"tensor '{name}' has shape {shapes[0]}, its reference {shapes[1]}; compare like with like"
        )
    found = difference(actual, expected, dtype, tolerance)
    if found is None:
        return
    on = f" on {holder(found.wrong)}" if holder is not None else ""
    message = (
        f"tensor '{name}' ({dtype}) differs first at index {found.index}: got {found.actual:.9g}, "
        f"expected {found.expected:.9g}; {found.count} of {found.size} elements differ "
        f"({where_wrong(found.wrong)}{on}), "
        f"largest absolute error {found.max_abs:.6g}, largest relative error {found.max_rel:.6g}, "
        + _allowance(expected, dtype, tolerance, found)
    )
    wrote = writer(found.index) if writer is not None else None
    if wrote is not None:
        message += (
            f"; last written by {describe(wrote)}; 'kernbench query lineage op={wrote.id}' shows "
            "where its value comes from"
        )
    raise VerificationError(message, launch=-1 if wrote is None else wrote.launch)


def _allowance(expected: ArrayLike | Bounded, dtype: str, tolerance: float | None, found: Difference) -> str:
    """What was allowed, in words."""
    if isinstance(expected, Bounded) and tolerance is None and dtypes.dtype(dtype).is_float:
        return f"rounding may have moved the first by {found.allowed:.3g}"
    tolerance = dtypes.dtype(dtype).tolerance if tolerance is None else tolerance
    remedy = "give tolerance= or a kernbench.Bounded where rounding may do that"
    return f"tolerance {tolerance:g} ({remedy})" if tolerance else "integers must be equal"


def describe(op: Op) -> str:
    """An operation in a message: ``gemm/dot (op 17) on sip0.cube0.pe0.pe_gemm at 1234.5 ns, mine.py:12``."""
    at = f", {op.source}" if op.source else ""
    if op.component:
        when = f" on {op.component} at {op.t_end:.9g} ns"
    else:  # not over yet, or by the host
        when = f" since {op.t_effect:.9g} ns" if op.t_effect >= 0.0 else ""
    return f"{op.kind}/{op.name} (op {op.id}){when}{at}"


def _widen(values: ArrayLike) -> NDArray[np.float64]:
    """As f64, which holds every value of the known types exactly."""
    return np.asarray(values).astype(np.float64)


def where_wrong(wrong: NDArray[np.bool_]) -> str:
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


def _indices(name: str, found: NDArray[Any]) -> str:
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
