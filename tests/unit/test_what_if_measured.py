"""What the list of what-if promises, a run on the changed machine takes, for kernels that work in sequence.

Benches that stream by composites are left out: with one part faster, another one decides.
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
        listed = kb.what_if_candidates(run.id, store, launch="all", locations=0)
        for best in listed["candidates"][:4]:
            found = kb.what_if(run.id, {best["where"]: 2.0}, store, launch="all")
            assert found["measured"]["ns"] == pytest.approx(best["twice_ns"], rel=within), best["where"]
