"""What a kernel gets for a tensor argument: an address that knows its tensor."""

from __future__ import annotations

import math

from kernbench.errors import KernelError
from kernbench.pe import dtypes


class Pointer(int):
    """The address of a tensor, in bytes, with the tensor's shape and dtype.

    It is an ``int``: ``ptr + offset`` is a plain address, offsets are bytes. ``shape`` is the whole
    tensor's; ``local_shape`` and ``local`` belong to the shard of the PE that the kernel runs on.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    reach: int
    """Bytes from the address on that belong to the tensor."""
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
        return self

    @property
    def nbytes(self) -> int:
        """Bytes of the whole tensor."""
        return math.prod(self.shape) * dtypes.dtype(self.dtype).itemsize

    @property
    def local_shape(self) -> tuple[int, ...]:
        """Shape of this PE's shard; :class:`KernelError` when it holds none."""
        if self._local_shape is None:
            raise KernelError(f"tensor '{self.name}' has no shard on this PE; place it there or use its base")
        return self._local_shape

    @property
    def local(self) -> Pointer:
        """Pointer to this PE's own shard, with the shard's shape; :class:`KernelError` without one.

        Base plus shard offset in the ``va`` and ``la`` models, the shard's physical address in ``pa``.
        """
        shape = self.local_shape
        address = int(self) if self._local is None else self._local
        return Pointer(address, self.name, shape, self.dtype, address, shape)

    def __repr__(self) -> str:
        return f"<Pointer {int(self):#x} '{self.name}' {self.dtype} {self.shape}>"

    __str__ = __repr__
