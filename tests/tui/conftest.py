"""A store with two runs of one bench, and one of another, for all tests of the terminal UI."""

from __future__ import annotations

import pytest

from tests.kept_store import Kept, ids, keep_runs, store

__all__ = ["ids", "kept", "store"]

RUNS = [
    ("softmax", {"rows": 16, "columns": 64}),
    ("gemm-single-pe", {"m": 32}),
    ("gemm-single-pe", {"m": 64}),
]


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """The store's folder, and the ids of its runs, oldest first."""
    return keep_runs(tmp_path_factory.mktemp("tui") / "store", RUNS)
