"""TritonBench-G, Triton kernels of others with their own tests: each file comes to what is kept of it.

Its text is not here: ``TRITONBENCH`` names the folder ``data/TritonBench_G_v1`` of a copy.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from tools.tritonbench.__main__ import SAME, outcome
from tools.tritonbench.harness import worst

FOLDER = os.environ.get("TRITONBENCH")
KEPT = Path(__file__).parents[1] / "tritonbench" / "results.csv"
CAUSES = {"", "test", "host", "removed", "engines", "slow", "ours", "reference"}
SAID = 60
"""Characters of an error that stay when its advice is worded anew."""


def kept() -> dict[str, dict[str, str]]:
    with KEPT.open(encoding="utf-8", newline="") as rows:
        return {row["file"]: row for row in csv.DictReader(rows)}


def test_every_file_has_a_row_and_every_refusal_a_cause() -> None:
    rows = kept()
    assert len(rows) == 184
    for name, row in rows.items():
        assert row["cause"] in CAUSES, name
        assert row["here"] == "ok" or row["cause"], name
        apart = row["worst_relative_difference"]
        assert not apart or float(apart) < SAME or row["cause"] == "reference", name


def test_results_are_compared_by_their_largest_value() -> None:
    one = {"a": np.array([1.0, -4.0, np.nan]), "b": np.array([np.inf])}
    assert worst(one, one) == 0.0
    assert worst(one, {"a": np.array([1.0, -4.4, np.nan])}) == pytest.approx(0.1)
    assert worst(one, {"a": np.array([1.0, -4.0, 0.0])}) == np.inf
    assert worst(one, {"a": np.array([1.0])}) == np.inf
    assert worst(one, {"c": np.array([1.0])}) is None


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER, reason="TRITONBENCH names no folder with the files of TritonBench-G")
@pytest.mark.parametrize(
    "name", [name for name, row in kept().items() if row["cause"] not in ("slow", "host")]
)
def test_a_file_comes_to_what_is_kept(name: str) -> None:
    pytest.importorskip("torch", reason="the files' host code is PyTorch's")
    here, _, _ = outcome(Path(str(FOLDER)) / f"{name}.py")
    assert here[:SAID] == kept()[name]["here"][:SAID]
