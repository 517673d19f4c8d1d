"""What a run's time would be if parts of the machine were faster: estimates, and what is worth changing.

How the estimate is made, and what it leaves out, is said in :mod:`kernbench.analysis.chain`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from kernbench.analysis.chain import Chain, Estimate
from kernbench.analysis.steps import CriticalPath
from kernbench.pgraph import PropertyGraph
from kernbench.topology.overrides import KIND, matching, multiply
from kernbench.topology.overrides_spec import FREE

TWICE = 2.0
_SMALLEST_NS = 1e-9
"""Savings below this are rounding."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something on the chain that could be faster: ``where`` as an override names it. Times in ns."""

    where: str
    on_chain_ns: float
    """Steps of the chain at these places."""
    twice_ns: float
    """Estimate of the whole chain with it twice as fast."""
    free_ns: float
    """Estimate of the whole chain with it free: the most that can be had from it."""


def what_if(path: CriticalPath, graph: PropertyGraph, changes: Iterable[tuple[str, float]]) -> Estimate:
    """The estimate for ``changes``: (where, times as fast), as the topology file's ``overrides`` have them.

    ``graph`` is the machine of the run. ``UsageError`` for a ``where`` that means nothing on it.
    """
    factors: dict[str, float] = {}
    for where, factor in changes:
        multiply(factors, matching(graph, where), factor)
    return Chain(path, graph).faster(factors)


def candidates(path: CriticalPath, graph: PropertyGraph, places: int = 10) -> list[Candidate]:
    """What is worth changing: every kind on the chain, and its ``places`` longest places; the best first.

    In order of what it saves when free, then when twice as fast. What saves nothing is left out, and so is
    a place that is all of its kind on the chain.
    """
    chain = Chain(path, graph)
    by_place = path.by_place()
    kinds: dict[str, list[str]] = defaultdict(list)
    matter = chain.places()
    for place in sorted(matter):
        kinds[chain.kind(place)].append(place)
    longest = [place for place in by_place if place in matter][:places]
    asked = {KIND + kind: members for kind, members in kinds.items()}
    asked |= {place: [place] for place in longest if len(kinds[chain.kind(place)]) > 1}
    found = []
    for where, members in asked.items():
        free = chain.faster(dict.fromkeys(members, FREE))
        if free.saved_ns > _SMALLEST_NS:
            twice = chain.faster(dict.fromkeys(members, TWICE))
            on_chain = sum(by_place.get(place, 0.0) for place in members)
            found.append(Candidate(where, on_chain, twice.ns, free.ns))
    return sorted(found, key=lambda one: (one.free_ns, one.twice_ns, one.where))
