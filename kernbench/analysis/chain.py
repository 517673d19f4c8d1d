"""The critical path's chain, weighed again for a machine that is faster in places.

An estimate, from one chain and no simulation. With the changed parts faster another chain may become the
longest, queues may form elsewhere or vanish, and the common start of a launch may move; a run on the
changed machine tells. Within the chain each step changes by the rule of its cause:

- Time on a transaction's way: the transaction is timed alone, on the machine as it was and as it would be
  (:mod:`kernbench.analysis.alone`). A lone transfer is exact. Time beyond that, which others' flits between
  its own cost it, is divided by the speed of the place.
- Waits behind others at a place are divided by that place's speed: those waited for are served there too.
  A wait for a DMA engine is not: an engine is held for transfers whose time passes elsewhere.
- Compute, and what a component does by itself, are divided by its speed. A kernel's dispatch holds the
  overhead of the scheduler too, which is that one's.
- What has no place that could be faster stays: dependencies, the common start, before the first request
  and after the last answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernbench.analysis.alone import Alone
from kernbench.analysis.steps import CriticalPath, Passed, Step
from kernbench.pgraph import PropertyGraph

_ENGINES = ("pe_dma", "m_cpu")
"""Kinds whose DMA engines a transfer waits for at the first place of its way."""
_DIGITS = 7
"""Of ns, behind the point, to which transactions are alike."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The chain before and after, ns; both sums by cause add up to their total."""

    before_ns: float
    ns: float
    by_cause_before: dict[str, float]
    by_cause: dict[str, float]

    @property
    def saved_ns(self) -> float:
        """How much shorter the chain is, ns."""
        return self.before_ns - self.ns


@dataclass(frozen=True, slots=True)
class _Transfers:
    """``count`` transactions that took one ``way`` alike."""

    way: tuple[Passed, ...]
    first: int
    """Where the chain joined them."""
    count: int
    stays: Sequence[float]
    """ns of the chain at each of its places."""
    places: set[str]
    """Whatever their time depends on."""


class Chain:
    """A critical path on its machine, ready to be weighed with any factors."""

    def __init__(self, path: CriticalPath, graph: PropertyGraph) -> None:
        self.path = path
        self.graph = graph
        self._before = Alone(graph, {})
        self._other: list[tuple[Step, float]] = []
        """The other steps, each with its share that is the scheduler's."""
        following = [*path.steps[1:], None]
        served: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        for step, after in zip(path.steps, following, strict=True):
            if step.transaction >= 0 and step.cause != "queue":
                served[step.transaction][step.hop] += step.ns
            else:
                self._other.append((step, self._scheduling(step, after)))
        self._transfers = self._alike(served)

    def _alike(self, served: Mapping[int, Mapping[int, float]]) -> list[_Transfers]:
        """The transactions of the chain, those that differ by rounding alone together.

        ``served``: ns of the chain by transaction and hop, without waits.
        """
        groups: dict[tuple[tuple[Passed, ...], int, tuple[float, ...]], list[list[float]]] = defaultdict(list)
        for number, hops in served.items():
            way = self.path.ways[number]
            stays = [hops.get(hop, 0.0) for hop in range(len(way))]
            groups[way, min(hops), tuple(round(ns, _DIGITS) for ns in stays)].append(stays)
        found = []
        for (way, first, _), members in groups.items():
            mean = [sum(stays) / len(members) for stays in zip(*members, strict=True)]
            places = {passed.place for passed in way}
            if translator := self._before.translator(way[0].place):
                places.add(translator)
            found.append(_Transfers(way, first, len(members), mean, places))
        return found

    def kind(self, place: str) -> str:
        """Kind of a component or link."""
        part = self.graph.node(place) if place in self.graph else self.graph.edge(place)
        return str(part.properties["kind"])

    def places(self) -> set[str]:
        """All components and links whose speed could matter."""
        found = {step.place for step in self.path.steps if self._scales(step)}
        for transfers in self._transfers:
            found |= transfers.places
        for step, share in self._other:
            if share:
                found.add(self._before.part_beside(step.place, "pe_scheduler"))
        return found

    def faster(self, factors: Mapping[str, float]) -> Estimate:
        """The estimate with the parts in ``factors`` so many times as fast."""
        after = Alone(self.graph, factors)
        total: dict[str, float] = defaultdict(float)
        for step, share in self._other:
            ns = step.ns
            if self._scales(step):
                ns = (ns - share) / factors.get(step.place, 1.0)
                if share:
                    ns += share / factors.get(self._before.part_beside(step.place, "pe_scheduler"), 1.0)
            total[step.cause] += ns
        for transfers in self._transfers:
            stays = transfers.stays
            if factors.keys() & transfers.places:
                stays = self._retimed(transfers, after, factors)
            for passed, ns in zip(transfers.way, stays, strict=True):
                total[passed.cause] += transfers.count * ns
        by_cause = {cause: ns for cause, ns in total.items() if ns > 0.0}
        ordered = dict(sorted(by_cause.items(), key=lambda entry: (-entry[1], entry[0])))
        before = self.path.by_cause()
        return Estimate(sum(before.values()), sum(ordered.values()), before, ordered)

    def _retimed(self, transfers: _Transfers, after: Alone, factors: Mapping[str, float]) -> list[float]:
        """ns at each place of a way: as it would be alone, and what others did to the transfer there."""
        way, first = transfers.way, transfers.first
        old, new = (alone.stays(way)[first:] for alone in (self._before, after))
        shrunk = sum(new) / sum(old) if sum(old) else 1.0
        then = []
        for passed, ns, a, b in zip(way[first:], transfers.stays[first:], old, new, strict=True):
            # What is more than it alone would take, its flits stood behind others' at this place.
            more = ns - a
            then.append(b + (more / factors.get(passed.place, 1.0) if more > 0.0 else more * shrunk))
        # Where it met others, a place may lose more than it had: the places beside it lose that.
        kept = sum(ns for ns in then if ns > 0.0)
        share = sum(then) / kept if kept else 0.0
        return [*transfers.stays[:first], *(max(ns, 0.0) * share for ns in then)]

    def _scales(self, step: Step) -> bool:
        """Whether a step is the shorter, the faster its place is."""
        if step.cause == "queue":
            return step.hop > 0 or (step.hop == 0 and self.kind(step.place) not in _ENGINES)
        return step.transaction >= 0 or step.cause in ("compute", "component")

    def _scheduling(self, step: Step, after: Step | None) -> float:
        """ns of a kernel's dispatch of a command that PE_SCHEDULER needs to hand it on."""
        if step.cause != "component" or step.transaction >= 0 or self.kind(step.place) != "pe_cpu":
            return 0.0
        if after is None or after.cause == "launch":
            return 0.0
        scheduler = self._before.part_beside(step.place, "pe_scheduler")
        return min(step.ns, self._before.number(scheduler, "overhead_ns"))
