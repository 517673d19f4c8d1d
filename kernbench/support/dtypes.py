"""The data types that kernels and tensors know, by the names that users write."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from kernbench.errors import UsageError


@dataclass(frozen=True, slots=True)
class DType:
    """A data type: name, numpy type, bytes per element, and the tolerance that verification allows."""

    name: str
    held: np.dtype[Any] | None
    """The numpy type of its values; None of a packed type, which has sizes and times and no values."""
    tolerance: float
    """``rtol`` and ``atol`` of a comparison; 0.0 for integers, which must be equal."""
    largest: float = 0.0
    """What numbers beyond the range become, as in the instructions of GPUs; 0.0 where that is infinity."""
    packed: tuple[int, int] = (1, 0)
    """Of a packed type so many elements of the last axis, and the bytes that they are together."""

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy type; :class:`UsageError` of a packed type."""
        if self.held is None:
            raise UsageError(
                f"{self.name} has sizes and times here, but no values: use torch.empty, verify nothing"
            )
        return self.held

    @property
    def itemsize(self) -> int:
        """Bytes per element; :class:`UsageError` of a packed type."""
        if self.held is None:
            elements, size = self.packed
            raise UsageError(f"{self.name} has no bytes per element: {elements} elements are {size} bytes")
        return self.held.itemsize

    @property
    def is_float(self) -> bool:
        """True for the floating types."""
        return self.tolerance > 0

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the largest value of an integer type; of ``i1``, truth values, 0 and 1."""
        if self.numpy.kind == "b":
            return 0, 1
        found = np.iinfo(self.numpy)
        return int(found.min), int(found.max)


DTYPES: dict[str, DType] = {
    d.name: d
    for d in (
        DType("f16", np.dtype(np.float16), 1e-3),
        DType("bf16", np.dtype(ml_dtypes.bfloat16), 1e-2),
        DType("f32", np.dtype(np.float32), 1e-5),
        DType("f8e4m3", np.dtype(ml_dtypes.float8_e4m3fn), 0.125, 448.0),
        DType("f8e5m2", np.dtype(ml_dtypes.float8_e5m2), 0.25, 57344.0),
        DType("i1", np.dtype(np.bool_), 0.0),
        DType("i8", np.dtype(np.int8), 0.0),
        DType("u8", np.dtype(np.uint8), 0.0),
        DType("i32", np.dtype(np.int32), 0.0),
        *(DType(f"i{bits}", np.dtype(f"int{bits}"), 0.0) for bits in (16, 64)),
        *(DType(f"u{bits}", np.dtype(f"uint{bits}"), 0.0) for bits in (16, 32, 64)),
    )
}
"""Those that engines calculate with."""
INDICES = ("i16", "i64", "u16", "u32", "u64")
"""Of pointers and indices: a kernel of Triton knows such integers once they are loaded."""
PACKED = {
    known.name: known
    for known in (
        DType("bfp8", None, 2**-6, packed=(16, 17)),
        DType("bfp4", None, 2**-2, packed=(16, 9)),
        DType("i4", None, 0.0, packed=(2, 1)),
    )
}
"""Block floating point, where 16 elements share a one-byte exponent, and integers packed two to a byte."""
_WHOLE = {**DTYPES, "f64": DType("f64", np.dtype(np.float64), 1e-12)}
_ALL = {**_WHOLE, **PACKED}
_OF_NUMPY = {known.numpy: known for known in _WHOLE.values()}
SIZES = {name: known.itemsize for name, known in _WHOLE.items()}
"""Bytes per element of each type that is not packed."""


def nbytes(shape: Sequence[int], name: str) -> int:
    """Bytes of an array of the type called ``name``, row-major without padding.

    :class:`UsageError` where the last extent of a packed type is not a multiple of the elements that belong
    together.
    """
    if name in SIZES:
        return math.prod(shape) * SIZES[name]
    elements, size = dtype(name).packed
    if shape[-1] % elements:
        raise UsageError(f"{name} of shape {tuple(shape)}: the last extent must be a multiple of {elements}")
    return math.prod(shape) // elements * size


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides in elements of an array of ``shape`` without padding; as in PyTorch, extents of 0 are 1."""
    steps, step = [], 1
    for extent in reversed(shape):
        steps.append(step)
        step *= extent or 1
    return tuple(reversed(steps))


def dtype(name: str) -> DType:
    """The type called ``name``; an unknown name is a :class:`UsageError` that lists the known ones."""
    try:
        return _ALL[name]
    except (KeyError, TypeError):
        raise UsageError(f"dtype {name!r} is not known; use one of {', '.join(_ALL)}") from None


def widen(array: Any) -> np.ndarray[Any, Any]:
    """``array`` as f32, C-ordered: the type that floating-point engines compute in."""
    with np.errstate(all="ignore"):
        return np.asarray(array, dtype=np.float32, order="C")


def of_numpy(array_dtype: np.dtype[Any], what: str = "") -> DType:
    """The type whose numpy type is ``array_dtype``; :class:`UsageError` of ``what`` when there is none."""
    known = _OF_NUMPY.get(array_dtype)
    if known is not None:
        return known
    remedy = "float32" if array_dtype.kind == "f" else "int32" if array_dtype.kind in "iu" else "int8"
    raise UsageError(
        f"{what}numpy dtype {array_dtype} has no counterpart; use one of {', '.join(_ALL)}: "
        f"x.astype(np.{remedy})"
    )
