"""Building blocks of collective kernels: pieces of vectors, rings and trees of PEs, exchanges of pairs.

They run inside a kernel on one PE and work on its own memory. Each cuts vectors into pieces that fit a slot
of a queue, so that a PE forwards one piece while the next is on its way.
"""

from __future__ import annotations

from kernbench.host.collectives.rings import (
    Ring,
    blocks,
    ring_all_gather,
    ring_all_reduce,
    ring_all_reduce_by_steps,
    ring_reduce_scatter,
)
from kernbench.host.collectives.streams import Tree, swap, tree_broadcast, tree_reduce
from kernbench.host.collectives.vectors import (
    OPS,
    Limits,
    Vector,
    combine,
    copy,
    divide,
    divisors,
    load,
    local,
    quotient,
)

__all__ = [
    "OPS",
    "Limits",
    "Ring",
    "Tree",
    "Vector",
    "blocks",
    "combine",
    "copy",
    "divide",
    "divisors",
    "load",
    "local",
    "quotient",
    "ring_all_gather",
    "ring_all_reduce",
    "ring_all_reduce_by_steps",
    "ring_reduce_scatter",
    "swap",
    "tree_broadcast",
    "tree_reduce",
]
