"""Collectives: ``torch.distributed``, and the algorithms that carry it out."""

from __future__ import annotations

from kernbench.host.collectives import steps
from kernbench.host.collectives.algorithm import Algorithm, Call
from kernbench.host.collectives.distributed import Distributed, ReduceOp
from kernbench.host.collectives.groups import ProcessGroup
from kernbench.host.collectives.work import Work

__all__ = ["Algorithm", "Call", "Distributed", "ProcessGroup", "ReduceOp", "Work", "steps"]
