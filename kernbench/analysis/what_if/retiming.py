"""What-if estimates: a critical path re-timed for a machine that is faster in places.

An estimate, from one path and no simulation, and never less than the work of the busiest part needs
(:mod:`kernbench.analysis.what_if.bounds`). With the changed parts faster, another path may become the
longest, queues may form elsewhere or vanish, and the common start of a launch may move; only a run on the
changed machine is certain. Each step of the path changes by the rule of its cause:

- Time on a transaction's path: the transaction's zero-load latency is computed on the machine as it was and
  as it would be (:mod:`kernbench.analysis.routes.zero_load`). A transfer without others is exact. Time beyond
  that, which other transactions' flits between its own cost it, is divided by the speed of the location. An
  access to the TCM of its own PE takes as long as the slower of the port and the link that it crosses. Wires
  within a PE that become slower than its DMA hold up the DMA as well, which no estimate sees.
- Waits behind others at a location are divided by that location's speed: those waited for are served there
  too. A wait for a DMA engine is not: an engine is held for transfers whose time passes elsewhere.
- Compute, and a component's own time, are divided by its speed. A kernel's dispatch includes the overhead of
  the scheduler, which scales with that one's speed.
- Steps without a location that could be faster stay as they are: dependencies, the common start, the time
  before the first request and after the last answer.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernbench.analysis.path.path_steps import CriticalPath, Passed, Step
from kernbench.analysis.routes.zero_load import ZeroLoadModel
from kernbench.analysis.what_if.bounds import Bounds
from kernbench.analysis.windows.time_window import Floats
from kernbench.hardware.kinds import component_kind
from kernbench.hardware.topology.overrides import AND, FREE, KIND, Speeds, multiply
from kernbench.support.pgraph import Edge, Node, PropertyGraph

TWICE = 2.0
_SMALLEST_NS = 1e-9
"""Savings below this are rounding."""
_DIGITS = 7
"""Decimal digits of ns to which transactions count as alike."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The path before and after, ns; the sums by cause add up to ``ns``."""

    before_ns: float
    ns: float
    by_cause: dict[str, float]

    @property
    def saved_ns(self) -> float:
        """How much shorter the path is, ns."""
        return self.before_ns - self.ns


@dataclass(frozen=True, slots=True)
class _Transfers:
    """Transactions that took one ``path`` in the same times."""

    path: tuple[Passed, ...]
    first: int
    """Index of the hop at which the critical path joined them."""
    members: Sequence[int]
    """Their numbers."""
    stays: Sequence[float]
    """ns of the critical path at each hop."""
    locations: set[str]
    """All that their time depends on."""


class PathEstimator:
    """A critical path on its machine, ready to be re-timed with any factors."""

    def __init__(self, path: CriticalPath, graph: PropertyGraph, bounds: Bounds | None = None) -> None:
        self.path = path
        self.graph = graph
        self._before = ZeroLoadModel(graph)
        self._bounds = bounds
        self._other: list[tuple[int, Step, float]] = []
        """The other steps, each with its index and the share of it that is the scheduler's."""
        following = [*path.steps[1:], None]
        served: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self._sent: dict[int, list[int]] = defaultdict(list)
        """By transaction the indices of its steps."""
        for index, (step, after) in enumerate(zip(path.steps, following, strict=True)):
            if step.transaction >= 0 and step.cause != "queue":
                served[step.transaction][step.hop] += step.ns
                self._sent[step.transaction].append(index)
            else:
                self._other.append((index, step, self._scheduling(step, after)))
        self._transfers = self._alike(served)

    def _alike(self, served: Mapping[int, Mapping[int, float]]) -> list[_Transfers]:
        """The transactions of the path; those that differ only by rounding are grouped.

        ``served``: ns of the path by transaction and hop, without waits.
        """
        groups: dict[tuple[tuple[Passed, ...], int, tuple[float, ...]], list[int]] = defaultdict(list)
        for number, hops in served.items():
            path = self.path.paths[number]
            stays = [hops.get(hop, 0.0) for hop in range(len(path))]
            groups[path, min(hops), tuple(round(ns, _DIGITS) for ns in stays)].append(number)
        found = []
        for (path, first, _), members in groups.items():
            all_stays = ([served[number].get(hop, 0.0) for number in members] for hop in range(len(path)))
            mean = [math.fsum(stays) / len(members) for stays in all_stays]
            locations = {passed.location for passed in path}
            if over := path[0].over:
                locations.add(over)
                if queue := self._before.queue_of(over):
                    locations.add(queue)
            if translator := self._before.translator(path[0].location):
                locations.add(translator)
            found.append(_Transfers(path, first, members, mean, locations))
        return found

    def kind(self, location: str) -> str:
        """Kind of a component or link."""
        part = self.graph.node(location) if location in self.graph else self.graph.edge(location)
        return str(part.properties["kind"])

    def locations(self) -> set[str]:
        """All components and links whose speed could matter."""
        found = {step.location for step in self.path.steps if self._scales(step)}
        for transfers in self._transfers:
            found |= transfers.locations
        for _, step, share in self._other:
            if share:
                found.add(self._before.part_beside(step.location, "pe_scheduler"))
        return found

    def together(self) -> list[tuple[str, ...]]:
        """Kinds that limit the same accesses: of TCMs, links to them, and queues with slots there."""
        found = {
            tuple(sorted({self.kind(name) for name in transfers.locations}))
            for transfers in self._transfers
            if transfers.path[0].over
        }
        return sorted(found)

    def estimate(self, factors: Mapping[str, Speeds]) -> Estimate:
        """The estimate with the parts in ``factors`` at other speeds."""
        after = ZeroLoadModel(self.graph, factors)
        total: dict[str, float] = defaultdict(float)
        new = np.array([step.ns for step in self.path.steps])
        for index, step, share in self._other:
            ns = step.ns
            if self._scales(step):
                ns = (ns - share) / self._speed(step, after, factors)
                if share:
                    ns += share / _speed_of(factors, self._before.part_beside(step.location, "pe_scheduler"))
            total[step.cause] += ns
            new[index] = ns
        for transfers in self._transfers:
            stays = transfers.stays
            if factors.keys() & transfers.locations:
                stays = self._retime(transfers, after, factors)
                for number in transfers.members:
                    self._spread(new, self._sent[number], transfers.stays, stays)
            for passed, ns in zip(transfers.path, stays, strict=True):
                total[passed.cause] += len(transfers.members) * ns
        for cause, more in self._bounds.beyond(new, factors) if self._bounds is not None else ():
            total[cause] += more
        by_cause = {cause: spent for cause, spent in total.items() if spent > 0.0}
        ordered = dict(sorted(by_cause.items(), key=lambda entry: (-entry[1], entry[0])))
        before = self.path.by_cause()
        return Estimate(math.fsum(before.values()), math.fsum(ordered.values()), ordered)

    def _spread(
        self, new: Floats, steps: Sequence[int], before: Sequence[float], after: Sequence[float]
    ) -> None:
        """Give a transaction's steps their parts of the times ``after`` at its hops; ``before`` they were."""
        last = dict.fromkeys(range(len(before)), steps[0])
        for index in steps:
            hop = self.path.steps[index].hop
            for later in range(hop, len(before)):
                last[later] = index
            if before[hop] > 0.0:
                new[index] *= after[hop] / before[hop]
        for hop, ns in enumerate(after):
            if not before[hop] > 0.0:  # where it had no time: at the end of what came before
                new[last[hop]] += ns

    def _retime(
        self, transfers: _Transfers, after: ZeroLoadModel, factors: Mapping[str, Speeds]
    ) -> list[float]:
        """ns at each hop of a path: its zero-load latency, and the delay that others caused there."""
        path, first = transfers.path, transfers.first
        old, new = (model.stays(path)[first:] for model in (self._before, after))
        shrunk = math.fsum(new) / math.fsum(old) if math.fsum(old) else 1.0
        then = []
        for passed, ns, a, b in zip(path[first:], transfers.stays[first:], old, new, strict=True):
            # Time beyond the zero-load latency was spent behind the flits of others at this location.
            more = ns - a
            then.append(b + (more / _speed_of(factors, passed.location) if more > 0.0 else more * shrunk))
        # Where it met others, a location may lose more than it had: its neighbours lose the rest.
        kept = math.fsum(ns for ns in then if ns > 0.0)
        share = math.fsum(then) / kept if kept else 0.0
        return [*transfers.stays[:first], *(max(ns, 0.0) * share for ns in then)]

    def _scales(self, step: Step) -> bool:
        """Whether a step becomes shorter as its location becomes faster."""
        if step.cause == "queue":
            # At the first hop, a transfer waits for a DMA engine where there are any.
            there = step.location in self.graph
            has_dma = there and component_kind(self.graph.node(step.location)).has_dma
            return step.hop > 0 or (step.hop == 0 and not has_dma)
        return step.transaction >= 0 or step.cause in ("compute", "component")

    def _speed(self, step: Step, after: ZeroLoadModel, factors: Mapping[str, Speeds]) -> float:
        """How many times as fast the location of a step is."""
        path = self.path.paths.get(step.transaction, ())
        passed = path[step.hop] if 0 <= step.hop < len(path) else None
        if passed is None or not passed.over:
            return _speed_of(factors, step.location)
        before = self._before.tcm_gbs(passed.location, passed.over)
        return after.tcm_gbs(passed.location, passed.over) / before

    def _scheduling(self, step: Step, after: Step | None) -> float:
        """ns of a kernel's dispatch of a command that PE_SCHEDULER needs to forward it."""
        if step.cause != "component" or step.transaction >= 0 or self.kind(step.location) != "pe_cpu":
            return 0.0
        if after is None or after.cause == "launch":
            return 0.0
        scheduler = self._before.part_beside(step.location, "pe_scheduler")
        return min(step.ns, self._before.number(scheduler, "overhead_ns"))


def _speed_of(factors: Mapping[str, Speeds], part: str) -> float:
    """How many times as fast the work of a part is; links do theirs at their rate."""
    return factors[part].rates if part in factors else 1.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something on the path that could be faster: ``where`` as an override names it. Times in ns."""

    where: str
    on_path_ns: float
    """Steps of the path at these locations."""
    twice_ns: float
    """Estimate of the whole path with it twice as fast."""
    free_ns: float
    """Estimate of the whole path with it free: the most that can be saved there."""


def what_if(
    path: CriticalPath,
    graph: PropertyGraph,
    changes: Iterable[tuple[str, float]],
    bounds: Bounds | None = None,
) -> Estimate:
    """The estimate for ``changes``: (where, times as fast), as the topology file's ``overrides`` have them.

    ``graph`` is the machine of the run, and ``bounds`` the work of its parts, where that is known.
    ``UsageError`` for a ``where`` that means nothing on the machine.
    """
    factors: dict[str, Speeds] = {}
    for where, factor in changes:
        multiply(factors, graph, where, factor)
    return PathEstimator(path, graph, bounds).estimate(factors)


def candidates(
    path: CriticalPath,
    graph: PropertyGraph,
    locations: int = 10,
    bounds: Bounds | None = None,
) -> list[Candidate]:
    """Candidates for a change: every kind on the path, and its ``locations`` longest locations beside them.

    A kind is all parts of it on the machine, as in an override: those beside the path hold it up otherwise.
    Kinds that limit a TCM's accesses together are a candidate together as well: where both are as fast,
    neither alone saves anything. The best first: in order of what it saves when free, then when twice as
    fast. Candidates that save nothing are left out, and so is a location that is the only one of its kind on
    the path.
    """
    estimator = PathEstimator(path, graph, bounds)
    by_location = path.by_location()
    kinds: dict[str, list[str]] = defaultdict(list)
    matter = estimator.locations()
    for location in sorted(matter):
        kinds[estimator.kind(location)].append(location)
    beside = [name for name in by_location if name in matter and len(kinds[estimator.kind(name)]) > 1]
    whole: dict[str, list[str]] = {kind: [] for kind in kinds}
    parts: Iterable[Node | Edge] = itertools.chain(graph.nodes(), graph.edges("LINK"))
    for part in parts:
        if (kind := part.properties.get("kind")) in whole:
            whole[kind].append(part.id)
    asked = {KIND + kind: members for kind, members in whole.items()}
    for together in estimator.together():
        asked[AND.join(KIND + kind for kind in together)] = [
            name for kind in together for name in whole[kind]
        ]
    asked |= {name: [name] for name in beside[:locations]}
    found = []
    for where, members in asked.items():
        free = estimator.estimate(dict.fromkeys(members, Speeds(FREE, FREE)))
        if free.saved_ns > _SMALLEST_NS:
            twice = estimator.estimate(dict.fromkeys(members, Speeds(TWICE, TWICE)))
            on_path = math.fsum(by_location.get(member, 0.0) for member in members)
            found.append(Candidate(where, on_path, twice.ns, free.ns))
    return sorted(found, key=lambda one: (one.free_ns, one.twice_ns, one.where))
