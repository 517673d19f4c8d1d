"""A store with a few runs, for tests of what shows runs; which ones is a conftest's fixture ``kept``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.api.stores import borrowed

Kept = tuple[Path, list[str]]
"""The store's folder, and the ids of its runs, oldest first."""


def keep_runs(folder: Path, benches: Sequence[tuple[str, dict[str, Any]]]) -> Kept:
    """Run benches with parameters on the smallest machine, verified, and keep them in ``folder``."""
    with borrowed(folder) as store:
        return folder, [
            kb.run(bench, "minimal", True, params=params, store=store).id for bench, params in benches
        ]


@pytest.fixture
def store(kept: Kept) -> Path:
    """The store's folder."""
    return kept[0]


@pytest.fixture
def ids(kept: Kept) -> list[str]:
    """The runs' ids, oldest first."""
    return kept[1]
