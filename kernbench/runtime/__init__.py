"""The host's side: tensors, placement, launches, runs. It submits messages and waits; it knows no route."""

from __future__ import annotations

from kernbench.runtime.context import Context
from kernbench.runtime.launching import LaunchHandle, LaunchRecord
from kernbench.runtime.messages import Completion
from kernbench.runtime.placement import DPPolicy, TensorShard
from kernbench.runtime.session import BenchOutcome, NoRequestsError, run_bench
from kernbench.runtime.tensors import Tensor

__all__ = [
    "BenchOutcome",
    "Completion",
    "Context",
    "DPPolicy",
    "LaunchHandle",
    "LaunchRecord",
    "NoRequestsError",
    "Tensor",
    "TensorShard",
    "run_bench",
]
