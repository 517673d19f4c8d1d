"""Kernels: the ``tl`` language, kernels as suspended threads of a PE, and an interpreter without hardware."""

from __future__ import annotations

from kernbench.kernels.args import Placement, TensorArg
from kernbench.kernels.call import KernelCall, KernelThread
from kernbench.kernels.handles import TensorHandle, TensorRef
from kernbench.kernels.interpret import interpret
from kernbench.kernels.issue import ValueSource
from kernbench.kernels.pointer import Pointer
from kernbench.kernels.tl import Language

__all__ = [
    "KernelCall",
    "KernelThread",
    "Language",
    "Placement",
    "Pointer",
    "TensorArg",
    "TensorHandle",
    "TensorRef",
    "ValueSource",
    "interpret",
]
