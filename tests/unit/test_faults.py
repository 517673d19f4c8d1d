"""Faults: what is lost for good or for a time, what is slow; in files, in Python, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import kernbench as kb
from kernbench.cli.app import app
from kernbench.engine.machine.machine import Machine
from kernbench.errors import ConfigError, RoutingError
from kernbench.hardware.kinds import Traffic
from kernbench.hardware.routing import router_of
from kernbench.hardware.topology import compile_topology, parse
from kernbench.support.pgraph import PropertyGraph

GRID = """
name: grid
system: {flit_bytes: 32, ns_per_mm: 0.0}
wires:
  hop: {gbs: 32, delay_ns: 2}
  end: {gbs: 32, delay_ns: 1}
blocks:
  tile:
    parts: {r: router, src: source, mem: memory}
    connect:
      - {pair: [src, r], wire: end}
      - {pair: [r, mem], wire: end}
parts:
  tile: {block: tile, shape: {x: 3, y: 2}}
connect:
  - {mesh: tile.r, wire: hop}
"""
CUT = "tile0_0.r->tile1_0.r"


def grid(*faults: dict[str, object]) -> PropertyGraph:
    return compile_topology(parse(GRID, "f.yaml", {"faults": list(faults)}))


def nodes(graph: PropertyGraph) -> list[str]:
    route = router_of(graph).route("tile0_0.src", "tile2_0.mem", Traffic.PE_DMA)
    return [node.removesuffix(".r") for node in route.nodes[1:-1]]


def test_routes_lead_around_what_is_lost_for_good() -> None:
    assert nodes(grid()) == ["tile0_0", "tile1_0", "tile2_0"]
    around = ["tile0_0", "tile0_1", "tile1_1"]
    assert nodes(grid({"link": CUT}))[:3] == around
    assert nodes(grid({"link": "tile1_0.r->tile0_0.r"}))[:3] == around  # a wire fails both ways
    assert nodes(grid({"part": "tile1_0.r"})) == [*around, "tile2_1", "tile2_0"]
    assert grid({"link": CUT}).properties["id"] != grid().properties["id"]


def test_where_there_is_no_way_around_it_is_an_error() -> None:
    with pytest.raises(RoutingError, match=r"'tile0_0\.src' has no wires"):
        nodes(grid({"part": "tile0_0.r"}))


def ns(running: Machine, start: float) -> float:
    flow = running.flow("tile0_0.src", "tile1_0.mem", 0, 64, is_write=False, start_ns=start)
    running.wait(flow)
    return flow.ns


@pytest.mark.checked
def test_what_is_lost_for_a_time_is_passed_around_in_that_time() -> None:
    graph = grid({"link": CUT, "from_ns": 1000, "to_ns": 2000})
    running = Machine(graph)
    direct, around, again = (ns(running, start) for start in (0.0, 1500.0, 2500.0))
    assert direct == again == ns(Machine(grid()), 0.0)
    assert around == pytest.approx(ns(Machine(grid({"link": CUT})), 0.0))
    assert around > direct
    running.reset()
    running.start_run()
    assert (ns(running, 0.0), ns(running, 1500.0)) == (direct, around)


def test_what_is_cut_off_for_a_time_says_so() -> None:
    running = Machine(grid({"part": "tile0_0.r", "from_ns": 10}))
    with pytest.raises(RoutingError, match=r"has no wires.*lost at 20 ns"):
        ns(running, 20.0)


@pytest.mark.slow
def test_a_straggler_is_slower() -> None:
    def took(**keys: object) -> float:
        run = kb.run("gemm-multi-pe", kb.load_topology("a100-4", keys), verify=True)
        assert run.verdict == "yes"
        return float(run.launches[0]["t_done"] - run.launches[0]["t_start"])

    slow = took(faults=[{"part": "gpu0.pe", "speed": 0.5}])
    assert slow > took()
    assert slow == took(overrides=[{"where": "gpu0.pe", "speed": 0.5}])


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({}, "names a link and a part, or neither"),
        ({"link": "tile0_0.r->tile9_0.r"}, "matches nothing"),
        ({"part": "tile0_0.q"}, "matches nothing, did you mean 'tile0_0.r'"),
        ({"part": CUT}, "is a link, expected it as link"),
        ({"link": "tile0_0.r"}, "is not a link, expected it as part"),
        ({"link": CUT, "from_ns": 5, "to_ns": 5}, "ends at 5 ns, expected a time after"),
        ({"part": "tile0_0.r", "speed": 0.5, "to_ns": 5}, "has a speed for a time"),
        ({"part": "tile0_0.r", "speed": 0.0}, "speed"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(fault: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        grid(fault)
    assert "faults" in str(caught.value)
    text = GRID + f"faults:\n  - {json.dumps(fault)}\n"
    with pytest.raises(ConfigError, match=r"f\.yaml:18"):
        compile_topology(parse(text, "f.yaml"))


def test_a_collective_goes_around_a_lost_wire(tmp_path: Path) -> None:
    """Between two GPUs, by the command line and in what-if."""
    store = str(tmp_path / "s")

    def command(*words: str) -> dict[str, object]:
        done = CliRunner().invoke(app, [*words, "--store", store, "--format", "json"])
        assert done.exit_code == 0, done.output
        found: dict[str, object] = json.loads(done.output)
        return found

    run = ("run", "ccl-allreduce", "elements=4096", "--topology", "a100-4", "--verify-data")
    whole = command(*run)
    wire = "gpu0.xbar->gpu1.xbar"
    cut = command(*run, "--fault", wire)
    timed = command(*run, "--fault", f"{wire}@0..1")
    assert whole["latency_ns"] < cut["latency_ns"]
    assert whole["latency_ns"] == timed["latency_ns"]
    changed = command("what-if", "last~2", "--fault", wire)
    assert changed["measured"]["ns"] > changed["before"]["ns"]  # type: ignore[index]


def test_what_the_command_line_gets_wrong() -> None:
    done = CliRunner().invoke(app, ["run", "gemm-multi-pe", "--fault", "sip0=fast"])
    assert done.exit_code == 2
    assert "expected PLACE, PLACE@FROM..TO in ns, or PLACE=SPEED" in done.output


def test_the_packages_that_are_left_go_on() -> None:
    graph = kb.load_topology("a100-4", {"faults": [{"part": "gpu1"}]})
    run = kb.run("ccl-allreduce", graph, params={"elements": 256}, verify=True)
    assert run.verdict == "yes"
    assert {launch["package"] for launch in run.launches} == {"gpu0", "gpu2", "gpu3"}
