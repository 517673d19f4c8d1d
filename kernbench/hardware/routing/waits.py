"""Which channel waits for which: what all routes of a machine make of its links.

Routes to one destination are a tree, so each part of it is walked once, however many routes go over it.
"""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx

from kernbench.errors import RoutingError
from kernbench.hardware.kinds import Passage, Traffic, component_kind
from kernbench.hardware.routing.fault_impact import entrances
from kernbench.hardware.routing.router import RouteCandidate, Router
from kernbench.hardware.routing.tables import RouteTable
from kernbench.hardware.topology.fields import LinkPart
from kernbench.hardware.topology.nodes import link_id
from kernbench.support import collector
from kernbench.support.pgraph import Node, PropertyGraph

Channel = tuple[str, int]
"""A link, and half of its virtual channels: 1 from a dateline on, else 0."""
Parts = Mapping[str, tuple[LinkPart, str]]
"""What is said of each link, and the links that a dateline of it holds for."""
_State = tuple[Channel | None, frozenset[str]]
"""The channel that a message holds, if it has finite buffers, and the datelines that it has crossed."""
_Known = dict[tuple[int, _State], _State]
_START: _State = (None, frozenset())
_TABLES = 8
"""So many trees are remembered."""


class Waits:
    """The channels that wait for each other on the routes of ``router``, links without buffers left out."""

    def __init__(self, router: Router, graph: PropertyGraph, parts: Parts, limited: set[str]) -> None:
        self._graph, self._parts = graph, parts
        self._links, self._shortest = router.links, router.shortest
        self._own = router.own_back
        self._mixed = router.one_way and not router.own_back
        """Answers go the way back, but where a link of it is one-way."""
        self._facts: dict[str, tuple[bool, str, Channel | None, Channel | None, bool]] = {}
        whole = {
            node.id
            for node in graph.nodes()
            if component_kind(node).passage is Passage.MESSAGES and not node.properties.get("cut_through")
        }
        for link in graph.edges("LINK"):
            part, ring = parts[link.id]
            halves = ((link.id, 0), (link.id, 1)) if link.id in limited else (None, None)
            self._facts[link.id] = (part.dateline, ring, *halves, link.target in whole)
        self._table: RouteTable | None = None
        self._trees: dict[RouteTable, tuple[_Known, _Known]] = {}
        self._ends: _Known
        """By place and state there, the state at the destination of the tree."""
        self._begun: _Known
        """By place and state at the destination, the state there."""
        self._begins: dict[int, _State] = {}
        """By list of first links, the state behind them."""
        self._arrived: set[tuple[int, _State]] = set()
        """Lists of last links, and states in which they were entered."""
        self._pairs: set[tuple[Channel, Channel]] = set()
        with collector.paused():
            self._ask()

    def channels(self) -> nx.DiGraph[Channel]:
        """Which channel waits for which."""
        return nx.DiGraph(sorted(self._pairs))

    def links(self) -> nx.DiGraph[str]:
        """The same without datelines."""
        return nx.DiGraph(sorted({(before[0], after[0]) for before, after in self._pairs}))

    def _ask(self) -> None:
        """Walk all routes there and back, by destination."""
        nodes = [node for node in self._graph.nodes() if node.properties["impl"]]
        kinds = {node.id: component_kind(node) for node in nodes}
        senders = [node for node in nodes if kinds[node.id].sends is not None]
        memories = [node for node in nodes if kinds[node.id].memory]
        commanders = [node for node in nodes if kinds[node.id].commands]
        for node in sorted(nodes, key=_place):
            kind = kinds[node.id]
            if kind.memory:
                for via in entrances(self._graph, node.id):
                    for sender in senders:
                        self._request(sender, node, kinds[sender.id].sends, via)
            if kind.commands:
                for sender in commanders:
                    self._request(sender, node, Traffic.COMMAND, "")
            if self._own:  # commands and their answers have the same routes
                for memory in memories if kind.sends is not None else ():
                    self._answer(memory, node, kind.sends)

    def _request(self, a: Node, b: Node, traffic: Traffic | None, via: str) -> None:
        """The route from ``a`` to ``b``, and the way back where answers take the same one."""
        if a is b or traffic is None:
            return
        try:
            there = self._shortest(a, b, traffic, via)
            back = None
            if self._mixed and not self._has_twins(there):
                back = self._shortest(b, a, traffic, "")
        except RoutingError:
            return
        self._along(there)
        if back is not None:
            self._along(back)
        elif not self._own:
            self._against(there)

    def _answer(self, b: Node, a: Node, traffic: Traffic | None) -> None:
        """The route of its own of an answer from ``b`` to ``a``; the way back where it has none."""
        if a is b or traffic is None:
            return
        try:
            self._along(self._shortest(b, a, traffic, ""))
        except RoutingError:
            for via in entrances(self._graph, b.id):
                try:
                    self._against(self._shortest(a, b, traffic, via))
                except RoutingError:
                    continue

    def _has_twins(self, way: RouteCandidate) -> bool:
        core = [self._links[number] for number in way.table.way(way.place)] if way.table else []
        return all(link_id(one.target, one.source) in self._parts for one in (*way.first, *core, *way.last))

    def _along(self, way: RouteCandidate) -> None:
        """Walk a route from its start to its end."""
        state = _START
        if (table := way.table) is not None:
            begin = self._begins.get(id(way.first))
            if begin is None:
                begin = self._begins[id(way.first)] = self._over(_START, [link.id for link in way.first])
            if table is not self._table:
                self._turn_to(table)
            found = self._ends.get((way.place, begin))
            state = self._to_root(table, way.place, begin) if found is None else found
        if (id(way.last), state) not in self._arrived:
            self._arrived.add((id(way.last), state))
            self._over(state, [link.id for link in way.last])

    def _against(self, way: RouteCandidate) -> None:
        """Walk a route from its end to its start."""
        state = self._over(_START, [link_id(link.target, link.source) for link in reversed(way.last)])
        if (table := way.table) is not None:
            if table is not self._table:
                self._turn_to(table)
            found = self._begun.get((way.place, state))
            state = self._from_root(table, way.place, state) if found is None else found
        self._over(state, [link_id(link.target, link.source) for link in reversed(way.first)])

    def _to_root(self, table: RouteTable, place: int, state: _State) -> _State:
        """The state in which a message comes to the destination of a tree."""
        new = []
        while (found := self._ends.get((place, state))) is None and (step := table.step(place)):
            new.append((place, state))
            number, place = step
            state = self._step(state, self._links[number].id)
        self._ends.update(dict.fromkeys(new, found or state))
        return found or state

    def _from_root(self, table: RouteTable, place: int, start: _State) -> _State:
        """The state in which an answer that left the destination in state ``start`` comes to a place."""
        new = []
        while (found := self._begun.get((place, start))) is None and (step := table.step(place)):
            new.append((place, step[0]))
            place = step[1]
        state = found or start
        for place, number in reversed(new):
            state = self._step(state, link_id(self._links[number].target, self._links[number].source))
            self._begun[place, start] = state
        return state

    def _turn_to(self, table: RouteTable) -> None:
        """Go on with another tree. A few are remembered: those of the parts that stand at one router."""
        self._table = table
        if table not in self._trees:
            if len(self._trees) >= _TABLES:
                self._trees.clear()
            self._trees[table] = ({}, {})
        self._ends, self._begun = self._trees[table]

    def _over(self, state: _State, links: list[str]) -> _State:
        for link in links:
            state = self._step(state, link)
        return state

    def _step(self, state: _State, link: str) -> _State:
        """The state behind a link."""
        before, crossed = state
        dateline, ring, lower, upper, whole = self._facts[link]
        if dateline:
            crossed |= {ring}
        channel = upper if ring in crossed else lower
        if before is not None and channel is not None:
            self._pairs.add((before, channel))
        return _START if whole else (channel, crossed)


def _place(node: Node) -> tuple[int, int, int]:
    """What stands at one router comes together: a PE with the HBM slice of its number."""
    p = node.properties
    return int(p["sip"]), int(p["cube"]), int(p.get("slice", p["pe"]))
