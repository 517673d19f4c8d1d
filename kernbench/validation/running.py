"""Measures the rows of tables and says how each compares with its reference."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from kernbench.api.kept_figures import KeptFigures
from kernbench.api.names import table_names
from kernbench.api.stores import DEFAULT_FOLDER, default_store, folder_of
from kernbench.draw.progress import PieceProgress, Standing, duration
from kernbench.errors import ComponentError, InvariantError, KernBenchError, UsageError, VerificationError
from kernbench.support.hints import did_you_mean
from kernbench.validation import sampling, table_file
from kernbench.validation.compared import EXPLAINED, OUTSIDE, TOO_FEW, WITHIN, ComparedFigure, Report
from kernbench.validation.row_statistics import Found, Statistic, statistic
from kernbench.validation.sampling import NamedCase
from kernbench.validation.sampling import module_of as _module
from kernbench.validation.table_file import Case, CaseGroup, Extent, FigureTable

FILE = "validation.jsonl"
"""The name in the store's folder of the file of figures that were measured before."""
_FAULTS = (ComponentError, InvariantError, VerificationError)
"""Faults of the simulator: tables run machines and kernels that are shipped, and nobody else's."""


def tables() -> dict[str, FigureTable]:
    """The tables that there are, by name."""
    return {name: table_file.read(name) for name in table_names()}


@dataclass(slots=True)
class _Work:
    """What is measured, and how far that is."""

    total: int
    turns: float
    kept: KeptFigures | None
    progress: PieceProgress | None
    done: int = 0
    found: int = 0
    """Rows whose figure was kept before."""
    turned: float = 0.0
    """Turns of the rows that were measured now."""
    sets: dict[tuple[str, str], list[Found]] = field(default_factory=dict)
    """Rows that have a figure, by table and set."""
    known: dict[tuple[str, str], int] = field(default_factory=dict)
    """Cases that there are of each set, measured or not."""
    started: float = field(default_factory=time.monotonic)

    def next_row(self, table: str, title: str) -> None:
        """Say which row comes, how many are done, and about how long the others take."""
        if self.progress is not None:
            before = f", {self.found} of them kept before" if self.found else ""
            spent = time.monotonic() - self.started
            left = f", about {duration(spent * self.turns / self.turned)} left" if self.turned > 1000 else ""
            text = f"{self.done} of {self.total} rows{before}{left}, measuring {table}: {title}"
            self.progress(Standing(self.done, self.total, text))
        self.done += 1

    def figure(self, table: str, group: CaseGroup, case: NamedCase) -> float | Statistic:
        """What a measure says of a case, now or before; or a statistic of the rows above it."""
        title, _, settings = case
        if group.statistic:
            of = table_file.sets_of(settings)
            rows = [row for name in of for row in self.sets[table, name]]
            return statistic(settings["what"], rows, sum(self.known[table, name] for name in of))
        turns = sampling.turns(table, settings)
        self.turns -= turns
        kept: float | None = self.kept.find(table, group.measure, settings) if self.kept is not None else None
        if kept is not None:
            self.found += 1
            return kept
        figure: float | Statistic = getattr(_module(table), group.measure)(settings)
        self.turned += turns
        if self.kept is not None and not isinstance(figure, Statistic):
            self.kept.keep(table, group.measure, settings, figure=float(figure), table=table, row=title)
        return figure

    def rows(self, table: str, group: CaseGroup, cases: list[NamedCase], see: str) -> list[ComparedFigure]:
        """Measure cases of a group, and keep their figures for statistics below."""
        own = []
        found = self.sets.setdefault((table, group.set), [])
        for case in cases:
            self.next_row(table, case[0])
            row = measured(table, group, *case, see, partial(self.figure, table, group, case))
            own.append(row)
            if row.measured is not None:
                found.append((case[2], row.reference, row.measured))
        return judged(group, own)


def validate(
    *names: str,
    short: bool | None = None,
    everything: bool = False,
    progress: PieceProgress | None = None,
) -> Report:
    """Measure every row of the tables ``names`` (all by default) on the model; see :class:`ComparedFigure`.

    Args:
        names: Tables.
        short: Measure a sample of the cases that take seconds; by default where no table is named.
        everything: Measure also cases that take minutes, which are left out else. Their figures are kept in
            the folder of the default store; what was kept by this very model is not measured again.
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
    plan = [
        (name, group, *sampling.sampled(name, group, extent))
        for name, table in chosen.items()
        for group in table.groups
    ]
    kept = KeptFigures((folder_of(default_store()) or Path(DEFAULT_FOLDER)) / FILE) if everything else None
    turns = (
        sampling.turns(name, case[2]) for name, group, cases, _ in plan if group.measure for case in cases
    )
    work = _Work(sum(len(cases) for *_, cases, _ in plan), sum(turns), kept, progress)
    rows: list[ComparedFigure] = []
    for name, group, cases, sample in plan:
        rows += work.rows(name, group, cases, chosen[name].see)
        work.known[name, group.set] = work.known.get((name, group.set), 0) + sample.known
    return Report(chosen, rows, sampling.not_whole(sample for *_, sample in plan))


def measured(
    table: str,
    group: CaseGroup,
    title: str,
    reference: float,
    settings: Case,
    see: str = "",
    figure: Callable[[], float | Statistic] | None = None,
) -> ComparedFigure:
    """One row by itself, ``figure`` or measured now; ``see`` is its table's."""
    row = ComparedFigure(
        table=table,
        row=title,
        reference=reference,
        unit=group.unit,
        limit=group.limit.shown(group.unit),
        source=group.source,
        needs=group.needs,
        note=group.note,
        see=group.see or see,
        basis="fitted" if group.fitted else "predicted",
        fitted=group.fitted,
    )
    if not (group.measure or group.statistic):
        return row
    try:
        found = figure() if figure is not None else getattr(_module(table), group.measure)(settings)
    except KernBenchError as error:
        if isinstance(error, _FAULTS) or isinstance(error.__cause__, _FAULTS):
            error.args = (f"{table}: {title}: {error}", *error.args[1:])
            raise
        return replace(row, note=f"the case ends in an error: {error}")
    if isinstance(found, Statistic):
        row = replace(row, cases=f"{found.rows} of {found.known}", verdict=TOO_FEW, needs="")
        found = found.figure
    return row if found is None else _beside(row, group, float(found))


def _beside(row: ComparedFigure, group: CaseGroup, ours: float) -> ComparedFigure:
    """A row with our figure, and how it compares."""
    verdict, note, reference = WITHIN, group.note, row.reference
    if not group.limit.holds(ours, reference):
        verdict = OUTSIDE
        if group.explained is not None and group.explained.holds(ours, reference):
            verdict, note = EXPLAINED, group.explained.text
        elif group.explained is not None:
            note = f"beyond what is known: {group.explained.text}"
    return replace(
        row,
        measured=ours,
        difference=ours - reference,
        relative=(ours - reference) / abs(reference) if reference else None,
        verdict=verdict,
        needs=group.needs if verdict == OUTSIDE else "",
        note=note,
        used=group.limit.used(ours, reference),
    )


def judged(group: CaseGroup, rows: Sequence[ComparedFigure]) -> list[ComparedFigure]:
    """The rows of a group; where fewer than nine in ten keep a limit for 9 in 10, no reason excuses one."""
    within = sum(row.verdict == WITHIN for row in rows)
    if group.limit.kind != "nine_in_ten" or within * 10 >= len(rows) * 9:
        return list(rows)
    note = f"{within} of {len(rows)} rows are within {group.limit.shown('')}"
    return [
        replace(row, verdict=OUTSIDE, note=note, needs=group.needs) if row.verdict == EXPLAINED else row
        for row in rows
    ]
