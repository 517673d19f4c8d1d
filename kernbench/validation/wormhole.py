"""A Wormhole chip of Tenstorrent, a machine of the zoo: workers and DRAM nodes on two one-way tori.

Its figures are those of tt-npe's device model, in bytes a cycle and cycles, which are ns here; its file says
which. Network 0 moves east, then south; network 1 moves north, then west.
"""

from __future__ import annotations

from functools import lru_cache

from kernbench.hardware.topology import compile_topology, load
from kernbench.support.pgraph import PropertyGraph
from kernbench.workloads.probes.noc_events import memory as memory
from kernbench.workloads.probes.noc_events import worker as worker

FLIT_BYTES = 32
WORKER = (28.1, 28.1)
"""Bytes a cycle out of a node and into it, for both networks."""


@lru_cache(maxsize=1)
def machine() -> PropertyGraph:
    """The chip."""
    return compile_topology(load("wormhole"))
