"""All-gather in few steps (Bruck et al. 1997): in round k a rank passes on all that it has, up to 2^k parts.

It sends to the rank 2^k before it and hears from the one 2^k behind it, so that rank i has the parts i, i +
1 ... after each round. Good where parts are short; all traffic but that of the first round is between
distant ranks.

With N ranks, parts of n bytes, a latency of L and b bytes a ns it takes L ceil(log2 N) + (N - 1) n / b.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.host.collectives import steps
from kernbench.host.collectives.algorithm import Algorithm
from kernbench.host.collectives.algorithms.pairs import arguments, distances, powers
from kernbench.host.collectives.algorithms.ring import chunks_of
from kernbench.host.collectives.steps import Limits

if TYPE_CHECKING:
    from kernbench.language import Pointer


def _kernel(to: str, rank: int, size: int, limits: Limits, own: Pointer, *outputs: Pointer, tl: Any) -> None:
    mine = steps.local(own)
    parts = chunks_of(outputs, mine, size)
    steps.copy(tl, mine, parts[rank], limits)
    for have in distances(size):
        more = min(have, size - have)
        sent = [parts[(rank + i) % size] for i in range(more)]
        taken = [parts[(rank + have + i) % size] for i in range(more)]
        steps.swap(tl, f"{to}{(rank - have) % size}", sent, f"{to}{(rank + have) % size}", taken, limits)


ALGORITHMS = (Algorithm("all_gather", _kernel, powers, arguments),)
