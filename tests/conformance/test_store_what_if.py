"""A run that any store has kept can be run again: its bench, settings and machine come back with it."""

from __future__ import annotations

import pytest

import kernbench as kb
from kernbench.support.pgraph import GraphStore


@pytest.mark.daily("embedded")
def test_kept_runs_can_be_run_again_on_a_changed_machine(store: GraphStore) -> None:
    bench = kb.run("gemm-single-pe", "minimal", store=store, m=32, k=64, n=32, device="sip:0")
    flows = kb.traffic("pattern:neighbour", "minimal", store=store, bytes=512)
    for kept in (bench, flows):
        found = kb.what_if(kept.id, {"kind:hbm_ctrl": 2.0, "kind:router": "free"}, store, launch="run")
        measured = kb.open_run(found["measured"]["run_id"], store)
        assert (measured.params, measured.again, measured.tags) == (kept.params, kept.again, ["what-if"])
        assert found["measured"]["ns"] == measured.sim_ns < kept.sim_ns
