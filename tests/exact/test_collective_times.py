"""Times of collectives against closed forms, where nothing contends, and how they grow."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.hardware.kinds import Traffic
from kernbench.hardware.topology.neighbours import ring
from kernbench.host import DPPolicy
from kernbench.host.collectives.steps import Limits, Ring, combine, load, local, ring_all_reduce
from kernbench.validation.collectives import npus_ns
from tests import names
from tests.exact.message_times import message_ns
from tests.ranked_machines import context, machine, run_ranks

CHUNK = 896
"""f32 elements of a chunk, less than a slot. With other sizes a credit may meet a message at a port."""


def on_one_pe(graph: Any, *actions: Any) -> list[float]:
    """Durations of single ``tl`` calls of a kernel on an otherwise idle PE, ns."""
    took: list[float] = []
    torch = context(graph, verify=False)
    torch.ahbm.set_device(0)
    x = torch.zeros(CHUNK, dtype="f32")

    def kernel(x: Any, tl: Any) -> None:
        vector, value = local(x), None
        for action in actions:
            begun = tl._pe.now()
            value = action(tl, vector, value)
            took.append(tl._pe.now() - begun)

    torch.launch("single", kernel, x).wait()
    return took


@pytest.mark.daily("2-*", "3-20")
@pytest.mark.parametrize(("ranks", "skew"), [(2, 0), (3, 0), (4, 0), (6, 0), (2, 20), (3, 20)])
def test_a_ring_takes_2_n_minus_1_steps(ranks: int, skew: int) -> None:
    """``skew`` cycles apart, ranks do not meet at the switch, whose overhead then counts in full."""
    # A store would queue behind the credit that left before it.
    overrides = {"pe.pe_ipcq.credit_bytes": 0}
    if not skew:  # the messages of one step would queue there; of more than three ranks they do anyway
        overrides |= {"system.switch.overhead_ns": 0.0, "cube.router.overhead_ns": 0.0}
        overrides |= {"cube.ucie.overhead_ns": 0.0, "sip.io_chiplets.0.io_ucie.overhead_ns": 0.0}
    graph = machine(ranks, **overrides)
    torch = context(graph, verify=False)
    x = torch.zeros(ranks * CHUNK, dtype="f32")
    torch.install_ipcq(ring([(sip, 0, 0) for sip in range(ranks)], "ring_E", "ring_W"))
    times: dict[int, tuple[float, float]] = {}

    def kernel(x: Any, tl: Any) -> None:
        me = tl.program_id(2)
        if skew * me:
            tl.cycles(skew * me)
        begun = tl._pe.now()
        ring_all_reduce(tl, local(x), Ring("ring_E", "ring_W", me, ranks), "sum", Limits(4096, 4, 1 << 18))
        times[me] = (begun, tl._pe.now())

    torch.launch("ring", kernel, x).wait()  # one launch, so that all ranks begin at one instant

    def store(tl: Any, vector: Any, value: Any) -> Any:
        tl.store(vector.address, value)

    read, add, write = on_one_pe(
        graph, lambda tl, v, _: load(tl, v), lambda tl, v, value: combine(tl, "sum", value, value), store
    )
    dma = [names.pe_part(sip, 0, 0, "pe_dma") for sip in (0, 1)]
    path = torch._driver.machine.path(*dma, Traffic.PE_DMA)
    nbytes = 4 * CHUNK
    step = message_ns(torch._driver.machine.flit_bytes, path, nbytes) + 2 * nbytes / 512.0  # both ends' slot
    begins = [times[rank][0] for rank in range(ranks)]
    assert max(begins) - min(begins) + read < step, "the own chunk is read while the other's is under way"
    # N - 1 steps add and pass on, N - 1 steps pass on; what is passed on is stored meanwhile.
    expected = read + (ranks - 1) * (step + add) + (ranks - 1) * step + write
    for rank, (_, ended) in times.items():
        # The last message that a rank gets has passed on from rank to rank since its first sender began.
        first = (rank - 2 * (ranks - 1)) % ranks
        assert ended - begins[first] == pytest.approx(expected, abs=1e-9)


def latency(elements: int, *, config: Any = None, **options: Any) -> float:
    """From the last rank's start of a sum over cubes to the last rank's end, ns."""
    cubes = options["cubes"][0] * options["cubes"][1]

    def program(rank: int, torch: Any) -> None:
        x = torch.empty((cubes, elements), dtype="f16", dp=DPPolicy("row_wise", num_pes=1))
        torch.distributed.all_reduce(x, group=torch.distributed.group.CUBES)

    _, torch = run_ranks(machine(6, "torus_2d", (3, 2), **options), program, config=config, verify=False)
    records = [handle.record for handle in torch.launches]
    return max(r.t_done for r in records) - max(r.t_start for r in records)


@pytest.mark.slow
def test_a_root_in_the_centre_beats_one_in_the_corner() -> None:
    elements = 256
    centre = latency(elements, cubes=(4, 4))
    corner = latency(
        elements, cubes=(4, 4), config={"algorithms": {"lrab_hierarchical_allreduce": {"root": 15}}}
    )
    assert centre < corner


@pytest.mark.slow
def test_latency_grows_linearly_in_bytes_once_the_window_is_full() -> None:
    # A rank may have as many pieces under way as a ring has slots: longer chunks wait for credits.
    sizes = [24576, 36864, 49152]
    times = [latency(n, cubes=(1, 1)) for n in sizes]
    growth = np.diff(times) / np.diff(sizes)
    np.testing.assert_allclose(growth, growth.mean(), rtol=0.1)


@pytest.mark.slow
def test_the_page_about_collectives_has_the_times_of_its_commands() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "torch-distributed.md").read_text("utf-8")
    grids = {"torus 3 x 2": {"pattern": "torus_2d", "w": 3, "h": 2},
             "mesh 2 x 3": {"pattern": "mesh_2d_no_wrap", "w": 2, "h": 3}}  # fmt: skip
    rows = re.findall(r"^\| (torus|mesh)( . x .) \| 512 \| TCM, 4 KB \| (.*) \| (.*) \| (.*) \|$", page, re.M)
    assert len(rows) == 2
    for pattern, size, *times in rows:
        graph = kb.load_topology(None, {"system.sips": 6, "system.inter_sip": grids[pattern + size]})
        for root, time in zip((-1, 0, 15), times, strict=True):
            run = kb.run("ccl-allreduce", graph, params={"elements": 256, "root": root}, trace=False)
            assert f"{run.kernels_ns:,.0f}" == time


@pytest.mark.slow
def test_the_page_of_records_has_the_sum_over_six_packages() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "records.md").read_text("utf-8")
    rows = re.findall(r"^\| `?(default|as-recorded)`? \| (\d) \| (.*) \| (.*) \| (.*) \|$", page, re.M)
    assert len(rows) == 4
    for topology, slots, *times in rows[:1]:  # the others take as long again
        torus = {"pattern": "torus_2d", "w": 2, "h": 3}
        changes = {"system.sips": 6, "system.inter_sip": torus, "pe.pe_ipcq.slots": int(slots)}
        graph = kb.load_topology(topology, changes)
        for root, time in zip((-1, 0, 15), times, strict=True):
            run = kb.run("ccl-allreduce", graph, params={"elements": 49152, "root": root}, trace=False)
            assert f"{run.kernels_ns / 1000:.1f}" == time


@pytest.mark.slow
def test_the_page_of_queues_has_the_times_of_rings_with_few_slots() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "queues.md").read_text("utf-8")
    (slots,), (times,) = (re.findall(rf"^\| {name} \| (.*) \|$", page, re.M) for name in ("slots", "us"))
    case = {
        "algorithm": "ring", "by_steps": False, "ranks": 4, "bytes": 1 << 20, "piece": 4096, "pieces": 256,
        "link_bytes_per_ns": 53.687, "link_latency_ns": 500.0,
    }  # fmt: skip
    for number, time in zip(slots.split(" | "), times.split(" | "), strict=True):
        assert f"{npus_ns({**case, 'slots': int(number)}) / 1000:.1f}" == time
