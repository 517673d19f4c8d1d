"""No result rests on ``sum()`` of floats: Python 3.12 compensates it, and 3.11 does not."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

import kernbench as kb

_sum = builtins.sum


def _strict(values: Any, /, start: Any = 0) -> Any:
    values = list(values)
    for value in values:
        assert not isinstance(value, float), "sum() of floats in a result; use math.fsum"
    return _sum(values, start)


@pytest.mark.parametrize(
    "topology", ["minimal", {"system.sips": 1, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1}]
)
def test_benches_and_traffic_add_floats_exactly(topology: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = kb.load_topology(topology) if isinstance(topology, str) else kb.load_topology("default", topology)
    monkeypatch.setattr(builtins, "sum", _strict)
    kb.run("matmul-composite", graph, verify=True, store="memory:", params={"epilogue": "bias_gelu"})
    kb.traffic("pattern:hot-spot", graph, store="memory:")
