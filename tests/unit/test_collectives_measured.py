"""Collectives are measured with the pace of the cycle collector that a run has."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from kernbench.host.spawn import Multiprocessing
from kernbench.validation.collectives import npus_ns


def test_the_collector_does_not_walk_over_the_machine_while_a_collective_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It took half of the time of a ring of 128 ranks, and more of larger ones."""
    spawn, enabled = Multiprocessing.spawn, []

    def watched(self: Any, *args: Any, **options: Any) -> Any:
        enabled.append(gc.isenabled())
        return spawn(self, *args, **options)

    monkeypatch.setattr(Multiprocessing, "spawn", watched)
    case: dict[str, Any] = {"ranks": 2, "link_bytes_per_ns": 50, "link_latency_ns": 500, "piece": 4096}
    assert npus_ns({**case, "bytes": 8192, "pieces": 16, "algorithm": "ring", "by_steps": True}) > 1000
    assert enabled == [False]
