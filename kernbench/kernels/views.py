"""``tl`` calls that make handles without an engine and without time: arange, zeros, full, trans."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from kernbench.kernels import checks
from kernbench.kernels.checks import BadArgumentError
from kernbench.kernels.handles import TensorHandle
from kernbench.kernels.issue import Issuer, tl_call
from kernbench.pe.commands import Define
from kernbench.replay.semantics import compute
from kernbench.sim.ops import Op

Array = np.ndarray[Any, Any]


class ViewCalls(Issuer):
    """arange, zeros, full, trans."""

    @tl_call
    def arange(self, start: int, end: int, dtype: str = "i32") -> TensorHandle:
        """The integers ``start, ..., end - 1`` as one dimension."""
        first, last = checks.integer("start", start), checks.integer("end", end)
        if last <= first:
            raise BadArgumentError("end", f"{last} is not above start {first}")
        name = checks.dtype("dtype", dtype)
        for argument, value in (("start", first), ("end", last - 1)):
            checks.held(argument, checks.scalar(argument, value), name)
        return self._constant("arange", (last - first,), name, {"start": first, "stop": last})

    @tl_call
    def zeros(self, shape: object, dtype: str = "f16") -> TensorHandle:
        """Zeros of ``shape``."""
        return self._constant("zeros", checks.shape("shape", shape), checks.dtype("dtype", dtype), {})

    @tl_call
    def full(self, shape: object, value: float, dtype: str = "f16") -> TensorHandle:
        """``shape`` filled with ``value``, which must be representable if dtype is an integer type."""
        number = checks.scalar("value", value)
        name = checks.dtype("dtype", dtype)
        checks.held("value", number, name)
        return self._constant("full", checks.shape("shape", shape), name, {"value": number})

    @tl_call
    def trans(self, x: TensorHandle) -> TensorHandle:
        """``x`` with its last two axes exchanged: the same bytes of TCM under another shape."""
        handle = self._handle("x", x)
        if handle.ndim < 2:
            raise BadArgumentError("x", f"shape {handle.shape} has fewer than two axes to exchange")
        shape = (*handle.shape[:-2], handle.shape[-1], handle.shape[-2])

        def value(op: Op) -> Callable[[], Array] | None:
            return None if handle.pending else lambda: compute(op, [handle.data])

        return self._produce(
            "view",
            "trans",
            (handle.operand(),),
            shape,
            handle.dtype,
            Define,
            block=handle._block,
            value=value,
        )

    def _constant(
        self, name: str, shape: tuple[int, ...], dtype: str, params: dict[str, Any]
    ) -> TensorHandle:
        # Numbers that nothing computes are known at once; built only if the kernel looks at them.
        return self._produce(
            "view",
            name,
            (),
            shape,
            dtype,
            Define,
            params=params,
            value=lambda op: functools.partial(compute, op, ()),
        )
