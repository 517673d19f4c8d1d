"""All-reduce by halving and doubling (Rabenseifner 2004): as few bytes as a ring in as few steps as a tree.

In round k a rank exchanges half of what it still has with the rank whose number differs in bit k, and adds
what comes to the half that it keeps: after log2 N rounds it has one part reduced. The same rounds backwards
pass the parts on. Where N is not a power of two, the ranks past the largest one send theirs to a partner
first and get the result back.

With N ranks, S bytes, a latency of L and b bytes a ns it takes 2 (L log2 N + (1 - 1 / N) S / b), and for
other N two steps of S bytes more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kernbench.host.collectives import steps
from kernbench.host.collectives.algorithm import Algorithm
from kernbench.host.collectives.algorithms import recursive_doubling
from kernbench.host.collectives.steps import Limits

if TYPE_CHECKING:
    from kernbench.language import Pointer


def _kernel(to: str, rank: int, size: int, op: str, limits: Limits, x: Pointer, tl: Any) -> None:
    vector = steps.local(x)
    extra = recursive_doubling.partner(to, rank, size)
    first, last = steps.divisors(x.dtype, size if op == "avg" else 1)
    steps.tree_reduce(tl, vector, extra, op, limits, first)
    if extra.parent is None:
        part = vector
        rounds = []
        for k in range(recursive_doubling.rounds(size)):
            peer = f"{to}{rank ^ (1 << k)}"
            whole, middle = part, part.elements // 2
            halves = whole.part(0, middle), whole.part(middle, whole.elements)
            part, other = halves[::-1] if rank >> k & 1 else halves
            steps.swap(tl, peer, [other], peer, [part], limits, op)
            rounds.append((peer, part, other))
        steps.divide(tl, part, last, limits)
        for peer, kept, other in reversed(rounds):
            steps.swap(tl, peer, [kept], peer, [other], limits)
    steps.tree_broadcast(tl, vector, extra, limits)


ALGORITHMS = (Algorithm("all_reduce", _kernel, recursive_doubling.neighbours, recursive_doubling.arguments),)
