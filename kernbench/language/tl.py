"""``tl``: the whole language of kernels, assembled from its groups of calls.

A kernel is a plain Python function that gets this object as ``tl``. Every call hands a command to the PE
and returns when the simulated hardware has answered.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from kernbench.engine.program.commands import Cycles
from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.atomics import AtomicCalls
from kernbench.language.composite import CompositeCalls
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import tl_call
from kernbench.language.loops import LoopCalls
from kernbench.language.math_calls import MathCalls
from kernbench.language.pointer import Pointer
from kernbench.language.products import ProductCalls
from kernbench.language.scalars import Scalar, Scalars
from kernbench.language.triton_names import unknown
from kernbench.language.views import ViewCalls
from kernbench.support.hints import shown


class constexpr:  # noqa: N801  (Triton's name)
    """Annotation of parameters that are Python values: ``BLOCK: tl.constexpr``. It changes nothing."""

    def __new__(cls, value: object) -> object:  # type: ignore[misc]
        """The value itself."""
        return value


class Language(AtomicCalls, CompositeCalls, ProductCalls, MathCalls, ViewCalls, LoopCalls):
    """The ``tl`` object of one kernel on one PE: the calls of its bases, and those that are not operations.

    A new call is a file of its own, with its class among the bases and its meaning under
    :func:`kernbench.values.semantics.means`.
    """

    float16 = "f16"
    bfloat16 = "bf16"
    float32 = "f32"
    float8e4nv = "f8e4m3"
    float8e5 = "f8e5m2"
    int1 = "i1"
    int8 = "i8"
    uint8 = "u8"
    int32 = "i32"
    constexpr = constexpr

    @tl_call
    def program_id(self, axis: int = 0) -> int:
        """Index of this PE: axis 0 within its cube, 1 of its cube, 2 of its SIP. No time passes."""
        return Scalar(self._pe.program_id[_grid_axis(axis)])

    @tl_call
    def num_programs(self, axis: int = 0) -> int:
        """How many there are along ``axis``: PEs per cube, cubes, SIPs. No time passes."""
        return Scalar(self._pe.num_programs[_grid_axis(axis)])

    @tl_call
    def device_id(self, axis: int = 0) -> int:
        """The hardware's number of this PE (axis 0), its cube (1) or its SIP (2). No time passes."""
        return Scalar((self._pe.pe, self._pe.cube, self._pe.sip)[_grid_axis(axis)])

    @tl_call
    def device_count(self, axis: int = 0) -> int:
        """PEs in a cube (axis 0), cubes in a SIP (1), SIPs (2) that the machine has. No time passes."""
        return Scalar(self._pe.device_counts[_grid_axis(axis)])

    @tl_call
    def static_range(self, start: int, stop: int | None = None, step: int = 1) -> Sequence[int]:
        """Python's ``range`` of scalars of the language; every loop is unrolled as it runs.

        Of these ``~(i == 0)`` is false where ``i`` is 0; of Python's integers it is -2, which is true.
        """
        return Scalars(self._numbers(start, stop, step))

    def _index(self, number: int) -> int:
        return Scalar(number)

    def _says_unknown(self, name: str) -> str:
        return unknown(name, public_names())

    @tl_call
    def device_print(self, prefix: str, *values: object) -> None:
        """Print to stderr: PE, simulated time, ``prefix`` and values. No time passes.

        A handle shows its numbers where they are known, else its shape and type; computed values have none
        before replay.
        """
        shown = [np.array2string(v.data, threshold=16) if _known(v) else repr(v) for v in values]
        print(f"[{self._pe.name} {self._pe.now():g} ns] {prefix}", *shown, file=sys.stderr)

    @tl_call
    def local_shape(self, arg: Pointer) -> tuple[int, ...]:
        """Shape of the shard of tensor argument ``arg`` that this PE holds."""
        if not isinstance(arg, Pointer):
            raise BadArgumentError(
                "arg", f"{shown(arg)} is not a tensor argument; pointer arithmetic forgets it"
            )
        return arg.local_shape

    @tl_call
    def cdiv(self, a: int, b: int) -> int:
        """``a / b`` rounded up. No time passes."""
        return -(-arguments.integer("a", a) // arguments.integer("b", b, minimum=1))

    @tl_call
    def cycles(self, n: float) -> None:
        """Spend ``n`` cycles of the PE's clock on the kernel's own scalar work."""
        count = arguments.scalar("n", n)
        if not (math.isfinite(count) and count >= 0):
            raise BadArgumentError("n", f"{count} cycles cannot pass")
        self._send(Cycles(count))


def _known(value: object) -> TypeGuard[TensorHandle]:
    return isinstance(value, TensorHandle) and not value.pending


def _grid_axis(axis: object) -> int:
    number = arguments.integer("axis", axis)
    if number not in (0, 1, 2):
        raise BadArgumentError("axis", f"{number} is not one of 0 (PE in its cube), 1 (cube), 2 (SIP)")
    return number


def public_names() -> list[str]:
    """The names that kernels may use, in order."""
    return sorted(name for name in dir(Language) if not name.startswith("_"))
