"""Numbers that the host gives, checked before any of them is sent."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernbench.errors import UsageError
from kernbench.support.host_memory import need
from kernbench.values.numeric import holds

Array = NDArray[Any]


def real_numbers(values: ArrayLike, what: str) -> Array:
    """``values`` as an array in native byte order; :class:`UsageError` unless they are real numbers."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise UsageError(f"{what}: {error}") from None
    if array.dtype.kind not in "biufV" or array.dtype.names is not None:
        raise UsageError(f"{what}: values of dtype {array.dtype} are not real numbers")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def own_copy(array: Array, what: str) -> Array:
    """A copy that its giver cannot change; :class:`AllocationError` where the host has no room for it."""
    need(array.nbytes, what)
    return array.copy()


def fill(value: float, shape: tuple[int, ...], dtype: str, what: str) -> Array:
    """An array of ``shape`` full of ``value``, which type ``dtype`` must hold if it is an integer type."""
    number = real_numbers(value, what)
    if number.shape:
        raise UsageError(f"{what}: filled with shape {number.shape}; give one number")
    if not holds(dtype, number.item()):
        raise UsageError(f"{what}: {number} is not an {dtype} value; use another dtype")
    return np.broadcast_to(number, shape)
