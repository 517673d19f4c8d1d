"""Zero-load latency: when a single transfer is done on an idle machine, as a closed form.

No clock, no queue and none of the engine's code: the compiled graph's properties and a path go in, times
come out, for a message of any size at the same cost. Everything on the path is linear in max-plus algebra,
where a sum is the later of two times and a product is their sum, and that is all that is used:

- The n flits of a message are a :class:`~kernbench.analysis.routes.trains.Train`.
- A component that needs the whole message (a PCIe endpoint that stores and forwards) starts a new train.
- An HBM slice answers a read in batches, one flit a pseudo-channel every burst time. By superposition the
  answer is the latest of one train a batch. A train's arrival is convex in the number of its batch, so the
  first and the last ones decide. A write is committed by the same argument, with the batches counted from
  the end. An SRAM adds its overhead, a TCM its port's rate.

The rules are those of docs/explanation/model.md. Probes compare the simulator with this form; what-if
estimates use it to re-time the transactions of a critical path on a machine that is faster in places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kernbench.analysis.path.path_steps import Passed
from kernbench.analysis.routes.trains import Train, fetch_trains, last_commit
from kernbench.errors import UsageError
from kernbench.hardware.kinds import (
    COMPONENT_KINDS,
    TRANSLATORS,
    ComponentKind,
    LinkKind,
    component_kind,
    link_kind,
)
from kernbench.hardware.routing import Route
from kernbench.hardware.topology.link_parts import LinkParts
from kernbench.hardware.topology.overrides import Speeds, faster
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import Edge, Properties, PropertyGraph


@dataclass(frozen=True, slots=True)
class ZeroLoadHop:
    """A link or component on the path, as the transfer passes it. Times in ns since its start."""

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


CAUSES = ("host", "component", "link", "memory", "hbm")
"""Those causes of a critical path's steps that a transfer has which waits for nobody."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Zero-load prediction of one transfer: its end and all hops."""

    ns: float
    """From the start to the acknowledgement of a write, or to the last data of a read, ns."""
    hops: tuple[ZeroLoadHop, ...]

    def breakdown(self) -> dict[str, float]:
        """ns by :data:`CAUSES`, as a critical path has them.

        Of each hop that is the time between the last flit's leaving the hop before and its leaving this one.
        """
        found, before = dict.fromkeys(CAUSES, 0.0), 0.0
        for hop in self.hops:
            kind = COMPONENT_KINDS.get(hop.kind)
            found[kind.cause if kind else "link"] += hop.t_out - before
            before = hop.t_out
        return found

    @property
    def bottleneck(self) -> int:
        """Index of the first of the slowest hops that the payload passes."""
        return min(
            (number for number, hop in enumerate(self.hops) if hop.gbs is not None and hop.nbytes),
            key=lambda number: (self.hops[number].gbs, number),
        )

    @property
    def bottleneck_gbs(self) -> float:
        """Bandwidth of the slowest hop, GB/s."""
        gbs = self.hops[self.bottleneck].gbs
        assert gbs is not None
        return gbs


class ZeroLoadModel:
    """The closed form for the machine of ``graph``, with the parts in ``factors`` at other speeds."""

    def __init__(self, graph: PropertyGraph, factors: Mapping[str, Speeds] | None = None) -> None:
        self._graph = graph
        self._factors = factors or {}
        self.flit_bytes = int(graph.properties["flit_bytes"])
        self._links = LinkParts(graph)
        self._translator = TRANSLATORS[str(graph.properties["address_model"])]
        self._figures: dict[str, Properties] = {}
        self._known: dict[tuple[Passed, ...], list[float]] = {}

    def write(self, route: Route, nbytes: int, setup_ns: float = 0.0) -> Prediction:
        """A write of ``nbytes`` over ``route`` to a memory, up to the end of its acknowledgement."""
        return _Journey(self, [*self._path(route, nbytes, nbytes, 0)]).run(setup_ns)

    def read(self, route: Route, nbytes: int, setup_ns: float = 0.0, *, hit: bool = False) -> Prediction:
        """A read of ``nbytes`` from the memory at the end of ``route``, up to its last byte.

        ``hit``: all are in the cache before it, where it has one; else none are.
        """
        slow = self.slow_tcm(route.nodes[0], route.links[0].id, from_tcm=False)
        journey = _Journey(self, [*self._path(route, nbytes, 0, nbytes)], hit=hit)
        return journey.run(setup_ns, into_gbs=slow)

    def message(self, nodes: Sequence[str], nbytes: int) -> Prediction:
        """A one-way message between queues over ``nodes``, up to its arrival.

        So does a multicast reach each of its ends, over the way there in its tree.
        """
        path = [(nodes[0], nbytes)]
        for here, there in pairwise(nodes):
            path += [(f"{here}->{there}", nbytes), (there, nbytes)]
        return _Journey(self, path).run(0.0)

    def slow_tcm(self, dma: str, link: str, *, from_tcm: bool) -> float:
        """GB/s of a PE's link between TCM and DMA, where ``link``, to the router or the TCM, is faster."""
        if self.figures(dma)["kind"] != "pe_dma":
            return 0.0
        tcm = self.part_beside(dma, "pe_tcm")
        gbs = self.number(f"{tcm}->{dma}" if from_tcm else f"{dma}->{tcm}", "bw_gbs")
        return gbs if link != f"{dma}->{tcm}" and gbs < self.number(link, "bw_gbs") else 0.0

    def stays(self, path: tuple[Passed, ...]) -> list[float]:
        """ns that the last flit spends at each location of a traced transaction's ``path``."""
        found = self._known.get(path)
        if found is None:
            hops = [(passed.location, passed.bytes) for passed in path]
            setup_ns = 0.0 if self.is_link(hops[0][0]) else self._setup_ns(hops[0][0])
            hit = any(passed.cause == "cache_hit" for passed in path)
            journey = _Journey(self, hops, path[0].over, hit=hit)
            ends = [0.0, *(hop.t_out for hop in journey.run(setup_ns).hops)]
            found = self._known[path] = [after - before for before, after in pairwise(ends)]
        return found

    def flits(self, nbytes: int) -> int:
        """Flits of a message; one without bytes is one flit."""
        return max(1, -(-nbytes // self.flit_bytes))

    def flit_times(self, gbs: float, nbytes: int) -> tuple[float, float]:
        """ns of a full flit and of the last flit of ``nbytes`` at a rate of ``gbs`` GB/s."""
        rest = nbytes - (self.flits(nbytes) - 1) * self.flit_bytes
        return self.flit_bytes / gbs, rest / gbs

    def is_link(self, location: str) -> bool:
        """Whether ``location`` is a link rather than a component."""
        return location not in self._graph

    def figures(self, location: str) -> Properties:
        """Properties of a component or link, scaled by its factor. ``UsageError`` when it does not exist."""
        found = self._figures.get(location)
        if found is None:
            kind: ComponentKind | LinkKind
            if location in self._graph:
                node = self._graph.node(location)
                found, kind = node.properties, component_kind(node)
            else:
                edge = self._link(location)
                found, kind = edge.properties, link_kind(edge)
            if location in self._factors:
                found = faster(found, kind, self._factors[location])
            self._figures[location] = found
        return found

    def number(self, location: str, key: str) -> float:
        """One of :meth:`figures`."""
        return float(self.figures(location)[key])

    def allocation_ns(self, link: str) -> float:
        """What a message pays for a virtual channel of a link, ns."""
        part = self._links.part(self._link(link)) if self._links else None
        return part.allocation_ns if part is not None and part.buffer_flits is not None else 0.0

    def translator(self, location: str) -> str | None:
        """The translator of the PE_DMA ``location``; None for anything else."""
        is_dma = not self.is_link(location) and self.figures(location)["kind"] == "pe_dma"
        return self.part_beside(location, self._translator) if is_dma else None

    def tcm_gbs(self, tcm: str, over: str) -> float:
        """GB/s of an access of a part to the TCM of its PE, over the link between them: the slower's."""
        port = self.number(tcm, "write_gbs" if over.endswith(f"->{tcm}") else "read_gbs")
        queue = self.queue_of(over)
        slot = self.number(queue, "tcm_gbs") if queue else port
        return min(port, self.number(over, "bw_gbs"), slot)

    def queue_of(self, over: str) -> str | None:
        """The PE_IPCQ whose slot in the TCM is accessed over this link; None where it is another access."""
        ends = [end for end in over.split("->") if end and self.figures(end)["kind"] == "pe_dma"]
        return self.part_beside(ends[0], "pe_ipcq") if ends else None

    def part_beside(self, location: str, part: str) -> str:
        """The component ``part`` of the PE that ``location`` is in."""
        own = self._graph.node(location).properties
        return places(self._graph).part(part, int(own["sip"]), int(own["cube"]), int(own["pe"]))

    def _setup_ns(self, location: str) -> float:
        translator = self.translator(location)
        if translator is None:
            return 0.0
        return self.number(translator, COMPONENT_KINDS[self._translator].lookup)

    def _path(self, route: Route, nbytes: int, out: int, back: int) -> Iterator[tuple[str, int]]:
        """Locations and payload bytes there and back, as the simulator's trace lists them."""
        nodes = route.nodes
        if self.figures(nodes[0])["kind"] == "pe_dma":
            yield nodes[0], nbytes
        for here, there in pairwise(nodes):
            yield f"{here}->{there}", out
            yield there, nbytes if there == nodes[-1] else out
        for here, there in pairwise(route.back):
            yield f"{here}->{there}", back
            yield there, back

    def _link(self, name: str) -> Edge:
        try:
            return self._graph.edge(name)
        except KeyError:
            raise UsageError(f"the topology has no link '{name}'; give it one for answers") from None


class _Journey:
    """One transfer along its path, and the hops so far."""

    def __init__(
        self, model: ZeroLoadModel, path: Sequence[tuple[str, int]], over: str = "", *, hit: bool = False
    ) -> None:
        self.model = model
        self.over = over
        self.hit = hit
        self.path = path
        self.hops: list[ZeroLoadHop] = []
        self.kinds = [str(model.figures(location)["kind"]) for location, _ in path]
        self.one_channel = "channel_router" in self.kinds

    def run(self, setup_ns: float, *, into_gbs: float = 0.0) -> Prediction:
        """All of it; ``setup_ns`` passes before the first link.

        ``into_gbs``: rate of the link from DMA to TCM where it limits a read, whose data cross it from when
        the first of them have come.
        """
        model, path = self.model, self.path
        trains = [Train.at_once(setup_ns, model.flits(path[0][1]))]
        begun = trains
        for number, (location, nbytes) in enumerate(path):
            kind = self.kinds[number]
            if number == len(path) - 2:
                begun = trains
            if model.is_link(location):
                trains = self._cross(location, kind, trains, nbytes)
            elif COMPONENT_KINDS[kind].memory:
                # Within a PE nothing is sent before the access.
                is_write = number > 0 and path[number - 1][1] > 0
                trains = self._access(location, kind, trains, nbytes, is_write)
            elif number == 0:
                trains = [self._leave(location, *path[1], setup_ns)]
            elif self._forwards(location, kind, number):
                trains = self._through(location, kind, trains, nbytes)
            else:
                trains = self._store(location, kind, trains, nbytes)
        end = self._last(trains)
        if into_gbs:
            first = max(train.first for train in begun if train.leads)  # the message's first flit
            first += model.number(path[-2][0], "delay_ns")
            end = max(end, first + path[-1][1] / into_gbs)
            self.hops[-1] = replace(self.hops[-1], t_out=end, gbs=into_gbs)
        return Prediction(end, tuple(self.hops))

    def _leave(self, source: str, link: str, nbytes: int, setup_ns: float) -> Train:
        """The flits that ``source`` puts onto its ``link``: all at once, or as a slower TCM feeds them."""
        model = self.model
        train = Train.at_once(setup_ns, model.flits(nbytes))
        gbs = model.slow_tcm(source, link, from_tcm=True) if nbytes else 0.0
        if gbs:  # the last byte of a flit goes on as it comes
            flit_ns, last_ns = model.flit_times(gbs, nbytes)
            on_flit_ns, on_last_ns = model.flit_times(model.number(link, "bw_gbs"), nbytes)
            last = setup_ns + train.whole * flit_ns + last_ns - on_last_ns
            train = replace(train, starts={flit_ns: setup_ns + flit_ns - on_flit_ns}, last=last)
        # Its own row lists the bytes that it asks for, not those that it sends.
        asked = self.path[0][1]
        self.hops.append(ZeroLoadHop(source, self.kinds[0], 0.0, train.last, asked, gbs or None))
        return train

    def _forwards(self, location: str, kind: str, number: int) -> bool:
        """Whether flits pass as they come; a DMA does so between its router and its own PE's TCM."""
        if kind == "pe_dma":
            return number < len(self.path) - 1
        return COMPONENT_KINDS[kind].forwards_flits or bool(self.model.figures(location).get("cut_through"))

    def _cross(self, link: str, kind: str, trains: list[Train], nbytes: int) -> list[Train]:
        gbs = self.model.number(link, "bw_gbs")
        flit_ns, last_ns = self.model.flit_times(gbs, nbytes)
        flight_ns = self.model.number(link, "delay_ns")
        allocation_ns = self.model.allocation_ns(link)
        trains = [train.pay(allocation_ns) for train in trains]
        crossed = [train.cross(flit_ns, last_ns, flight_ns) for train in trains]
        self._note(link, kind, trains, self._last(crossed), nbytes, gbs)
        return crossed

    def _through(self, name: str, kind: str, trains: list[Train], nbytes: int) -> list[Train]:
        overhead_ns = self.model.number(name, "overhead_ns")
        passed = [train.pay(overhead_ns) for train in trains]
        self._note(name, kind, trains, self._last(passed), nbytes)
        return passed

    def _store(self, name: str, kind: str, trains: list[Train], nbytes: int) -> list[Train]:
        """A component that waits for the whole message, then pays its overhead."""
        overhead_ns = self.model.number(name, "overhead_ns")
        out = self._last(trains) + overhead_ns
        self._note(name, kind, trains, out, nbytes)
        return [Train.at_once(out, self.model.flits(nbytes))]

    def _access(self, name: str, kind: str, trains: list[Train], nbytes: int, is_write: bool) -> list[Train]:
        """Written flits become one acknowledgement; a command becomes the data that leave."""
        arrived = trains
        if not is_write:
            flits = self.model.flits(nbytes)
            arrived = [Train.at_once(self._last(trains), flits)]
        gbs = None
        served = [train.pay(self.model.number(name, "overhead_ns")) for train in arrived]
        if kind == "pe_tcm":
            if self.over:
                gbs = self.model.tcm_gbs(name, self.over)
            else:
                gbs = self.model.number(name, "write_gbs" if is_write else "read_gbs")
            if queue := self.model.queue_of(self.over):
                overhead_ns = self.model.number(queue, "tcm_overhead_ns")
                served = [train.pay(overhead_ns) for train in served]
            flit_ns, last_ns = self.model.flit_times(gbs, nbytes)
            served = [train.cross(flit_ns, last_ns, 0.0) for train in served]
        elif "cache_gbs" in self.model.figures(name):
            own = self.model.figures(name)
            gbs = _cache_gbs(own, is_write)
            if not self.hit and not (is_write and own["cache_write_back"]):  # its channels serve it, too
                gbs = min(gbs, float(own["channel_gbs"]) * int(own["n_channels"]))
            served = self._cached(name, served, nbytes, is_write)
        elif COMPONENT_KINDS[kind].sliced:
            channels = 1 if self.one_channel else int(self.model.figures(name)["n_channels"])
            gbs = self.model.number(name, "channel_gbs") * channels
            burst_ns = self.model.number(name, "burst_bytes") / self.model.number(name, "channel_gbs")
            served = (
                [Train.at_once(max(last_commit(train, channels, burst_ns) for train in served), 1)]
                if is_write
                else fetch_trains(served[0], channels, burst_ns)
            )
        after = "cache_hit_ns" if "cache_gbs" in self.model.figures(name) else "access_ns"
        served = [train.later(self.model.number(name, after)) for train in served]
        if is_write:
            served = [Train.at_once(self._last(served), 1)]
        self._note(name, kind, trains, self._last(served), nbytes, gbs)
        return served

    def _cached(self, name: str, asked: list[Train], nbytes: int, is_write: bool) -> list[Train]:
        """Through the port of a cache and, for what it lacks, the channels at the same time."""
        own = self.model.figures(name)
        burst_ns, channels = float(own["burst_bytes"]) / float(own["channel_gbs"]), int(own["n_channels"])
        flit_ns, last_ns = self.model.flit_times(_cache_gbs(own, is_write), nbytes)
        served = [train.cross(flit_ns, last_ns, 0.0) for train in asked]
        if is_write and own["cache_write_back"]:
            return served + [
                Train.at_once(self._made_room(train, own, burst_ns, nbytes), 1) for train in asked
            ]
        if is_write:
            return served + [Train.at_once(last_commit(train, channels, burst_ns), 1) for train in asked]
        if self.hit:
            return served
        fetched = fetch_trains(asked[0], channels, burst_ns)
        fetched = [train.later(float(own["access_ns"])) for train in fetched]
        first = served[0].first > fetched[0].first  # which has the first flit
        return served + fetched if first else fetched + served

    def _made_room(self, train: Train, own: Properties, burst_ns: float, nbytes: int) -> float:
        """When the last line that a long write brought out of a cache is written back.

        Each line beyond the capacity brings out one as its first flit comes: ``bursts`` of each channel that
        has some of it, as every ``turns``-th line has. Arrivals are convex, as at :func:`last_commit`.
        """
        line = int(own["cache_line_bytes"])
        room, last = int(own["cache_capacity_bytes"]) // line, (nbytes - 1) // line
        channels, of_line = int(own["n_channels"]), line // int(own["burst_bytes"])
        bursts, turns = max(1, of_line // channels), max(1, channels // of_line)
        ends = [train.last]
        for behind in range(min(turns, last + 1)):
            most = (last - behind - room) // turns
            for before in sorted({0, 1, most} & set(range(most + 1))):
                number = (last - behind - before * turns) * line // self.model.flit_bytes
                came = train.last if number == train.whole else train.flit(number)
                ends.append(came + (before + 1) * bursts * burst_ns)
        return max(ends)

    def _last(self, trains: list[Train]) -> float:
        return max(train.last for train in trains)

    def _note(
        self, name: str, kind: str, trains: list[Train], t_out: float, nbytes: int, gbs: float | None = None
    ) -> None:
        self.hops.append(ZeroLoadHop(name, kind, trains[0].first, t_out, nbytes, gbs))


def _cache_gbs(slice_: Properties, is_write: bool) -> float:
    return float(slice_["cache_write_gbs" if is_write else "cache_gbs"])
