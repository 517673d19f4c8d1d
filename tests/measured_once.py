"""Figures of validation's rows, each measured once in a run of the tests, whichever test asks first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernbench.api.kept_figures import KeptFigures
from kernbench.validation import running, sampling
from kernbench.validation.sampling import NamedCase, Sample, sampled
from kernbench.validation.table_file import Case, CaseGroup, Extent


def kept(table: str, measure: str, file: Path) -> Callable[[Case], Any]:
    """A measure of a table that keeps its figures in a file, where other processes find them."""

    def figure(case: Case) -> Any:
        known = KeptFigures(file)
        found = known.find(table, measure, case)
        if found is None:
            found = getattr(sampling.module_of(table), measure)(case)
            if isinstance(found, float):
                known.keep(table, measure, case, figure=found)
        return found

    return figure


@pytest.fixture
def measured_once(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """``validate`` takes from other tests of this run, in all of its workers, what these have measured."""
    base = tmp_path_factory.getbasetemp()
    file = (base.parent if base.name.startswith("popen-") else base) / "validation.jsonl"

    class Once(SimpleNamespace):
        def __getattr__(self, measure: str) -> Any:
            return kept(self.table, measure, file)

    monkeypatch.setattr(running, "_module", lambda table: Once(table=table))


def first_by_hash(cases: list[NamedCase], most: int) -> list[NamedCase]:
    """Of more than ``most`` cases those whose names' hashes come first, in the order that they had."""
    first = sorted(sampling._hash(name) for name, *_ in cases)[:most]
    return [case for case in cases if sampling._hash(case[0]) in first]


def some(table: str, group: CaseGroup, extent: Extent, *, most: int) -> tuple[list[NamedCase], Sample]:
    """As :func:`sampled`, but no more than ``most`` cases, by the hash of their names."""
    cases, sample = sampled(table, group, extent)
    return first_by_hash(cases, most), sample
