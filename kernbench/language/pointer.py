"""Tensor arguments: as the runtime passes them, and the pointers that the kernel on each PE gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from kernbench.engine.program.commands import PeContext
from kernbench.errors import KernelError
from kernbench.support import dtypes
from kernbench.support.hints import no_attribute


class Address(int):
    """A place within a tensor, in bytes: ``ptr + offset``. It has the tensor's ``dtype``, and no shape."""

    dtype: str
    tensor: Pointer
    """The pointer from which it was made: what is read or written here stays within that tensor or shard."""
    __array_ufunc__ = None
    """A numpy integer on the left leaves the sum to the address."""

    def __add__(self, offset: Any) -> int:
        there = super().__add__(int(offset) if isinstance(offset, np.integer) else offset)
        if there is NotImplemented:  # a handle says what is wrong with it
            return NotImplemented
        address = Address(there)
        address.dtype, address.tensor = self.dtype, self.tensor
        return address

    __radd__ = __add__

    def __sub__(self, offset: Any) -> int:
        distance = isinstance(offset, Address) or not isinstance(offset, int | np.integer)
        return super().__sub__(offset) if distance else self + -int(offset)


class Pointer(Address):
    """The address of a tensor, in bytes, with the tensor's shape and dtype.

    It is an ``int``, and offsets are bytes. ``shape`` is the whole tensor's; ``local_shape`` and ``local``
    belong to the shard of the PE that the kernel runs on. What would only make sense of the tensor's values,
    such as ``ptr * 2`` or ``ptr[0]``, is a :class:`KernelError`.
    """

    name: str
    shape: tuple[int, ...]
    reach: int
    """Bytes from the address on that belong to the tensor."""
    place: str
    """The tensor, or the shard that ``local`` names, in words."""
    _local: int | None
    _local_shape: tuple[int, ...] | None

    def __new__(
        cls,
        address: int,
        name: str,
        shape: tuple[int, ...],
        dtype: str,
        local: int | None = None,
        local_shape: tuple[int, ...] | None = None,
        reach: int | None = None,
    ) -> Pointer:
        """A pointer to ``address``; ``local``/``local_shape`` are ``None`` where the PE has no shard.

        ``reach``: bytes of the tensor from ``address`` on, ``None`` for all of it.
        """
        self = super().__new__(cls, address)
        self.name = name
        self.shape = tuple(shape)
        self.dtype = dtypes.dtype(dtype).name
        self._local = local
        self._local_shape = None if local_shape is None else tuple(local_shape)
        self.reach = self.nbytes if reach is None else reach
        self.place = f"tensor '{name}'"
        return self

    @property
    def tensor(self) -> Pointer:  # type: ignore[override]
        """Itself."""
        return self

    @property
    def nbytes(self) -> int:
        """Bytes of the whole tensor."""
        return dtypes.nbytes(self.shape, self.dtype)

    @property
    def local_shape(self) -> tuple[int, ...]:
        """Shape of this PE's shard; :class:`KernelError` when it holds none."""
        if self._local_shape is None:
            raise KernelError(f"tensor '{self.name}' has no shard on this PE; place it there or use its base")
        return self._local_shape

    def __getattr__(self, name: str) -> NoReturn:
        raise no_attribute("a tensor argument", name, set(dir(self)) - set(dir(int)))

    def _is_an_address(self, *_: object) -> NoReturn:
        raise KernelError(
            f"tensor '{self.name}' is a pointer in a kernel, an address in bytes: load its values with "
            "tl.load, some of them with tl.load(tl.make_block_ptr(...)), and calculate with what that gives"
        )

    __getitem__ = __setitem__ = _is_an_address
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = _is_an_address

    def __add__(self, offset: Any) -> int:
        return self._is_an_address() if isinstance(offset, float) else super().__add__(offset)

    __radd__ = __add__

    @cached_property
    def local(self) -> Pointer:
        """Pointer to this PE's own shard, with the shard's shape; :class:`KernelError` without one.

        Base plus shard offset in the ``va`` and ``la`` models, the shard's physical address in ``pa``.
        """
        shape = self.local_shape
        address = int(self) if self._local is None else self._local
        shard = Pointer(address, self.name, shape, self.dtype, address, shape)
        if shape != self.shape:
            shard.place = f"this PE's shard of tensor '{self.name}'"
        return shard

    def __repr__(self) -> str:
        return f"<Pointer {int(self):#x} '{self.name}' {self.dtype} {self.shape}>"

    __str__ = __repr__


@dataclass(frozen=True, slots=True)
class Placement:
    """A tensor as one PE sees it: addresses in bytes, in the address model of the run.

    ``base`` is where the tensor begins for that PE; ``local`` and ``local_shape`` are its own shard, both
    ``None`` for a PE that can reach the tensor but holds no part of it. ``reach`` is how many bytes from
    ``base`` on belong to the tensor: ``None`` for all of it, fewer where shards are apart (``pa`` model).
    """

    base: int
    local: int | None = None
    local_shape: tuple[int, ...] | None = None
    reach: int | None = None


@dataclass(frozen=True, slots=True)
class TensorArg:
    """A tensor argument: global shape, dtype and the placement per ``(sip, cube, pe)``.

    ``default`` serves the PEs that ``placements`` does not list.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    placements: Mapping[tuple[int, int, int], Placement] = field(default_factory=dict)
    default: Placement | None = None

    def pointer(self, pe: PeContext) -> Pointer:
        """The pointer that the kernel on that PE gets; :class:`KernelError` when it has none."""
        place = self.placements.get((pe.sip, pe.cube, pe.pe), self.default)
        if place is None:
            raise KernelError(f"tensor '{self.name}' is not placed on {pe.name}; launch on its shards")
        return Pointer(
            place.base, self.name, self.shape, self.dtype, place.local, place.local_shape, place.reach
        )
