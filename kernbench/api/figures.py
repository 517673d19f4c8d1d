"""Figures of where the time of a PE's DMA goes, and of what bandwidth it gets."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from kernbench.api.topologies import Topology, as_graph

LATENCY_BYTES, BANDWIDTH_BYTES = 4096, 65536


def figures(
    out: str | os.PathLike[str],
    topology: Topology = None,
    *,
    latency_bytes: int = LATENCY_BYTES,
    bandwidth_bytes: int = BANDWIDTH_BYTES,
    progress: Callable[[float, int, float | None], None] | None = None,
) -> dict[str, Any]:
    """Run the PE-DMA scenarios of a topology and write two figures with their figures into folder ``out``.

    ``dma_latency.png`` and ``.csv``: where the ns of one transfer of ``latency_bytes`` go. ``dma_bandwidth``:
    GB/s of transfers of ``bandwidth_bytes`` against what their busiest link or memory allows. Gives
    ``files``, ``latency`` and ``bandwidth`` (a dictionary a row) and ``left_out`` (``scenario`` and ``why``:
    what the topology is too small for). ``progress`` is told simulated ns, flits moved and the share done.
    ``MissingExtraError`` when matplotlib is not installed.
    """
    from kernbench.report.figures.make import make

    return make(as_graph(topology), os.fspath(out), latency_bytes, bandwidth_bytes, progress)
