"""PE_GEMM: the MAC array."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from kernbench.pe.compute import ComputeEngine
from kernbench.pe.plans import Stage
from kernbench.pgraph import Node
from kernbench.sim.server import Server

if TYPE_CHECKING:
    from kernbench.components.board import Board


class PeGemm(ComputeEngine):
    """Works in whole hardware tiles: a block that does not fill its last tile pays for all of it.

    One tile takes ``tile_m * tile_k * tile_n / macs_per_ns`` ns (16 ns for 32 x 64 x 32 at 4096 MAC/ns).
    """

    def __init__(self, node: Node, machine: Board) -> None:
        super().__init__(node, machine)
        self.tile = (self.integer("tile_m"), self.integer("tile_k"), self.integer("tile_n"))
        tile_m, tile_k, tile_n = self.tile
        self._pass_ns = tile_m * tile_k * tile_n / self.number("macs_per_ns")
        self.slot = Server(f"{node.id}#slot")

    def duration_ns(self, stage: Stage) -> float:
        """See :meth:`ComputeEngine.duration_ns`."""
        passes = 1
        for size, tile in zip(stage.block, self.tile, strict=True):
            passes *= ceil(size / tile)
        return passes * self._pass_ns
