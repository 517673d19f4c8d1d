"""Collectives: ``torch.distributed``, and the algorithms that carry it out."""

from __future__ import annotations

from kernbench.collectives import steps
from kernbench.collectives.algorithm import Algorithm, Call
from kernbench.collectives.distributed import Distributed, ReduceOp
from kernbench.collectives.groups import ProcessGroup
from kernbench.collectives.work import Work

__all__ = ["Algorithm", "Call", "Distributed", "ProcessGroup", "ReduceOp", "Work", "steps"]
