"""The machines that files describe part by part: idle transfers, routes, patterns of traffic, kernels."""

from __future__ import annotations

import json
import random
from functools import lru_cache
from itertools import combinations
from math import hypot
from pathlib import Path

import pytest
from click.testing import CliRunner

import kernbench as kb
from kernbench import check_routes
from kernbench.analysis.routes.zero_load import ZeroLoadModel
from kernbench.cli.app import app
from kernbench.draw.machine.placing import cells_of
from kernbench.engine.machine.machine import Machine
from kernbench.errors import UsageError
from kernbench.hardware.kinds import component_kind
from kernbench.hardware.routing import router_of
from kernbench.hardware.topology.neighbours import MachineShape
from kernbench.support.pgraph import PropertyGraph

NETWORKS = ("mesh-8x8", "torus-8x8", "dragonfly-72", "fat-tree-64", "wormhole")
WITH_PES = ("a100-4", "h100-8-nvswitch", "tpu-v4-64", "two-kinds", "six-die-packages")


@lru_cache(maxsize=1)
def machine(name: str) -> PropertyGraph:
    return kb.load_topology(name)


@pytest.mark.daily("a100-4", "fat-tree-64", "dragonfly-72", "two-kinds", "h100-8-nvswitch")
@pytest.mark.parametrize("name", [*NETWORKS, *WITH_PES])
def test_idle_transfers_take_what_the_closed_form_says(name: str) -> None:
    graph, rnd = machine(name), random.Random(41)
    sources = [node for node in graph.nodes() if node.properties["kind"] in ("source", "pe_dma")]
    memories = [node for node in graph.nodes() if node.properties["kind"] in ("memory", "hbm_ctrl")]
    running, model, router = Machine(graph, traced=False), ZeroLoadModel(graph), router_of(graph)
    for _ in range(100):
        source, nbytes, is_write = rnd.choice(sources), rnd.choice((64, 300, 4096)), rnd.random() < 0.5
        network = source.id.partition(".")[0]
        reached = [one for one in memories if name != "wormhole" or one.id.startswith(network)]
        memory = rnd.choice(reached).id
        flow = running.flow(source.id.removesuffix(".pe_dma"), memory, 0, nbytes, is_write=is_write)
        running.wait(flow)
        sends = component_kind(source).sends
        assert sends is not None
        ask = model.write if is_write else model.read
        assert flow.ns == pytest.approx(ask(router.route(source.id, memory, sends), nbytes).ns, abs=1e-6)


@pytest.mark.daily("mesh-8x8")
@pytest.mark.parametrize("name", ["mesh-8x8", "torus-8x8"])
def test_their_buffers_cannot_deadlock(name: str) -> None:
    check_routes(machine(name))


@pytest.mark.daily("a100-4")
@pytest.mark.parametrize("name", [*NETWORKS[:4], *WITH_PES])
def test_patterns_run_and_are_kept(name: str) -> None:
    run = kb.traffic("pattern:uniform-random", machine(name), bytes=4096)
    assert run.totals["total_bytes"] == 4096 * len(run.flows)
    busiest = run.query("busiest-links", limit=1).dicts()
    assert "->" in str(busiest[0].values())


@pytest.mark.daily("ccl-allreduce-params1-two-kinds", "gemm-multi-pe-params0-a100-4")
@pytest.mark.parametrize("name", WITH_PES)
@pytest.mark.parametrize(("bench", "params"), [("gemm-multi-pe", {}), ("ccl-allreduce", {"elements": 256})])
def test_kernels_compute_right_values(name: str, bench: str, params: dict[str, int]) -> None:
    assert kb.run(bench, machine(name), params=params, verify=True).verdict == "yes"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "pattern", "grid", "wires"),
    [
        pytest.param("tpu-v4-64", "torus_3d", (4, 4, 4), 1, marks=pytest.mark.slow),
        pytest.param("six-package-torus", "torus_2d", (3, 2), 1, marks=pytest.mark.slow),
        pytest.param("six-sip-torus", "torus_2d", (3, 2), 2, marks=pytest.mark.slow),
        ("a100-4", "ring_1d", (4, 1), 1),
        pytest.param("h100-8-nvswitch", "ring_1d", (8, 1), 2, marks=pytest.mark.slow),
    ],
)
def test_collectives_use_the_wires_that_there_are(
    name: str, pattern: str, grid: tuple[int, ...], wires: int, tmp_path: Path
) -> None:
    graph = machine(name)
    shape = MachineShape.of(graph)
    assert (shape.inter_sip, shape.sip_grid) == (pattern, grid)
    run = kb.run("ccl-allreduce", graph, params={"elements": 512}, store=tmp_path / "s", verify=True)
    assert run.verdict == "yes"
    rows = run.query("wires-between-packages", kind="ipcq_token").dicts()
    assert [(row["wires"], row["share"]) for row in rows] == [(wires, 1.0)]


@pytest.mark.parametrize(
    ("change", "pattern"),
    [
        (
            {"connect.0.mesh": "chip", "connect.0.torus": None, "parts.chip.shape": {"x": 4, "y": 2}},
            "mesh_2d_no_wrap",
        ),
        ({"parts.chip.shape": {"x": 4, "y": 2}}, "torus_2d"),
        ({"parts.chip.shape": {"x": 4, "y": 2, "z": 2}, "connect.0.axes": ["x", "y"]}, "ring_1d"),
        ({"parts.chip.shape": {"x": 4}}, "ring_1d"),
    ],
)
def test_the_pattern_is_that_of_the_wires(change: dict[str, object], pattern: str) -> None:
    assert kb.load_topology("tpu-v4-64", change).properties["inter_sip_pattern"] == pattern


@pytest.mark.slow
def test_an_architects_chip_is_checked_drawn_varied_and_swept(tmp_path: Path) -> None:
    store = str(tmp_path / "store")

    def command(*words: str) -> str:
        done = CliRunner().invoke(app, [*words])
        assert done.exit_code == 0, done.output
        return done.stdout  # how far it is goes to stderr

    assert "six-die-packages: valid" in command("topology", "check", "six-die-packages")
    svg = tmp_path / "package.svg"
    command(
        "topology", "diagram", "six-die-packages", "--view", "system", "--of", "package0", "--out", str(svg)
    )
    assert ">die2_1<" in svg.read_text(encoding="utf-8")
    swept = command(
        "sweep", "gpt3-qkv", "--topology", "six-die-packages", "--topo", "wires.d2d.gbs=128,512",
        "--verify-data", "--store", store, "--format", "json",
    )  # fmt: skip
    slow, fast = json.loads(swept)["points"]
    assert slow["verified"] is fast["verified"] is True
    assert slow["latency_ns"] > fast["latency_ns"]
    faster = command("what-if", "last", "--speed", "kind:hbm_ctrl=2", "--store", store, "--format", "json")
    assert json.loads(faster)["measured"]["ns"] > 0


def test_memories_follow_one_another_where_addresses_have_no_fields() -> None:
    running = Machine(machine("two-kinds"), traced=False)
    window = running.addresses.window
    first, second = window("package.die0_0.hbm0"), window("package.die0_0.hbm1")
    assert second.base == first.base + (4 << 30)
    assert running.addresses.resolve(second.base + 5).component == "package.die0_0.hbm1"
    tcm = window("package.die0_0.pe0.pe_tcm")
    assert tcm.base % (2 << 20) == 0
    assert running.addresses.resolve(tcm.base).kind == "tcm"


@pytest.mark.parametrize("is_write", [True, False])
@pytest.mark.parametrize("nbytes", [64, 4096, 32768])
def test_a_slow_link_within_a_pe_is_in_the_closed_form(is_write: bool, nbytes: int) -> None:
    graph = kb.load_topology("minimal", {"pe.links.internal_gbs": 64})
    running, pe, memory = Machine(graph, traced=False), "sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe0"
    flow = running.flow(pe, memory, 0, nbytes, is_write=is_write)
    running.wait(flow)
    sends = component_kind(graph.node(f"{pe}.pe_dma")).sends
    assert sends is not None
    model, route = ZeroLoadModel(graph), router_of(graph).route(f"{pe}.pe_dma", memory, sends)
    assert flow.ns == pytest.approx((model.write if is_write else model.read)(route, nbytes).ns, abs=1e-6)


@pytest.mark.parametrize("name", [*NETWORKS, *WITH_PES])
def test_they_are_drawn_block_by_block(name: str) -> None:
    assert kb.diagram(machine(name), "system").startswith("<svg")
    with pytest.raises(UsageError, match="is not a tray of packages; draw its view system"):
        kb.diagram(machine(name), "cube")


def test_a_lone_package_is_opened() -> None:
    assert ">die2_1<" in kb.diagram(machine("two-kinds"), "system")


def test_a_large_grid_has_small_boxes() -> None:
    graph = kb.load_topology("mesh-8x8", {"parts.tile.shape": {"x": 24, "y": 24}})
    drawn = kb.diagram(graph, "system")
    assert ">23 5<" in drawn
    assert ">tile23_5<" not in drawn


def test_no_wire_of_all_to_all_is_behind_a_box() -> None:
    names = [f"gpu{i}" for i in range(8)]
    joined = {name: {*names} - {name} for name in names}
    cells = cells_of({name: ("gpu", (number,)) for number, name in enumerate(names)}, joined)
    for a, b in combinations(names, 2):
        for other in set(names) - {a, b}:
            (x0, y0), (x1, y1), (x, y) = cells[a], cells[b], cells[other]
            away = abs((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) / hypot(x1 - x0, y1 - y0)
            assert away > 0.3


def test_a_block_is_opened_by_name() -> None:
    assert ">die2_1<" in kb.diagram(machine("two-kinds"), "system", of="package")
    with pytest.raises(UsageError, match="has no block 'packag'; did you mean 'package'"):
        kb.diagram(machine("two-kinds"), "system", of="packag")


def test_a_machine_built_in_python_is_drawn() -> None:
    made = kb.Topology("two")
    made.block("die", level="package", port="r").part("r", kind="router")
    made.part("sip", block="die", count=2)
    made.connect(pair=["sip[0]", "sip[1]"], wire={"gbs": 1, "mm": 1})
    assert ">sip1<" in kb.diagram(made, "system")


@pytest.mark.slow
def test_a_report_has_the_view_that_there_is(tmp_path: Path) -> None:
    run = kb.run("gemm-multi-pe", machine("a100-4"), store=tmp_path / "store")
    page = tmp_path / "report.html"
    kb.write_report(run, page)
    assert "gpu3" in page.read_text(encoding="utf-8")
