"""A wired machine is kept with its graph for the next run, and only where that cannot be told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.api import topologies
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.machine import kept, machine
from kernbench.engine.machine.kept import give_back, machine_for
from kernbench.engine.machine.machine import Machine
from kernbench.errors import KernBenchError, UsageError
from tests.compiled import compiled

OWN = """
from kernbench.engine.components.transit import Transit

class Own(Transit):
    pass
"""


@pytest.fixture
def wired(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the topologies for which a machine is wired, one after the other."""
    names: list[str] = []
    wire = Machine._wire

    def noted(one: Machine, *args: Any) -> None:
        names.append(str(one.graph.properties["name"]))
        wire(one, *args)

    monkeypatch.setattr(machine.Machine, "_wire", noted)
    monkeypatch.setattr(topologies, "_kept", type(topologies._kept)())
    return names


def test_runs_on_one_topology_wire_once(wired: list[str], tmp_path: Path) -> None:
    kb.sweep("gemm-single-pe", "minimal", params={"m": "16,32,48"}, store=tmp_path)
    kb.run("qkv-gemm", "minimal", store=tmp_path)
    kb.traffic("pattern:uniform-random", "minimal", store=tmp_path)
    assert len(wired) == 1
    kb.run("gemm-single-pe", "minimal", topo={"cube.hbm.channel_gbs": 16}, store=tmp_path)
    assert len(wired) == 2


def test_tuning_wires_once(wired: list[str], tmp_path: Path) -> None:
    @kb.autotune(configs=[{"BLOCK": 16}, {"BLOCK": 32}, {"BLOCK": 64}])
    def copy(x: Any, out: Any, n: int, BLOCK: int, tl: Any) -> None:
        for at in range(0, n, BLOCK):
            tl.store(out + 4 * at, tl.load(x + 4 * at, shape=(BLOCK,), dtype="f32"))

    def bench(torch: Any) -> None:
        x, out = torch.zeros((64,), dtype="f32"), torch.zeros((64,), dtype="f32")
        torch.launch("copy", copy, x, out, 64).wait()

    found = kb.tune(bench, "minimal", store=tmp_path)
    assert len(found.points) == 3
    assert len(wired) == 1


def test_a_run_that_fails_gives_its_machine_back(wired: list[str], tmp_path: Path) -> None:
    def failing(torch: Any) -> None:
        torch.launch("it", lambda x, tl: 1 // 0, torch.zeros((8,), dtype="f32")).wait()

    for _ in range(2):
        with pytest.raises(KernBenchError, match="ZeroDivisionError"):
            kb.run(failing, "minimal", store=tmp_path)
    kb.run("gemm-single-pe", "minimal", store=tmp_path)
    assert len(wired) == 1


def test_no_more_than_two_topologies_are_kept(wired: list[str], tmp_path: Path) -> None:
    for gbs in (8, 16, 32, 64):
        kb.run("gemm-single-pe", "minimal", topo={"cube.hbm.channel_gbs": gbs}, store=tmp_path)
    assert len(topologies._kept) == 2
    assert len(wired) == 4


def test_a_graph_that_was_changed_gets_a_new_machine(wired: list[str], tmp_path: Path) -> None:
    graph = kb.load_topology("minimal")
    first = kb.run("gemm-single-pe", graph, store=tmp_path).latency_ns
    assert kb.run("gemm-single-pe", graph, store=tmp_path).latency_ns == first
    assert len(wired) == 1
    for node in graph.nodes():
        if node.properties["kind"] == "pe_gemm":
            node.properties["overhead_ns"] = 1000.0
    assert kb.run("gemm-single-pe", graph, store="memory:").latency_ns > first + 999
    assert len(wired) == 2


def test_a_run_within_a_run_has_a_machine_of_its_own(wired: list[str], tmp_path: Path) -> None:
    inner: list[float] = []

    def outer(torch: Any) -> None:
        torch.zeros((8,), dtype="f32").numpy()
        inner.append(kb.run("gemm-single-pe", "minimal", store=tmp_path).latency_ns)

    kb.run(outer, "minimal", store=tmp_path)
    assert len(wired) == 2
    assert inner == [kb.run("gemm-single-pe", "minimal", store=tmp_path).latency_ns]
    assert len(wired) == 2


def test_what_is_a_users_is_wired_anew(wired: list[str], tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    components = {"transit_own": f"{tmp_path}/own.py:Own"}
    for _ in range(2):
        kb.run("gemm-single-pe", "minimal", topo={"cube.router.impl": "transit_own"}, components=components,
               store=tmp_path)  # fmt: skip
    assert len(wired) == 2
    graph = kb.load_topology("minimal", {"cube.router.impl": "transit_own"}, components)
    with pytest.raises(UsageError, match="is used once; make a new one"):
        Machine(graph, components=components).reset()


def test_an_instrument_may_look_at_the_machine_after_the_run(wired: list[str], tmp_path: Path) -> None:
    class Keeping(Instrument):
        def started(self, resources: Any, clock: Any) -> None:
            self.resources = resources

    seen = Keeping()
    kb.run("gemm-single-pe", "minimal", store=tmp_path, instruments=[seen])
    kb.run("gemm-single-pe", "minimal", store=tmp_path)
    assert sum(one.bytes for one in seen.resources) > 0
    assert len(wired) == 2


def test_other_classes_get_another_machine() -> None:
    graph = compiled("minimal", {"cube.hbm.channel_gbs": 24})
    one = machine_for(graph)
    assert machine_for(graph) is not one
    give_back(one)
    assert machine_for(graph, components={"unused": "somewhere:Class"}) is not one
    give_back(one)
    assert machine_for(graph) is one
    assert kept.SEALED not in graph.worked_out


def test_of_all_graphs_together_the_few_used_last_keep_their_machine() -> None:
    graphs = [compiled("minimal", {"cube.hbm.channel_gbs": 32 + n}) for n in range(kept.MOST + 1)]
    machines = []
    for graph in graphs[:-1]:
        machines.append(machine_for(graph))
        give_back(machines[-1])
    give_back(machine_for(graphs[0]))  # the first is used again: the second is the one to go
    give_back(machine_for(graphs[-1]))
    assert len(kept._graphs) == kept.MOST
    assert [kept._KEY in graph.worked_out for graph in graphs] == [True, False, *[True] * (kept.MOST - 1)]
    assert machine_for(graphs[0]) is machines[0]
    assert machine_for(graphs[1]) is not machines[1]
