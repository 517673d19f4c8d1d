"""Multicasts: every end as the closed form says, and under load as the independent reference has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from kernbench.analysis.routes.zero_load import ZeroLoadModel
from kernbench.engine.components import access
from kernbench.engine.components.multicast import Leg, branches_of, legs_of
from kernbench.engine.core.transaction import Path, Transaction
from kernbench.engine.machine.machine import Machine
from kernbench.errors import RoutingError
from kernbench.hardware.kinds import Traffic
from kernbench.support.pgraph import PropertyGraph
from tests import names
from tests.exact.message_times import message_ns
from tests.exact.reference.cases import Case, Ends, bench, cases
from tests.examples import examples
from tests.grids import GRIDS, grid

LOADED = ["two cubes", "four cubes", "two SIPs", "penalties", "arbiters", "latencies, arbiters",
          "two cubes, serial", "arbiters, serial"]  # fmt: skip


@dataclass(frozen=True)
class Cast:
    """PEs are numbers, modulo those that the machine has."""

    source: int
    targets: tuple[int, ...]
    nbytes: int
    start: float


def graph_of(name: str) -> PropertyGraph:
    return grid(name) if name in GRIDS else bench(name).graph


def dmas(graph: PropertyGraph) -> list[str]:
    return [node.id for node in graph.nodes() if node.properties["kind"] == "pe_dma"]


def ends_of(cast: Cast, all_: Sequence[str]) -> tuple[str, list[str]]:
    source = all_[cast.source % len(all_)]
    to = [name for name in dict.fromkeys(all_[t % len(all_)] for t in cast.targets) if name != source]
    return source, to or [next(name for name in all_ if name != source)]


def send(machine: Machine, cast: Cast) -> list[Leg]:
    """Put the multicast onto the fabric, as the queues do."""
    source, to = ends_of(cast, dmas(machine.graph))
    legs = legs_of([machine.path(source, end, Traffic.PE_DMA) for end in to])

    def begin(leg: Leg) -> Transaction:
        return machine.begin("cast", leg.path, cast.nbytes, machine.clock.now, is_write=True)

    for trunk in legs:
        whole = begin(trunk)
        branches = branches_of(trunk, whole, machine.fabric.flit_bytes, begin)
        access.send(machine.component(source), [whole], branches)
    return legs


def ways(leg: Leg) -> list[tuple[list[str], list[str]]]:
    """The components and links on the way to each end of the tree."""
    nodes, links = [n.resource for n in leg.path.nodes], [link.resource for link in leg.path.links]
    found = [(nodes, links)]
    for hop, others in leg.branches.items():
        for one in others:
            found += [(nodes[:hop] + more, links[:hop] + over) for more, over in ways(one)]
    return found


CASTS = st.builds(
    Cast,
    st.integers(0, 23),
    st.lists(st.integers(0, 23), min_size=1, max_size=9).map(tuple),
    st.one_of(st.integers(0, 600), st.integers(0, 9000)),
    st.integers(0, 40).map(lambda n: n * 2.0),
)


@pytest.mark.daily(but=("four cubes", "two SIPs"))
@pytest.mark.parametrize("name", [*GRIDS, "four cubes", "two SIPs", "penalties", "two cubes, serial"])
@examples(40, suppress_health_check=[HealthCheck.too_slow])
@given(cast=CASTS)
def test_each_end_is_reached_as_a_message_to_it_alone_would(name: str, cast: Cast) -> None:
    """On an idle machine, by two closed forms that share no code with the engine."""
    graph, seen = graph_of(name), Ends()
    machine = Machine(graph, [seen], check=True)
    legs = send(machine, cast)
    machine.drain()
    ended = {t.dst: t for t in seen.transactions}
    _, to = ends_of(cast, dmas(graph))
    assert ended.keys() == set(to)
    formula = ZeroLoadModel(graph)
    crossed: list[str] = []
    for trunk in legs:
        for nodes, links in ways(trunk):
            took = ended[nodes[-1]].t_done
            path = Path(
                [machine.component(n) for n in nodes], [machine.link(*link.split("->")) for link in links],
                [False] * len(nodes), False,
            )  # fmt: skip
            assert took == pytest.approx(message_ns(machine.fabric.flit_bytes, path, cast.nbytes), abs=1e-9)
            if name != "fed torus":  # here its bytes do not come from a TCM
                assert took == pytest.approx(formula.message(nodes, cast.nbytes).ns, abs=1e-9)
            crossed += links
    one_message = -(-max(1, cast.nbytes) // machine.fabric.flit_bytes)
    assert machine.fabric.flit_crossings == one_message * len(set(crossed))  # each link carries it once
    assert sum(link.bytes for link in machine.links.values()) == cast.nbytes * len(set(crossed))


CROSSING = [
    Cast(15, (23, 12, 22, 13), 4096, 0.0),
    Cast(11, (1, 4), 4096, 0.0),
    Cast(8, (20, 9, 13, 16, 12), 4096, 2.0),
]
"""At a router copies and another message come over one link, and have one turn beside a third input."""


@pytest.mark.daily("arbiters", "two cubes, serial", "penalties")
@pytest.mark.parametrize("name", LOADED)
@examples(40, suppress_health_check=[HealthCheck.too_slow])
@example(casts=CROSSING, traffic=())
@given(casts=st.lists(CASTS, min_size=1, max_size=6), traffic=cases(most_flows=6))
def test_under_load_each_end_is_reached_as_in_the_reference(
    name: str, casts: list[Cast], traffic: Case
) -> None:
    where = bench(name)
    reference = where.expected_before(traffic)
    for cast in casts:
        source, to = ends_of(cast, dmas(where.graph))
        routes = [where.router.route(source, end, Traffic.PE_DMA).nodes for end in to]
        reference.multicast(cast.start, routes, cast.nbytes)
    reference.run()
    machine, ended = where.measured(traffic, True, [(cast.start, send, cast) for cast in casts])
    assert len(ended) == len(reference.txns)
    for got, wanted in zip(ended, reference.txns, strict=True):
        assert (got.id, got.dst, got.nbytes) == (wanted.number, wanted.piece.target, wanted.piece.nbytes)
        assert got.t_submit == pytest.approx(wanted.submitted, abs=1e-9)
        assert got.t_done == pytest.approx(wanted.done, abs=1e-9)
    assert machine.fabric.flit_crossings == reference.crossings


def test_links_with_finite_buffers_are_refused() -> None:
    machine = Machine(bench("buffers").graph)
    source, *to = [names.pe_part(0, 0, pe, "pe_dma") for pe in range(4)]
    with pytest.raises(RoutingError, match="whose buffers are finite; leave buffer_flits of its kind out"):
        legs_of([machine.path(source, end, Traffic.PE_DMA) for end in to])
