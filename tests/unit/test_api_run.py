"""``kb.run`` and what it returns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents.overview import facts
from kernbench.draw.cells import plain
from kernbench.errors import LaunchError, UsageError, VerificationError
from kernbench.support.pgraph import GraphStore, QueryError, RunNotFoundError
from kernbench.workloads.benches import list_all

pytestmark = pytest.mark.usefixtures("workdir")


@pytest.fixture(scope="module")
def machine() -> Any:
    return kb.load_topology("minimal")


def twice(x: Any, out: Any, tl: Any) -> None:
    tl.store(out, tl.load(x) * 2.0)


def bench_of(expected: float, kernel: Callable[..., None] = twice) -> Callable[[Any], None]:
    def run(torch: Any) -> None:
        x = np.ones((4, 64), dtype=np.float32)
        out = torch.zeros(4, 64, dtype="f32")
        torch.launch("twice", kernel, torch.from_numpy(x), out)
        torch.check("out", out, x * expected)

    return run


def test_a_run_knows_its_figures(machine: Any, kernbench_store: GraphStore) -> None:
    run = kb.run("gemm-single-pe", machine, verify=True, store=kernbench_store, tags=["a", "b"], m=32)
    assert run.id == kernbench_store.resolve("last")
    assert (run.bench, run.topology, run.verified, run.tags) == (
        "gemm-single-pe",
        "minimal",
        True,
        ["a", "b"],
    )
    assert run.params["m"] == 32
    (launch,) = run.launches
    assert run.latency_ns == launch["latency_ns"] == launch["t_done"] - launch["t_submit"]
    assert run.launch_ns == pytest.approx(launch["launch_ns"])
    assert launch["launch_ns"] == launch["t_start"] - launch["t_submit"] > 0
    assert run.kernels_ns == pytest.approx(launch["t_done"] - launch["t_start"])
    assert launch["t_submit"] <= launch["t_start"] < launch["t_done"] <= run.sim_ns
    assert json.loads(run.to_json()) == plain(run.summary())


def test_frames_are_the_trace(machine: Any, kernbench_store: GraphStore) -> None:
    run = kb.run("gemm-single-pe", machine, store=kernbench_store)
    for frame in (run.ops, run.hops, run.transactions, run.used):
        assert len({len(column) for column in frame.values()}) == 1
        assert all(isinstance(column, np.ndarray) for column in frame.values())
    assert len(run.hops["txn"]) == run.info["hops"] > 0
    assert set(run.hops["txn"]) <= set(run.transactions["number"])
    dots = run.ops["name"] == "dot"
    assert dots.sum() == 1
    assert run.ops["component"][dots][0] == "sip0.cube0.pe0.pe_gemm"
    with pytest.raises(UsageError, match="no table 'Hops'"):
        run.frame("Hops")


def test_the_graph_holds_topology_and_trace(machine: Any, kernbench_store: GraphStore) -> None:
    run = kb.run("gemm-single-pe", machine, store=kernbench_store)
    graph = run.graph
    assert isinstance(graph, nx.MultiDiGraph)
    assert graph is run.graph
    labels = [label for _, data in graph.nodes(data=True) for label in data["labels"].split(":")]
    assert labels.count("Transaction") == len(run.transactions["number"])
    assert labels.count("Link") == sum(1 for _ in machine.edges("LINK"))


def test_questions_are_asked_of_that_run(machine: Any, kernbench_store: GraphStore) -> None:
    small = kb.run("gemm-single-pe", machine, store=kernbench_store, m=32)
    kb.run("gemm-single-pe", machine, store=kernbench_store, m=96)
    text = "MATCH (t:Transaction) WHERE t.kind = $kind RETURN sum(t.bytes) AS bytes"
    ((found,),) = small.cypher(text, kind="dma_read").rows
    assert found == small.transactions["bytes"][small.transactions["kind"] == "dma_read"].sum()
    assert len(small.query("busiest-links", limit=3).rows) == 3
    with pytest.raises(QueryError, match="limit"):
        small.query("busiest-links", limits=3)


def test_without_trace_nothing_is_kept_and_times_are_the_same(
    machine: Any, kernbench_store: GraphStore
) -> None:
    traced = kb.run("gemm-single-pe", machine, store=kernbench_store)
    plain = kb.run("gemm-single-pe", machine, store=kernbench_store, trace=False)
    assert plain.id == ""
    assert len(kernbench_store.runs()) == 1
    assert (plain.sim_ns, plain.launches) == (traced.sim_ns, traced.launches)
    np.testing.assert_array_equal(plain.used["busy_ns"], traced.used["busy_ns"])
    for ask in (lambda: plain.hops, lambda: plain.graph, lambda: plain.query("busiest-links")):
        with pytest.raises(UsageError, match="trace=True"):
            ask()


def test_wrong_numbers_are_an_error_that_carries_the_kept_run(
    machine: Any, kernbench_store: GraphStore
) -> None:
    with pytest.raises(kb.RunVerificationError, match=r"'out'.*\(0, 0\)") as caught:
        kb.run(bench_of(3), machine, verify=True, store=kernbench_store)
    run = caught.value.run
    assert isinstance(caught.value, VerificationError)
    assert (run.verified, run.info["status"], run.id) == (False, "failed", kernbench_store.resolve("last"))
    assert run.id in str(caught.value)
    assert len(run.hops["txn"]) > 0


def test_a_run_that_raises_is_not_kept_and_says_so(machine: Any, kernbench_store: GraphStore) -> None:
    def broken(x: Any, out: Any, tl: Any) -> None:
        raise RuntimeError("stop")

    with pytest.raises(LaunchError, match=r"stop.*the run is not saved$"):
        kb.run(bench_of(2, broken), machine, store=kernbench_store)
    with pytest.raises(LaunchError) as untraced:
        kb.run(bench_of(2, broken), machine, trace=False)
    assert "kept" not in str(untraced.value)
    assert kernbench_store.runs() == []


def test_an_interrupted_run_is_not_kept(machine: Any, kernbench_store: GraphStore) -> None:
    def interrupt(sim_ns: float, events: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kb.run("gemm-single-pe", machine, store=kernbench_store, progress=interrupt)
    assert kernbench_store.runs() == []


def test_progress_is_told_forwards(machine: Any) -> None:
    reported: list[tuple[float, int]] = []
    kb.run("gemm-single-pe", machine, trace=False, progress=lambda ns, events: reported.append((ns, events)))
    assert reported
    assert reported == sorted(reported)


def test_one_configuration_has_one_hash(machine: Any) -> None:
    def hashed(**options: Any) -> str:
        return str(
            kb.run("gemm-single-pe", trace=False, **{"topology": machine, **options}).info["config_hash"]
        )

    first = hashed()
    assert hashed() == hashed(verify=True) == hashed(params={"m": 64}) == first
    other = kb.load_topology("minimal", {"cube.hbm.switch_penalty_ns": 1})
    assert len({first, hashed(m=65), hashed(device="sip:0"), hashed(topology=other)}) == 4


def test_the_default_store_is_a_folder_here_or_the_environments(
    machine: Any, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = kb.run("gemm-single-pe", machine)
    assert kb.open_run().id == here.id
    assert (workdir / ".kernbench").is_dir()
    monkeypatch.setenv("KERNBENCH_STORE", str(workdir / "elsewhere"))
    assert kb.runs() == []
    there = kb.run("gemm-single-pe", machine, m=32)
    assert [run.id for run in kb.runs()] == [there.id]
    assert [run.id for run in kb.runs(workdir / ".kernbench")] == [here.id]
    assert kb.open_run(here.id[:-2], workdir / ".kernbench").summary() == here.summary()
    with pytest.raises(RunNotFoundError):
        kb.open_run("last~1")


def test_a_bench_may_be_a_name_an_index_a_file_or_a_function(machine: Any, workdir: Path) -> None:
    (workdir / "mine.py").write_text(
        "from kernbench.workloads.benches import Param, bench\n"
        "@bench(name='mine', description='Makes zeros.', params=[Param('n', int, 64, 'columns')])\n"
        "def run(torch):\n    torch.zeros(4, torch.params.n)\n"
    )
    assert kb.run("mine.py", machine, trace=False, n=128).params == {"n": 128}
    index = [spec.name for spec in list_all()].index("gemm-single-pe") + 1
    assert kb.run(str(index), machine, trace=False).bench == "gemm-single-pe"
    run = kb.run(bench_of(2), machine, verify=True, trace=False)
    assert (run.bench, run.verified) == ("run", True)
    with pytest.raises(UsageError, match="no parameter 'columns'"):
        kb.run("gemm-single-pe", machine, trace=False, columns=3)


def test_components_of_ones_own_take_part(
    machine: Any, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workdir / "slow_sram.py").write_text(
        "from kernbench.engine.components.hbm import HbmSlice\n"
        "class Slow(HbmSlice):\n"
        "    def commit(self, packet, flit, time):\n"
        "        done, server = super().commit(packet, flit, time + 1000.0)\n"
        "        return done, server\n"
    )
    monkeypatch.syspath_prepend(workdir)
    (workdir / "components.yaml").write_text("builtin.hbm_ctrl: slow_sram:Slow\n")
    usual = kb.run("gemm-single-pe", machine, trace=False)
    slow = kb.run("gemm-single-pe", machine, trace=False, components="components.yaml")
    assert slow.latency_ns >= usual.latency_ns + 1000
    assert slow.info["config_hash"] != usual.info["config_hash"]


def test_a_summary_says_that_tiles_are_packed() -> None:
    """The default moves each row of a tile apart, as a load does."""
    packed = {"pe.pe_scheduler.tile_transfers": "packed"}
    params = {"tiles": "native"}
    apart = kb.run("matmul-composite", "minimal", params=params, trace=False)
    whole = kb.run("matmul-composite", "minimal", params=params, topo=packed, trace=False)
    assert apart.latency_ns > 2 * whole.latency_ns
    assert "tiles" not in dict(facts(apart, ChosenWindow()))
    assert dict(facts(whole, ChosenWindow()))["tiles"].startswith("packed: ")
    assert (apart.info.get("tile_transfers"), whole.info["tile_transfers"]) == (None, "packed")
