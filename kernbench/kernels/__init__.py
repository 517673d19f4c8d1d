"""Kernels: the ``tl`` language, kernels as suspended threads of a PE, and an interpreter without hardware."""

from __future__ import annotations

import kernbench.compiled  # noqa: F401  (it says which of these modules are found compiled)
from kernbench.kernels.autotune import Autotuned, Choice, Choices, autotune
from kernbench.kernels.command_lists import commands
from kernbench.kernels.handles import TensorHandle, TensorRef
from kernbench.kernels.interpret import interpret
from kernbench.kernels.issue import ValueSource
from kernbench.kernels.pointer import Placement, Pointer, TensorArg
from kernbench.kernels.thread import KernelCall, KernelThread
from kernbench.kernels.tl import Language

__all__ = [
    "Autotuned",
    "Choice",
    "Choices",
    "KernelCall",
    "KernelThread",
    "Language",
    "Placement",
    "Pointer",
    "TensorArg",
    "TensorHandle",
    "TensorRef",
    "ValueSource",
    "autotune",
    "commands",
    "interpret",
]
