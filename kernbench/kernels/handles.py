"""Tensors inside a kernel: handles to values in the PE's TCM, and references to memory not yet read.

While time is simulated only loaded values (and constants such as ``zeros``) are known: their handles are
concrete. A computed handle is pending; it can be passed on and stored, not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.errors import PendingValueError
from kernbench.kernels.checks import nbytes
from kernbench.sim.ops import Operand

if TYPE_CHECKING:
    from kernbench.kernels.math_calls import MathCalls
    from kernbench.kernels.scratch import Block

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


class TensorHandle:
    """A value in TCM scratch, assigned once by the operation whose id it carries.

    ``+ - * /`` and unary ``-`` issue operations. ``.data``, indexing, comparing, ``bool()``, ``int()``,
    ``float()``, ``len()``, iterating and ``np.asarray`` read the value: :class:`PendingValueError` when
    it was computed and has no numbers yet.
    """

    __slots__ = ("__weakref__", "_block", "_tl", "_value", "dtype", "id", "origin", "shape")
    # numpy scalars on the left must leave the operation to this class instead of reading the value.
    __array_ufunc__ = None

    def __init__(
        self,
        handle: int,
        origin: str,
        shape: tuple[int, ...],
        dtype: str,
        block: Block,
        tl: MathCalls,
        value: Array | Callable[[], Array] | None = None,
    ) -> None:
        self.id = handle
        self.origin = origin
        self.shape = shape
        self.dtype = dtype
        self._block = block
        self._tl = tl
        self._value = value

    def __del__(self) -> None:
        self._tl._release(self.id)

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
        """True when the value has no numbers yet."""
        return self._value is None

    @property
    def data(self) -> Array:
        """The value as a read-only array; :class:`PendingValueError` on a pending handle."""
        if self._value is None:
            raise PendingValueError(
                f"{self._tl._place()}: the result of tl.{self.origin} is pending: it has no numbers while "
                "time is simulated; branch on loaded data, or run with --verify-data and read it on the host"
            )
        if callable(self._value):
            self._value = self._value()
        view = self._value.view()
        view.flags.writeable = False
        return view

    def operand(self) -> Operand:
        """This value as the operand of an operation."""
        return Operand(self.shape, self.dtype, handle=self.id)

    def __repr__(self) -> str:
        state = "pending" if self.pending else "concrete"
        return f"<TensorHandle {self.id} tl.{self.origin} {self.dtype} {self.shape} {state}>"

    def __add__(self, other: object) -> TensorHandle:
        return self._tl.add(self, other)

    def __radd__(self, other: object) -> TensorHandle:
        return self._tl.add(other, self)

    def __sub__(self, other: object) -> TensorHandle:
        return self._tl.sub(self, other)

    def __rsub__(self, other: object) -> TensorHandle:
        return self._tl.sub(other, self)

    def __mul__(self, other: object) -> TensorHandle:
        return self._tl.mul(self, other)

    def __rmul__(self, other: object) -> TensorHandle:
        return self._tl.mul(other, self)

    def __truediv__(self, other: object) -> TensorHandle:
        return self._tl.div(self, other)

    def __rtruediv__(self, other: object) -> TensorHandle:
        return self._tl.div(other, self)

    def __neg__(self) -> TensorHandle:
        return self._tl.neg(self)

    # Without these, ``handle == 0`` would quietly be False and ``handle < 0`` an obscure TypeError.
    def __eq__(self, other: object) -> Any:
        return self.data == _plain(other)

    def __ne__(self, other: object) -> Any:
        return self.data != _plain(other)

    def __lt__(self, other: object) -> Any:
        return self.data < _plain(other)

    def __le__(self, other: object) -> Any:
        return self.data <= _plain(other)

    def __gt__(self, other: object) -> Any:
        return self.data > _plain(other)

    def __ge__(self, other: object) -> Any:
        return self.data >= _plain(other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return bool(self.data)

    def __int__(self) -> int:
        return int(self.data.item())

    def __float__(self) -> float:
        return float(self.data.item())

    def __index__(self) -> int:
        return self.data.item().__index__()  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data)

    def __getitem__(self, key: Any) -> Any:
        return self.data[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.data, dtype=dtype, copy=copy)


def _plain(other: object) -> Any:
    return other.data if isinstance(other, TensorHandle) else other
