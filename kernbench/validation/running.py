"""Measures the rows of tables and says how each compares with its reference."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kernbench.api.names import table_names
from kernbench.api.stores import default_store, folder_of
from kernbench.errors import ComponentError, InvariantError, KernBenchError, UsageError, VerificationError
from kernbench.hints import did_you_mean
from kernbench.report.cells import number
from kernbench.report.progress import PieceProgress, Standing, duration
from kernbench.validation import sampling, table_file
from kernbench.validation.kept_figures import FILE, KeptFigures
from kernbench.validation.row_statistics import Found, Statistic, statistic
from kernbench.validation.sampling import NamedCase, Sample
from kernbench.validation.sampling import module_of as _module
from kernbench.validation.table_file import EXACT, NINE_IN_TEN, Case, CaseGroup, Extent, FigureTable

WITHIN, OUTSIDE, MISSING = "within", "outside", "cannot be modelled yet"
EXPLAINED, TOO_FEW = "outside with a reason", "too few rows measured"
VERDICTS = (WITHIN, EXPLAINED, OUTSIDE, MISSING, TOO_FEW)
_FAULTS = (ComponentError, InvariantError, VerificationError)
"""Faults of the simulator: tables run machines and kernels that are shipped, and nobody else's."""


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """One figure of a reference beside ours.

    ``difference`` is ours less the reference, in ``unit``; ``relative`` the same as a share of the reference,
    None for a reference of 0. ``basis``: ``predicted``, or ``fitted`` where something was chosen so that ours
    comes close, which ``fitted`` names. ``verdict``: ``within`` the limit, ``outside``, ``outside with a
    reason`` (a mechanism that accounts for a deviation of this size), ``cannot be modelled yet``, as when the
    case ends in an error, which ``note`` then gives, or ``too few rows measured`` for a statistic. ``cases``:
    how many rows a statistic is of, ``16 of 168``. ``needs``: what the model lacks; ``note``: what the
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
    cases: str = ""

    @property
    def title(self) -> str:
        """Its name, of a statistic with the number of rows that it is of."""
        return f"{self.row}, {self.cases} cases" if self.cases else self.row

    @property
    def apart(self) -> str:
        """How far the two lie apart: a percentage, or in its unit where its limit or a reference of 0 is."""
        if self.difference is None:
            return "-"
        if self.relative is None or not (self.limit == EXACT or self.limit.endswith(("%", NINE_IN_TEN))):
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
    samples: list[Sample] = field(default_factory=list)
    """How many cases of each group of cases were measured, where not all."""

    @property
    def left_out(self) -> int:
        """Rows that were not measured."""
        return sum(sample.known - sample.measured for sample in self.samples)

    @property
    def missed(self) -> list[ComparedFigure]:
        """Rows whose limit is not kept."""
        return [row for row in self.rows if row.misses]

    def summary(self) -> str:
        """``5 of 9 rows: 3 within (1 of them fitted), 2 outside``."""
        fitted = sum(row.verdict == WITHIN and bool(row.fitted) for row in self.rows)
        shown = [
            f"{count} {verdict}" + (f" ({fitted} of them fitted)" if verdict == WITHIN and fitted else "")
            for verdict, count in self.counts().items()
            if count
        ]
        known = f" of {len(self.rows) + self.left_out}" if self.left_out else ""
        return f"{len(self.rows)}{known} rows: {', '.join(shown)}"

    def counts(self) -> dict[str, int]:
        """How many rows have each verdict."""
        return {verdict: sum(row.verdict == verdict for row in self.rows) for verdict in VERDICTS}

    def part(self, name: str) -> Report:
        """One table of it."""
        return Report(
            {name: self.tables[name]},
            [row for row in self.rows if row.table == name],
            [sample for sample in self.samples if sample.table == name],
        )

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw every row as PNG: ours against the reference, and how much of its limit each row takes.

        ``MissingExtraError`` when matplotlib is not installed.
        """
        from kernbench.report.figures import drawing, reference_plot

        labels = {name: f"{name}: {self.part(name).summary().partition(':')[0]}" for name in self.tables}
        figure = reference_plot.reference_figure([row.as_dict() for row in self.rows], labels)
        drawing.save(figure, os.fspath(path))

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON shows it."""
        return {
            "counts": self.counts(),
            "left_out": self.left_out,
            "samples": [asdict(sample) for sample in self.samples],
            "rows": [row.as_dict() for row in self.rows],
            "sources": {
                name: {key: source.model_dump() for key, source in table.sources.items()}
                for name, table in self.tables.items()
            },
        }


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
        """What a measure says of a case, now or before."""
        title, _, settings = case
        known = self.kept.find(table, group.measure, settings) if self.kept is not None else None
        turns = sampling.turns(table, settings)
        self.turns -= turns
        if known is not None:
            self.found += 1
            return known
        figure: float | Statistic = getattr(_module(table), group.measure)(settings)
        self.turned += turns
        if self.kept is not None and not isinstance(figure, Statistic):
            self.kept.keep(table, group.measure, settings, title, float(figure))
        return figure


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
    folder = folder_of(default_store()) if everything else None
    work = _Work(
        sum(len(cases) for *_, cases, _ in plan),
        sum(
            sampling.turns(name, case[2])
            for name, group, cases, _ in plan if group.measure for case in cases
        ),
        None if folder is None else KeptFigures(folder / FILE),
        progress,
    )  # fmt: skip
    rows: list[ComparedFigure] = []
    for name, table in chosen.items():
        sets: dict[str, list[Found]] = {}
        of: dict[str, int] = {}
        for _, group, cases, sample in (one for one in plan if one[0] == name):
            own = []
            for case in cases:
                work.next_row(name, case[0])
                own.append(
                    _compared(name, group, case, table.see, _figure(work, name, group, case, sets, of))
                )
            rows += judged(group, own)
            found = ((case[2], row.reference, row.measured) for case, row in zip(cases, own, strict=True))
            sets.setdefault(group.set, []).extend(
                (settings, reference, ours) for settings, reference, ours in found if ours is not None
            )
            of[group.set] = of.get(group.set, 0) + sample.known
    return Report(chosen, rows, sampling.not_whole(sample for *_, sample in plan))


def _figure(
    work: _Work,
    table: str,
    group: CaseGroup,
    case: NamedCase,
    sets: dict[str, list[Found]],
    of: dict[str, int],
) -> Callable[[Case], float | Statistic]:
    if group.statistic:
        return lambda settings: statistic(settings["what"], sets[settings["of"]], of[settings["of"]])
    return lambda _: work.figure(table, group, case)


def measured(
    table: str, group: CaseGroup, title: str, reference: float, settings: Case, see: str = ""
) -> ComparedFigure:
    """One row, measured now; ``see`` is its table's."""
    (row,) = judged(
        group,
        [
            _compared(
                table, group, (title, reference, settings), see,
                lambda case: getattr(_module(table), group.measure)(case),
            )
        ],
    )  # fmt: skip
    return row


def judged(group: CaseGroup, rows: Sequence[ComparedFigure]) -> list[ComparedFigure]:
    """Rows of a group of which nine in ten are to be within its limit: else no reason excuses the others."""
    within = sum(row.verdict == WITHIN for row in rows)
    if group.limit.kind != "nine_in_ten" or within * 10 >= len(rows) * 9:
        return list(rows)
    note = f"{within} of {len(rows)} rows are within {group.limit.shown('')}"
    return [
        replace(row, verdict=OUTSIDE, note=note, needs=group.needs) if row.verdict == EXPLAINED else row
        for row in rows
    ]


def _compared(
    table: str, group: CaseGroup, case: NamedCase, see: str, figure: Callable[[Case], float | Statistic]
) -> ComparedFigure:
    title, reference, settings = case
    ours = difference = relative = used = None
    verdict, note, cases = MISSING, group.note, ""
    if group.measure or group.statistic:
        try:
            found = figure(settings)
        except KernBenchError as error:
            if isinstance(error, _FAULTS) or isinstance(error.__cause__, _FAULTS):
                error.args = (f"{table}: {title}: {error}", *error.args[1:])
                raise
            note = f"the case ends in an error: {error}"
        else:
            if isinstance(found, Statistic):
                cases, verdict, ours = f"{found.rows} of {found.known}", TOO_FEW, found.figure
            else:
                ours = float(found)
    if ours is not None:
        difference = ours - reference
        relative = difference / abs(reference) if reference else None
        used = group.limit.used(ours, reference)
        verdict = WITHIN if group.limit.holds(ours, reference) else OUTSIDE
        if verdict == OUTSIDE and group.explained is not None:
            if group.explained.holds(ours, reference):
                verdict, note = EXPLAINED, group.explained.text
            else:
                note = f"beyond what is known: {group.explained.text}"
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
        cases,
    )
