"""A run goes by its id, by what begins it, and by the hash at its end."""

from __future__ import annotations

import pytest
from kernbench_graph.errors import RunNotFoundError
from kernbench_graph.records import resolve_ref


def test_a_run_goes_by_the_hash_alone() -> None:
    ids = ["20260101-101010-aabbccdd", "20260102-101010-aabbcc00", "20260102-111111-20260101"]
    assert resolve_ref("aabbccdd", ids) == ids[0]
    assert resolve_ref("aabbcc0", ids) == ids[1]
    assert resolve_ref("20260101", ids) == ids[0]  # the date comes first
    with pytest.raises(RunNotFoundError, match=r"'aabb' could be any of .*give more of the id"):
        resolve_ref("aabb", ids)
    with pytest.raises(RunNotFoundError, match="no run 'bbccdd'"):
        resolve_ref("bbccdd", ids)
