"""``tl``: the whole language of kernels, assembled from its groups of calls.

A kernel is a plain Python function that gets this object as ``tl``. Every call hands a command to the PE
and returns when the simulated hardware has answered.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TypeGuard

import numpy as np

from kernbench.engine.program.commands import Command, Cycles, PeContext, Wait
from kernbench.errors import KernelError
from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.atomics import AtomicCalls
from kernbench.language.composite import CompositeCalls
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import ValueSource, tl_call
from kernbench.language.math_calls import MathCalls
from kernbench.language.pointer import Pointer
from kernbench.language.products import ProductCalls
from kernbench.language.scalars import Scalar
from kernbench.language.scratch import Scratch
from kernbench.language.triton_names import unknown
from kernbench.language.views import ViewCalls
from kernbench.support.hints import shown


class UnknownNameError(KernelError, AttributeError):
    """The language has no such name."""


class constexpr:  # noqa: N801  (Triton's name)
    """Annotation of parameters that are Python values: ``BLOCK: tl.constexpr``. It changes nothing."""

    def __new__(cls, value: object) -> object:  # type: ignore[misc]
        """The value itself."""
        return value


class Language(AtomicCalls, CompositeCalls, ProductCalls, MathCalls, ViewCalls):
    """The ``tl`` object of one kernel on one PE: the calls of its bases, and those that are not operations.

    A new call is a file of its own, with its class among the bases and its meaning under
    :func:`kernbench.values.semantics.means`.

    ``kernel`` is the kernel's name, ``pe`` the PE, ``scratch`` its part of the PE's TCM, ``send`` forwards a
    command to the PE and returns when the kernel may go on, ``data`` knows the values of loads (``None``:
    nothing is known).
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

    def __init__(
        self,
        kernel: str,
        pe: PeContext,
        scratch: Scratch,
        send: Callable[[Command], None],
        data: ValueSource | None = None,
    ) -> None:
        super().__init__(kernel, pe, scratch, send, data)
        self._hand_over = send
        self._outstanding = []
        self._posted = []
        self._scratch.wait = self._wait_for_posted
        self._unwaited = []

    def _unknown(self, name: str) -> UnknownNameError:
        """What to say of a name that the language does not have.

        A method ``__getattr__`` would say it at once, but would slow down all that there is.
        """
        problem = unknown(name, public_names())
        return UnknownNameError(f"{self._place()}: {problem}", problem)

    def _method(self, value: object, name: str) -> object:
        """What ``value.name`` is of a value that has no such attribute by itself; None for nothing."""
        return None

    def _wait_for_posted(self) -> bool:
        """Wait for the oldest send whose bytes are still in TCM; False when there is none."""
        self._posted = [one for one in self._posted if not one.done]
        if not self._posted:
            return False
        self._send(Wait(self._posted[:1]))
        return True

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
    def range(
        self, start: int, stop: int | None = None, step: int = 1, num_stages: int | None = None
    ) -> Iterator[int]:
        """Python's ``range``, whose loads run ahead where kernels do.

        With ``pe.pe_cpu.run_ahead`` a call hands its command to the PE and goes on. Loads, stores and compute
        are carried out in order of their kind, each as soon as its operands are there. Each load in the body
        then has ``num_stages - 1`` buffers: it is issued when the last use of the buffer is over.

        Args:
            start: As in Python, as are the next two.
            stop: Python's.
            step: Python's.
            num_stages: How far loads run ahead, 1 by default: a load waits for the compute before it.
        """
        if num_stages is not None:
            arguments.integer("num_stages", num_stages, 0)
        return iter(self.static_range(start, stop, step))

    @tl_call
    def static_range(self, start: int, stop: int | None = None, step: int = 1) -> Sequence[int]:
        """Python's ``range``; a kernel is plain Python, so every loop is unrolled as it runs."""
        given = {"start": start, "stop": stop, "step": step}
        first, last, by = (arguments.integer(name, n or 0) for name, n in given.items())
        if not by:
            raise BadArgumentError("step", "is 0, expected another number")
        return range(first) if stop is None else range(first, last, by)

    @tl_call
    def static_assert(self, condition: object, message: str = "") -> None:
        """End the kernel with an error unless ``condition`` holds. No time passes."""
        if not condition:
            raise self._error(message or "the condition does not hold")

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
