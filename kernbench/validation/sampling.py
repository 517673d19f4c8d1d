"""Which cases of a table are measured: all, those up to a number of turns of loops, or a sample of these."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from types import ModuleType

from kernbench.validation import table_file
from kernbench.validation.table_file import Case, CaseGroup, Extent

NamedCase = tuple[str, float, Case]
"""Name, reference and settings."""


@dataclass(frozen=True, slots=True)
class Sample:
    """How many of the ``known`` cases of a group are measured.

    ``eligible`` have at most ``most_turns`` turns of loops; all of these are measured, or some by a hash.
    """

    table: str
    rows: str
    measured: int
    eligible: int
    known: int
    most_turns: float

    def __str__(self) -> str:
        """``h100, matmul: 16 of 168 cases, by hash of 48; not sampled: 120 above 4,200 turns of loops``."""
        text = f"{self.table}, {self.rows}: {self.measured} of {self.known} cases"
        if self.measured < self.eligible:
            text += f", by hash of {self.eligible}"
        if above := self.known - self.eligible:
            limit = (
                f" above {self.most_turns:,.0f} turns of loops" if self.most_turns else ", with --all only"
            )
            text += f"; not sampled: {above}{limit}"
        return text


def module_of(table: str) -> ModuleType:
    """The module with a table's measures."""
    return importlib.import_module(f"kernbench.validation.{table}")


def turns(table: str, case: Case) -> float:
    """Turns of loops of a case, which tell what it costs; 1,000 where its table does not count them."""
    counted = getattr(module_of(table), "turns", None)
    return 1000.0 if counted is None else float(counted(case))


def sampled(table: str, group: CaseGroup, extent: Extent) -> tuple[list[NamedCase], Sample]:
    """The cases that are measured, in the table's order, and how many these are of how many.

    A hash of a case's name picks those of a sample: whether a case is cheap, or fits the model, does not
    count, and a case that is added or taken away leaves the others in their order.
    """
    known = list(table_file.cases(group))
    most = group.most_turns.get(extent, float("inf")) if extent != "all" else float("inf")
    picked = [one for one in known if most == float("inf") or turns(table, one[2]) <= most]
    eligible = len(picked)
    if extent == "short" and group.sample is not None:
        first = set(sorted(_hash(one[0]) for one in picked)[: group.sample])
        picked = [one for one in picked if _hash(one[0]) in first]
    return picked, Sample(table, group.set or group.name, len(picked), eligible, len(known), most)


def not_whole(samples: Iterable[Sample]) -> list[Sample]:
    """The sets that are measured in part; groups of one set count as one."""
    found: dict[tuple[str, str], Sample] = {}
    for one in samples:
        before = found.get((one.table, one.rows))
        found[one.table, one.rows] = (
            one
            if before is None
            else replace(
                one,
                measured=before.measured + one.measured,
                eligible=before.eligible + one.eligible,
                known=before.known + one.known,
            )
        )
    return [one for one in found.values() if one.measured < one.known]


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
