"""When a single transfer is done: a closed form over the figures of the parts on its way.

No clock, no queue and none of the engine's code: the compiled graph's properties and a route go in, times
come out, for a message of any size at the same cost. Everything on the way is linear in max-plus algebra,
where a sum is the later of two times and a product is their sum, and that is all that is used:

- The n flits of a message are a :class:`Train`. But for the last one, which may be short, flit j passes a
  place at the latest of a few lines ``start + j * gap``. A link that takes ``s`` ns a flit maps a line
  (c, g) to (c + s, g) and adds the line (first + s, s): a train is drawn apart by the narrowest link that
  it has met. Overhead that only the first flit pays adds a line of gap 0.
- A place that wants the whole message (a PCIe endpoint that stores and forwards) starts a new train.
- An HBM slice answers a read in batches, one flit a pseudo-channel every burst time. By superposition the
  answer is the latest of one train a batch. A train's arrival is convex in the number of its batch, so the
  first and the last ones decide. A write is committed by the same argument, with the batches counted from
  the end.

The rules themselves are hardware.md's "Time: what every message pays", told in docs/explanation/model.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kernbench.errors import UsageError
from kernbench.pgraph import Properties, PropertyGraph
from kernbench.probes.causes import Cause, Span, later, of_component, of_link
from kernbench.routing import Route

FORWARDS_FLITS = frozenset(
    {
        *("router", "channel_router", "switch", "io_noc"),
        *("ucie_port", "ucie_conn", "io_ucie", "io_ucie_conn"),
    }
)
"""Kinds of components that pass flits on as they come; the others want the whole message first."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One place on the way, a link or a component, as the transfer passes it. Times in ns since its start."""

    name: str
    kind: str
    t_in: float
    """The first flit arrives."""
    t_out: float
    """The last flit leaves: a link at its far end, a memory when the last burst is done."""
    nbytes: int
    """Payload that passes here; 0 for commands and acknowledgements."""
    gbs: float | None = None
    """Bandwidth of a link, or of a memory's channels together; None where there is none."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the formula says of one transfer: its end with the causes of its time, and all places passed."""

    end: Span
    hops: tuple[Hop, ...]

    @property
    def ns(self) -> float:
        """From the start to the acknowledgement of a write, or to the last data of a read, ns."""
        return self.end.ns

    @property
    def bottleneck(self) -> int:
        """Index of the first of the slowest places that the payload passes."""
        return min(
            (number for number, hop in enumerate(self.hops) if hop.gbs is not None and hop.nbytes),
            key=lambda number: (self.hops[number].gbs, number),
        )

    @property
    def bottleneck_gbs(self) -> float:
        """Bandwidth of the slowest place, GB/s."""
        gbs = self.hops[self.bottleneck].gbs
        assert gbs is not None
        return gbs


@dataclass(frozen=True, slots=True)
class Train:
    """The flits of a message at one place: ``whole`` full ones, then the last.

    Full flit j is there at the latest of ``starts[gap] + j * gap`` over all gaps (ns), the last one at
    ``last``. ``leads`` says that the first of them is the message's first flit, which pays overheads.
    """

    starts: dict[float, Span]
    last: Span
    whole: int
    leads: bool = True

    @classmethod
    def at_once(cls, time: Span, flits: int, leads: bool = True) -> Train:
        """All flits stand there at ``time``."""
        return cls({0.0: time}, time, flits - 1, leads)

    def flit(self, number: int) -> Span:
        """When full flit ``number`` is there. What gaps add up to is time on links."""
        return later(*(start.plus(Cause.WIRE, number * gap) for gap, start in self.starts.items()))

    @property
    def first(self) -> Span:
        """When the first flit is there."""
        return self.flit(0) if self.whole else self.last

    def cross(self, flit_ns: float, last_ns: float, flight: Cause, flight_ns: float) -> Train:
        """Over a link that takes ``flit_ns`` for a full flit and ``last_ns`` for the last one."""
        starts = {gap: start.plus(Cause.WIRE, flit_ns) for gap, start in self.starts.items()}
        last = self.last
        if self.whole:
            starts[flit_ns] = self.flit(0).plus(Cause.WIRE, flit_ns)
            last = later(last, replace(self, starts=starts).flit(self.whole - 1))
        return Train(
            {gap: start.plus(flight, flight_ns) for gap, start in starts.items()},
            last.plus(Cause.WIRE, last_ns).plus(flight, flight_ns),
            self.whole,
            self.leads,
        )

    def pay(self, cause: Cause, ns: float) -> Train:
        """Past a worker that takes ``ns`` for the message's first flit and nothing for the others."""
        if not self.leads or ns == 0.0:
            return self
        paid = self.first.plus(cause, ns)
        if not self.whole:
            return replace(self, last=paid)
        starts = {**self.starts, 0.0: later(self.starts.get(0.0, paid), paid)}
        return replace(self, starts=starts, last=later(self.last, paid))


class Formula:
    """The closed form for the machine that ``graph`` describes."""

    def __init__(self, graph: PropertyGraph) -> None:
        self._flit = int(graph.properties["flit_bytes"])
        self._graph = graph

    def write(self, route: Route, nbytes: int, setup_ns: float = 0.0) -> Prediction:
        """A write of ``nbytes`` over ``route`` to an HBM slice, up to the end of its acknowledgement."""
        return _Journey(self, route).write(nbytes, setup_ns)

    def read(self, route: Route, nbytes: int, setup_ns: float = 0.0) -> Prediction:
        """A read of ``nbytes`` from the HBM slice at the end of ``route``, up to its last byte."""
        return _Journey(self, route).read(nbytes, setup_ns)

    def flits(self, nbytes: int) -> int:
        """Flits of a message; one without bytes is one flit."""
        return max(1, -(-nbytes // self._flit))

    def link_ns(self, link: Properties, nbytes: int) -> tuple[float, float, float]:
        """Times of a full flit, of the last flit of ``nbytes``, and of flight, ns."""
        gbs = float(link["bw_gbs"])
        rest = nbytes - (self.flits(nbytes) - 1) * self._flit
        return self._flit / gbs, rest / gbs, float(link["delay_ns"])

    def component(self, name: str) -> Properties:
        """Properties of the component ``name``."""
        return self._graph.node(name).properties

    def link(self, source: str, target: str) -> Properties:
        """Properties of the link from ``source`` to ``target``."""
        for edge in self._graph.out_edges(source, "LINK"):
            if edge.target == target:
                return edge.properties
        raise UsageError(f"the topology has no link from '{source}' to '{target}'; give it one for answers")


class _Journey:
    """One transfer's way there and back, and the places that it has passed."""

    def __init__(self, formula: Formula, route: Route) -> None:
        self.formula = formula
        self.names = route.nodes
        self.hops: list[Hop] = []

    def write(self, nbytes: int, setup_ns: float) -> Prediction:
        start = self._setup(nbytes, setup_ns)
        (train,) = self._travel(self.names, [Train.at_once(start, self.formula.flits(nbytes))], nbytes)
        committed = self._commit(train, nbytes)
        return self._answer([Train.at_once(committed, 1)], 0)

    def read(self, nbytes: int, setup_ns: float) -> Prediction:
        start = self._setup(nbytes, setup_ns)
        (command,) = self._travel(self.names, [Train.at_once(start, 1)], 0)
        return self._answer(self._fetch(command, nbytes), nbytes)

    def _setup(self, nbytes: int, ns: float) -> Span:
        """What the component that asks does first; nothing is noted of one that does nothing at all."""
        name = self.names[0]
        kind = str(self.formula.component(name)["kind"])
        if kind == "pe_dma":
            self.hops.append(Hop(name, kind, 0.0, ns, nbytes))
        return Span().plus(Cause.SETUP, ns)

    def _answer(self, trains: list[Train], nbytes: int) -> Prediction:
        """Back over the same places, and the overhead of the component that asked."""
        trains = self._travel(self.names[::-1], trains, nbytes)
        end = self._store(self.names[0], trains, nbytes)
        return Prediction(end, tuple(self.hops))

    def _travel(self, names: Sequence[str], trains: list[Train], nbytes: int) -> list[Train]:
        """From the first component's output to the arrival at the last one's input."""
        for here, there in pairwise(names):
            if here != names[0]:
                trains = self._through(here, trains, nbytes)
            trains = self._cross(here, there, trains, nbytes)
        return trains

    def _cross(self, here: str, there: str, trains: list[Train], nbytes: int) -> list[Train]:
        link = self.formula.link(here, there)
        kind = str(link["kind"])
        flit_ns, last_ns, flight_ns = self.formula.link_ns(link, nbytes)
        crossed = [train.cross(flit_ns, last_ns, of_link(kind), flight_ns) for train in trains]
        gbs = float(link["bw_gbs"])
        self._note(f"{here}->{there}", kind, trains, max(train.last.ns for train in crossed), nbytes, gbs)
        return crossed

    def _through(self, name: str, trains: list[Train], nbytes: int) -> list[Train]:
        properties = self.formula.component(name)
        kind = str(properties["kind"])
        if kind not in FORWARDS_FLITS and not properties.get("cut_through"):
            flits = self.formula.flits(nbytes)
            return [Train.at_once(self._store(name, trains, nbytes), flits)]
        passed = [train.pay(of_component(kind), float(properties["overhead_ns"])) for train in trains]
        self._note(name, kind, trains, max(train.last.ns for train in passed), nbytes)
        return passed

    def _store(self, name: str, trains: list[Train], nbytes: int) -> Span:
        """A component that waits for the whole message, then pays its overhead."""
        properties = self.formula.component(name)
        kind = str(properties["kind"])
        out = later(*(t.last for t in trains)).plus(of_component(kind), float(properties["overhead_ns"]))
        self._note(name, kind, trains, out.ns, nbytes)
        return out

    def _commit(self, train: Train, nbytes: int) -> Span:
        """Into the slice: when the last burst of a write is done.

        The last flit's channel has served every ``channels``-th flit before it. Counted from the end, the
        m-th of them was followed by m more bursts; its arrival falls convexly with m, so that only the
        nearest and the farthest can have held the last one up.
        """
        memory = _Slice(self.formula.component(self.names[-1]))
        inside = train.pay(Cause.HBM, memory.overhead_ns)
        before = inside.whole // memory.channels
        ends = [inside.last.plus(Cause.HBM, memory.burst_ns)]
        for bursts in sorted({1, before} & set(range(1, before + 1))):
            arrived = inside.flit(inside.whole - bursts * memory.channels)
            ends.append(arrived.plus(Cause.HBM, (bursts + 1) * memory.burst_ns))
        done = later(*ends)
        self._note(self.names[-1], memory.kind, [train], done.ns, nbytes, memory.gbs)
        return done

    def _fetch(self, command: Train, nbytes: int) -> list[Train]:
        """Out of the slice: the batches of a read's flits that decide when the last one arrives anywhere."""
        memory = _Slice(self.formula.component(self.names[-1]))
        asked = command.pay(Cause.HBM, memory.overhead_ns).last
        flits = self.formula.flits(nbytes)
        final = (flits - 1) // memory.channels
        trains = [
            Train.at_once(
                asked.plus(Cause.HBM, (batch + 1) * memory.burst_ns),
                flits - batch * memory.channels,
                batch == 0,
            )
            for batch in sorted({0, 1, final - 1, final} & set(range(final + 1)))
        ]
        self._note(self.names[-1], memory.kind, [command], trains[-1].last.ns, nbytes, memory.gbs)
        return trains

    def _note(
        self, name: str, kind: str, trains: list[Train], t_out: float, nbytes: int, gbs: float | None = None
    ) -> None:
        self.hops.append(Hop(name, kind, trains[0].first.ns, t_out, nbytes, gbs))


class _Slice:
    """Figures of an HBM slice."""

    def __init__(self, properties: Properties) -> None:
        self.kind = str(properties["kind"])
        if self.kind != "hbm_ctrl":
            raise UsageError(f"'{properties['name']}' is no HBM slice; the formula knows transfers to those")
        self.overhead_ns = float(properties["overhead_ns"])
        self.channels = int(properties["n_channels"])
        self.gbs = float(properties["channel_gbs"]) * self.channels
        self.burst_ns = float(properties["burst_bytes"]) / float(properties["channel_gbs"])
