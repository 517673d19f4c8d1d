"""Data: effects of operations on memory, the order that they must keep, and their values (pass 2)."""

import kernbench.compiled  # noqa: F401  (it says which of these modules are found compiled)
from kernbench.replay.dataplane import DataPlane
from kernbench.replay.dependencies import DependencyBuilder
from kernbench.replay.executor import Executor
from kernbench.replay.memory_store import SimulatedMemory
from kernbench.replay.oplog import OpLog
from kernbench.replay.verification import compare

__all__ = [
    "DataPlane",
    "DependencyBuilder",
    "Executor",
    "OpLog",
    "SimulatedMemory",
    "compare",
]
