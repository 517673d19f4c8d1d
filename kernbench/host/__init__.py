"""The host's side: tensors, placement, launches, runs. It submits messages and waits; it knows no route."""

from __future__ import annotations

from kernbench.host.context import Context
from kernbench.host.launching import LaunchHandle, LaunchRecord
from kernbench.host.messages import Completion
from kernbench.host.placement import DPPolicy, TensorShard
from kernbench.host.session import BenchOutcome, NoRequestsError, run_bench
from kernbench.host.tensors import Tensor

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
