"""What the list of what-if promises, a run on the changed machine takes.

Of kernels that work in sequence that is so to the last bit, beside what the host does meanwhile. Composites
stream: what routers and links promise there may not be had, but the memory's part is about right.
"""

from __future__ import annotations

import pytest

import kernbench as kb
from kernbench import api


@pytest.mark.parametrize(
    ("bench", "within"),
    [
        ("flash-attention", 1e-9),
        ("gemm-multi-pe", 1e-9),
        ("ipcq-allreduce", 1e-9),
        ("softmax", 1e-9),
        ("llama-layer", 0.01),  # several launches, which the host's uploads shift
    ],
)
def test_the_best_candidates_save_what_they_promise(bench: str, within: float) -> None:
    with api.borrowed("memory:") as store:
        run = kb.run(bench, "minimal", store=store)
        listed = kb.what_if_candidates(run.id, store, launch="all", locations=0, measure=4)
        for best in listed["candidates"][:4]:
            measured = listed["ns"] - best["measured_saved_ns"]
            assert measured == pytest.approx(best["twice_ns"], rel=within), best["where"]
        assert listed["candidates"][4]["measured_saved_ns"] is None


@pytest.mark.parametrize("bench", ["matmul-composite", "gpt3-qkv", "qkv-gemm"])
def test_a_faster_memory_saves_a_composite_what_the_busiest_part_leaves(bench: str) -> None:
    with api.borrowed("memory:") as store:
        run = kb.run(bench, "minimal", store=store)
        found = kb.what_if(run.id, {"kind:hbm_ctrl": 2.0}, store, launch="all")
        assert found["measured"]["ns"] == pytest.approx(found["estimate"]["ns"], rel=0.016)
