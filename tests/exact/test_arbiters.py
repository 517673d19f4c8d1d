"""Links at which an arbiter decides: turns and waits by hand, and what the checker sees."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kernbench.engine.arbiters.fifo import Fifo
from kernbench.engine.arbiters.oldest_first import OldestFirst
from kernbench.engine.arbiters.round_robin import RoundRobin
from kernbench.engine.arbiters.weighted_round_robin import WeightedRoundRobin
from kernbench.engine.core.clock import Clock
from kernbench.engine.core.fabric import Fabric
from kernbench.engine.core.fifo_monitor import PortMonitor
from kernbench.engine.core.inputs import InputQueue
from kernbench.engine.core.node import TRANSIT, FabricNode, Link, path_over
from kernbench.engine.core.port import Arbiter, Port
from kernbench.engine.core.server import Server
from kernbench.engine.core.transaction import Packet, Transaction
from kernbench.errors import ConfigError, InvariantError, UsageError
from kernbench.support.pgraph import Edge
from tests.exact.reference.cases import TOPOLOGIES, Bench
from tests.exact.test_reference_agreement import patterned

HERE = __name__
KINDS = ("router_mesh", "ucie_mesh")


def with_arbiter(name: str, **more: str) -> dict[str, object]:
    return {kind: {"arbiter": arbiter} for kind, arbiter in {**dict.fromkeys(KINDS, name), **more}.items()}


class Asked(Fifo):
    """First come first served, but asked: only the class itself is worked out on arrival."""


PASSING: dict[str, object] = {
    "system.sips": 1, "sip.cube_mesh": {"w": 2, "h": 1}, "cube.pes.count": 4, "cube.hbm.pseudo_channels": 16,
    "system.ns_per_mm": 0.0173, "cube.router.overhead_ns": 0.0, "cube.ucie.overhead_ns": 0.0,
    "cube.hbm.switch_penalty_ns": 7.0,
}  # fmt: skip
"""Routers hold nothing back. Where they do, flits leave at one time, and go by transaction on arrival."""


def test_what_is_worked_out_on_arrival_is_what_would_be_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    flows = [
        replace(flow, start=flow.start + 0.0137 * number)
        for number, flow in enumerate(patterned("hot spots", 3, 40, 3000))
    ]
    monkeypatch.setitem(TOPOLOGIES, "passing", (None, PASSING))  # type: ignore[index]
    machine = Bench("passing")
    plain, ended = machine.measured(flows, True)
    monkeypatch.setitem(machine.graph.properties, "links", json.dumps(with_arbiter(f"{HERE}:Asked")))
    asked, again = Bench("passing").measured(flows, True)
    assert not any(link.port for link in plain.links.values())
    assert sum(link.port is not None for link in asked.links.values()) > 100
    assert sum(len(one.waits) for one in ended) > 100
    for one, same in zip(ended, again, strict=True):
        assert (one.id, one.t_done, one.hops, one.waits) == (same.id, same.t_done, same.hops, same.waits)
    for link, other in zip(plain.links.values(), asked.links.values(), strict=True):
        for counted in ("bytes", "busy_ns", "wait_ns", "transactions", "max_queue"):
            assert getattr(link, counted) == getattr(other, counted), (link.resource, counted)


class Lane:
    """Two nodes that send over one link: a and b to c, and from there to d. 1 ns a flit from c on."""

    def __init__(self, arbiter: type[Arbiter]) -> None:
        self.clock = Clock()
        self.fabric = Fabric(self.clock, 256)
        self.nodes = {name: Stop(name, 0.0) for name in "abcd"}
        self.nodes["c"].role = TRANSIT
        self.links = {way: self._link(way) for way in ("ac", "bc", "cd")}
        for number, server in enumerate([*self.nodes.values(), *self.links.values()]):
            server.index = number
        self.port = self.links["cd"].port = Port(
            self.links["cd"], arbiter(self.links["cd"]), self.clock.entries
        )

    def _link(self, way: str) -> Link:
        figures = {"kind": "wire", "bw_gbs": 256.0 if way == "cd" else 512.0, "delay_ns": 0.25}
        return Link(Edge(way, way[0], way[1], "LINK", figures), 256)

    def send(self, number: int, source: str, flits: int) -> Transaction:
        path = path_over(
            [self.nodes[n] for n in (source, "c", "d")], [self.links[source + "c"], self.links["cd"]]
        )
        sent = Transaction(number, "write", source, "d", 256 * flits, self.clock.now, path)
        self.fabric.send(Packet(sent, path, 256 * flits, 256))
        return sent

    def run(self) -> None:
        while len(self.clock.entries):
            self.clock.step()


class Stop(FabricNode):
    def receive(self, packet: Packet) -> None:
        """The journey ends here."""


# Flits stand before the link at 0.75, 1.25, 1.75 (a) and at 1.5, 2.0 (b).
BY_HAND = {
    RoundRobin: ("ababa", [(1, 1.0 + 1.0)], [(0, 1.0)]),
    OldestFirst: ("aaabb", [], [(0, 0.75 + 1.0)]),
    Fifo: ("aabab", [(1, 1.0)], [(0, 0.75 + 1.0)]),
}
"""Who goes when, and for whom the last flits of a and b wait, ns."""


@pytest.mark.parametrize("arbiter", BY_HAND)
def test_turns_and_waits_by_hand(arbiter: type[Arbiter]) -> None:
    turns, waits_of_a, waits_of_b = BY_HAND[arbiter]
    lane, seen = Lane(arbiter), Uses()
    lane.port.watcher = seen
    a = lane.send(0, "a", 3)
    lane.clock.run(until=0.75)
    b = lane.send(1, "b", 2)
    lane.run()
    assert "".join("ab"[number] for number, _ in seen.uses) == turns
    assert [start for _, start in seen.uses] == [0.75, 1.75, 2.75, 3.75, 4.75]
    assert [(wait.holder, wait.ns) for wait in a.waits] == waits_of_a
    assert [(wait.holder, wait.ns) for wait in b.waits] == waits_of_b
    for sent in (a, b):
        row = sent.rows[-2]
        assert row.resource == lane.links["cd"].index
        assert row.wait_ns == sum(wait.ns for wait in sent.waits)
        assert row.t_out - row.service_ns - row.wait_ns == sent.rows[-3].t_out


def test_inputs_have_as_many_turns_as_their_weight() -> None:
    lane, seen = Lane(WeightedRoundRobin), Uses()
    lane.port.watcher = seen
    lane.port.arbiter.inputs = (lane.nodes["c"], lane.links["ac"], lane.links["bc"])
    lane.links["ac"].edge.properties["weight"] = 2
    lane.send(0, "a", 6)
    lane.send(1, "b", 3)
    lane.run()
    assert "".join("ab"[number] for number, _ in seen.uses) == "aabaabaab"


def test_a_weight_is_a_whole_number() -> None:
    lane = Lane(WeightedRoundRobin)
    lane.port.arbiter.inputs = (lane.nodes["c"], lane.links["ac"], lane.links["bc"])
    lane.links["ac"].edge.properties["weight"] = 0
    lane.send(0, "a", 2)
    lane.send(1, "b", 2)
    with pytest.raises(ConfigError, match="link 'ac': attribute 'weight' is 0, expected an integer"):
        lane.run()


class Uses:
    """Notes who is carried from when on."""

    def __init__(self) -> None:
        self.uses: list[tuple[int, float]] = []

    def occupied(self, server: Server, time: float, duration: float, start: float, owner: Any) -> None:
        self.uses.append((owner.id, start))


def test_of_many_holders_the_oldest_share_an_entry() -> None:
    """12 others go before: 7 have an entry each, and 5 one in the name of the oldest."""
    port = Lane(OldestFirst).port
    others = [port.link.edge.id + str(number) for number in range(12)]
    for number, other in enumerate(others):
        port.occupy(float(number), 1.0, other)
    port.occupy(12.0, 1.0, "me")
    parts = port.log.answer(port.blockers("me", 0.5, 12.0))
    assert [(holder, ns, holders) for holder, ns, _, _, holders in parts] == [
        ("cd0", 4.5, 5), *((f"cd{number}", 1.0, 1) for number in range(5, 12))
    ]  # fmt: skip


class Lost(Arbiter):
    def pick(self, lines: list[InputQueue], last: int) -> int:
        return len(lines)


def test_a_line_that_does_not_exist_is_an_error() -> None:
    lane = Lane(Lost)
    lane.send(0, "a", 2)
    lane.send(1, "b", 2)
    with pytest.raises(UsageError, match=r"arbiter 'Lost' of link 'cd' picks line 2, expected 0 to 1"):
        lane.run()


def test_the_checker_sees_a_port_that_carries_two_at_a_time() -> None:
    lane = Lane(RoundRobin)
    one, other = (lane.send(number, "ab"[number], 1) for number in (0, 1))
    monitor = PortMonitor(lane.port)
    monitor.occupied(lane.port, 1.0, 1.0, 1.0, one)
    monitor.occupied(lane.port, 2.0, 1.0, 2.0, other)
    with pytest.raises(InvariantError, match="while another is until 3") as error:
        monitor.occupied(lane.port, 2.5, 1.0, 2.5, one)
    assert error.value.invariant == "capacity"
