"""Caches of the default store take at most ``$KERNBENCH_CACHE_MB``; what was asked longest ago goes first."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernbench as kb
from kernbench.errors import KernBenchError


def cached(store: Path) -> dict[str, int]:
    """Bytes of each kept graph of a run."""
    return {file.parent.name: file.stat().st_size for file in store.rglob("graph.lbdb")}


def ask(store: Path, run: str) -> int:
    """Ask in a store that is opened anew, as another process would."""
    with kb.open_store(str(store)) as opened:
        return len(kb.open_run(run, opened).query("slowest-transactions").rows)


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    return [kb.run("gemm-single-pe", "minimal", store=str(tmp_path), seed=seed).id for seed in range(3)]


def test_graphs_asked_longest_ago_go_first(
    runs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = runs
    assert ask(tmp_path, first) > 0
    one = cached(tmp_path)
    ask(tmp_path, second)
    both = cached(tmp_path)
    (of_second,) = both.keys() - one.keys()
    ask(tmp_path, first)  # now the second one was asked longest ago
    monkeypatch.setenv("KERNBENCH_CACHE_MB", str(sum(both.values()) / 1e6 + 0.1))  # and their notes
    ask(tmp_path, third)
    left = cached(tmp_path)
    assert of_second not in left
    assert len(left) == len(both)
    assert sum(left.values()) <= sum(both.values())
    assert ask(tmp_path, second) > 0  # its archive is whole: the graph is made again


def test_without_room_every_question_is_still_answered(
    runs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNBENCH_CACHE_MB", "0")
    counts = {ask(tmp_path, run) for run in runs}
    assert len(counts) == 1
    assert len(cached(tmp_path)) == 1  # that of the run asked last, which is in use


def test_a_limit_that_is_no_number_is_named(
    runs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNBENCH_CACHE_MB", "lots")
    with pytest.raises(KernBenchError, match=r"KERNBENCH_CACHE_MB is 'lots'.*number of MB"):
        ask(tmp_path, runs[0])
