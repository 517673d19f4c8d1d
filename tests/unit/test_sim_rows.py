"""Rows of a trace: they become tables while somebody else, such as a profiler, still holds arrays of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.engine.core import trace


def test_arrays_that_somebody_holds_outlive_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[Any] = []
    sums, waits = trace._sums, trace._waits

    def summed(values: Any, counts: Any) -> Any:
        held.append(values)
        return sums(values, counts)

    def waited(columns: Any, *others: Any) -> Any:
        held.append(columns["ns"])
        return waits(columns, *others)

    monkeypatch.setattr(trace, "_sums", summed)
    monkeypatch.setattr(trace, "_waits", waited)
    run = kb.run("qkv-gemm", "minimal", store="memory:")
    service, wait, of_waits = held
    assert np.sort(service).tolist() == np.sort(run.hops["service_ns"]).tolist()
    assert np.sort(wait).tolist() == np.sort(run.hops["wait_ns"]).tolist()
    assert of_waits.sum() == pytest.approx(wait.sum())
    assert len(of_waits)
