"""Arguments of Triton's, failures of components, ranks of launches, references by hash, the best run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernbench_graph.errors import RunNotFoundError
from kernbench_graph.records import resolve_ref

import kernbench as kb
from kernbench.api.screens import launches
from kernbench.errors import BenchError, KernBenchError

ONES = np.ones((16, 16), np.float16)


def run(body: Callable[[Any, Any, Any], object]) -> kb.KernelRun:
    def kernel(x: Any, out: Any, tl: Any) -> None:
        body(tl, x, out)

    return kb.run_kernel(kernel, ONES, out=np.zeros_like(ONES), topology="minimal")


def test_hints_of_triton_change_neither_values_nor_times() -> None:
    def plain(tl: Any, x: Any, out: Any) -> None:
        block = tl.load(x)
        tl.store(out, tl.dot(block, block))

    def hinted(tl: Any, x: Any, out: Any) -> None:
        block = tl.load(x, cache_modifier=".ca", eviction_policy="evict_last")
        made = tl.dot(block, block, allow_tf32=False, input_precision="tf32x3", max_num_imprecise_acc=None)
        tl.store(out, made, cache_modifier=".wb", eviction_policy="")

    a, b = run(plain), run(hinted)
    assert a.latency_ns == b.latency_ns
    assert np.array_equal(a.outputs[0], b.outputs[0])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            lambda tl, x, _: tl.dot(tl.load(x), tl.load(x), acc=1),
            r"tl\.dot: argument 'acc': .*acc \+ tl\.dot",
        ),
        (lambda tl, x, _: tl.dot(tl.load(x), tl.load(x), tl.load(x)), r"tl\.dot: .*acc \+ tl\.dot\(a, b\)"),
        (
            lambda tl, x, _: tl.max(tl.load(x), return_indices=True),
            r"tl\.max: .*use tl\.argmax or tl\.argmin",
        ),
        (lambda tl, x, _: tl.cast(tl.load(x), "i32", bitcast=True), r"tl\.cast: .*cast with dtype alone"),
        (
            lambda tl, x, _: tl.load(x, eviction=1),
            r"tl\.load: argument 'eviction': there is no such .*volatile",
        ),
        (
            lambda tl, x, _: tl.zeros((4,), cache_modifier=""),
            r"tl\.zeros: .*there are no caches: leave it out",
        ),
        (lambda tl, x, _: tl.load(x, tl.load(x)), r"tl\.load: argument 'shape': .*mask="),
    ],
)
def test_other_arguments_are_errors_that_say_what_to_do(body: Any, message: str) -> None:
    with pytest.raises(KernBenchError, match=rf"{message}.*test_said_plainly\.py:\d+"):
        run(body)


def reads(torch: Any) -> None:
    def kernel(x: Any, tl: Any) -> None:
        tl.load(x.local)

    torch.launch("read", kernel, torch.from_numpy(ONES))


def test_a_failure_of_a_component_is_not_the_benches(workdir: Path) -> None:
    """It names component, class, time and line."""
    (workdir / "broken.py").write_text(
        "from kernbench.components.hbm import HbmSlice\n\n\nclass Broken(HbmSlice):\n"
        "    def receive_flit(self, packet, flit, time):\n"
        "        raise ValueError('a register is not there')\n",
        encoding="utf-8",
    )
    with pytest.raises(KernBenchError) as caught:
        kb.run(
            reads, "minimal", components={"broken": f"{workdir / 'broken.py'}:Broken"},
            topo={"cube.hbm.impl": "broken"}, trace=False,
        )  # fmt: skip
    assert re.match(
        r"component 'sip0\.cube0\.hbm_ctrl\.pe0' \(Broken\) raised ValueError: a register is not there at "
        r"\d+\.\d+ ns \(broken\.py:6\)",
        str(caught.value),
    ), str(caught.value)


def test_a_failure_of_the_bench_is_the_benches() -> None:
    def bench(torch: Any) -> None:
        torch.from_numpy(ONES).numpy()
        raise ValueError("mine")

    with pytest.raises(
        BenchError, match=r"^bench 'bench' raised ValueError: mine \(test_said_plainly\.py:\d+\)"
    ):
        kb.run(bench, "minimal", trace=False)


def columns(run: kb.Run) -> list[str]:
    return [column.name for column in launches.of_run(run).grids[0].columns]


def test_launches_say_rank_and_package() -> None:
    def ranks(torch: Any) -> None:
        def worker(rank: int) -> None:
            x = torch.zeros(4, 16)
            torch.launch(f"of {rank}", lambda x, tl: tl.store(x.local, tl.load(x.local)), x)

        torch.multiprocessing.spawn(worker, nprocs=2)

    small = {"system.sips": 2, "sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1}
    found = kb.run(ranks, topo=small, store="memory:")
    assert [(one["kernel"], one["rank"], one["package"]) for one in found.launches] == [
        ("of 0", 0, "sip0"), ("of 1", 1, "sip1"),
    ]  # fmt: skip
    assert "rank" in columns(found)
    alone = run(lambda tl, x, out: tl.store(out, tl.load(x))).run
    assert (alone.launches[0]["rank"], alone.launches[0]["package"]) == (None, "sip0")
    assert "rank" not in columns(alone)


def test_a_run_goes_by_the_hash_alone() -> None:
    ids = ["20260101-101010-aabbccdd", "20260102-101010-aabbcc00", "20260102-111111-20260101"]
    assert resolve_ref("aabbccdd", ids) == ids[0]
    assert resolve_ref("aabbcc0", ids) == ids[1]
    assert resolve_ref("20260101", ids) == ids[0]  # the date comes first
    with pytest.raises(RunNotFoundError, match=r"'aabb' could be any of .*give more of the id"):
        resolve_ref("aabb", ids)
    with pytest.raises(RunNotFoundError, match="no run 'bbccdd'"):
        resolve_ref("bbccdd", ids)


def test_tuning_says_which_run_is_the_best(cli: Any, workdir: Path) -> None:
    (workdir / "blocks.py").write_text(
        """
import numpy as np
import kernbench as kb
from kernbench.benches import bench


@kb.autotune(configs=[{"BLOCK": 16}, {"BLOCK": 64}, {"BLOCK": 32}])
def scale(x, BLOCK, tl):
    for n in range(64 // BLOCK):
        tl.store(x + 2 * n * BLOCK, tl.load(x + 2 * n * BLOCK, shape=(BLOCK,)))


@bench(name="blocks", description="Copies in blocks.")
def run(torch):
    torch.launch("scale", scale, torch.from_numpy(np.ones(64, np.float16)))
""",
        encoding="utf-8",
    )
    line = ("tune", "--bench", "blocks.py", "--topology", "minimal")
    found = json.loads(cli(*line, "--format", "json").out)
    (best,) = [point for point in found["points"] if point["best"]]
    assert (best["config"], found["best_run"]) == ({"BLOCK": 64}, best["run_id"])
    shown = cli(*line).out
    (named,) = re.findall(r"^the run with the best: (\S+) \('last' is", shown, re.MULTILINE)
    assert re.search(rf"^scale\s+BLOCK=64 .*\*\s+{named}$", shown, re.MULTILINE)
