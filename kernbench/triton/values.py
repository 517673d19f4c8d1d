"""What a kernel of Triton calculates with before it touches memory: types, integers, blocks of them.

All of it is known while time is simulated, and takes none.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np
from greenlet import getcurrent

from kernbench.errors import KernelError
from kernbench.language.handles import TensorHandle
from kernbench.language.pointer import Pointer
from kernbench.language.tl import constexpr as constant
from kernbench.support import dtypes
from kernbench.values.numeric import cast

Array = np.ndarray[Any, Any]
_NAMES = {"fp16": "f16", "fp32": "f32", "fp8e4nv": "f8e4m3", "fp8e5": "f8e5m2"}
_TRITON = {name: triton for triton, name in _NAMES.items()} | {"bf16": "bf16"}
_FLOATS = ("f16", "bf16", "f32", "f8e4m3", "f8e5m2")
INTEGERS = ("i8", "u8", "i32", "i64")
"""Types of loaded elements that a kernel may look at."""


class dtype(str):  # noqa: N801  (Triton's name)
    """A type of elements, by KernBench's name; also what a pointer's type says of its elements."""

    _made: ClassVar[dict[str, dtype]] = {}

    def __new__(cls, name: str) -> dtype:
        """The type of that name, Triton's or KernBench's; the same object each time: kernels use ``is``."""
        name = _NAMES.get(name, name)
        if cls is not dtype:
            return super().__new__(cls, name)
        found = cls._made.get(name)
        if found is None:
            found = cls._made[name] = super().__new__(cls, name)
        return found

    @property
    def element_ty(self) -> dtype:
        """Itself: a pointer's type is that of its elements here, and a constant is its value."""
        return self

    scalar = value = element_ty

    @property
    def name(self) -> str:
        """What Triton calls it."""
        return _TRITON.get(self) or self.replace("i", "int").replace("u", "uint")

    @property
    def primitive_bitwidth(self) -> int:
        """Bits of an element."""
        return 8 * dtypes.dtype(self).itemsize

    int_bitwidth = primitive_bitwidth

    def is_floating(self) -> bool:
        """Whether it is a type of floating-point numbers."""
        return self in _FLOATS

    def is_int(self) -> bool:
        """Whether it is a type of integers."""
        return self not in _FLOATS

    def is_int_signed(self) -> bool:
        """Whether it is a type of integers with a sign."""
        return self.is_int() and not self.is_uint8()

    def is_uint8(self) -> bool:
        """Whether it is uint8, the only type without a sign."""
        return self == "u8"

    is_int_unsigned = is_uint8

    def is_fp64(self) -> bool:
        """False: neither float64 nor the others that are asked for so are here."""
        return False

    is_int16 = is_uint16 = is_uint32 = is_uint64 = is_fp64

    def is_int8(self) -> bool:
        """Whether it is int8."""
        return self == "i8"

    def is_int32(self) -> bool:
        """Whether it is int32."""
        return self == "i32"

    def is_int64(self) -> bool:
        """Whether it is int64."""
        return self == "i64"

    def is_fp8(self) -> bool:
        """Whether it is a float of 8 bits."""
        return self in ("f8e4m3", "f8e5m2")

    def is_fp16(self) -> bool:
        """Whether it is float16."""
        return self == "f16"

    def is_bf16(self) -> bool:
        """Whether it is bfloat16."""
        return self == "bf16"

    def is_fp32(self) -> bool:
        """Whether it is float32."""
        return self == "f32"


class Truth(dtype):
    """``int1``: elements are 1 or 0, kept as i8; a cast to it asks whether they are not 0."""


INT1 = Truth("i8")
INT64 = dtype("i64")
"""Of addresses, of integers that are known, and of memory; the engines have none."""


class PointerTo(dtype):
    """The type of pointers that are kept in memory, as integers, to elements of another type."""

    at: Callable[[int], Any]
    """The pointer at an address that was loaded."""


def is_float(target: object) -> bool:
    """Whether a cast to ``target`` gives floating-point numbers."""
    return str(target) in (*_FLOATS, *_NAMES)


class Float(float):
    """A scalar of a kernel that is an argument, or an integer as a float."""

    dtype = dtype("f32")
    type = dtype
    shape = ()

    @property
    def value(self) -> float:
        """Itself as a Python number."""
        return float(self)

    def to(self, dtype: object, fp_downcast_rounding: object = None, bitcast: bool = False) -> Any:
        """Itself, rounded to a type of floats, or cut towards zero to an integer."""
        if bitcast:
            return _bits(self, dtype)
        if not is_float(dtype):
            return Int(self)
        return Float(cast(np.asarray(float(self)), _NAMES.get(str(dtype), str(dtype))))


def _on_float(name: str) -> Any:
    plain = getattr(float, name)

    def call(self: Float, *other: Any) -> Any:
        found = plain(self, *other)
        return Float(found) if isinstance(found, float) else found

    return call


for _name in ("neg", "abs", "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv"):
    setattr(Float, f"__{_name}__", _on_float(f"__{_name}__"))


class Int(int):
    """A scalar of a kernel: an argument, ``program_id``, the index of a loop, a loaded integer.

    ``//`` and ``%`` round towards zero, as on the device.
    """

    dtype = dtype("i32")
    type = dtype
    shape = ()

    @property
    def value(self) -> int:
        """Itself as a Python number."""
        return int(self)

    def to(self, dtype: object, fp_downcast_rounding: object = None, bitcast: bool = False) -> Any:
        """Itself, the number as a float, or the pointer at that address."""
        if isinstance(dtype, PointerTo):
            return dtype.at(int(self))
        if not is_float(dtype):
            return self
        return _bits(self, dtype) if bitcast else Float(self).to(dtype)

    def __getitem__(self, key: Any) -> KnownBlock:
        return KnownBlock(np.asarray(int(self))[key], getcurrent().tl)  # type: ignore[attr-defined]

    def __neg__(self) -> Int:
        return Int(-int(self))

    def __truediv__(self, other: Any) -> Any:
        return Float(int(self) / other) if isinstance(other, int | float) else NotImplemented


def _bits(value: Any, dtype: object) -> Any:
    """The bits of a scalar as another type."""
    return getcurrent().tl.cast(value, dtype, bitcast=True)  # type: ignore[attr-defined]


def scalar(value: Any) -> Any:
    """A number of Python as a kernel calculates with it; anything else is itself."""
    if type(value) is float:
        return Float(value)
    return Int(value) if type(value) is int or isinstance(value, np.integer) else value


class constexpr(constant):  # noqa: N801  (Triton's name)
    """Annotation of parameters that are Python values; ``tl.constexpr(4)`` has its ``value``, too."""

    def __new__(cls, value: object) -> object:  # type: ignore[misc]
        """The number as a kernel calculates with it; anything else is itself."""
        return scalar(value)


def _divided(a: Any, b: Any) -> Any:
    """``a / b`` cut towards zero, of integers."""
    quotient = np.abs(a) // np.abs(b)
    return np.where(np.sign(a) * np.sign(b) < 0, -quotient, quotient)


def _remainder(a: Any, b: Any) -> Any:
    return a - _divided(a, b) * b


_INTEGER: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "xor", "lshift", "rshift")},
    **{"and": operator.and_, "or": operator.or_, "floordiv": _divided, "mod": _remainder},
}
"""Of operators among integers what they do."""


def _on_int(name: str, how: Callable[[Any, Any], Any], swapped: bool) -> Any:
    def call(self: Int, other: Any) -> Any:
        if not isinstance(other, int) or isinstance(other, Pointer):
            return (
                (getattr(float, name_of)(float(self), other)) if isinstance(other, float) else NotImplemented
            )
        a, b = (int(other), int(self)) if swapped else (int(self), int(other))
        if not b and name in ("floordiv", "mod"):
            raise KernelError(f"an integer is divided by 0: {a} {'//' if name == 'floordiv' else '%'} 0")
        return Int(how(a, b))

    name_of = f"__{'r' if swapped else ''}{name}__"
    return call


for _name, _how in _INTEGER.items():
    setattr(Int, f"__{_name}__", _on_int(_name, _how, False))
    setattr(Int, f"__r{_name}__", _on_int(_name, _how, True))


class KnownBlock:
    """A block of integers or truth values that is known: offsets, masks."""

    __array_ufunc__ = None
    """A numpy scalar on the left leaves the operation to the block."""

    def __init__(self, data: Array, tl: Any) -> None:  # ``tl`` is the kernel's language
        self.data = data
        self._tl = tl

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        return tuple(self.data.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.data.ndim

    @property
    def dtype(self) -> dtype:
        """The type that it has as a handle."""
        return INT1 if self.data.dtype == bool else dtype("i32")

    type = dtype

    def made(self, data: Array) -> KnownBlock:
        """Another block of the same kernel."""
        return KnownBlock(data, self._tl)

    def handle(self) -> TensorHandle:
        """The block as engines take it; no time passes."""
        made: TensorHandle = self._tl.handle_of(self)
        return made

    def to(self, dtype: object, fp_downcast_rounding: object = None, bitcast: bool = False) -> Any:
        """The block in another type: floats are a handle, of integers nothing changes."""
        if isinstance(dtype, PointerTo):
            if self.data.size != 1:
                raise KernelError(f"{self.data.size} addresses, expected one; load and cast them one by one")
            return dtype.at(int(self))
        if is_float(dtype):
            return self._tl.cast(self.handle(), dtype, bitcast=bitcast)
        if isinstance(dtype, Truth):
            return self.made(self.data != 0)
        return self.made(cast(self.data, str(dtype)).astype(np.int64)) if str(dtype) in ("i8", "u8") else self

    @property
    def T(self) -> KnownBlock:  # noqa: N802  (Triton's name)
        """With its last two axes exchanged."""
        return self.made(np.swapaxes(self.data, -1, -2))

    def __getattr__(self, name: str) -> Any:
        return self._tl._method(self, name)

    def __getitem__(self, key: Any) -> KnownBlock:
        return self.made(self.data[key])

    def __invert__(self) -> KnownBlock:
        return self.made(~self.data)

    def __neg__(self) -> KnownBlock:
        return self.made(-self.data)

    def __bool__(self) -> bool:
        if self.data.size != 1:
            raise KernelError(
                "a block of truth values is not one of them: Python's and, or, not and if take one; "
                "combine blocks with & | ~ and parentheses, pick elements with tl.where"
            )
        return bool(self.data.item())

    def __int__(self) -> int:
        return int(self.data.item())

    __index__ = __int__

    def __iter__(self) -> NoReturn:
        raise KernelError("a block is not iterated; loop over tl.static_range and use tl.where")

    def __repr__(self) -> str:
        return f"<{'mask' if self.data.dtype == bool else 'integers'} {self.shape}>"

    __hash__ = object.__hash__


def data_of(value: Any) -> Any:
    """A known integer or block as numpy takes it; None where it is something else."""
    if isinstance(value, KnownBlock):
        return value.data
    return int(value) if isinstance(value, int | np.integer) and not isinstance(value, Pointer) else None


def _on_known(name: str, how: Callable[[Any, Any], Any], swapped: bool) -> Any:
    engine = f"__{'r' if swapped else ''}{name}__"
    truth = name in ("and", "or", "xor")

    def call(self: KnownBlock, other: Any) -> Any:
        theirs = data_of(other)
        if theirs is None or name == "truediv":
            if isinstance(other, float | KnownBlock | int) and not isinstance(other, Pointer):
                return getattr(self.handle(), engine)(other)
            return NotImplemented
        mine = self.data
        both = isinstance(other, bool) or (isinstance(other, KnownBlock) and other.data.dtype.kind == "b")
        if mine.dtype.kind == "b" and not (truth and both):
            mine = mine.astype(np.int64)
        a, b = (theirs, mine) if swapped else (mine, theirs)
        if name in ("floordiv", "mod") and not np.all(b):
            raise KernelError("an integer is divided by 0 in a block of integers")
        return self.made(np.asarray(how(a, b)))

    return call


_COMPARE = ("lt", "le", "gt", "ge", "eq", "ne")
for _name, _how in {**_INTEGER, "truediv": operator.truediv}.items():
    setattr(KnownBlock, f"__{_name}__", _on_known(_name, _how, False))
    setattr(KnownBlock, f"__r{_name}__", _on_known(_name, _how, True))
for _name in _COMPARE:
    setattr(KnownBlock, f"__{_name}__", _on_known(_name, getattr(operator, _name), False))
