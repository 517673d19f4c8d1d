"""``tl`` calls that move data between memory and the PE: load, store, ref."""

from __future__ import annotations

from kernbench.kernels import checks
from kernbench.kernels.checks import BadArgumentError
from kernbench.kernels.handles import TensorHandle, TensorRef
from kernbench.kernels.issue import Issuer, tl_call
from kernbench.kernels.pointer import Pointer
from kernbench.pe.commands import Load, Store
from kernbench.sim.ops import Operand

DEFAULT_DTYPE = "f16"


class MemoryCalls(Issuer):
    """load, store, ref."""

    @tl_call
    def load(
        self,
        ptr: int,
        shape: object = None,
        dtype: str | None = None,
        mask: object = None,
        other: object = None,
    ) -> TensorHandle:
        """Read a contiguous row-major array at ``ptr`` into TCM; returns when it is there.

        ``shape`` and ``dtype`` default to those of a tensor argument; at a plain address ``shape`` is
        needed and ``dtype`` is f16. The handle is concrete unless the memory holds a computed value.
        There are no masks: load what exists, and choose with ``tl.where``.
        """
        _no_mask(mask, other)
        source = self._memory("ptr", ptr, shape, dtype)
        return self._produce(
            "memory",
            "dma_read",
            (Operand(source.shape, source.dtype, address=source.address),),
            source.shape,
            source.dtype,
            lambda op: Load(op, source.address, source.nbytes),
            size=source.nbytes,
        )

    @tl_call
    def store(self, ptr: int, value: TensorHandle, mask: object = None, dtype: str | None = None) -> None:
        """Write a handle's value to ``ptr``, contiguous and row-major; returns when memory has it.

        The value is cast to ``dtype``, by default that of a tensor argument, or the handle's own at a
        plain address.
        """
        _no_mask(mask, None)
        handle = self._handle("value", value)
        if dtype is None:
            dtype = ptr.dtype if isinstance(ptr, Pointer) else handle.dtype
        target = self._memory("ptr", ptr, handle.shape, dtype)
        output = Operand(target.shape, target.dtype, address=target.address)
        op_id = self._pe.next_op_id()
        op = self._op(op_id, "memory", "dma_write", (handle.operand(),), output, None, target.nbytes)
        self._send(Store(op, target.address, target.nbytes))

    @tl_call
    def ref(self, ptr: int, shape: object = None, dtype: str | None = None) -> TensorRef:
        """Name an array in memory without reading it, for a composite to stream. Defaults as in ``load``."""
        return self._memory("ptr", ptr, shape, dtype)

    def _memory(self, argument: str, ptr: object, shape: object, dtype: object) -> TensorRef:
        """The array that pointer, shape and dtype describe, checked against the tensor's extent."""
        address = checks.address(argument, ptr)
        if isinstance(ptr, Pointer):
            shape = ptr.shape if shape is None else shape
            dtype = ptr.dtype if dtype is None else dtype
        if shape is None:
            raise BadArgumentError("shape", "is needed with a plain address")
        array = TensorRef(
            address,
            checks.shape("shape", shape),
            checks.dtype("dtype", DEFAULT_DTYPE if dtype is None else dtype),
        )
        checks.fits(argument, ptr, array.nbytes)
        return array


def _no_mask(mask: object, other: object) -> None:
    for argument, value in (("mask", mask), ("other", other)):
        if value is not None:
            raise BadArgumentError(
                argument, "is not supported, transfers are whole blocks; shrink shape or use tl.where"
            )
