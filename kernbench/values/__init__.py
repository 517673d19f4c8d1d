"""Data: effects of operations on memory, the order that they must keep, and their values (pass 2)."""

import kernbench.support.compiled  # noqa: F401  (it says which of these modules are found compiled)
from kernbench.values.dataplane import DataPlane
from kernbench.values.dependencies import DependencyBuilder
from kernbench.values.executor import Executor
from kernbench.values.memory_store import SimulatedMemory
from kernbench.values.oplog import OpLog
from kernbench.values.verification import compare

__all__ = [
    "DataPlane",
    "DependencyBuilder",
    "Executor",
    "OpLog",
    "SimulatedMemory",
    "compare",
]
