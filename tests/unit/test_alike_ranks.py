"""Ranks that are alike: the first is simulated for all, and everything that a run counts is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import KernBenchError

PLACED = kb.DPPolicy(cube="column_wise", pe="row_wise")


def topo(sips: int, **more: Any) -> dict[str, Any]:
    return {
        "system.sips": sips, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1, "cube.pes.count": 4,
        "cube.pes.corners": ["NW", "NE", "SW", "SE"], **more,
    }  # fmt: skip


def exp(x: Any, y: Any, tl: Any) -> None:
    tl.store(y.local, tl.exp(tl.load(x.local)))


def layers(torch: Any, rank: int, count: int = 2) -> None:
    x, y = (torch.zeros(64, 64, dp=PLACED) for _ in range(2))
    for _ in range(count):
        torch.launch("exp", exp, x, y)
        torch.distributed.all_reduce(y)


def spawned(worker: Callable[[Any, int], None], alike: bool = True) -> Callable[[Any], None]:
    def bench(torch: Any) -> None:
        torch.distributed.init_process_group("ahbm")
        ranks = torch.ahbm.device_count()
        torch.multiprocessing.spawn(lambda rank: worker(torch, rank), nprocs=ranks, alike=alike)

    return bench


def ran(worker: Callable[[Any, int], None], sips: int = 2, **options: Any) -> kb.Run:
    return kb.run(spawned(worker), topo=topo(sips), store="memory:", **options)


def totals(run: kb.Run, column: str) -> dict[str, float]:
    table = run.frame("Use")
    return dict(zip(table["resource"].tolist(), table[column].tolist(), strict=True))


@pytest.mark.daily("2")
@pytest.mark.parametrize("sips", [2, 4])
def test_alike_ranks_count_what_all_of_them_do(sips: int) -> None:
    alike, exact = ran(layers, sips), ran(layers, sips, exact=True)
    assert alike.info["events"] < exact.info["events"]
    found, expected = totals(alike, "bytes"), totals(exact, "bytes")
    assert found.keys() == expected.keys()
    differ = {name for name, nbytes in expected.items() if found[name] != nbytes}
    # Messages to a follower's package do not pass the host: they have no bytes, and neither has what differs.
    assert differ == set()
    of = {
        "package": [one["package"] for one in alike.launches],
        "exact": [one["package"] for one in exact.launches],
    }
    assert sorted(of["package"]) == sorted(of["exact"])
    busy = sum(totals(alike, "busy_ns").values()) / sum(totals(exact, "busy_ns").values())
    assert busy == pytest.approx(1.0, abs=0.01)


def test_a_follower_says_which_launch_was_simulated_for_it() -> None:
    run = ran(layers, 2)
    launches = {one["launch"]: one for one in run.launches}
    following = [one for one in launches.values() if "follows" in one]
    assert [one["rank"] for one in following] == [1, 1]
    for one in following:
        led = launches[one["follows"]]
        assert (led["rank"], led["kernel"], led["package"]) == (0, "exp", "sip0")
        assert (one["t_start"], one["t_done"], one["package"]) == (led["t_start"], led["t_done"], "sip1")
    rows = run.cypher(
        "MATCH (a:Launch)-[:FOLLOWS]->(b:Launch) RETURN a.number AS a, b.number AS b ORDER BY a"
    )
    assert [(row["a"], row["b"]) for row in rows.dicts()] == [
        (one["launch"], one["follows"]) for one in following
    ]
    (said,) = run.frame("Repeat")["kind"].tolist()
    assert said == "alike"


def test_exact_simulates_every_rank() -> None:
    exact, plain = (
        ran(layers, exact=True),
        kb.run(spawned(layers, alike=False), topo=topo(2), store="memory:"),
    )
    assert exact.sim_ns == plain.sim_ns
    assert not any("follows" in one for one in exact.launches)
    assert not exact.table("Repeat").num_rows


def constant(torch: Any, rank: int) -> None:
    x = torch.zeros(64, 64, dp=PLACED)
    torch.launch("scale", lambda x, by, tl: tl.store(x.local, tl.load(x.local) * by), x, 2.0 + rank)


def shape(torch: Any, rank: int) -> None:
    x = torch.zeros(64, 64 * (1 + rank), dp=PLACED)
    torch.launch("exp", exp, x, x)


def dtype(torch: Any, rank: int) -> None:
    x = torch.zeros(64, 64, dp=PLACED, dtype="f32" if rank else "f16")
    torch.launch("exp", exp, x, x)


def placement(torch: Any, rank: int) -> None:
    x = torch.zeros(64, 64, dp=kb.DPPolicy(cube="row_wise", pe="column_wise") if rank else PLACED)
    torch.launch("exp", exp, x, x)


def kernel(torch: Any, rank: int) -> None:
    x = torch.zeros(64, 64, dp=PLACED)
    torch.launch("one", exp if rank else lambda x, y, tl: tl.store(y.local, tl.load(x.local)), x, x)


def captured(torch: Any, rank: int) -> None:
    x = torch.zeros(64, 64, dp=PLACED)

    def scale(x: Any, tl: Any) -> None:
        tl.store(x.local, tl.load(x.local) * (1.0 + rank))

    torch.launch("scale", scale, x)


def one_more(torch: Any, rank: int) -> None:
    x = torch.zeros(64, 64, dp=PLACED)
    for _ in range(1 + rank):
        torch.launch("exp", exp, x, x)


def one_less(torch: Any, rank: int) -> None:
    x = torch.zeros(64, 64, dp=PLACED)
    for _ in range(2 - rank):
        torch.launch("exp", exp, x, x)
    torch.distributed.barrier()


@pytest.mark.parametrize(
    ("worker", "words"),
    [
        (constant, "by is 2.0 and 3.0"),
        (shape, r"x differs in shape: \(64, 64\) and \(64, 128\)"),
        (dtype, "x differs in dtype: f16 and f32"),
        (placement, "x differs in placement"),
        (kernel, "their kernels are not the same"),
        (captured, "their kernels are not the same"),
    ],
)
def test_a_launch_that_is_not_alike_is_refused_with_both_lines(
    worker: Callable[[Any, int], None], words: str
) -> None:
    with pytest.raises(KernBenchError, match=words) as refused:
        ran(worker)
    assert len(re.findall(r"at test_alike_ranks\.py:\d+", str(refused.value))) == 2
    assert "--exact" in str(refused.value)
    assert ran(worker, exact=True).sim_ns > 0


@pytest.mark.parametrize("worker", [one_more, one_less])
def test_more_or_fewer_launches_are_refused(worker: Callable[[Any, int], None]) -> None:
    with pytest.raises(KernBenchError, match=r"launch 'exp' at test_alike_ranks.py:\d+"):
        ran(worker)
    assert ran(worker, exact=True).sim_ns > 0


def elsewhere(torch: Any, rank: int) -> None:
    torch.ahbm.set_device(0)
    x = torch.zeros(64, 64, dp=PLACED)
    torch.launch("exp", exp, x, x)


def overlapping(torch: Any, rank: int) -> None:
    x, y = (torch.zeros(64, 64, dp=PLACED) for _ in range(2))
    work = torch.distributed.all_reduce(x, async_op=True)
    torch.launch("exp", exp, y, y)
    work.wait()


def own_queues(torch: Any, rank: int) -> None:
    torch.install_ipcq("inter_sip")


def read(torch: Any, rank: int) -> None:
    x = torch.zeros(64, 64, dp=PLACED)
    torch.launch("copy", lambda x, tl: tl.store(x.local, tl.load(x.local)), x)
    if rank:
        np.asarray(x.numpy())


@pytest.mark.parametrize(
    ("worker", "words"),
    [
        (elsewhere, "has tensors on package 0; ranks that are alike work on their own, 1"),
        (overlapping, "begins while a collective of rank 0 is under way"),
        (own_queues, r"the queues set up at test_alike_ranks\.py:\d+ lead to another package"),
        (read, "has no values to read: launch 'copy' at test_alike_ranks.py"),
    ],
)
def test_what_ranks_that_are_alike_cannot_do(worker: Callable[[Any, int], None], words: str) -> None:
    with pytest.raises(KernBenchError, match=words):
        ran(worker)


def test_a_collective_that_a_rank_leaves_out_is_refused_with_its_line() -> None:
    def worker(torch: Any, rank: int) -> None:
        x = torch.zeros(64, 64, dp=PLACED)
        torch.launch("exp", exp, x, x)
        if rank == 0:
            torch.distributed.all_reduce(x)

    with pytest.raises(
        KernBenchError, match=r"rank 1 ends, and rank 0 calls all_reduce at test_alike_ranks\.py:\d+"
    ):
        ran(worker)


def test_values_cannot_be_verified() -> None:
    with pytest.raises(KernBenchError, match="no values to verify; run with --exact"):
        ran(layers, verify=True)


def test_packages_that_differ_are_refused_by_the_part() -> None:
    slow = {"overrides": [{"where": "sip1.cube0.pe0.pe_gemm", "speed": 0.5}]}
    with pytest.raises(
        KernBenchError, match=r"rank 1 is not like rank 0: 'sip0.cube0.pe0.pe_gemm' has clock_ghz"
    ):
        kb.run(spawned(layers), topo=topo(2, **slow), store="memory:")
    lost = {"faults": [{"link": "sip1.cube0.r0c0->sip1.cube0.r0c1"}]}
    with pytest.raises(KernBenchError, match="rank 1 is not like rank 0: package 1 has other parts or links"):
        kb.run(spawned(layers), topo=topo(2, **lost), store="memory:")


def test_one_rank_is_as_it_is() -> None:
    run = kb.run(spawned(layers), topo=topo(1), store="memory:")
    assert not run.table("Repeat").num_rows
