"""``tl``: what a kernel can do, put together.

A kernel is a plain Python function that gets this object as ``tl``. Every call hands a command to the PE
and returns when the simulated hardware has answered.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NoReturn

from kernbench.kernels import checks
from kernbench.kernels.checks import BadArgumentError
from kernbench.kernels.composite import CompositeCalls
from kernbench.kernels.issue import ValueSource, tl_call
from kernbench.kernels.math_calls import MathCalls
from kernbench.kernels.pointer import Pointer
from kernbench.kernels.products import ProductCalls
from kernbench.kernels.views import ViewCalls
from kernbench.pe.commands import Command, Cycles, PeContext


class Language(CompositeCalls, ProductCalls, MathCalls, ViewCalls):
    """The ``tl`` object of one kernel on one PE.

    ``kernel`` is the kernel's name, ``pe`` the PE, ``send`` hands a command to it and returns when the
    kernel may go on, ``data`` knows the values of loads (``None``: nothing is known).
    """

    float16 = "f16"
    bfloat16 = "bf16"
    float32 = "f32"
    int8 = "i8"
    int32 = "i32"

    def __init__(
        self, kernel: str, pe: PeContext, send: Callable[[Command], None], data: ValueSource | None = None
    ) -> None:
        super().__init__(kernel, pe, send, data)
        self._outstanding = []

    @tl_call
    def program_id(self, axis: int = 0) -> int:
        """Index of this PE: axis 0 within its cube, 1 of its cube, 2 of its SIP. No time passes."""
        return self._pe.program_id[_grid_axis(axis)]

    @tl_call
    def num_programs(self, axis: int = 0) -> int:
        """How many there are along ``axis``: PEs per cube, cubes, SIPs. No time passes."""
        return self._pe.num_programs[_grid_axis(axis)]

    @tl_call
    def local_shape(self, arg: Pointer) -> tuple[int, ...]:
        """Shape of the shard of tensor argument ``arg`` that this PE holds."""
        if not isinstance(arg, Pointer):
            raise BadArgumentError("arg", f"{arg!r} is not a tensor argument; pointer arithmetic forgets it")
        return arg.local_shape

    @tl_call
    def cdiv(self, a: int, b: int) -> int:
        """``a / b`` rounded up. No time passes."""
        return -(-checks.integer("a", a) // checks.integer("b", b, minimum=1))

    @tl_call
    def cycles(self, n: float) -> None:
        """Spend ``n`` cycles of the PE's clock on the kernel's own scalar work."""
        count = checks.scalar("n", n)
        if not (math.isfinite(count) and count >= 0):
            raise BadArgumentError("n", f"{count} cycles cannot pass")
        self._send(Cycles(count))

    @tl_call
    def send(self, /, *_args: object, **_kwargs: object) -> NoReturn:
        """Send to a neighbouring PE (needs IPCQ)."""
        raise self._error("needs IPCQ, not in this version")

    @tl_call
    def recv(self, /, *_args: object, **_kwargs: object) -> NoReturn:
        """Receive from a neighbouring PE (needs IPCQ)."""
        raise self._error("needs IPCQ, not in this version")

    @tl_call
    def recv_async(self, /, *_args: object, **_kwargs: object) -> NoReturn:
        """Receive later from a neighbouring PE (needs IPCQ)."""
        raise self._error("needs IPCQ, not in this version")

    @tl_call
    def recv_no_consume(self, /, *_args: object, **_kwargs: object) -> NoReturn:
        """Wait for data without reading it (needs IPCQ)."""
        raise self._error("needs IPCQ, not in this version")


def _grid_axis(axis: object) -> int:
    number = checks.integer("axis", axis)
    if number not in (0, 1, 2):
        raise BadArgumentError("axis", f"{number} is none of 0 (PE in its cube), 1 (cube), 2 (SIP)")
    return number
