"""Measures the rows of tables and says how each compares with its reference."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

from kernbench.api.names import table_names
from kernbench.errors import ComponentError, InvariantError, KernBenchError, UsageError, VerificationError
from kernbench.hints import did_you_mean
from kernbench.report.cells import number
from kernbench.report.progress import PieceProgress, Standing
from kernbench.validation import table_file
from kernbench.validation.table_file import EXACT, Case, CaseGroup, Extent, FigureTable

WITHIN, OUTSIDE, MISSING = "within", "outside", "cannot be modelled yet"
EXPLAINED = "outside with a reason"
VERDICTS = (WITHIN, EXPLAINED, OUTSIDE, MISSING)
_FAULTS = (ComponentError, InvariantError, VerificationError)
"""Faults of the simulator: tables run machines and kernels that are shipped, and nobody else's."""


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One figure of a reference beside ours.

    ``difference`` is ours less the reference, in ``unit``; ``relative`` the same as a share of the reference,
    None for a reference of 0. ``basis``: ``predicted``, or ``fitted`` where something was chosen so that ours
    comes close, which ``fitted`` names. ``verdict``: ``within`` the limit, ``outside``, ``outside with a
    reason`` (one that was checked for this very figure of ours), or ``cannot be modelled yet``, as when the
    case ends in an error, which ``note`` then gives. ``needs``: what the model lacks; ``note``: what the
    difference is due to, or how the case is modelled; ``see``: the
    heading of docs/explanation/limits.md under which it is explained. ``used`` is the share of its limit that
    the difference takes, with its sign; of an exact limit 0, or beyond it None.
    """

    table: str
    row: str
    reference: float
    measured: float | None
    unit: str
    difference: float | None
    relative: float | None
    limit: str
    verdict: str
    source: str
    needs: str = ""
    note: str = ""
    see: str = ""
    used: float | None = None
    basis: str = "predicted"
    fitted: str = ""

    @property
    def apart(self) -> str:
        """How far the two lie apart: a percentage, or in its unit where its limit or a reference of 0 is."""
        if self.difference is None:
            return "-"
        if self.relative is None or not (self.limit == EXACT or self.limit.endswith("%")):
            return f"{'+' if self.difference > 0 else ''}{number(self.difference)}"
        shown = f"{self.relative:+.1%}"
        return "0.0%" if shown in ("+0.0%", "-0.0%") else shown

    @property
    def remarks(self) -> list[str]:
        """What there is to say of its difference, a sentence each."""
        needs = [f"{self.verdict}: needs {self.needs}"] if self.needs else []
        fitted = [f"fitted: {self.fitted}"] if self.fitted else []
        return [*needs, *fitted, *([self.note] if self.note else [])]

    @property
    def misses(self) -> bool:
        """Whether its limit is not kept."""
        return self.verdict in (OUTSIDE, MISSING)

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON shows it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Report:
    """The rows of tables, with what the tables say of themselves."""

    tables: dict[str, FigureTable]
    rows: list[ComparedFigure]
    left_out: int = 0
    """Rows that were not measured, as they take long."""

    @property
    def missed(self) -> list[ComparedFigure]:
        """Rows whose limit is not kept."""
        return [row for row in self.rows if row.misses]

    def summary(self) -> str:
        """``5 rows: 3 within (1 of them fitted), 2 outside``."""
        fitted = sum(row.verdict == WITHIN and bool(row.fitted) for row in self.rows)
        shown = [
            f"{count} {verdict}" + (f" ({fitted} of them fitted)" if verdict == WITHIN and fitted else "")
            for verdict, count in self.counts().items()
            if count
        ]
        return f"{len(self.rows)} rows: {', '.join(shown)}"

    def counts(self) -> dict[str, int]:
        """How many rows have each verdict."""
        return {verdict: sum(row.verdict == verdict for row in self.rows) for verdict in VERDICTS}

    def part(self, name: str) -> Report:
        """One table of it."""
        return Report({name: self.tables[name]}, [row for row in self.rows if row.table == name])

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw every row as PNG: ours against the reference, and how much of its limit each row takes.

        ``MissingExtraError`` when matplotlib is not installed.
        """
        from kernbench.report.figures import drawing, reference_plot

        drawing.save(reference_plot.reference_figure([row.as_dict() for row in self.rows]), os.fspath(path))

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON shows it."""
        return {
            "counts": self.counts(),
            "left_out": self.left_out,
            "rows": [row.as_dict() for row in self.rows],
            "sources": {
                name: {key: source.model_dump() for key, source in table.sources.items()}
                for name, table in self.tables.items()
            },
        }


def tables() -> dict[str, FigureTable]:
    """The tables that there are, by name."""
    return {name: table_file.read(name) for name in table_names()}


def validate(
    *names: str,
    short: bool | None = None,
    everything: bool = False,
    progress: PieceProgress | None = None,
) -> Report:
    """Measure every row of the tables ``names`` (all by default) on the model; see :class:`ComparedFigure`.

    Args:
        names: Tables.
        short: Leave out cases that take more than a few seconds; by default where no table is named.
        everything: Measure also cases that take minutes, which are left out else.
        progress: Called with the rows that are done.

    Raises:
        UsageError: there is no such table.
        InvariantError, ComponentError, VerificationError: a case shows a fault of the simulator.
    """
    known = table_names()
    for name in names:
        if name not in known:
            raise UsageError(f"there is no table '{name}'; {did_you_mean(name, known)}")
    chosen = {name: table_file.read(name) for name in known if not names or name in names}
    short = not names if short is None else short
    extent: Extent = "all" if everything else "short" if short else "usual"
    every = [(name, group, case) for name, table in chosen.items() for group, case in _cases(table, extent)]
    work = [one for one in every if not _is_left_out(*one, extent)]
    rows = []
    for done, (name, group, (title, reference, settings)) in enumerate(work):
        if progress is not None:
            text = f"{done} of {len(work)} rows, measuring {name}: {title}"
            progress(Standing(done, len(work), text))
        rows.append(measured(name, group, title, reference, settings, chosen[name].see))
    return Report(chosen, rows, len(every) - len(work))


def measured(
    table: str, group: CaseGroup, title: str, reference: float, settings: Case, see: str = ""
) -> ComparedFigure:
    """One row, measured now; ``see`` is its table's."""
    ours = difference = relative = used = None
    verdict = MISSING
    note = group.note
    if group.measure:
        try:
            ours = float(getattr(_module(table), group.measure)(settings))
        except KernBenchError as error:
            if isinstance(error, _FAULTS) or isinstance(error.__cause__, _FAULTS):
                error.args = (f"{table}: {title}: {error}", *error.args[1:])
                raise
            note = f"the case ends in an error: {error}"
    if ours is not None:
        difference = ours - reference
        relative = difference / abs(reference) if reference else None
        used = group.limit.used(ours, reference)
        verdict = WITHIN if group.limit.holds(ours, reference) else OUTSIDE
        if verdict == OUTSIDE and group.explained is not None and group.explained.holds(ours):
            verdict, note = EXPLAINED, group.explained.why
        elif verdict == OUTSIDE and group.limit.kind == "nine_in_ten":
            verdict, note = (
                EXPLAINED,
                "nine in ten cases are to keep their limit: rows of the 90th percentile",
            )
    return ComparedFigure(
        table,
        title,
        reference,
        ours,
        group.unit,
        difference,
        relative,
        group.limit.shown(group.unit),
        verdict,
        group.source,
        group.needs if verdict in (OUTSIDE, MISSING) else "",
        note,
        group.see or see,
        used,
        "fitted" if group.fitted else "predicted",
        group.fitted,
    )


def _cases(table: FigureTable, extent: Extent) -> Iterator[tuple[CaseGroup, tuple[str, float, Case]]]:
    for group in table.groups:
        for title, reference, settings in table_file.cases(group):
            yield group, (title, reference, {**settings, "extent": extent})


def _is_left_out(table: str, group: CaseGroup, case: tuple[str, float, Case], extent: Extent) -> bool:
    known = getattr(_module(table), "is_left_out", None) if group.measure else None
    return known is not None and bool(known(case[2], extent))


def _module(table: str) -> ModuleType:
    return importlib.import_module(f"kernbench.validation.{table}")
