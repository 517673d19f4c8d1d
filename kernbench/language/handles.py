"""Tensors inside a kernel: handles to values in the PE's TCM, and references to memory not yet read.

While time is simulated only loaded values (and constants such as ``zeros``) are known: their handles are
concrete. A computed handle is pending; it can be passed on and stored, not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from kernbench.engine.program.operations import Operand
from kernbench.errors import PendingValueError
from kernbench.language.arguments import nbytes
from kernbench.operations import OPERATIONS
from kernbench.support.hints import no_attribute

if TYPE_CHECKING:
    from kernbench.hardware.address.free_list import Block
    from kernbench.language.issue import ValueSource

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class TensorRef:
    """An array in memory that no load was issued for; a composite streams it tile by tile."""

    address: int
    shape: tuple[int, ...]
    dtype: str

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return nbytes(self.shape, self.dtype)


INSTEAD = {
    "astype": "use x.to(tl.float16)",
    "view": "use tl.reshape(x, shape)",
    "reshape": "use tl.reshape(x, shape)",
    "mean": "use tl.sum(x, axis) / x.shape[axis]",
    "sum": "use tl.sum(x, axis)",
    "max": "use tl.max(x, axis)",
    "min": "use tl.min(x, axis)",
    "exp": "use tl.exp(x)",
    "trans": "use tl.trans(x) or x.T",
    "transpose": "use tl.trans(x) or x.T",
    "numpy": "use np.asarray(x), of loaded data; computed values are there after the run",
    "item": "use float(x), of loaded data; computed values are there after the run",
}
"""Attributes of arrays elsewhere that handles have not, and the way it is done here."""


_SWAPPED = {
    **{"add": "__radd__", "subtract": "__rsub__", "multiply": "__rmul__", "divide": "__rtruediv__"},
    **{"floor_divide": "__rfloordiv__", "remainder": "__rmod__", "power": "__rpow__"},
    **{"bitwise_and": "__rand__", "bitwise_or": "__ror__", "bitwise_xor": "__rxor__"},
    **{"left_shift": "__rlshift__", "right_shift": "__rrshift__"},
    **{"equal": "__eq__", "not_equal": "__ne__"},
    **{"less": "__gt__", "less_equal": "__ge__", "greater": "__lt__", "greater_equal": "__le__"},
}
"""By numpy's name of an operator, the method that the handle on its right has for it."""


class TensorHandle:
    """A value in TCM scratch, assigned once by the operation whose id it carries.

    ``+ - * / // % ** @ & | ^ ~ << >> == != < <= > >=`` issue operations, slices are views. ``.data``, the
    index of one element, ``bool()``, ``int()``, ``float()``, iterating and ``np.asarray`` read the value:
    :class:`PendingValueError` when it was computed, unless the run verifies results. Known are loaded values,
    constants, and comparisons and integer arithmetic of these.
    """

    __slots__ = (
        "__weakref__", "_block", "_operand", "_source", "_tl", "_value", "dtype", "id", "origin", "shape",
    )  # fmt: skip

    def __init__(
        self,
        handle: int,
        origin: str,
        shape: tuple[int, ...],
        dtype: str,
        block: Block,
        tl: Any,  # the language of its kernel
        value: Array | Callable[[], Array] | None = None,
        operand: Operand | None = None,
        source: ValueSource | None = None,
    ) -> None:
        self._fill(handle, origin, shape, dtype, block, tl, value, operand, source)

    def _fill(
        self,
        handle: int,
        origin: str,
        shape: tuple[int, ...],
        dtype: str,
        block: Block,
        tl: Any,
        value: Array | Callable[[], Array] | None,
        operand: Operand | None,
        source: ValueSource | None,
    ) -> None:
        self.id = handle
        self.origin = origin
        self.shape = shape
        self.dtype = dtype
        self._block = block
        self._tl = tl
        self._value = value
        self._operand = operand
        self._source = source
        """Knows its value, and is told when it goes."""

    def __getattr__(self, name: str) -> Any:
        found = self._tl._method(self, name)
        if found is not None:
            return found
        raise no_attribute("a handle", name, dir(type(self)), INSTEAD)

    def __del__(self) -> None:
        if self._source is not None:
            self._source.release(self.id)

    @property
    def address(self) -> int:
        """Where the value is in the PE's TCM scratch (a byte address)."""
        return self._block.address

    @property
    def nbytes(self) -> int:
        """Bytes of the value."""
        return nbytes(self.shape, self.dtype)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def pending(self) -> bool:
        """True when the value has no numbers yet. One that is being loaded is waited for."""
        if self._value is None:
            self._tl._wait_for(self)
        return self._value is None

    @property
    def data(self) -> Array:
        """The value as a read-only array; where results are verified also of one that was computed.

        Raises:
            PendingValueError: It was computed, and the run computes no results.
        """
        if self.pending:
            self._value = self._tl._replayed(self.id)
        if self._value is None:
            problem = (
                f"the result of tl.{self.origin} is pending: a timing run computes no results; branch on "
                "loaded data, choose with tl.where, or run with --verify-data, which knows it"
            )
            raise PendingValueError(f"{self._tl._place()}: {problem}", problem)
        if callable(self._value):
            self._value = self._value()
        assert self._value is not None  # it is not pending
        view = self._value.view()
        view.flags.writeable = False
        return view

    def to(self, dtype: str, *args: Any, **kwargs: Any) -> Any:
        """The value in another type: ``tl.cast(self, dtype)``."""
        return self._tl.cast(self, dtype, *args, **kwargs)

    @property
    def T(self) -> Any:  # noqa: N802  (numpy's and torch's name)
        """The value with its last two axes exchanged: ``tl.trans(self)``."""
        return self._tl.trans(self)

    def operand(self) -> Operand:
        """This value as the operand of an operation: one object, as nothing about it changes."""
        operand = self._operand
        if operand is None:
            operand = self._operand = Operand(self.shape, self.dtype, self.id)
        return operand

    def __repr__(self) -> str:
        state = "pending" if self._value is None else "concrete"
        return f"<TensorHandle {self.id} tl.{self.origin} {self.dtype} {self.shape} {state}>"

    def __add__(self, other: object) -> Any:
        return self._tl.add(self, other)

    def __radd__(self, other: object) -> Any:
        return self._tl.add(other, self)

    def __sub__(self, other: object) -> Any:
        return self._tl.sub(self, other)

    def __rsub__(self, other: object) -> Any:
        return self._tl.sub(other, self)

    def __mul__(self, other: object) -> Any:
        return self._tl.mul(self, other)

    def __rmul__(self, other: object) -> Any:
        return self._tl.mul(other, self)

    def __truediv__(self, other: object) -> Any:
        return self._tl.div(self, other)

    def __rtruediv__(self, other: object) -> Any:
        return self._tl.div(other, self)

    def __floordiv__(self, other: object) -> Any:
        return self._tl.floordiv(self, other)

    def __rfloordiv__(self, other: object) -> Any:
        return self._tl.floordiv(other, self)

    def __mod__(self, other: object) -> Any:
        return self._tl.mod(self, other)

    def __rmod__(self, other: object) -> Any:
        return self._tl.mod(other, self)

    def __pow__(self, other: object) -> Any:
        return self._tl.pow(self, other)

    def __rpow__(self, other: object) -> Any:
        return self._tl.pow(other, self)

    def __and__(self, other: object) -> Any:
        return self._tl.bitwise_and(self, other)

    def __rand__(self, other: object) -> Any:
        return self._tl.bitwise_and(other, self)

    def __or__(self, other: object) -> Any:
        return self._tl.bitwise_or(self, other)

    def __ror__(self, other: object) -> Any:
        return self._tl.bitwise_or(other, self)

    def __xor__(self, other: object) -> Any:
        return self._tl.bitwise_xor(self, other)

    def __rxor__(self, other: object) -> Any:
        return self._tl.bitwise_xor(other, self)

    def __lshift__(self, other: object) -> Any:
        return self._tl.left_shift(self, other)

    def __rlshift__(self, other: object) -> Any:
        return self._tl.left_shift(other, self)

    def __rshift__(self, other: object) -> Any:
        return self._tl.right_shift(self, other)

    def __rrshift__(self, other: object) -> Any:
        return self._tl.right_shift(other, self)

    def __matmul__(self, other: TensorHandle) -> Any:
        return self._tl.dot(self, other)

    def __neg__(self) -> Any:
        return self._tl.neg(self)

    def __invert__(self) -> Any:
        return self._tl.bitwise_not(self)

    def __abs__(self) -> Any:
        return self._tl.abs(self)

    # Comparisons give masks, as in Triton. ``bool`` of one works where its operands were loaded.
    def __eq__(self, other: object) -> Any:
        return self._tl.equal(self, other)

    def __ne__(self, other: object) -> Any:
        return self._tl.not_equal(self, other)

    def __lt__(self, other: object) -> Any:
        return self._tl.less(self, other)

    def __le__(self, other: object) -> Any:
        return self._tl.less_equal(self, other)

    def __gt__(self, other: object) -> Any:
        return self._tl.greater(self, other)

    def __ge__(self, other: object) -> Any:
        return self._tl.greater_equal(self, other)

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __bool__(self) -> bool:
        if any(size != 1 for size in self.shape):
            raise self._tl._error(
                f"a block of shape {self.shape} is not one truth value; pick elements with tl.where, combine "
                "conditions with & and |"
            )
        return bool(self.data)

    def __int__(self) -> int:
        return int(self.data.item())

    def __float__(self) -> float:
        return float(self.data.item())

    def __index__(self) -> int:
        return self.data.item().__index__()  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data)

    def __getitem__(self, key: Any) -> Any:
        """A number where integers pick one element (of a known value), else a handle to the part."""
        index = key if isinstance(key, tuple) else (key,)
        if len(index) == self.ndim and all(isinstance(part, int | np.integer) for part in index):
            return self.data[index]
        return self._tl.slice(self, key)

    def __setitem__(self, key: Any, value: object) -> NoReturn:
        raise self._tl._error("a handle is assigned once; make a new value with tl.where, or store parts")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        """A numpy scalar on the left leaves the operation to the handle; numpy's functions are errors."""
        name, left = ufunc.__name__, inputs[0]
        if method == "__call__" and name in _SWAPPED and left is not self and not settings:
            # Comparisons of scalars come as arrays of no dimension.
            return getattr(self, _SWAPPED[name])(left[()] if isinstance(left, np.ndarray) else left)
        known = name in OPERATIONS and OPERATIONS[name].tl
        instead = f"use tl.{name}" if known else "help(kernbench.tl) lists the functions of the language"
        raise self._tl._error(f"np.{name} takes arrays, and this is a handle: {instead}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.data, dtype=dtype, copy=copy)
