"""Elements of microscaling formats: short floats that share a scale along K, as a product takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernbench.engine.program.commands import Define
from kernbench.engine.program.operations import Op
from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle
from kernbench.support.dtypes import widen
from kernbench.support.hints import shown
from kernbench.triton.rearranging import RearrangingCalls
from kernbench.values.semantics import means

Array = np.ndarray[Any, Any]
FORMATS = {"e2m1": "i8", "e4m3": "f8e4m3", "e5m2": "f8e5m2", "bf16": "bf16", "fp16": "f16"}
"""Of each format the type that its elements, or bytes, have in memory."""
_E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
_SHARED = 32
"""Elements along K that share a scale."""


class ScaledCalls(RearrangingCalls):
    """The operands of ``dot_scaled``."""

    def _scaled(self, argument: str, value: Any, scale: Any, form: str, along: int) -> TensorHandle:
        """An operand, whose axis ``along`` is K, times its scales, in a type that holds that exactly."""
        if form not in FORMATS:
            raise BadArgumentError(f"{argument}_format", f"{shown(form)} is not one of {', '.join(FORMATS)}")
        handle = self._bytes(argument, value)
        if handle.dtype != FORMATS[form] or handle.ndim != 2:
            raise BadArgumentError(
                argument, f"{handle.dtype} of shape {handle.shape} is not a matrix of {form}, {FORMATS[form]}"
            )
        if scale is None and form in ("bf16", "fp16"):
            return handle
        shape = list(handle.shape)
        shape[along] *= 2 if form == "e2m1" else 1
        given = [handle]
        if scale is not None:
            given.append(self._bytes(f"{argument}_scale", scale))
            wanted = (shape[1 - along], shape[along] // _SHARED)
            if given[1].shape != wanted or given[1].dtype != "i8":
                raise BadArgumentError(
                    f"{argument}_scale", f"{given[1].dtype} of shape {given[1].shape} must be i8 of {wanted}"
                )
        room = self._scratch.take(arguments.nbytes(tuple(shape), "bf16"))
        operands = tuple([one.operand() for one in given])
        op = self._new("view", "scaled", operands, tuple(shape), "bf16", {"format": form, "along": along})
        self._send(Define(op))
        return self._result(op, room)

    def _bytes(self, argument: str, value: Any) -> TensorHandle:
        """An operand, as i8 where it is u8."""
        handle = self._handle(argument, value)
        return self._same_bits(handle, "i8") if handle.dtype == "u8" else handle


@means("view", "scaled")
def _scale(op: Op, inputs: Sequence[Array]) -> Array:
    along = op.params["along"]
    if op.params["format"] == "e2m1":
        packed = inputs[0].view(np.uint8)
        codes = np.stack([packed & 15, packed >> 4], along + 1).reshape(_shape(op))
        values = np.where(codes & 8, -_E2M1[codes & 7], _E2M1[codes & 7])
    else:
        values = widen(inputs[0])
    if len(inputs) == 1:
        return np.asarray(values)
    exponents = inputs[1].view(np.uint8).astype(np.int64)
    scales = np.where(exponents == 255, np.nan, np.ldexp(1.0, exponents - 127))
    spread = np.repeat(scales, _SHARED, 1)
    return np.asarray(values * (spread if along else spread.T))


def _shape(op: Op) -> tuple[int, ...]:
    assert op.output is not None
    return op.output.shape
