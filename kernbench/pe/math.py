"""PE_MATH: the vector unit."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from kernbench.pe.compute import ComputeEngine
from kernbench.pe.gemm import PeGemm
from kernbench.pe.plans import Stage
from kernbench.pgraph import Node

if TYPE_CHECKING:
    from kernbench.components.board import Board


class PeMath(ComputeEngine):
    """``lanes`` elements a cycle and pass: ``ceil(elements / lanes) * passes / clock_ghz`` ns."""

    def __init__(self, node: Node, machine: Board) -> None:
        super().__init__(node, machine)
        self._lanes = self.integer("lanes")
        self._cycle_ns = 1.0 / self.number("clock_ghz")

    def wired(self) -> None:
        """Share the compute slot of the PE's GEMM."""
        gemm = self.sibling("pe_gemm")
        assert isinstance(gemm, PeGemm)
        self.slot = gemm.slot

    def duration_ns(self, stage: Stage) -> float:
        """See :meth:`ComputeEngine.duration_ns`."""
        return ceil(stage.elements / self._lanes) * stage.passes * self._cycle_ns
