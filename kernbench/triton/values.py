"""What a kernel of Triton calculates with before it touches memory: types, integers, blocks of them.

All of it is known while time is simulated, and takes none.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from ctypes import c_float
from typing import Any, ClassVar, NoReturn

import numpy as np
from greenlet import getcurrent

from kernbench.errors import KernelError
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle
from kernbench.language.pointer import Pointer
from kernbench.language.promotion import wider
from kernbench.language.tl import constexpr as constant
from kernbench.operations import OPERATIONS
from kernbench.operations.of_several import ZERO_DIVISOR
from kernbench.support import dtypes
from kernbench.triton.promotion import common
from kernbench.values.numeric import cast

Array = np.ndarray[Any, Any]
_NAMES = {"fp16": "f16", "fp32": "f32", "fp64": "f64", "fp8e4nv": "f8e4m3", "fp8e5": "f8e5m2"}
_TRITON = {name: triton for triton, name in _NAMES.items()} | {"bf16": "bf16"}
_FLOATS = tuple(name for name in dtypes.SIZES if dtypes.dtype(name).is_float)
INTEGERS = tuple(name for name in dtypes.SIZES if not dtypes.dtype(name).is_float)
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
        """The type of an element: a pointer's type is that here, too, and a constant is its value."""
        return dtype(self)

    scalar = value = element_ty

    @property
    def name(self) -> str:
        """What Triton calls it."""
        return _TRITON.get(self) or self.replace("i", "int").replace("u", "uint")

    @property
    def primitive_bitwidth(self) -> int:
        """Bits of an element."""
        return 1 if self == "i1" else 8 * dtypes.dtype(self).itemsize

    int_bitwidth = primitive_bitwidth

    def is_floating(self) -> bool:
        """Whether it is a type of floating-point numbers."""
        return self in _FLOATS

    def is_int(self) -> bool:
        """Whether it is a type of integers."""
        return self not in _FLOATS

    def is_int_signed(self) -> bool:
        """Whether it is a type of integers with a sign."""
        return self.startswith("i")

    def is_int_unsigned(self) -> bool:
        """Whether it is a type of integers without a sign."""
        return self.startswith("u")

    def is_fp8(self) -> bool:
        """Whether it is a float of 8 bits."""
        return self in ("f8e4m3", "f8e5m2")

    def is_bool(self) -> bool:
        """Whether it is int1."""
        return self == "i1"

    def is_block(self) -> bool:
        """Whether it is the type of a block, which has extents."""
        return self.extents != ()

    def get_block_shapes(self) -> tuple[int, ...]:
        """The extents of the block whose type it is."""
        return self.extents

    extents: tuple[int, ...] = ()

    def of_block(self, extents: tuple[int, ...]) -> dtype:
        """The type of blocks of ``extents``."""
        made = str.__new__(dtype, self)
        made.extents = extents
        return made


def _is(name: str) -> Callable[[dtype], bool]:
    def call(self: dtype) -> bool:
        return self == name

    call.__doc__ = f"Whether it is {name}."
    return call


for _name in dtypes.SIZES:
    if "f8" not in _name:
        setattr(dtype, f"is_{dtype(_name).name}", _is(_name))

ElementType = dtype
INT1, INT32, INT64 = dtype("i1"), dtype("i32"), dtype("i64")


class PointerTo(dtype):
    """The type of pointers that are kept in memory, as integers, to elements of another type."""

    at: Callable[[int], Any]
    """The pointer at an address that was loaded."""


def is_float(target: object) -> bool:
    """Whether a cast to ``target`` gives floating-point numbers."""
    return str(target) in (*_FLOATS, *_NAMES)


def rounded(number: float, dtype: str) -> float:
    """A number as a type of floats holds it."""
    return c_float(number).value if dtype == "f32" else float(cast(np.asarray(number, np.float64), dtype))


class Float(float):
    """A scalar of a kernel, f32: an argument, an integer as a float, a number with a name."""

    def __new__(cls, value: float) -> Float:
        """``value``, rounded to f32."""
        return super().__new__(cls, rounded(value, "f32"))

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
            return Int(cast(np.asarray(float(self)), _type(dtype)).item(), _type(dtype))
        name = _NAMES.get(str(dtype), str(dtype))
        return self if name in ("f32", "f64") else getcurrent().tl.full((1,), self, name)  # type: ignore[attr-defined]


class Literal(Float):
    """A number that is written down where it is used: it takes the type of the block beside it."""

    def __new__(cls, value: float) -> Literal:
        """``value`` as it is."""
        return float.__new__(cls, value)


def _on_float(name: str) -> Any:
    how = _FLOAT.get(name) or getattr(float, f"__{name}__")

    def call(self: Float, *other: Any) -> Any:
        if type(self) is Literal and all(type(one) in (Literal, float, int) for one in other):
            found = how(float(self), *other)
            return Literal(found) if type(found) is float else scalar(found)
        numbers = isinstance(other[0], int | float) and not isinstance(other[0], Pointer) if other else True
        if not numbers:
            return NotImplemented
        return scalar(how(*(rounded(one, "f32") for one in (self, *other))))

    return call


def _quotient(a: float, b: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(a) / b)


_FLOAT: dict[str, Callable[..., float]] = {
    "truediv": _quotient,
    "rtruediv": lambda a, b: _quotient(b, a),
    "mod": lambda a, b: float(np.fmod(a, b)),
    "rmod": lambda a, b: float(np.fmod(b, a)),
}
"""Operators that Python's floats have not as the device does: by 0, and with the sign of the first."""
_COMPARE = ("lt", "le", "gt", "ge", "eq", "ne")
_ALIKE = ("neg", "abs", "add", "radd", "sub", "rsub", "mul", "rmul", *_COMPARE)
for _name in (*_FLOAT, *_ALIKE):
    setattr(Float, f"__{_name}__", _on_float(_name))
Float.__hash__ = float.__hash__  # type: ignore[method-assign]


class Int(int):
    """A scalar of a kernel: an argument, ``program_id``, the index of a loop, a loaded integer, a comparison.

    It wraps as its type does: i32, unless the number needs more. ``//`` and ``%`` round towards zero, as on
    the device.
    """

    dtype = INT32
    shape = ()

    def __new__(cls, value: int | np.generic, dtype: ElementType | None = None) -> Int:
        """``value`` in a type, by its low bits; by default in the shortest of 32 bits or more."""
        number = int(value)
        if dtype is None:
            dtype = _literal(value)
        least, largest = dtypes.dtype(dtype).limits
        if not least <= number <= largest:
            number = (number - least) % (largest - least + 1) + least if dtype != INT1 else 1
        made = super().__new__(cls, number)
        if dtype != INT32:
            made.dtype = dtype
        return made

    @property
    def type(self) -> ElementType:
        """Its type."""
        return self.dtype

    @property
    def value(self) -> int:
        """Itself as a Python number."""
        return int(self)

    def to(self, dtype: object, fp_downcast_rounding: object = None, bitcast: bool = False) -> Any:
        """Itself in another type of integers, the number as a float, or the pointer at that address."""
        if isinstance(dtype, PointerTo):
            return dtype.at(int(self))
        if not is_float(dtype):
            return Int(self, _type(dtype))
        return _bits(self, dtype) if bitcast else Float(self).to(dtype)

    def __getitem__(self, key: Any) -> KnownBlock:
        data = np.asarray(int(self), dtypes.dtype(self.dtype).numpy)
        axes = tuple([one for one in (key if isinstance(key, tuple) else (key,)) if one != slice(None)])
        return KnownBlock(data[axes], getcurrent().tl)  # type: ignore[attr-defined]

    def __neg__(self) -> Int:
        return Int(-int(self), INT32 if self.dtype == INT1 else self.dtype)

    def __abs__(self) -> Int:
        return -self if self < 0 else self

    def __invert__(self) -> Int:
        return Int(not self) if self.dtype == INT1 else Int(~int(self), self.dtype)

    def __truediv__(self, other: Any) -> Any:
        return Float(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / Float(self) if isinstance(other, int | float) else NotImplemented

    __hash__ = int.__hash__


class Number(Int):
    """A constant, ``tl.constexpr(4)``: it takes the type of what is beside it."""


def _type(name: object) -> dtype:
    """The type of that name, which is known."""
    return dtype(dtypes.dtype(dtype(str(name))).name)


def _literal(number: int | np.generic) -> dtype:
    """The type of a number that is written down, as Triton chooses it."""
    if isinstance(number, bool | np.bool_):
        return INT1
    for name in ("i32", "u32", "i64", "u64"):
        least, largest = dtypes.dtype(name).limits
        if least <= int(number) <= largest:
            return dtype(name)
    raise KernelError(f"{number} does not fit 64 bits")


def _common(a: Any, b: Any, truths: bool = False) -> dtype:
    """The type in which ``a`` and ``b`` are combined; a number of Python takes that of the other.

    ``truths``: two truth values stay such; if not, they are i32.
    """
    typed = [isinstance(one, KnownBlock) or type(one) is Int for one in (a, b)]
    kinds = [one.dtype if known else _literal(one) for one, known in zip((a, b), typed, strict=True)]
    written = [not known for known in typed]
    if written[0] != written[1]:
        number, known = (a, kinds[1]) if written[0] else (b, kinds[0])
        least, largest = dtypes.dtype(known).limits
        if known != INT1 and not least <= int(number) <= largest:
            raise KernelError(f"{number} is not a value of {known.name}; cast first: x.to(tl.int64)")
        kinds = [known] if known != INT1 else kinds
    found = functools.reduce(wider, kinds)
    return INT32 if found == INT1 and not truths else found


def _bits(value: Any, dtype: object) -> Any:
    """The bits of a scalar as another type."""
    return getcurrent().tl.cast(value, dtype, bitcast=True)  # type: ignore[attr-defined]


def scalar(value: Any) -> Any:
    """A number of Python as a kernel calculates with it; anything else is itself."""
    if type(value) in (float, Literal):
        return Float(value)
    return Int(value) if type(value) in (int, bool) or isinstance(value, np.integer | np.bool_) else value


class constexpr(constant):  # noqa: N801  (Triton's name)
    """Annotation of parameters that are Python values; ``tl.constexpr(4)`` has its ``value``, too."""

    def __new__(cls, value: object) -> object:  # type: ignore[misc]
        """The number as a kernel calculates with it; anything else is itself."""
        if isinstance(value, int) and type(value) in (int, bool):
            return Number(value)
        return Literal(value) if isinstance(value, float) else scalar(value)


def _divided(a: int, b: int) -> int:
    """``a / b`` cut towards zero."""
    floor = a // b
    return floor + ((floor * b != a) & ((a < 0) != (b < 0)))


def _remainder(a: int, b: int) -> int:
    return a - _divided(a, b) * b


_INTEGER: dict[str, Callable[[Any, Any], Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "xor", "lshift", "rshift")},
    **{"and": operator.and_, "or": operator.or_, "floordiv": _divided, "mod": _remainder},
}
"""Operators of integers, of Python's."""
_OF_BLOCKS = _INTEGER | {
    "floordiv": OPERATIONS["truncdiv"].function,
    "mod": OPERATIONS["truncmod"].function,
    "truediv": OPERATIONS["div"].function,
}
"""The same of arrays of one type."""


_TRUTHS = ("and", "or", "xor")


def _on_int(name: str, how: Callable[[Any, Any], Any], swapped: bool) -> Any:
    place = f"__{'r' if swapped else ''}{name}__"

    def call(self: Int, other: Any) -> Any:
        if isinstance(other, float):
            return getattr(Float(self), place)(other)
        if not isinstance(other, int) or isinstance(other, Pointer):
            return NotImplemented
        a, b = (int(other), int(self)) if swapped else (int(self), int(other))
        if name in _COMPARE:
            return Int(how(a, b), INT1)
        if not b and name in ("floordiv", "mod"):
            raise KernelError(f"{ZERO_DIVISOR} ({a} {'//' if name == 'floordiv' else '%'} 0)")
        constant = type(self) is Number and type(other) in (int, bool, Number)
        return (Number if constant else Int)(how(a, b), _common(self, other, name in _TRUTHS))

    return call


for _name, _how in _INTEGER.items():
    setattr(Int, f"__{_name}__", _on_int(_name, _how, False))
    setattr(Int, f"__r{_name}__", _on_int(_name, _how, True))
for _name in _COMPARE:
    setattr(Int, f"__{_name}__", _on_int(_name, getattr(operator, _name), False))


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
        """The type of its elements."""
        return dtype(dtypes.of_numpy(self.data.dtype).name)

    @property
    def type(self) -> ElementType:
        """Its type, which knows its extents."""
        return self.dtype.of_block(self.shape)

    def made(self, data: Array) -> KnownBlock:
        """Another block of the same kernel."""
        return KnownBlock(data, self._tl)

    def handle(self) -> TensorHandle:
        """The block as engines take it; no time passes."""
        made: TensorHandle = self._tl.handle_of(self)
        return made

    def to(self, dtype: object, fp_downcast_rounding: object = None, bitcast: bool = False) -> Any:
        """The block in another type: floats are a handle."""
        if isinstance(dtype, PointerTo):
            if self.data.size != 1:
                raise KernelError(f"{self.data.size} addresses, expected one; load and cast them one by one")
            return dtype.at(int(self))
        if is_float(dtype):
            return self._tl.cast(self.handle(), dtype, bitcast=bitcast)
        return self.made(cast(self.data, _type(dtype)))

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
        negative: KnownBlock = combined(operator.sub, 0, self, self._tl, False)
        return negative

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


def combined(how: Callable[[Any, Any], Any], a: Any, b: Any, tl: Any, truths: bool = True) -> Any:
    """``how`` of two that are known, in the type that both have in common: a block, or of scalars one."""
    kind = _common(a, b, truths)
    wanted = dtypes.dtype(kind).numpy
    try:
        with np.errstate(all="ignore"):
            found = np.asarray(how(*(np.asarray(data_of(one)).astype(wanted) for one in (a, b))))
    except ZeroDivisionError as problem:
        raise KernelError(str(problem)) from None
    if found.ndim or isinstance(a, KnownBlock) or isinstance(b, KnownBlock):
        return KnownBlock(found, tl)
    return Int(found.item(), kind if found.dtype == wanted else INT1)


def _check_signs(a: KnownBlock, b: KnownBlock | Int) -> None:
    """Refuse to divide two where only one has a sign."""
    try:
        common((str(a.dtype), str(b.dtype)), OPERATIONS["div"])
    except BadArgumentError as error:
        raise KernelError(str(error)) from None


def _on_known(name: str, how: Callable[[Any, Any], Any], swapped: bool) -> Any:
    engine = f"__{'r' if swapped else ''}{name}__"
    truths = name in _TRUTHS or name in _COMPARE

    def call(self: KnownBlock, other: Any) -> Any:
        if (isinstance(other, KnownBlock) or type(other) is Int) and name in ("floordiv", "mod", "truediv"):
            _check_signs(self, other)
        if data_of(other) is None or name == "truediv":
            if isinstance(other, float | KnownBlock | int) and not isinstance(other, Pointer):
                right = other.handle() if isinstance(other, KnownBlock) else other
                return getattr(self.handle(), engine)(right)
            return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        if name == "rshift" and isinstance(a, KnownBlock | Int) and a.dtype.is_int_signed():
            kind = _common(a, b)
            if kind.is_int_unsigned() and kind != INT1 and type(a) is not Number:
                signed = dtype(kind.replace("u", "i"))  # the sign of ``a`` is copied
                b = b.to(signed) if isinstance(b, KnownBlock | Int) else b
                return combined(how, a.to(signed), b, self._tl).to(kind)
        return combined(how, a, b, self._tl, truths)

    return call


for _name, _how in _OF_BLOCKS.items():
    setattr(KnownBlock, f"__{_name}__", _on_known(_name, _how, False))
    setattr(KnownBlock, f"__r{_name}__", _on_known(_name, _how, True))
for _name in _COMPARE:
    setattr(KnownBlock, f"__{_name}__", _on_known(_name, getattr(operator, _name), False))
