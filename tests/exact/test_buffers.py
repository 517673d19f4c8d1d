"""Finite buffers: times by hand, routes that can deadlock and runs that do, keys that do not go together."""

from __future__ import annotations

from math import fsum
from pathlib import Path

import pytest

import kernbench as kb
from kernbench.api.topologies import check_routes
from kernbench.engine.arbiters.priority import Priority
from kernbench.engine.machine.machine import Machine
from kernbench.errors import ConfigError, DeadlockError
from tests.compiled import compiled
from tests.exact.reference.cases import Agreement
from tests.exact.test_arbiters import Lane
from tests.exact.test_reference_agreement import patterned


def ring(n: int = 4, **keys: object) -> kb.Topology:
    """Routers in a ring that leads one way, an M_CPU and an SRAM at each."""
    made = nodes(f"ring-{n}", n, outstanding=8)
    made.connect(pair=["n[i].r", f"n[(i + 1) % {n}].r"], each={"i": n}, wire="hop", one_way=True)
    made.links("router_mesh", **{"buffer_flits": 2, **keys})
    return made


def nodes(name: str, count: int, **cpu: object) -> kb.Topology:
    """Packages of a router with an M_CPU and an SRAM, not yet joined."""
    made = kb.Topology(name, system={"flit_bytes": 64})
    made.wire("hop", gbs=64, mm=1)
    node = made.block("node", level="package")
    node.part("r", kind="router", overhead_ns=1.0)
    node.part("cpu", kind="m_cpu", **cpu)
    node.part("sram", kind="sram", size_bytes=1 << 20)
    node.connect(pair=["cpu", "r"], wire="hop")
    node.connect(pair=["r", "sram"], wire="hop")
    made.part("n", block="node", count=count)
    return made


LAST = "n3.r->n0.r"


def filled(made: kb.Topology, n: int = 4) -> float:
    """Every M_CPU writes three routers ahead, more than the buffers hold; returns when all is over."""
    machine = Machine(made.compile(), check=True)
    writes = [machine.flow(f"n{i}.cpu", f"n{(i + 3) % n}.sram", 0, 4096, is_write=True) for i in range(n)]
    machine.wait(*writes)
    return machine.clock.now


def test_a_ring_with_one_channel_deadlocks_and_names_its_cycle() -> None:
    with pytest.raises(DeadlockError) as error:
        filled(ring())
    text = str(error.value)
    assert "cycle of 4 full buffers" in text
    for i in range(4):
        assert f"n{i}.r->n{(i + 1) % 4}.r.buffer, channel 0: transaction" in text
    assert "to end it: " in text


def test_with_a_dateline_it_runs_and_without_limits_too() -> None:
    made = ring(vcs=2)
    made.links(LAST, dateline=True)
    check_routes(made.compile())
    assert filled(made) > 0.0
    check_routes(ring(buffer_flits=None).compile())
    assert filled(ring(buffer_flits=None)) > 0.0


def test_routes_that_can_deadlock_are_refused() -> None:
    with pytest.raises(ConfigError) as error:
        check_routes(ring().compile())
    assert "4 links wait for each other in a cycle: " in str(error.value)
    assert str(error.value).count("n2.r->n3.r") == 1
    with pytest.raises(ConfigError, match="can deadlock"):
        check_routes(ring(vcs=2).compile())


def test_a_torus_with_datelines_of_one_kind_is_refused_with_the_reason() -> None:
    """A message that has crossed a dateline of its row is in the upper half in its column as well."""
    made = nodes("torus", 9)
    for there in ("n[3 * y + (x + 1) % 3].r", "n[(y + 1) % 3 * 3 + x].r"):
        made.connect(pair=["n[3 * y + x].r", there], each={"y": 3, "x": 3}, wire="hop", one_way=True)
    made.links("router_mesh", buffer_flits=4, vcs=2)
    with pytest.raises(ConfigError, match="no single dateline ends all of its cycles: a torus"):
        check_routes(made.compile())
    for i in range(3):
        made.links(f"n{i * 3 + 2}.r->n{i * 3}.r", dateline=True)
        made.links(f"n{6 + i}.r->n{i}.r", dateline=True)
    with pytest.raises(
        ConfigError, match="datelines hold for all links of their kind, so give each direction"
    ):
        check_routes(made.compile())


def test_where_one_dateline_does_not_help_none_is_advised() -> None:
    topo = {
        "links": {"router_mesh": {"buffer_flits": 4}},
        "system.sips": 1,
        "sip.cube_mesh": {"w": 1, "h": 1},
    }
    made = compiled(None, topo)
    del made.properties[
        "spec"
    ]  # as of a machine made in Python, which cannot give answers routes of their own
    with pytest.raises(ConfigError, match="no single dateline ends all of its cycles") as error:
        check_routes(made)
    kinds = str(error.value).rsplit(": ", 1)[1].split(", ")
    assert "router_to_hbm" in kinds
    assert "router_mesh" not in kinds
    for kind in kinds:
        check_routes(compiled(None, {**topo, "links": {kind: {"buffer_flits": 4}}}))


def test_a_dateline_that_no_cycle_needs_is_refused() -> None:
    chain = nodes("chain", 2)
    chain.connect(pair=["n[0].r", "n[1].r"], wire="hop")
    chain.links("router_mesh", buffer_flits=4, vcs=2)
    check_routes(chain)
    chain.links("n0.r->n1.r", dateline=True)
    with pytest.raises(ConfigError, match="no cycle of routes leads over this link; leave it out"):
        check_routes(chain.compile())


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("{buffer_flits: 0}", "buffer_flits: is 0, expected at least 1"),
        ("{vcs: 2}", "vcs: is set without buffers, expected buffer_flits beside it"),
        ("{credit_ns: 1.0}", "credit_ns: is set without buffers, expected buffer_flits beside it"),
        ("{allocation_ns: 1.0}", "allocation_ns: is set without buffers, expected buffer_flits beside it"),
        ("{buffer_flits: 4, vcs: 2, dateline: true}", "dateline: is set for a kind of link, expected it of"),
    ],
)
def test_keys_that_do_not_go_together(keys: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(f"name: t\nlinks:\n  router_mesh: {keys}\n")
    with pytest.raises(ConfigError) as error:
        kb.load_topology(file)
    assert f"f.yaml:3: links.router_mesh.{message}" in str(error.value)


def test_a_dateline_needs_two_channels_and_links_their_kind() -> None:
    made = ring()
    made.links(LAST, dateline=True)
    with pytest.raises(ConfigError, match="dateline: needs a virtual channel before it and one behind"):
        made.compile()
    made = ring()
    made.links("router_mash", vcs=2)
    with pytest.raises(ConfigError, match="is neither a kind of link"):
        made.compile()
    made = ring()
    made.links("router_mesh", buffer_flit=2)
    with pytest.raises(ConfigError, match="buffer_flit: unknown key, did you mean 'buffer_flits'"):
        made.compile()


@pytest.mark.parametrize("room", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("flits", [1, 2, 8, 13])
def test_a_message_alone_goes_as_fast_as_its_credits(room: int, flits: int) -> None:
    """A slot is filled anew when its flit has crossed, gone on, and the credit is back: 2 + 1 + 0.25 ns."""
    made = kb.Topology("line", system={"flit_bytes": 64, "ns_per_mm": 0.0})
    made.wire("hop", gbs=64, delay_ns=1.0, buffer_flits=room, credit_ns=0.25)
    made.part("r", kind="router", count=2, overhead_ns=0.0)
    made.part("cpu", kind="m_cpu", overhead_ns=0.0)
    made.part("sram", kind="sram", overhead_ns=0.0, size_bytes=1 << 20)
    made.connect(pair=["cpu", "r[0]"], wire={"gbs": 64})
    made.connect(mesh="r", wire="hop")
    made.connect(pair=["r[1]", "sram"], wire={"gbs": 64})
    machine = Machine(made.compile(), check=True)
    write = machine.flow("cpu", "sram", 0, 64 * flits, is_write=True)
    machine.wait(write)
    there = 3.0 + 1.0  # three links of 1 ns a flit, and one that is 1 ns long
    turn = 1.0 + 1.0 + 1.0 + 0.25
    behind = (flits - 1) // room * max(turn, room) + (flits - 1) % room
    assert write.t_done == pytest.approx(there + behind + 1.0, abs=1e-9)


def test_back_pressure_is_a_cause_and_adds_up(tmp_path: Path) -> None:
    links = {"router_mesh": {"buffer_flits": 1}, "router_to_hbm": {"buffer_flits": 1, "credit_ns": 20.0}}
    run = kb.run(
        "gemm-multi-pe",
        store=tmp_path,
        topo={"links": links, "sip.cube_mesh": {"w": 1, "h": 1}, "system.sips": 1},
    )
    path = run.critical_path("run")
    assert path.by_cause()["back_pressure"] > 0.0
    assert fsum(path.by_cause().values()) == pytest.approx(path.ns, abs=1e-6)
    rows = kb.ask("contention/waits-by-resource", run.id, tmp_path, {"launch": "run", "limit": 1000})
    assert any(str(row[0]).endswith(".buffer") for row in rows.rows)


def test_fixed_priority_takes_the_first_input() -> None:
    lane = Lane(Priority)
    lane.send(0, "b", 2)
    lane.send(1, "a", 2)
    order: list[int] = []

    class Seen:
        def occupied(self, server: object, time: float, duration: float, start: float, owner: object) -> None:
            order.append(owner.id)  # type: ignore[attr-defined]

    lane.port.watcher = Seen()
    lane.run()
    assert order == [1, 1, 0, 0]


BUFFERED = ["buffers", "virtual channels", "buffers, one to one", "buffers, pipelined"]


@pytest.mark.daily("buffers", "virtual channels")
@pytest.mark.parametrize("name", BUFFERED)
def test_flits_of_messages_that_a_node_sends_side_by_side_go_to_their_own(name: str) -> None:
    """A memory answers several reads at once: in its own queue flits of others come between."""
    Agreement().compare(name, patterned("merge", 0, 24, 3000))


@pytest.mark.slow
@pytest.mark.parametrize("name", BUFFERED)
@pytest.mark.parametrize("seed", range(3))
def test_long_queues_with_every_invariant(name: str, seed: int) -> None:
    for pattern in ("merge", "hot spots", "crossing", "all to all"):
        Agreement().compare(name, patterned(pattern, seed, 24, 3000))
