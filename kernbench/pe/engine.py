"""What PE_DMA's callers hand it; the engines themselves are shared with other components."""

from __future__ import annotations

from kernbench.components.dma import Engine, EngineGroup, Job

__all__ = ["Engine", "EngineGroup", "Job"]
