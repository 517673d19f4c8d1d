"""What networkx finds of routes on a machine's graph, and a store's answers beside it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import networkx as nx
import pytest

import kernbench as kb
from kernbench.errors import KernBenchError, RoutingError
from kernbench.hardware.routing import Traffic
from kernbench.support.pgraph import GraphStore, PropertyGraph
from tests.property.test_routing_properties import allowed

MOST_LINKS = 1 << 20
"""More than a way can have, so that weights are compared first and numbers of links second."""
Digraph = nx.DiGraph


@dataclass(frozen=True)
class Asked:
    """A machine and what is asked about it: ``(src, dst, traffic)``, and something to lose for each."""

    graph: PropertyGraph
    pairs: list[tuple[str, str, str]]
    lost: list[str]


def transactions_of(case: Asked) -> list[dict[str, Any]]:
    """One transaction for every pair, and for the first a second one."""
    kinds = {"PE_DMA": "dma_read", "MCPU_DMA": "dma_write", "HOST_MEMORY": "host_read", "COMMAND": "launch"}
    return [
        {"number": n, "kind": kinds[traffic], "src": src, "dst": dst, "bytes": 1, "t_submit": 0.0,
         "t_done": 1.0, "service_ns": 1.0, "wait_ns": 0.0, "op": -1}
        for n, (src, dst, traffic) in enumerate([*case.pairs, case.pairs[0]])
    ]  # fmt: skip


class Machine:
    """A compiled graph as networkx sees it."""

    def __init__(self, graph: PropertyGraph) -> None:
        self.graph = graph
        self.links = {edge.id: edge for edge in graph.edges("LINK")}
        self._ways: dict[tuple[str, str, str], Digraph[str]] = {}

    @cached_property
    def wires(self) -> Digraph[str]:
        """All links, whatever may use them, with their ``capacity``."""
        wires: Digraph[str] = nx.DiGraph()
        for link in self.links.values():
            wires.add_edge(*link.id.split("->"), capacity=link.properties["bw_gbs"])
        return wires

    def flow(self, first: set[str], second: set[str], gone: Iterable[str] = ()) -> float:
        """The most that gets from all of the first set to all of the second without some links, GB/s."""
        wires = left_without(self.wires, *gone)
        wires.add_edges_from(("from", name) for name in first)
        wires.add_edges_from((name, "to") for name in second)
        return float(nx.maximum_flow_value(wires, "from", "to"))

    def ways(self, src: str, dst: str, traffic: str) -> Digraph[str]:
        """The links usable from ``src`` to ``dst``; they have ``nm`` and ``ns``."""
        key = (src, dst, traffic)
        if key not in self._ways:
            self._ways[key] = allowed(self.graph, src, dst, Traffic(traffic))
        return self._ways[key]

    def left(self, src: str, dst: str, traffic: str, lost: str) -> Digraph[str]:
        """The same, without what fails with ``lost``."""
        return left_without(self.ways(src, dst, traffic), *(self.gone(lost) if lost else ()))

    def overhead(self, name: str) -> float:
        return float(self.graph.node(name).properties["overhead_ns"])

    def wire(self, a: str, b: str) -> float:
        return float(self.links[f"{a}->{b}"].properties["delay_ns"])

    def gone(self, lost: str) -> set[str]:
        """Links that are lost with ``lost``, a link (then its twin, too), a component or a group."""
        if lost in self.links:
            a, _, b = lost.partition("->")
            return {lost, f"{b}->{a}"}
        inside, todo = set(), [lost]
        while todo:
            inside.add(todo[-1])
            todo += [edge.target for edge in self.graph.out_edges(todo.pop(), "CONTAINS")]
        return {name for name, edge in self.links.items() if {edge.source, edge.target} & inside}

    def best(self, ways: Digraph[str], src: str, dst: str) -> tuple[float, float, float] | None:
        """Least weight in mm; least and most ns among all ways of that weight that have fewest links."""
        if not {src, dst} <= set(ways):
            return None

        def cost(a: str, b: str, edge: dict[str, int]) -> int:
            return edge["nm"] * MOST_LINKS + 1

        ahead = nx.single_source_dijkstra_path_length(ways, src, weight=cost)
        behind = nx.single_source_dijkstra_path_length(ways.reverse(copy=False), dst, weight=cost)
        total = ahead.get(dst)
        if total is None:
            return None
        tight: Digraph[str] = nx.DiGraph()
        tight.add_node(src)
        for a, b, nm in ways.edges(data="nm"):
            if a in ahead and b in behind and ahead[a] + nm * MOST_LINKS + 1 + behind[b] == total:
                tight.add_edge(a, b)
        ns = {src: (self.overhead(src), self.overhead(src))}
        for node in nx.topological_sort(tight):
            for after in tight.successors(node):
                here = [t + self.wire(node, after) + self.overhead(after) for t in ns[node]]
                there = ns.get(after, (here[0], here[1]))
                ns[after] = (min(here[0], there[0]), max(here[1], there[1]))
        return total // MOST_LINKS / 1e6, *ns[dst]


class Asking:
    """Asks a store about one machine, and checks what it answers."""

    def __init__(self, store: GraphStore, run: str, machine: Machine) -> None:
        self.store, self.run, self.machine = store, run, machine

    def ask(self, name: str, **params: object) -> list[dict[str, Any]]:
        return kb.ask(f"routing/{name}", self.run, self.store, params).dicts()

    def path(self, src: str, dst: str, traffic: str, lost: str = "") -> list[dict[str, Any]]:
        ways = self.machine.left(src, dst, traffic, lost)
        best = self.machine.best(ways, src, dst)
        ask = partial(self.ask, "path", src=src, dst=dst, traffic=traffic, lost=lost)
        if best is None:
            none = f"no route from '{src}' to '{dst}'"
            with pytest.raises(RoutingError, match=f"without '{lost}': .*no (route|wires)" if lost else none):
                ask()
            return []
        rows = ask()
        passed = [src, *(row["component"] for row in rows)]
        assert [row["link"] for row in rows] == [f"{a}->{b}" for a, b in itertools.pairwise(passed)]
        assert all(ways.has_edge(a, b) for a, b in itertools.pairwise(passed))
        assert passed[-1] == dst or (not rows and src == dst)
        assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
        for row in rows:
            link = self.machine.links[row["link"]].properties
            assert (row["kind"], row["weight"]) == (link["kind"], link["routing_weight"])
            assert (row["path_weight"], row["hops"]) == (best[0], len(rows))
            a, b = row["link"].split("->")
            assert [str(node["name"]) for node in row["path"].nodes] == [a, row["link"], b]
            assert [one.type for one in row["path"].relationships] == ["LEAVES_BY", "LEADS_TO"]
        assert sum(round(row["weight"] * 1e6) for row in rows) == round(best[0] * 1e6)
        return rows

    def shared(
        self, pair: tuple[str, str, str], other: tuple[str, str, str], lost: str = ""
    ) -> list[dict[str, Any]]:
        src, dst, traffic = pair
        ends = {"src": src, "dst": dst, "other_src": other[0], "other_dst": other[1], "traffic": traffic,
                "lost": lost}  # fmt: skip
        ways = [(*pair, lost), (other[0], other[1], traffic, lost)]
        if any(self.machine.best(self.machine.left(*way), *way[:2]) is None for way in ways):
            with pytest.raises(RoutingError, match=r"no (route|wires)"):
                self.ask("shared-links", **ends)
            return []
        first, second = ([row["link"] for row in self.path(*way)] for way in ways)
        rows = self.ask("shared-links", **ends)
        assert [(row["seq"], row["other_seq"], row["link"]) for row in rows] == [
            (n, second.index(link) + 1, link) for n, link in enumerate(first, 1) if link in second
        ]
        for row in rows:
            link = self.machine.links[row["link"]].properties
            assert (row["kind"], row["bw_gbs"]) == (link["kind"], link["bw_gbs"])
        return rows

    def distances(self, src: str, dst: str, traffic: str) -> list[dict[str, Any]]:
        kind = str(self.machine.graph.node(dst).properties["kind"])
        try:
            rows = self.ask("distances", src=src, kind=kind, traffic=traffic, limit=10_000)
        except RoutingError:
            with pytest.raises(RoutingError, match=f"unreachable from '{src}' for {traffic}"):
                self.ask("distances", src=src, kind=kind, traffic=traffic)
            rows = []
        self.check_distances(rows, src, traffic, kind)
        for row in rows:
            if row["component"] == dst and row["reachable"]:
                assert row["hops"] == len(self.path(src, dst, traffic))
        return rows

    def check_distances(self, rows: list[dict[str, Any]], src: str, traffic: str, kind: str) -> None:
        """Every component of the kind ("" for any) has a row; figures are empty where no route leads."""
        left = {row["component"]: row for row in rows}
        assert len(left) == len(rows)
        for node in self.machine.graph.nodes():
            if not node.properties["impl"] or kind not in ("", node.properties["kind"]):
                continue
            best = self.machine.best(self.machine.ways(src, node.id, traffic), src, node.id)
            if not rows and best is None:
                continue  # none of the kind is reachable, which is an error that names the kind
            row = left.pop(node.id)
            assert (row["kind"], row["reachable"]) == (node.properties["kind"], best is not None)
            if best is None:
                assert (row["weight"], row["hops"], row["ns"]) == (None, None, None)
            else:
                assert row["weight"] == best[0]
                assert best[1] - 1e-9 <= row["ns"] <= best[2] + 1e-9
        assert not left
        order = [(not row["reachable"], row["ns"] or 0.0, row["component"]) for row in rows]
        assert order == sorted(order)

    def within(self, src: str, dst: str, traffic: str, lost: str = "") -> list[dict[str, Any]]:
        kind = str(self.machine.graph.node(dst).properties["kind"])
        given: dict[str, object] = {"src": src, "kind": kind, "traffic": traffic, "lost": lost}
        try:
            far = self.ask("distances", **given, limit=10_000)
        except RoutingError:
            with pytest.raises(RoutingError, match="unreachable"):
                self.ask("within", **given, within_ns=1.0)
            return []
        far = [row for row in far if row.pop("reachable")]
        limit = far[len(far) // 2]["ns"]
        rows = self.ask("within", **given, within_ns=limit, limit=10_000)
        assert rows == [row for row in far if row["ns"] <= limit]
        assert self.ask("within", **given, within_ns=limit, limit=1) == rows[:1]
        return rows

    def points(self, src: str, dst: str, traffic: str) -> list[dict[str, Any]]:
        ways = self.machine.ways(src, dst, traffic)
        if src == dst or not nx.has_path(ways, src, dst):
            return []  # what is said then is checked below
        rows = self.ask("single-points", src=src, dst=dst, traffic=traffic)
        way = nx.shortest_path(ways, src, dst)
        passed = [place for a, b in itertools.pairwise(way) for place in (f"{a}->{b}", b)][:-1]
        expected = [place for place in passed if not nx.has_path(left_without(ways, place), src, dst)]
        assert [row["resource"] for row in rows] == expected
        assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
        return rows

    def shortest(self, pair: tuple[str, str, str], lost: str) -> list[dict[str, Any]]:
        """Of the whole machine, and of that without ``lost``: the first are the lightest that there are."""
        src, dst, traffic = pair
        found: list[dict[str, Any]] = []
        for less in (lost, ""):
            ways = self.machine.left(*pair, less)
            ask = partial(self.ask, "shortest-routes", src=src, dst=dst, traffic=traffic, lost=less, count=4)
            if src == dst or not nx.has_path(ways, src, dst):
                with pytest.raises(KernBenchError, match="one component" if src == dst else "no "):
                    ask(limit=10_000)
                continue
            routes: dict[int, list[dict[str, Any]]] = {}
            for row in ask(limit=10_000):
                routes.setdefault(row["rank"], []).append(row)
            lightest = itertools.islice(nx.shortest_simple_paths(ways, src, dst, weight="nm"), 4)
            weights = [nx.path_weight(ways, way, "nm") for way in lightest]
            assert [round(rows[0]["route_weight"] * 1e6) for rows in routes.values()] == weights
            assert [*routes] == [*range(1, len(weights) + 1)]
            assert [row["link"] for row in routes[1]] == [row["link"] for row in self.path(*pair, less)]
            passed = [[src, *(row["component"] for row in rows)] for rows in routes.values()]
            assert len({*map(tuple, passed)}) == len(passed)
            for way, rows in zip(passed, routes.values(), strict=True):
                assert nx.is_simple_path(ways, way)
                assert way[-1] == dst
                assert [row["link"] for row in rows] == [f"{a}->{b}" for a, b in itertools.pairwise(way)]
                ns = sum(map(self.machine.overhead, way)) + sum(
                    itertools.starmap(self.machine.wire, itertools.pairwise(way))
                )
                bare = [self.machine.links[row["link"]].properties["bw_gbs"] for row in rows]
                assert [row["gbs"] for row in rows] == bare
                of = {
                    (row["route_weight"], row["route_hops"], row["route_ns"], row["route_gbs"])
                    for row in rows
                }
                ((weight, hops, took, width),) = of
                assert (round(weight * 1e6), hops) == (nx.path_weight(ways, way, "nm"), len(rows))
                assert (took, width) == (pytest.approx(ns), min(bare))
                found += rows
        return found

    def minimum_cut(self, src: str, dst: str, traffic: str, lost: str) -> list[dict[str, Any]]:
        """Of the whole machine, and of that without ``lost``."""
        found: list[dict[str, Any]] = []
        for less in ("", lost):
            gone = self.machine.gone(less) if less else set()
            most = self.machine.flow({src}, {dst}, gone) if src != dst else 0.0
            if not most:
                continue  # an error, as tests/unit/test_least_cuts.py has it
            rows = self.ask("minimum-cut", src=src, dst=dst, lost=less)
            assert sum(row["gbs"] for row in rows) == pytest.approx(most)
            assert [row["cut_gbs"] for row in rows] == pytest.approx([most] * len(rows))
            left = left_without(self.machine.wires, *gone, *(row["link"] for row in rows))
            assert not nx.has_path(left, src, dst)
            found += rows
        return found

    def bisection(self) -> list[dict[str, Any]]:
        """Over packages, or over the cubes of one: these machines have few of them."""
        places = {
            node.id: [node.properties[key] for key in ("sip", "cube")] for node in self.machine.graph.nodes()
        }
        level = 1 if len({sip for sip, cube in places.values() if cube >= 0}) > 1 else 2
        of: dict[tuple[int, ...], set[str]] = {}
        for name, place in places.items():
            if min(place[:level]) >= 0:
                of.setdefault(tuple(place[:level]), set()).add(name)
        if len(of) < 2:
            return []
        halves = itertools.combinations(of, len(of) // 2)
        least = min(
            self.machine.flow(
                *(set().union(*(of[one] for one in of if (one in half) == here)) for here in (True, False))
            )
            for half in halves
        )
        rows = self.ask("bisection")
        assert [row["bisection_gbs"] for row in rows] == pytest.approx([least] * len(rows))
        assert all(row["exact"] for row in rows)
        assert sum(row["gbs"] for row in rows) == pytest.approx(least)
        return rows

    def loss(self, case: Asked, lost: str) -> list[dict[str, Any]]:
        gone = self.machine.gone(lost)
        rows = {
            (r["src"], r["dst"], r["traffic"]): r for r in self.ask("fault-impact", lost=lost, limit=10_000)
        }
        answer = list(rows.values())
        for pair in dict.fromkeys(case.pairs):
            if not self.machine.best(self.machine.ways(*pair), *pair[:2]):
                continue
            used = {row["link"] for row in self.path(*pair)}
            assert bool(used & gone) == (pair in rows)
            if used & gone:
                row = rows.pop(pair)
                sent = [
                    transaction
                    for transaction in transactions_of(case)
                    if (transaction["src"], transaction["dst"]) == pair[:2]
                ]
                best = self.machine.best(self.machine.ways(*pair), *pair[:2])
                new = self.machine.best(left_without(self.machine.ways(*pair), *gone), *pair[:2])
                assert (row["transactions"], row["reachable"]) == (len(sent), new is not None)
                assert best is not None
                assert row["weight"] == best[0]
                assert best[1] - 1e-9 <= row["ns"] <= best[2] + 1e-9
                assert row["new_weight"] == (new[0] if new else None)
                detour = self.detour(lost, *pair)
                if new is None:
                    assert row["new_ns"] is None
                    assert not detour
                else:
                    assert new[1] - 1e-9 <= row["new_ns"] <= new[2] + 1e-9
                    passed = [pair[0], *(link.split("->")[1] for link in detour)]
                    assert detour == [f"{a}->{b}" for a, b in itertools.pairwise(passed)]
                    assert passed[-1] == pair[1]
                    assert not gone & {*detour}
                    weights = [self.machine.links[name].properties["routing_weight"] for name in detour]
                    assert round(sum(map(float, weights)) * 1e6) == round(new[0] * 1e6)
        assert not rows
        return answer

    def equal(self, lost: str) -> list[dict[str, Any]]:
        """Against the rows of fault-impact, which are checked; no link of these runs was used."""
        rows = self.ask("equal-routes", lost=lost, limit=10_000)
        same = {
            (row["src"], row["dst"], row["traffic"]): row
            for row in self.ask("fault-impact", lost=lost, limit=10_000)
            if row["reachable"] and row["weight"] == row["new_weight"]
        }
        assert len(rows) == len(same)
        for row in rows:
            pair = (row["src"], row["dst"], row["traffic"])
            assert (row["transactions"], row["weight"]) == (same[pair]["transactions"], same[pair]["weight"])
            assert row["links"] == row["unused_links"] == len(self.detour(lost, *pair))
            assert row["busiest"] == 0.0
        return rows

    def detour(self, lost: str, src: str, dst: str, traffic: str) -> list[str]:
        """The links of the new route, as a text of a user's own finds them."""
        found = kb.ask_cypher(
            "MATCH (:Run {id: $run})-[:WORKED_OUT]->(:Fault {name: $lost})-[:REROUTES]->"
            "(d:Detour {src: $src, dst: $dst, traffic: $traffic})-[x:PASSES]->(l:Link) "
            "RETURN l.name AS link ORDER BY x.seq",
            self.run, self.store, {"lost": lost, "src": src, "dst": dst, "traffic": traffic},
            engine="ladybug" if "ladybug" in self.store.engines else None,
        )  # fmt: skip
        return [row[0] for row in found.rows]


def left_without(ways: Digraph[str], *places: str) -> Digraph[str]:
    """``ways`` without those links and components."""
    wires = [place.split("->") for place in places if "->" in place]
    rest = nx.DiGraph(ways)
    rest.remove_edges_from([(a, b) for a, b in wires])
    rest.remove_nodes_from([place for place in places if "->" not in place])
    return rest
