"""Atomic operations of Triton kernels: memory changes what it holds, and answers what that was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernbench.engine.program.commands import Store
from kernbench.engine.program.operations import Operand
from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.atomics import ATOMICS, BITS, RELEASES, check_order
from kernbench.language.issue import made_call, tl_call
from kernbench.support import dtypes
from kernbench.triton.access import moved
from kernbench.triton.memory import TritonMemory
from kernbench.triton.values import INTEGERS


class AnsweredAtomics(TritonMemory):
    """atomic_cas, and the others of the table."""

    @tl_call
    def atomic_cas(self, pointer: Any, cmp: Any, val: Any, sem: str = "acq_rel", scope: str = "gpu") -> Any:
        """Memory keeps ``val`` where it held ``cmp``; returns what it held before."""
        return self._atomic("atomic_cas", pointer, (val, cmp), None, sem, scope)

    def _atomic(
        self, name: str, pointer: Any, given: tuple[Any, ...], mask: Any, sem: str, scope: str
    ) -> Any:
        """Send the values ``given`` to memory; a single integer that it held is waited for."""
        check_order(sem, scope)
        ptr, keep = self._chosen(pointer, mask, ())
        shape, what = moved(ptr, None if keep is None else keep.data)
        dtype = ptr.base.dtype
        if name in BITS and dtypes.dtype(dtype).is_float:
            raise BadArgumentError("pointer", f"{dtype} has no bits to work on; use integers")
        if not what.runs:
            return self.constant(np.zeros(shape, dtypes.dtype(dtype).numpy), dtype)
        values = [self._fitted("val", value, shape, dtype) for value in given]
        everything = np.arange(what.elements)
        chosen = everything if what.chosen is None else what.chosen
        places = everything if what.places is None else what.places
        target, before = (Operand((what.elements,), dtype, address=what.runs[0][0]) for _ in range(2))
        room = self._scratch.take(arguments.nbytes(shape, dtype))
        old = self._new(
            "memory", "atomic_old", (before,), shape, dtype, {"take": (chosen, places), "other": 0}
        )
        params: dict[str, Any] = {"chosen": chosen, "places": places, "old": old}
        if sem != "relaxed":
            params["fence"] = True
        inputs = (values[0].operand(), target, *(one.operand() for one in values[1:]))
        size = what.elements * dtypes.SIZES[dtype]
        op = self._op(self._next_op_id(), "memory", name, inputs, target, params, size)
        if op.order is not None:
            op.order.atomic, op.order.releases = True, sem in RELEASES
            old.order = op.order
        self._send(Store(op, what.runs))
        handle = self._result(old, room)
        if ptr.shape != () or dtype not in INTEGERS:
            return handle
        self._wait_for(handle)
        if sem in ("acq_rel", "acquire") and self._races is not None and self._thread is not None:
            self._races.seen_by(self._thread, target)
        return self._scalar(handle)


def _call(name: str, meaning: str) -> Callable[..., Any]:
    def call(
        self: AnsweredAtomics,
        pointer: Any,
        val: Any,
        mask: Any = None,
        sem: str = "acq_rel",
        scope: str = "gpu",
    ) -> Any:
        return self._atomic(name, pointer, (val,), mask, sem, scope)

    return made_call(
        call, name, f"{meaning} Elements named twice change twice; returns what memory held before."
    )


for _name, (_, _meaning) in ATOMICS.items():
    if _name not in vars(AnsweredAtomics):
        setattr(AnsweredAtomics, _name, _call(_name, _meaning))
