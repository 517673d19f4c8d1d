"""Stands in for ``triton``: ``import kernbench.triton as triton``, and ``triton.language`` beside it.

A kernel under ``@triton.jit`` runs as it is written: pointers are tensors plus offsets in elements, a launch
has a grid, and loads run ahead of what uses them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from kernbench.errors import KernBenchError, UsageError
from kernbench.triton import language as language
from kernbench.triton import runtime as runtime
from kernbench.triton import testing as testing
from kernbench.triton import tools as tools
from kernbench.triton.launching import JITFunction as JITFunction
from kernbench.triton.launching import jit as jit
from kernbench.triton.tuning import Config as Config
from kernbench.triton.tuning import autotune as autotune
from kernbench.triton.tuning import heuristics as heuristics

__version__ = "3.6.0"
"""The version of Triton whose language it is."""
TritonError = CompilationError = InterpreterError = OutOfResources = KernBenchError
_ELSEWHERE = {
    "compile": "nothing is compiled: launch kernel[grid](...)",
    "compiler": "nothing is compiled: launch kernel[grid](...)",
    "TensorWrapper": "pass the tensor itself",
    "reinterpret": "cast the pointer in the kernel: x.to(tl.pointer_type(tl.float16))",
    "must_use_result": "leave it out",
    "KernelInterface": "triton.jit makes kernels",
    "AsyncCompileMode": "nothing is compiled: launch kernel[grid](...)",
    "FutureKernel": "nothing is compiled: launch kernel[grid](...)",
    "MockTensor": "pass a tensor",
    "knobs": "settings are in the topology file",
    "backends": "the topology file is the machine",
}


def constexpr_function(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself: constants are Python values."""
    return fn


def set_allocator(allocator: object) -> None:
    """Without effect: descriptors need no memory of their own."""


def cdiv(x: int, y: int) -> int:
    """``x / y`` rounded up."""
    return -(-x // y)


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is not below ``n``."""
    return 1 << max(0, int(n) - 1).bit_length()


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    instead = _ELSEWHERE.get(name, "help(kernbench.triton) lists what it has")
    raise _UnknownError(f"triton.{name} is not here; {instead}")


class _UnknownError(UsageError, AttributeError):
    """The stand-in has no such name."""
