"""A store with two runs of one bench, and one of another, for all tests of the terminal UI."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernbench as kb
from kernbench import api


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The store's folder, and the ids of its runs, oldest first."""
    folder = tmp_path_factory.mktemp("tui") / "store"
    ids = []
    with api.borrowed(folder) as store:
        for bench, params in (
            ("softmax", {"rows": 16, "columns": 64}),
            ("gemm-single-pe", {"m": 32}),
            ("gemm-single-pe", {"m": 64}),
        ):
            ids.append(kb.run(bench, "minimal", True, params=params, store=store).id)
    return folder, ids


@pytest.fixture
def store(kept: tuple[Path, list[str]]) -> Path:
    """The store's folder."""
    return kept[0]


@pytest.fixture
def ids(kept: tuple[Path, list[str]]) -> list[str]:
    """The runs' ids, oldest first."""
    return kept[1]
