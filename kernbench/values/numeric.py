"""Conversion between data types, and matrix products that are the same however they are batched."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kernbench.support import dtypes
from kernbench.support.dtypes import widen

Array = np.ndarray[Any, Any]


def cast(array: Array, dtype_name: str) -> Array:
    """``array`` in the type ``dtype_name``; the same object when it has that type already.

    To floats: round to nearest even, overflow to infinity, of 8-bit ones to the largest number. Float to
    integer: towards zero, limited to the type's range, NaN to 0. Integer to narrower integer: the low bits,
    as two's complement hardware does. To i1: whether it is not 0.
    """
    target = dtypes.dtype(dtype_name)
    if array.dtype == target.numpy:
        return array
    with np.errstate(all="ignore"):
        from_float = array.dtype.kind not in "biu"
        if target.numpy.isbuiltin != 1 and array.dtype.kind in "biuf" and array.dtype.itemsize > 2:
            array = _to_odd(array)
        if target.largest:
            array = np.clip(widen(array), -target.largest, target.largest)
        if target.is_float or not from_float or dtype_name == "i1":
            return array.astype(target.numpy)
        # f64 holds every i32 exactly; f32 would round 2**31 - 1 up and out of range.
        wide = np.nan_to_num(array.astype(np.float64), nan=0.0)
        found = np.clip(wide, *target.limits).astype(target.numpy)
        if target.itemsize == 8:  # whose largest f64 rounds up, out of range
            found[wide >= float(target.limits[1])] = target.limits[1]
        return found


def _to_odd(array: Array) -> Array:
    """``array`` in f32, rounded to odd, so that rounding the result to a shorter type rounds only once."""
    if array.dtype == np.float32:
        return array
    exact = array.astype(np.float64)
    near = exact.astype(np.float32)
    inexact = np.isfinite(near) & (near != exact)
    cut = np.where(np.abs(near) > np.abs(exact), np.nextafter(near, np.float32(0)), near)
    odd = (cut.view(np.uint32) | np.uint32(1)).view(np.float32)
    return np.where(inexact, odd, near)


def holds(dtype_name: str, value: float) -> bool:
    """Whether a number is a value of an integer type; float types take every number, rounded."""
    target = dtypes.dtype(dtype_name)
    if target.is_float:
        return True
    least, largest = target.limits
    return math.isfinite(value) and least <= value <= largest and value == int(value)


def product(a: Array, b: Array) -> Array:
    """``a @ b`` over the last two axes: f32 for floats (products and sums in f32), i32 for integers.

    Integer sums wrap at 32 bits. The operands' memory layout does not change the result: it is made
    C-ordered first, so a transposed or stacked operand takes the same path through BLAS.
    """
    with np.errstate(all="ignore"):
        if a.dtype.kind not in "biu" or b.dtype.kind not in "biu":
            return np.asarray(np.matmul(widen(a), widen(b)))
        if a.dtype.itemsize == 1 and b.dtype.itemsize == 1:
            # numpy multiplies integers without BLAS. In f64 sums of i8 products are exact up to K = 2**39.
            exact = np.matmul(np.asarray(a, np.float64, order="C"), np.asarray(b, np.float64, order="C"))
            return np.asarray(exact).astype(np.int64).astype(np.int32)
        return np.asarray(np.matmul(a.astype(np.int32), b.astype(np.int32)))
