"""Collectives of ranks that are alike: simulated on one of them they are what they are on all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import kernbench as kb

UNFOLDED = """
from dataclasses import replace
from kernbench.host.collectives.algorithms import {name}
ALGORITHMS = [replace(one, turns=lambda call, vector: None) for one in {name}.ALGORITHMS]
"""
"""An algorithm that does the same and does not say that ranks do."""
SMALL = {
    "sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1, "cube.pes.count": 1, "cube.pes.corners": ["NW"],
    "cube.hbm.pseudo_channels": 8,
}  # fmt: skip
CHANNELS = 8


@pytest.fixture(scope="module")
def algorithms(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    folder = tmp_path_factory.mktemp("algorithms")

    def unfolded(name: str) -> str:
        path: Path = folder / f"{name}.py"
        path.write_text(UNFOLDED.format(name=name))
        return str(path)

    return unfolded


def reduced(
    topo: dict[str, Any],
    algorithm: str,
    elements: int,
    times: int = 1,
    op: str = "sum",
    check: bool = True,
    **more: Any,
) -> kb.Run:
    """``times`` all-reduces of a tensor of ``elements`` on each cube."""
    options = {name: more.pop(name) for name in ("by_steps",) if name in more}
    config = {"collectives": {"all_reduce": algorithm}, "algorithms": {algorithm: options}}

    def bench(torch: Any) -> None:
        dist = torch.distributed
        dist.init_process_group("ahbm", config=config | more)

        def worker(rank: int) -> None:
            pes = torch.pes_per_cube
            placed = kb.DPPolicy("row_wise", "column_wise", num_pes=pes, even=True)
            x = torch.empty(torch.cubes_per_sip, elements, dtype="f16", dp=placed)
            for _ in range(times):
                dist.all_reduce(x, op=op)

        torch.multiprocessing.spawn(worker, nprocs=dist.get_world_size(), alike=True)

    return kb.run(bench, topo=topo, store="memory:", device="all", check=check)


def folded(run: kb.Run) -> int:
    return int(run.info["collectives"]["folded"])


def times_of(run: kb.Run) -> list[Any]:
    return sorted((one["rank"], one["t_start"], one["t_done"], one["pe_ns"]) for one in run.launches)


def counted(run: kb.Run, column: str) -> dict[str, float]:
    table = run.frame("Use")
    return dict(zip(table["resource"].tolist(), table[column].tolist(), strict=True))


def by_slice(run: kb.Run) -> Counter[str]:
    """Bytes by part; of channels together, as ranks begin with different ones."""
    found = Counter[str]()
    for part, nbytes in counted(run, "bytes").items():
        found[part.partition(".pc")[0] if ".hbm_ctrl." in part else part] += int(nbytes)
    return found


def check_exact(
    algorithms: Callable[[str], str], sips: int, bursts: int, slots: int, slot_bytes: int, algorithm: str,
    op: str, by_steps: bool, times: int, machine: dict[str, Any],
) -> None:  # fmt: skip
    topo = {"system.sips": sips, **SMALL, **machine}
    options: dict[str, Any] = {"by_steps": by_steps} if algorithm == "ring" else {}
    options |= {"defaults": {"slots": slots, "slot_bytes": slot_bytes}}
    elements = sips * bursts * machine["system.flit_bytes"] // 2  # a flit is a burst of the memory
    one, all_of_them = (
        reduced(topo, name, elements, times, op, **options) for name in (algorithm, algorithms(algorithm))
    )
    turns = bursts % CHANNELS == 0 or sips * bursts % CHANNELS == 0
    mean_by_steps = op == "avg" and bool(options.get("by_steps"))
    assert folded(one) == (times if turns and not mean_by_steps else 0)
    assert folded(all_of_them) == 0
    assert times_of(one) == times_of(all_of_them)
    assert one.sim_ns == all_of_them.sim_ns
    assert by_slice(one) == by_slice(all_of_them)
    carried = [counted(run, "transactions") for run in (one, all_of_them)]
    here, there = (
        {part: n for part, n in of.items() if part.startswith("sip") and ".pc" not in part} for of in carried
    )
    assert here == there  # launch messages of followers do not pass the host and its switch


MACHINE = {
    "system.switch.link_gbs": [32.0, 128.0, 300.0], "system.switch.overhead_ns": [0.0, 5.0, 31.0],
    "sip.io_chiplets.0.pcie_ep.cut_through": [False, True], "pe.pe_dma.outstanding": [1, 2, 3],
    "system.flit_bytes": [128, 256],
}  # fmt: skip


RING, LRAB = "ring", "lrab_hierarchical_allreduce"


@pytest.mark.parametrize(
    ("drawn", "chosen"),
    [
        ((4, 8, 2, 4096, RING, "sum", False, 2), 0),
        ((3, 16, 4, 1024, RING, "avg", True, 1), 1),
        ((2, 20, 3, 256, LRAB, "avg", False, 2), 1),
    ],
)
def test_a_folded_ring_of_one_pe_a_package_is_exact(
    algorithms: Callable[[str], str], drawn: Any, chosen: int
) -> None:
    check_exact(algorithms, *drawn, {key: values[chosen] for key, values in MACHINE.items()})


@pytest.mark.slow
@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(
    sips=st.integers(2, 6),
    bursts=st.integers(1, 20),
    slots=st.integers(1, 5),
    slot_bytes=st.sampled_from([256, 1024, 4096]),
    algorithm=st.sampled_from(["ring", "lrab_hierarchical_allreduce"]),
    op=st.sampled_from(["sum", "avg", "max"]),
    by_steps=st.booleans(),
    times=st.integers(1, 2),
    machine=st.fixed_dictionaries({key: st.sampled_from(values) for key, values in MACHINE.items()}),
)
def test_folded_rings_of_one_pe_a_package_are_exact(algorithms: Callable[[str], str], **drawn: Any) -> None:
    check_exact(algorithms, **drawn)


@pytest.mark.parametrize("algorithm", ["ring", "lrab_hierarchical_allreduce"])
def test_of_many_pes_a_package_only_messages_of_one_instant_take_turns(
    algorithms: Callable[[str], str], algorithm: str
) -> None:
    topo = {
        "system.sips": 4, **SMALL, "sip.cube_mesh.w": 2, "cube.pes.count": 4,
        "cube.pes.corners": ["NW", "NE", "SW", "SE"], "cube.hbm.pseudo_channels": 32,
    }  # fmt: skip
    one, all_of_them = (reduced(topo, name, 16384) for name in (algorithm, algorithms(algorithm)))
    assert folded(one) == 1
    assert one.time_ns == pytest.approx(all_of_them.time_ns, rel=1e-3)
    assert by_slice(one) == by_slice(all_of_them)
    assert one.info["events"] < all_of_them.info["events"] / 3


@pytest.mark.parametrize(
    ("topo", "options", "why"),
    [
        ({"system.switch.worker": "serial"}, {}, "one worker"),
        ({}, {"defaults": {"buffer_kind": "hbm"}}, "not in TCM"),
        ({"cube.hbm.switch_penalty_ns": 2.0}, {}, "switch_penalty_ns"),
        ({"cube.hbm.model": "dram"}, {}, "may remember"),
        ({}, {"algorithm": "recursive_doubling"}, "do not do the same"),
        ({}, {"elements": 4 * 1024 + 2}, "not of one length"),
    ],
)
def test_what_is_not_folded_says_why(topo: dict[str, Any], options: dict[str, Any], why: str) -> None:
    options = {"algorithm": "ring", "elements": 4 * 1024, **options}
    run = reduced({"system.sips": 4, **SMALL, **topo}, **options)
    said = run.info["collectives"]
    assert said["folded"] == 0
    assert why in "".join(said["why"])


def test_others_may_follow_one_that_is_folded() -> None:
    """A collective of two groups is simulated on all, with the queues as they were set up."""

    def bench(torch: Any) -> None:
        dist = torch.distributed
        dist.init_process_group("ahbm", config={"collectives": {"all_reduce": "ring"}})

        def worker(rank: int) -> None:
            pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
            x = torch.empty(1, 4096, dtype="f16")
            odd = torch.empty(1, 4098, dtype="f16")
            for tensor, group in ((x, None), (odd, None), (x, pairs[rank // 2]), (x, None)):
                dist.all_reduce(tensor, group=group)

        torch.multiprocessing.spawn(worker, nprocs=4, alike=True)

    run = kb.run(bench, topo={"system.sips": 4, **SMALL}, store="memory:", device="all", check=True)
    said = run.info["collectives"]
    assert (said["folded"], said["of"]) == (2, 4)
    assert sorted(why.partition(": ")[2] for why in said["why"]) == [
        "chunks of its ranks are not of one length, or not in one memory", "not all ranks take part",
    ]  # fmt: skip


def test_values_after_a_folded_one_are_refused() -> None:
    def bench(torch: Any) -> None:
        torch.distributed.init_process_group("ahbm", config={"collectives": {"all_reduce": "ring"}})

        def worker(rank: int) -> None:
            x = torch.empty(1, 4096, dtype="f16")
            torch.distributed.all_reduce(x)
            if rank == 0:
                x.numpy()

        torch.multiprocessing.spawn(worker, nprocs=4, alike=True)

    with pytest.raises(kb.KernBenchError, match="carried out on rank 0 alone"):
        kb.run(bench, topo={"system.sips": 4, **SMALL}, store="memory:", device="all")


@pytest.mark.slow
def test_a_ring_of_more_ranks_than_could_be_simulated_has_its_formula() -> None:
    """In one piece a step takes the same at every size: latency, and the bytes of a chunk."""
    found = {
        n: reduced({"system.sips": n, **SMALL}, "ring", n * 1024, by_steps=True, check=False).launches[0][
            "pe_ns"
        ]
        for n in (40, 80, 320)
    }
    step = (found[80] - found[40]) / 80
    assert found[320] - found[80] == pytest.approx(480 * step, rel=1e-9)
