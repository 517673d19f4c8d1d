"""References that know how far a right result may be from them: values with error bounds.

A result was rounded on its way: inputs of a layer to f16, every partial sum to f32, the output to its type.
How far that may lead depends on the types, on the length of the sums and on the numbers. :class:`Bounded`
carries both through the arithmetic of a reference: the value as f64 gives it, and for every element a bound.

With the unit roundoff ``u`` of a type (2^-24 f32, 2^-11 f16, 2^-8 bf16):

- rounding ``x`` to a type: ``u |x|``, and half the smallest subnormal number;
- a sum of ``n`` terms ``x_i``, in any order, partial sums ``s_k`` rounded to the type. Never more than
  ``(n - 1) u sum|x_i|`` (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. 2002, 4.2). The
  roundings are as good as independent, each spread over ``±u |s_k|``, so that the error has a standard
  deviation of ``u / sqrt(3) * sqrt(sum s_k^2)`` (Higham and Mary, A New Approach to Probabilistic Rounding
  Error Analysis, SIAM J. Sci. Comput. 41, 2019; Sharper Probabilistic Backward Error Analysis, 42, 2020).
  Over the orders of the terms ``sum s_k^2`` is at most about ``n (s^2 + sum x_i^2) / 2``. The bound is the
  smaller one of the first and of ``DEVIATIONS`` deviations;
- errors ``e_i`` of the terms add up to the smaller one of ``sum e_i`` and ``DEVIATIONS / sqrt(3) *
  sqrt(sum e_i^2)``, for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernbench.support import dtypes

Array = NDArray[np.float64]

DEVIATIONS = 6.0
"""Standard deviations that a right result may be off by: one element in 10^9 is further away."""

ROUNDOFF = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f8e4m3": 2.0**-4, "f8e5m2": 2.0**-3}
"""Unit roundoff of each type: the largest relative error of rounding to it."""

SUBNORMAL = {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-149, "f8e4m3": 2.0**-9, "f8e5m2": 2.0**-16}
"""Smallest subnormal number of each type."""

_SPREAD = DEVIATIONS / math.sqrt(3)
_SHORT = 64
"""Sums of so many terms may have the smaller bound from ``sum|x_i|``; in longer ones it is never smaller."""


class Bounded:
    """Values (f64) and a bound on the distance of a right result from each; 0 where results are exact.

    ``+ - * /`` and ``@`` with arrays, numbers and each other count the rounding of an f32 engine;
    :meth:`rounded` that to another type.
    """

    __slots__ = ("error", "value")
    __array_ufunc__ = None

    def __init__(self, value: ArrayLike, error: ArrayLike = 0.0) -> None:
        self.value: Array = np.asarray(value).astype(np.float64)
        self.error: Array = np.broadcast_to(np.array(error, np.float64), self.value.shape)

    def __repr__(self) -> str:
        largest = float(self.error.max(initial=0.0))
        return f"<Bounded {self.value.shape}, errors up to {largest:.3g}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values."""
        return self.value.shape

    def rounded(self, dtype: str) -> Bounded:
        """In the type ``dtype``; beyond its range infinite, or its largest number, as a right result is."""
        kind = dtypes.dtype(dtype)
        with np.errstate(all="ignore"):
            beyond = kind.largest or np.inf
            outside = np.abs(self.value) > beyond if kind.largest else np.isinf(self.value.astype(kind.numpy))
            error = self.error + ROUNDOFF[dtype] * (np.abs(self.value) + self.error) + SUBNORMAL[dtype] / 2
            value = np.where(outside, np.copysign(beyond, self.value), self.value)
        return Bounded(value, np.where(outside, 0.0, error))

    def mapped(self, function: Callable[[Array], Array], size: ArrayLike | None = None) -> Bounded:
        """``function`` of every element, worked out in f32.

        ``size`` is the magnitude of what it rounds on the way, where that is larger than its result.
        """
        with np.errstate(all="ignore"):
            value = function(self.value)
            moved = np.maximum(
                np.abs(function(self.value + self.error) - value),
                np.abs(function(self.value - self.error) - value),
            )
            rounding = 8 * ROUNDOFF["f32"] * np.maximum(np.abs(value), 0.0 if size is None else size)
        return Bounded(value, moved + rounding)

    def moved(self, function: Callable[[Array], Any]) -> Bounded:
        """The elements elsewhere: reshaped, transposed, broadcast."""
        return Bounded(function(self.value), function(self.error))

    def __getitem__(self, key: Any) -> Bounded:
        return Bounded(self.value[key], self.error[key])

    def sum(self, axis: int, dtype: str = "f32", keepdims: bool = False) -> Bounded:
        """Sum along ``axis`` in any order, every partial sum rounded to ``dtype``."""
        value = self.value.sum(axis, keepdims=keepdims)
        squares = (self.value**2).sum(axis, keepdims=keepdims)
        n = self.value.shape[axis]
        sizes = np.abs(self.value).sum(axis, keepdims=keepdims) if n <= _SHORT else None
        error = _summing(n, value, squares, sizes, dtype)
        return Bounded(value, error + _adding(self.error, axis, keepdims))

    def __add__(self, other: Any) -> Bounded:
        b = _as_bounded(other)
        return Bounded(self.value + b.value, self.error + b.error).rounded("f32")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Bounded:
        b = _as_bounded(other)
        return Bounded(self.value - b.value, self.error + b.error).rounded("f32")

    def __mul__(self, other: Any) -> Bounded:
        b = _as_bounded(other)
        error = self.error * (np.abs(b.value) + b.error) + np.abs(self.value) * b.error
        return Bounded(self.value * b.value, error).rounded("f32")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Bounded:
        b = _as_bounded(other)
        value = self.value / b.value
        error = (self.error + np.abs(value) * b.error) / np.maximum(np.abs(b.value) - b.error, 0.0)
        return Bounded(value, error).rounded("f32")

    def __matmul__(self, other: Any) -> Bounded:
        """Product of two matrices, sums in f32 in any order."""
        b = _as_bounded(other)
        k = self.value.shape[-1]
        value = self.value @ b.value
        squares = self.value**2 @ b.value**2
        sizes = np.abs(self.value) @ np.abs(b.value) if k <= _SHORT else None
        error = _summing(k + 1, value, squares, sizes, "f32")
        for left, right in ((self.error, np.abs(b.value) + b.error), (np.abs(self.value), b.error)):
            if left.any() and right.any():
                terms = _SPREAD * np.sqrt(left**2 @ right**2)
                error = error + (np.minimum(terms, left @ right) if k <= _SHORT else terms)
        return Bounded(value, error)

    def __rmatmul__(self, other: Any) -> Bounded:
        return _as_bounded(other) @ self


def stack(parts: Sequence[Bounded]) -> Bounded:
    """Several of one shape as one, along a new first axis."""
    return Bounded([part.value for part in parts], [part.error for part in parts])


def _as_bounded(value: Any) -> Bounded:
    return value if isinstance(value, Bounded) else Bounded(value)


def _summing(n: int, total: Array, squares: Array, sizes: Array | None, dtype: str) -> Array:
    """What roundings of the partial sums of ``n`` terms may add up to."""
    u = ROUNDOFF[dtype]
    bound = _SPREAD * u * np.sqrt(n * (total**2 + squares) / 2)
    return np.asarray(bound if sizes is None else np.minimum(bound, (n - 1) * u * sizes))


def _adding(error: Array, axis: int, keepdims: bool) -> Array:
    """What errors of the terms of a sum may add up to."""
    spread = _SPREAD * np.sqrt((error**2).sum(axis, keepdims=keepdims))
    return np.asarray(np.minimum(spread, error.sum(axis, keepdims=keepdims)))
