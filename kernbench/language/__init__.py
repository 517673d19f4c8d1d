"""Kernels: the ``tl`` language, kernels as suspended threads of a PE, and an interpreter without hardware."""

from __future__ import annotations

import kernbench.support.compiled  # noqa: F401  (it says which of these modules are found compiled)
from kernbench.language.autotune import Autotuned, Choice, Choices, autotune
from kernbench.language.command_lists import commands
from kernbench.language.handles import TensorHandle, TensorRef
from kernbench.language.interpret import interpret
from kernbench.language.issue import ValueSource
from kernbench.language.pointer import Placement, Pointer, TensorArg
from kernbench.language.thread import KernelCall, KernelThread
from kernbench.language.tl import Language

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
