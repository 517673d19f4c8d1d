"""What the list of what-if promises, a run on the changed machine takes.

Of kernels that work in sequence that is so to the last bit, beside what the host does meanwhile. Composites
stream: what routers and links promise there may not be had, but the memory's part is about right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.api.stores import borrowed
from tests.compiled import compiled
from tests.small_machines import ONE_CUBE


@pytest.mark.daily("softmax-*", "ipcq-allreduce-*")
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
    with borrowed("memory:") as store:
        run = kb.run(bench, "minimal", store=store)
        listed = kb.what_if_candidates(run.id, store, launch="all", locations=0, measure=4)
        for best in listed["candidates"][:4]:
            measured = listed["ns"] - best["measured_saved_ns"]
            assert measured == pytest.approx(best["twice_ns"], rel=within), best["where"]
        assert listed["candidates"][4]["measured_saved_ns"] is None


@pytest.mark.parametrize("bench", ["matmul-composite", "gpt3-qkv", "qkv-gemm"])
def test_a_faster_memory_saves_a_composite_what_the_busiest_part_leaves(bench: str) -> None:
    with borrowed("memory:") as store:
        run = kb.run(bench, "minimal", store=store)
        found = kb.what_if(run.id, {"kind:hbm_ctrl": 2.0}, store, launch="all")
        assert found["measured"]["ns"] == pytest.approx(found["estimate"]["ns"], rel=0.03)


def test_a_kind_on_the_path_is_all_of_its_parts_not_only_those_on_it() -> None:
    """Each PE of a cube multiplies for half of the time, and one of them is on the path."""

    def product(x: Any, w: Any, out: Any, tl: Any) -> None:
        tl.store(out.local, tl.dot(tl.load(x.local), tl.load(w.local)))

    def bench(torch: Any) -> None:
        rows, copies = kb.DPPolicy(pe="row_wise", num_cubes=1), kb.DPPolicy(num_cubes=1)
        x = torch.from_numpy(np.ones((512, 256), np.float16), dp=rows)
        w = torch.from_numpy(np.ones((256, 256), np.float16), dp=copies)
        torch.launch("product", product, x, w, torch.empty(512, 256, dp=rows))

    with borrowed("memory:") as store:
        run = kb.run(bench, compiled("default", ONE_CUBE), store=store)
        listed = kb.what_if_candidates(run.id, store, locations=0, measure=1, bench=bench)
        best = listed["candidates"][0]
        assert best["where"] == "kind:pe_gemm"
        assert best["measured_saved_ns"] == pytest.approx(best["twice_saved_ns"], rel=1e-9)
        assert best["twice_saved_ns"] > 0.2 * listed["ns"]
