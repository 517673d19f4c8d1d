"""Waits of generated kernels add up, place by place, to what the use of each place says."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from kernbench_graph.records import RunRecord

import kernbench as kb
from kernbench.host import DPPolicy
from kernbench.support.pgraph import PropertyGraph
from tests.compiled import compiled
from tests.examples import examples
from tests.property.generated_kernels import arrays, genes, kernel_of
from tests.property.test_critical_path_queues import MACHINE, MESSAGES, talk
from tests.small_machines import SMALL
from tests.unit.test_waits import check_sums

MEMORIES: dict[str, dict[str, object]] = {
    "channels": {},
    "rows": {"cube.hbm.dram.timing": "hbm3_6400"},
    "cache": {"memory.interleave": "package", "memory.cache.capacity": 1 << 14, "memory.cache.gbs": 8.0},
    "credits": {"links.router_mesh.buffer_flits": 1, "routing.answers": "own"},
}
"""What is waited for at memories and on the way to them."""


@cache
def machine(memory: str) -> PropertyGraph:
    return compiled(None, SMALL | MEMORIES[memory])


@pytest.mark.daily("rows", "credits")
@pytest.mark.parametrize("memory", MEMORIES)
@examples(16, suppress_health_check=[HealthCheck.too_slow])
@given(launches=st.lists(genes, min_size=1, max_size=3), dtype=st.sampled_from(["f16", "f32", "i8"]))
def test_waits_of_any_kernels_add_up(memory: str, launches: list[Any], dtype: str) -> None:
    graph = machine(memory)

    def bench(torch: Any) -> None:
        tensors = [
            torch.from_numpy(array, dp=DPPolicy() if name == "w" else DPPolicy("row_wise", "row_wise"))
            for name, array in arrays([dtype] * 4, 4, 1).items()
        ]
        for steps in launches:
            torch.launch("generated", kernel_of(steps), *tensors)

    run = kb.run(bench, graph, store="memory:", device="all")
    check_sums(RunRecord(run.properties, run.tables))


@examples(32)
@given(messages=MESSAGES, kind=st.sampled_from(["tcm", "sram", "hbm"]), slots=st.integers(1, 5))
def test_waits_between_queues_add_up(messages: list[Any], kind: str, slots: int) -> None:
    run = kb.run(talk(messages, kind, slots), compiled(None, MACHINE), store="memory:")
    check_sums(RunRecord(run.properties, run.tables))
