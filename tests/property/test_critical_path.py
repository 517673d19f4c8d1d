"""The chain that makes a run's time: it closes, every step abuts the next, nothing in it is unexplained."""

from __future__ import annotations

import itertools
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.analysis.path.critical_path import CAUSES, CriticalPath, TraceIndex, critical_path
from kernbench.host import DPPolicy
from kernbench.workloads.benches import list_all
from tests.examples import examples
from tests.property.generated_kernels import arrays, genes
from tests.property.generated_kernels import kernel_of as generated
from tests.small_machines import small

LONG = [
    (bench, "default")
    for bench in (
        "gemm-list", "gpt3-qkv", "llama-decoder", "llama-layer", "matmul-composite", "pe2pe", "tp-mlp",
        "va-offset-verify",
    )
]  # fmt: skip
OBLONG = str(Path(__file__).parents[1] / "exact" / "oblong.yaml")


@cache
def machine(topology: str) -> Any:
    return kb.load_topology(topology)


def check(run: kb.Run) -> CriticalPath:
    path = run.critical_path("run")
    ends = [
        (run.sim_ns, path),
        *(
            (launch["t_done"] - launch["t_start"], run.critical_path(n))
            for n, launch in enumerate(run.launches)
        ),
    ]
    for total, found in ends:
        assert all(step.ns > 0 for step in found.steps)
        assert all(a.t_end == b.t_start for a, b in itertools.pairwise(found.steps))
        if found.steps:
            assert (found.steps[0].t_start, found.steps[-1].t_end) == (found.t_start, found.t_end)
        assert sum(step.ns for step in found.steps) == pytest.approx(total, abs=1e-6)
        for sums in (found.by_cause(), found.by_location()):
            assert sum(sums.values()) == pytest.approx(total, abs=1e-6)
        assert set(found.by_cause()) <= set(CAUSES)
        assert [step for step in found.steps if step.cause == "unexplained" and step.ns > 1e-6] == []
    return path


BENCHES = [
    pytest.param(spec.name, topology, marks=[pytest.mark.slow] if (spec.name, topology) in LONG else [])
    for topology in ("minimal", "default")
    for spec in list_all()
    if (spec.name, topology) != ("pe2pe", "minimal")  # one PE
]


@pytest.mark.daily(
    "softmax-minimal",
    "ipcq-allreduce-minimal",
    "matmul-composite-minimal",
    "gemm-list-minimal",
    "qkv-gemm-multi-pe-minimal",
    "ccl-allreduce-minimal",
    "llama-layer-minimal",
)
@pytest.mark.parametrize(("bench", "topology"), BENCHES)
def test_benches_close(bench: str, topology: str) -> None:
    check(kb.run(bench, machine(topology), store="memory:"))


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("load"), st.integers(0, 3)),
        st.tuples(st.just("store"), st.integers(0, 3)),
        st.tuples(st.just("dot"), st.just(0)),
        st.tuples(st.just("add"), st.just(0)),
        st.tuples(st.just("composite"), st.integers(0, 1)),
        st.tuples(st.just("wait"), st.just(0)),
        st.tuples(st.just("cycles"), st.integers(1, 3000)),
    ),
    max_size=10,
)


def kernel_of(steps: list[tuple[str, int]]) -> Any:
    def kernel(a: Any, b: Any, out: Any, tl: Any) -> None:
        value = tl.load(a)
        other = tl.load(b)
        open_: list[Any] = []
        for step, n in steps:
            if step == "load":
                value = tl.load(a)
            elif step == "store":
                tl.store(out, value)
            elif step == "dot":
                value = tl.dot(value, other)
            elif step == "add":
                value = value + other
            elif step == "composite":
                open_.append(tl.composite("gemm", a, b, out, tile_shape=((16, 16, 16), (64, 64, 64))[n]))
            elif step == "wait" and open_:
                tl.wait(open_.pop(0))
            elif step == "cycles":
                tl.cycles(n)
        for handle in open_:
            tl.wait(handle)

    return kernel


@examples(25, suppress_health_check=[HealthCheck.too_slow])
@given(
    topology=st.sampled_from(["minimal", OBLONG]),
    programs=st.lists(st.tuples(STEPS, st.booleans()), min_size=1, max_size=3),
)
def test_any_kernels_close(topology: str, programs: list[tuple[list[tuple[str, int]], bool]]) -> None:
    def bench(torch: Any) -> None:
        data = np.ones((64, 64), dtype=np.float16)
        a, b, out = torch.from_numpy(data), torch.from_numpy(data), torch.zeros(64, 64, dtype="f16")
        for steps, waits in programs:
            handle = torch.launch("k", kernel_of(steps), a, b, out)
            if waits:
                handle.wait()

    check(kb.run(bench, machine(topology), store="memory:"))


def test_a_kernels_own_cycles_are_not_blamed_on_work_beside_them() -> None:
    """A composite that ends meanwhile did not make the kernel's time; one that is waited for did."""

    def bench(cycles: int) -> Any:
        def run(torch: Any) -> None:
            data = np.ones((64, 64), dtype=np.float16)
            a, b, out = torch.from_numpy(data), torch.from_numpy(data), torch.zeros(64, 64, dtype="f16")
            torch.launch("k", kernel_of([("composite", 1), ("cycles", cycles)]), a, b, out)

        return run

    long, short = (kb.run(bench(n), machine("minimal"), store="memory:") for n in (100_000, 1))
    assert "compute" not in long.critical_path(0).by_cause()
    assert long.critical_path(0).by_cause()["component"] >= 100_000 * 0.5
    assert short.critical_path(0).by_cause()["compute"] > 0


def test_a_run_without_transactions_has_no_chain() -> None:
    run = kb.run("gemm-single-pe", machine("minimal"), store="memory:")
    empty = {name: table.slice(0, 0) for name, table in run.tables.items()}
    with pytest.raises(ValueError, match="no transactions"):
        critical_path(TraceIndex(empty, []), 0.0)


# -- many PEs, cubes and SIPs -----------------------------------------------------------------------

SHARDED = {"va": small("va"), "one_to_one": small("one_to_one"), "oblong": machine(OBLONG)}
BETWEEN = ("", "wait", "read", "part", "copy", "write", "make")
"""Actions of the host after a launch."""


@pytest.mark.daily("va")
@pytest.mark.parametrize("model", ["va", "one_to_one", pytest.param("oblong", marks=pytest.mark.slow)])
@examples(12, suppress_health_check=[HealthCheck.too_slow])
@given(
    launches=st.lists(st.tuples(genes | st.just([]), st.sampled_from(BETWEEN)), min_size=1, max_size=4),
    types=st.tuples(*[st.sampled_from(["f16", "f32", "i8"])] * 4),
)
def test_shards_on_two_sips_close(model: str, launches: Any, types: Any) -> None:
    """Kernels that read each other's shards, on both SIPs, with the host's own traffic between them."""
    graph = SHARDED[model]
    programs = int(graph.properties["cubes_per_sip"]) * int(graph.properties["pes_per_cube"])
    given_ = arrays(types, programs, 1)

    def bench(torch: Any) -> None:
        x, w, y, out = (
            torch.from_numpy(array, dp=DPPolicy() if name == "w" else DPPolicy("row_wise", "row_wise"))
            for name, array in given_.items()
        )
        made: list[Any] = []
        for steps, then in launches:
            handle = torch.launch("generated", generated(steps), x, w, y, out)
            if then == "wait":
                handle.wait()
            elif then == "read":
                x.numpy(1)
            elif then == "part":
                x[1, ::3]
            elif then == "copy":
                y.copy_(x if x.dtype == y.dtype else given_["y"])
            elif then == "write":
                w.fill(1)
            elif then == "make":
                made[:] = [torch.zeros(3, 5)]  # frees the one before, and its mapping

    check(kb.run(bench, graph, store="memory:", device="all"))


def test_kernels_that_do_nothing_close() -> None:
    """A PE that is free at the very moment at which its launch starts does not wait for itself."""

    def bench(torch: Any) -> None:
        x = torch.zeros(4)
        torch.launch("nothing", lambda x, tl: None, x)
        torch.launch("long", lambda x, tl: tl.cycles(100_000), x)
        for _ in range(300):
            torch.launch("nothing", lambda x, tl: None, x)

    run = kb.run(bench, machine("minimal"), store="memory:")
    assert check(run).by_cause()["component"] > 50_000
    assert set(run.critical_path(301).by_cause()) <= {"launch", "queue"}


def test_launches_that_were_sent_at_one_moment_are_told_apart() -> None:
    """The wait before a launch's start is for its own launch messages, also when others are under way."""

    def bench(torch: Any) -> None:
        torch.ahbm.set_device(0)
        x = torch.zeros(4)
        torch.ahbm.set_device(1)
        y = torch.zeros(4)
        torch.wait_all()
        torch.launch("first", lambda x, tl: tl.cycles(10), x)
        torch.launch("second", lambda x, tl: tl.cycles(10), y)

    run = kb.run(bench, SHARDED["va"], store="memory:")
    assert len({launch["t_submit"] for launch in run.launches}) == 1
    index = TraceIndex(run.tables, run.launches)
    assert [[m.dst for m in index.launch_messages(n)] for n in (0, 1)] == [
        ["sip0.cube0.pe0.pe_cpu"],
        ["sip1.cube0.pe0.pe_cpu"],
    ]
    for n in (0, 1):
        assert {step.location.partition(".")[0] for step in run.critical_path(n).steps} >= {f"sip{n}"}
        assert f"sip{1 - n}" not in {step.location.partition(".")[0] for step in run.critical_path(n).steps}


# -- plain traffic ----------------------------------------------------------------------------------


@pytest.mark.daily(but=("oblong",))
@pytest.mark.parametrize("model", SHARDED)
@examples(15, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_random_traffic_closes(model: str, data: Any) -> None:
    names = [node.id for node in SHARDED[model].nodes()]
    pes = [name.removesuffix(".pe_dma") for name in names if name.endswith(".pe_dma")]
    slices = [name for name in names if re.search(r"\.hbm_ctrl\.pe\d+$", name)]
    anywhere = [*slices, *(name for name in names if name.endswith((".sram", ".pe_tcm")))]
    others = ["host", *(name for name in names if name.endswith(".m_cpu"))]

    def flow() -> dict[str, object]:
        src = data.draw(st.sampled_from(pes) | st.sampled_from(others))
        return {
            "src": src,
            "dst": data.draw(st.sampled_from(anywhere if src in pes else slices)),
            "bytes": data.draw(st.sampled_from([1, 64, 256, 1000, 5000])),
            "op": data.draw(st.sampled_from(["read", "write"])),
            "start_ns": data.draw(st.sampled_from([0, 0, 10, 500.5])),
            "count": data.draw(st.sampled_from([1, 1, 3])),
        }

    run = kb.traffic([flow() for _ in range(data.draw(st.integers(1, 10)))], SHARDED[model], store="memory:")
    assert check(run).steps
