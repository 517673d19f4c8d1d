"""Validation of arguments of ``tl`` calls: each check returns the clean value or names the argument."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from kernbench.errors import UsageError
from kernbench.language.pointer import Address, Pointer
from kernbench.support import dtypes
from kernbench.support.dtypes import nbytes as nbytes
from kernbench.support.hints import shown
from kernbench.values.numeric import holds

_BOOLS = (bool, np.bool_)
_SEQUENCES = (Sequence, np.ndarray)
_NUMBERS = (bool, int, float, np.generic)
_INTEGERS = (bool, int, np.integer, np.bool_)
_INT = frozenset((int,))
_NO_REALS = (np.complexfloating, np.flexible)


class BadArgumentError(Exception):
    """An argument of a ``tl`` call is wrong; the call turns it into a :class:`KernelError`."""

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(f"argument '{argument}': {problem}")


class NoRoomError(BadArgumentError):
    """A call finds no room for its result; no argument of it is wrong."""

    def __init__(self, problem: str) -> None:
        Exception.__init__(self, problem)


def integer(argument: str, value: object, minimum: int | None = None) -> int:
    """``value`` as an int, not below ``minimum``; bools and floats are refused."""
    if type(value) is int:
        number = value
    elif isinstance(value, _BOOLS):
        raise BadArgumentError(argument, f"{shown(value)} is a bool; an integer is needed")
    else:
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise BadArgumentError(argument, f"{shown(value)} is not an integer") from None
    if minimum is not None and number < minimum:
        raise BadArgumentError(argument, f"{number} is below {minimum}")
    return number


def integers(argument: str, value: object, minimum: int | None = None) -> tuple[int, ...]:
    """A sequence of integers, not below ``minimum``; one integer means one."""
    if type(value) is tuple:
        if _INT.issuperset(map(type, value)) and (minimum is None or min(value, default=minimum) >= minimum):
            return value
    elif (
        isinstance(value, (str, bytes)) or not isinstance(value, _SEQUENCES) or getattr(value, "ndim", 1) == 0
    ):
        value = (value,)
    return tuple([integer(argument, number, minimum) for number in value])


def for_each_axis(argument: str, numbers: tuple[int, ...], shape: tuple[int, ...]) -> None:
    """Refuse ``numbers`` that are more or fewer than the axes of ``shape``."""
    if len(numbers) != len(shape):
        raise BadArgumentError(argument, f"{numbers} must have {len(shape)} entries, as shape {shape}")


def address(argument: str, value: object) -> int:
    """A byte address: a :class:`Pointer` or a plain integer, not negative."""
    if type(value) is int and value >= 0:
        return value
    if value is None:
        raise BadArgumentError(argument, "an address is needed: a tensor argument or an integer")
    number = integer(argument, value)
    if number < 0:
        raise BadArgumentError(argument, f"address {number} is negative")
    return number


def shape(argument: str, value: object) -> tuple[int, ...]:
    """A shape: a sequence of positive integers; one integer means one dimension."""
    return integers(argument, value, 1)


def dtype(argument: str, value: object) -> str:
    """The name of a known data type."""
    if type(value) is str and value in dtypes.SIZES:
        return value
    try:
        return dtypes.dtype(value).name  # type: ignore[arg-type]
    except UsageError as unknown:
        raise BadArgumentError(argument, str(unknown)) from None


def axis(argument: str, value: object, ndim: int) -> int:
    """An axis of an array of ``ndim`` dimensions, counted from 0."""
    number = integer(argument, value)
    if not -ndim <= number < ndim:
        raise BadArgumentError(argument, f"{number} is not an axis of a tensor with {ndim} dimensions")
    return number % ndim


def is_scalar(value: object) -> bool:
    """True for Python and numpy numbers."""
    return isinstance(value, _NUMBERS) and not isinstance(value, Pointer)


def scalar(argument: str, value: Any) -> int | float:
    """A Python number; integers must fit 64 bits."""
    if type(value) is float or (type(value) is int and -(1 << 63) <= value < 1 << 64):
        return value
    if not is_scalar(value):
        raise BadArgumentError(argument, f"{shown(value)} is not a number")
    if isinstance(value, _BOOLS):
        return bool(value)
    if isinstance(value, _INTEGERS):
        number = int(value)
        if not -(1 << 63) <= number < 1 << 64:
            raise BadArgumentError(argument, f"{number} does not fit 64 bits")
        return number
    if isinstance(value, _NO_REALS):
        raise BadArgumentError(argument, f"{shown(value)} is not a real number")
    return float(value)


def fits(argument: str, ptr: object, size: int) -> None:
    """Refuse an access of ``size`` bytes that starts at or within a pointer's tensor and leaves it."""
    if isinstance(ptr, Address):
        first = int(ptr) - int(ptr.tensor)
        stays(argument, ptr, first, first + size, f"{size} bytes" + (f" at byte {first}" if first else ""))


def stays(argument: str, ptr: Address, first: int, end: int, what: str) -> None:
    """Refuse ``what``, bytes ``first`` to ``end`` of the tensor of ``ptr``, if it leaves that tensor."""
    tensor = ptr.tensor
    if first >= 0 and end <= tensor.reach:
        return
    place = f"{tensor.place}, {tensor.nbytes} bytes of shape {tensor.shape}"
    if first < 0:
        problem = f"begin {-first} bytes before {place}"
    elif tensor.reach < tensor.nbytes:
        problem = (
            f"run {end - tensor.reach} bytes past this PE's {tensor.reach} bytes of tensor '{tensor.name}'; "
            "its shards are apart in the pa address model, so use .local and tl.local_shape"
        )
    else:
        problem = f"run {end - tensor.reach} bytes past the end of {place}; mask them, or use a smaller block"
    raise BadArgumentError(argument, f"{what} {problem}")


def held(argument: str, value: float, dtype_name: str) -> None:
    """Refuse a number that integer type ``dtype_name`` cannot hold; float types take every number."""
    if not holds(dtype_name, value):
        raise BadArgumentError(argument, f"{value} is not an {dtype_name} value")
