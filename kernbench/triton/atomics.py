"""Atomic operations of Triton kernels: memory changes what it holds; the old value does not travel back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from kernbench import dtypes
from kernbench.errors import KernelError
from kernbench.kernels.atomics import RELEASES, check_order
from kernbench.kernels.issue import tl_call
from kernbench.program.commands import Store
from kernbench.program.operations import Operand
from kernbench.triton.access import moved
from kernbench.triton.memory import TritonMemory


class OldValue:
    """What memory held before; a kernel that looks at it is told that it does not know."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _unknown(self, *_: object) -> NoReturn:
        raise KernelError(
            f"the result of tl.{self._name}, what memory held before, does not travel back; load it in a "
            "second launch, or give each block its own part of memory"
        )

    def __getattr__(self, name: str) -> NoReturn:
        self._unknown()


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor"):
    setattr(OldValue, f"__{_name}__", OldValue._unknown)
    setattr(OldValue, f"__r{_name}__", OldValue._unknown)
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "bool", "int", "index", "getitem", "neg"):
    setattr(OldValue, f"__{_name}__", OldValue._unknown)


def _call(name: str, meaning: str) -> Callable[..., OldValue]:
    def call(
        self: AtomicCalls, pointer: Any, val: Any, mask: Any = None, sem: str = "acq_rel", scope: str = "gpu"
    ) -> OldValue:
        return self._atomic(name, pointer, val, mask, sem, scope)

    call.__name__, call.__qualname__ = name, f"AtomicCalls.{name}"
    call.__doc__ = f"{meaning} Elements named twice change twice; the kernel goes on at once."
    return tl_call(call)


class AtomicCalls(TritonMemory):
    """atomic_add, atomic_max, atomic_min, atomic_and, atomic_or, atomic_xor, atomic_xchg."""

    atomic_add = _call("atomic_add", "Add to what memory holds.")  # type: ignore[assignment]
    atomic_max = _call("atomic_max", "Memory keeps the larger.")
    atomic_min = _call("atomic_min", "Memory keeps the smaller.")
    atomic_and = _call("atomic_and", "Memory keeps ``&`` of both.")
    atomic_or = _call("atomic_or", "Memory keeps ``|`` of both.")
    atomic_xor = _call("atomic_xor", "Memory keeps ``^`` of both.")
    atomic_xchg = _call("atomic_xchg", "Memory keeps the new value.")

    def _atomic(self, name: str, pointer: Any, val: Any, mask: Any, sem: str, scope: str) -> OldValue:
        check_order(sem, scope)
        ptr, keep = self._chosen(pointer, mask, ())
        shape, what = moved(ptr, None if keep is None else keep.data)
        if not what.runs:
            return OldValue(name)
        dtype = ptr.base.dtype
        handle = self._written("val", val, shape, dtype)
        target = Operand(shape, dtype, address=what.runs[0][0])
        params: dict[str, Any] = {}
        if what.chosen is not None:
            target.shape, params = (what.elements,), {"chosen": what.chosen, "places": what.places}
        size = what.elements * dtypes.SIZES[dtype]
        inputs = (handle.operand(), target)
        op = self._op(self._next_op_id(), "memory", name, inputs, target, params, size)
        if op.order is not None:
            op.order.atomic, op.order.releases = True, sem in RELEASES
        self._send(Store(op, what.runs))
        return OldValue(name)
