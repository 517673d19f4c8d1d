"""The machine of hardware.md once more, flit by flit with explicit queues; shares no code with the engine.

It reads the compiled graph (properties of components and links) and gets routes as lists of names.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from kernbench.support.pgraph import Edge, PropertyGraph
from tests.exact.reference.agenda import Agenda
from tests.exact.reference.contest import ContestedWire
from tests.exact.reference.credits import CreditWire, Lane, Limits, Node
from tests.exact.reference.places import (
    Access,
    ChannelRouter,
    Engines,
    Hbm,
    Message,
    Piece,
    Place,
    Sram,
    StoreAndForward,
    Tcm,
    Transit,
    Txn,
    Wire,
    flits,
)

TRANSIT = {"router", "switch", "ucie_port", "ucie_conn", "io_noc", "io_ucie", "io_ucie_conn"}


class Simulator:
    """Collects jobs, then runs them; ``txns`` are in order of their numbers."""

    def __init__(self, graph: PropertyGraph) -> None:
        self.agenda = Agenda()
        self.flit_bytes = int(graph.properties["flit_bytes"])
        self.txns: list[Txn] = []
        self.crossings = 0
        self._graph = graph
        self._places: dict[str, Place] = {}
        self._engines: dict[str, Engines] = {}
        self.contested: dict[str, ContestedWire] = {}
        """The wires that have an arbiter, by name of the link."""
        said = json.loads(str(graph.properties.get("links", "{}")))
        self._said = said
        self._policies = {where: one["arbiter"] for where, one in said.items() if "arbiter" in one}
        self._spread = max((one.get("vcs", 1) for one in said.values()), default=1)
        self._limited: set[str] = set()
        """Places that are reached by wires with buffers."""
        self._nodes: dict[str, Node] = {}
        self.limited: dict[str, CreditWire] = {}
        """The wires of places that finite buffers are at, by name of the link."""
        links = list(graph.edges("LINK")) if said else []
        for edge in links:
            if self._key(edge, "buffer_flits", 0):
                self._limited.add(edge.target)
        self._order = {edge.id: number for number, edge in enumerate(graph.edges("LINK"))}
        self._numbers = {edge.id: number for number, edge in enumerate(links)}
        self._to: defaultdict[str, list[Edge]] = defaultdict(list)
        for edge in links:
            self._to[edge.target].append(edge)

    def place(self, name: str) -> Place:
        """The component ``name``, made when a route first touches it."""
        found = self._places.get(name)
        if found is None:
            found = self._places[name] = self._make(name)
        return found

    def _make(self, name: str) -> Place:
        properties = self._graph.node(name).properties
        kind = str(properties["kind"])
        if kind == "hbm_ctrl":
            return Hbm(self.agenda, properties, self.flit_bytes)
        if kind == "sram":
            return Sram(self.agenda, properties, self.flit_bytes)
        if kind == "pe_tcm":
            return Tcm(self.agenda, properties, self.flit_bytes)
        if kind == "channel_router":
            return ChannelRouter(self.agenda, properties)
        if kind in TRANSIT or kind == "pe_dma" or properties.get("cut_through"):
            return Transit(self.agenda, properties)
        return StoreAndForward(self.agenda, properties)

    def engines(self, name: str) -> Engines:
        """The DMA engines of a PE_DMA or an M_CPU."""
        found = self._engines.get(name)
        if found is None:
            properties = self._graph.node(name).properties
            found = Engines(self.agenda, outstanding=int(properties.get("outstanding", 1)))
            if properties["kind"] == "pe_dma":
                pe = name.rpartition(".")[0]
                by_segment = f"{pe}.pe_baaw" in self._graph
                translator = self._graph.node(f"{pe}.pe_baaw" if by_segment else f"{pe}.pe_mmu").properties
                found = Engines(
                    self.agenda,
                    int(properties["read_engines"]),
                    int(properties["write_engines"]),
                    int(properties["outstanding"]),
                    float(translator["lookup_ns" if by_segment else "tlb_overhead_ns"]),
                )
            self._engines[name] = found
        return found

    def _key(self, edge: Edge, key: str, usual: Any) -> Any:
        """What is said of a link, or else of its kind."""
        for where in (edge.id, str(edge.properties["kind"])):
            found = self._said.get(where, {}).get(key)
            if found is not None:
                return found
        return usual

    def _node(self, name: str) -> Node:
        """The wires and lanes at place ``name``."""
        found = self._nodes.get(name)
        if found is None:
            place = self.place(name)

            there, of = list[Lane](), 0

            def lanes() -> list[Lane]:
                nonlocal there, of
                if of != len(self.limited):  # wires are made as messages take them
                    near = [self.limited.get(edge.id) for edge in self._to[name]]
                    there = [room.lane for wire in near if wire is not None for room in wire.rooms]
                    of = len(self.limited)
                return there

            found = self._nodes[name] = Node(place.wires.get, lanes)
        return found

    def _wire(self, names: Sequence[str]) -> None:
        for here, there in (*pairwise(names), *pairwise(names[::-1])):
            wires = self.place(here).wires
            if there not in wires:
                link = self._graph.edge(f"{here}->{there}").properties
                flight = float(link["delay_ns"])
                figures = self.agenda, float(link["bw_gbs"]), flight, self.place(there), self._issue(here)
                name = f"{here}->{there}"
                policy = self._policies.get(name, self._policies.get(str(link["kind"]), "fifo"))
                edge = self._graph.edge(name)
                flits = self._key(edge, "buffer_flits", 0) if self._said else 0
                if flits or here in self._limited:
                    inputs = {edge.source: self._numbers[edge.id] for edge in self._to[here]}
                    limits = Limits(
                        flits,
                        self._key(edge, "vcs", 1),
                        self._key(edge, "credit_ns", flight),
                        self._key(edge, "allocation_ns", 0.0),
                    )
                    wires[there] = self.limited[name] = CreditWire(
                        *figures, policy, self._numbers[name], inputs, limits, self._spread, self._node(here)
                    )
                    continue
                if policy == "fifo":
                    wires[there] = Wire(*figures)
                    continue
                inputs = {edge.source: self._numbers[edge.id] for edge in self._to[here]}
                wires[there] = self.contested[name] = ContestedWire(
                    *figures, policy, self._numbers[name], inputs
                )

    def _issue(self, name: str) -> float:
        """ns for which a message still takes an output of a component behind its last flit."""
        return float(self._graph.node(name).properties.get("issue_ns", 0.0))

    def dma(self, start: float, source: str, pieces: Sequence[Piece], *, writing: bool) -> None:
        """A DMA job: all pieces at once, over with the last answer."""
        engines = self.engines(source)
        for piece in pieces:
            self._wire(piece.route)
        left = len(pieces)

        def issue(engine: int) -> None:
            def answered(txn: Txn) -> None:
                nonlocal left
                left -= 1
                if not left:
                    engines.release(writing, engine)

            self._send(pieces, writing, start, answered)

        self.agenda.callback(start, lambda: engines.submit(writing, issue))

    def host(self, start: float, pieces: Sequence[Piece], *, writing: bool) -> None:
        """A host transfer: one transaction after the other is put onto the host's link, all at once."""
        for piece in pieces:
            self._wire(piece.route)

        self.agenda.callback(start, lambda: self._send(pieces, writing, start, lambda _: None))

    def multicast(self, start: float, routes: Sequence[Sequence[str]], nbytes: int) -> None:
        """One message from the beginning of all ``routes``, which fork, to their ends, at ``start``."""
        for route in routes:
            self._wire(route)
        ways: dict[str, tuple[str, ...]] = {}
        found = []
        for route in routes:
            joins = max(i for i, name in enumerate(route) if i == 0 or name in ways)
            way = (*ways.get(route[joins], ()), *route[joins:])
            ways |= {name: way[:i] for i, name in enumerate(way[:-1]) if name not in ways}
            found.append(way)

        def begin() -> None:
            first = self._fork(found, 0, nbytes)
            self.place(first.route[0]).send(first)

        self.agenda.callback(start, begin)

    def _fork(self, ways: Sequence[tuple[str, ...]], shared: int, nbytes: int) -> Message:
        """The message over the longest of ``ways``, from number ``shared`` on, with those that leave it."""
        longest = max(ways, key=len)
        piece = Piece(longest[-1], 0, nbytes, longest[shared:])
        txn = self._begin(piece, True, self.agenda.now, lambda _: None)
        sizes = flits(nbytes, self.flit_bytes)
        self.crossings += len(sizes) * (len(piece.route) - 1)
        message = Message(txn, piece.route, sizes, before=longest[shared - 1] if shared else "")
        leaves: defaultdict[tuple[int, int], list[tuple[str, ...]]] = defaultdict(list)
        for way in ways:
            if way != longest:
                at = next(i for i, (a, b) in enumerate(zip(way, longest, strict=False)) if a != b) - 1
                leaves[at, self._order[f"{way[at]}->{way[at + 1]}"]].append(way)
        for (at, _), group in sorted(leaves.items()):
            message.copies.setdefault(at - shared, []).append(self._fork(group, at, nbytes))
        return message

    def port(self, start: float, source: str, target: str, nbytes: int, *, writing: bool) -> None:
        """A part of a PE moves bytes through a port of its TCM."""
        tcm = self.place(target)
        assert isinstance(tcm, Tcm)

        def access() -> None:
            txn = self._begin(Piece(target, 0, nbytes, (source, target)), writing, start, lambda _: None)

            def over() -> None:
                txn.done = self.agenda.now + tcm.latency

            tcm.access(writing, nbytes, over)

        self.agenda.callback(start, access)

    def _begin(self, piece: Piece, writing: bool, submitted: float, end: Callable[[Txn], None]) -> Txn:
        txn = Txn(len(self.txns), piece, writing, submitted, end)
        self.txns.append(txn)
        return txn

    def _send(
        self, pieces: Sequence[Piece], writing: bool, submitted: float, end: Callable[[Txn], None]
    ) -> None:
        """A transaction for each piece; the requests of one access leave together."""
        accesses: list[list[Txn]] = []
        for piece in pieces:
            if piece.opens:
                accesses.append([])
            accesses[-1].append(self._begin(piece, writing, submitted, end))
        for txns in accesses:
            if len(txns) > 1:
                access = Access(txns[0].number, len(txns), len(txns), len(txns))
                for txn in txns:
                    txn.access = access
            messages = [self._message(txn) for txn in txns]
            self.place(messages[0].route[0]).send_together(messages)

    def _message(self, txn: Txn) -> Message:
        piece = txn.piece
        sizes = flits(piece.nbytes, self.flit_bytes)
        self.crossings += (len(sizes) + 1) * (len(piece.route) - 1)
        return Message(txn, piece.route, sizes if txn.writing else [0])

    def run(self) -> None:
        """To the end; everything must have been answered."""
        self.agenda.run()
        unanswered = [txn.number for txn in self.txns if txn.done < 0]
        assert not unanswered, f"transactions {unanswered} were never answered"
