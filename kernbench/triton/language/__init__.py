"""``triton.language``: calls go to the kernel that is running; other names say what to do instead."""

from __future__ import annotations

import builtins
import enum
from types import SimpleNamespace
from typing import Any, NoReturn

from kernbench.language.building import UnknownNameError
from kernbench.triton.calls import called, current
from kernbench.triton.language import extra as extra
from kernbench.triton.names import CALLS, HINTS, MATH, unknown
from kernbench.triton.pointers import BlockPtr
from kernbench.triton.random import BY_NAME
from kernbench.triton.values import INT1, INT64, PointerTo
from kernbench.triton.values import constexpr as constexpr
from kernbench.triton.values import dtype as dtype

float16, bfloat16, float32, float64 = dtype("f16"), dtype("bf16"), dtype("f32"), dtype("f64")
float8e4nv, float8e5 = dtype("f8e4m3"), dtype("f8e5m2")
int1, int8, int16, int32, int64 = INT1, dtype("i8"), dtype("i16"), dtype("i32"), INT64
uint8, uint16, uint32, uint64 = dtype("u8"), dtype("u16"), dtype("u32"), dtype("u64")
tensor = Any
const = Any
tensor_descriptor = BlockPtr
tuple = tuple
TRITON_MAX_TENSOR_NUMEL = 1 << 20


globals().update({name: called(name) for name in CALLS})
globals().update(BY_NAME)


class PropagateNan(enum.IntEnum):
    """Of ``maximum``, ``minimum`` and ``clamp``: what is given for a number and NaN."""

    NONE = 0
    ALL = 0xFFFF


class _Names(SimpleNamespace):
    """Some of the calls under another name."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnknownNameError(unknown(name, vars(self)))


math = _Names(**{name: globals()[name] for name in MATH})


def _hint(x: Any = None, *_: Any) -> Any:
    """A hint to Triton's compiler: without effect; the value itself."""
    return x


globals().update(dict.fromkeys(HINTS, _hint))


def pointer_type(element_ty: Any, address_space: int = 1, const: bool = False) -> Any:
    """The type of pointers in memory: ``tl.load(table + n).to(tl.pointer_type(tl.float16))``."""
    made: Any = PointerTo(element_ty)
    made.at = lambda address: current("pointer_type").found(address, made)
    return made


pi32_t = pointer_type(int32)


def static_print(*values: Any, **how: Any) -> None:
    """Python's print, while the kernel runs."""
    print(*values, **how)


def cdiv(x: Any, div: Any) -> Any:
    """``x / div`` rounded up."""
    return (x + (div - 1)) // div


def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> Any:
    """Row and column of a matrix of ``size_i`` by ``size_j`` in the order of groups of ``size_g`` rows."""
    ij = i * size_j + j
    size_gj = size_g * size_j
    group = ij // size_gj
    first = group * size_g
    rows = _smaller(size_i - first, size_g)
    within = ij % size_gj
    return first + within % rows, within // rows


def _smaller(a: Any, b: Any) -> Any:
    both = isinstance(a, int) and isinstance(b, int)
    return builtins.min(a, b) if both else globals()["minimum"](a, b)


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnknownNameError(unknown(name))
