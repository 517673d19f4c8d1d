"""Figures of references beside ours: a row of a table, and all rows that were measured."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from typing import Any

from kernbench.api.shown import Shows, flat_rows
from kernbench.draw.cells import number
from kernbench.draw.content import Content, Flat, Grid, columns_of, lines
from kernbench.validation.sampling import Sample
from kernbench.validation.table_file import EXACT, NINE_IN_TEN, OF_SET, FigureTable

WITHIN, OUTSIDE, MISSING = "within", "outside", "cannot be modelled yet"
EXPLAINED, TOO_FEW = "outside with a reason", "too few rows measured"
_COLUMNS = columns_of("row reference measured unit difference limit basis verdict source")
VERDICTS = (WITHIN, EXPLAINED, OUTSIDE, MISSING, TOO_FEW)


@dataclass(frozen=True, slots=True, kw_only=True)
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
    measured: float | None = None
    unit: str
    difference: float | None = None
    relative: float | None = None
    limit: str
    verdict: str = MISSING
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
        if self.relative is None or not self.limit.endswith((EXACT, OF_SET, "%", NINE_IN_TEN)):
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
class Report(Shows):
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
        from kernbench.draw.figures import drawing, reference_plot

        labels = {name: f"{name}: {self.part(name).summary().partition(':')[0]}" for name in self.tables}
        figure = reference_plot.reference_figure([row.as_dict() for row in self.rows], labels)
        drawing.save(figure, os.fspath(path))

    def content(self) -> Content:
        """For each table of references a table of figures, followed by notes on its rows."""
        grids = []
        for name, table in self.tables.items():
            own = [row for row in self.rows if row.table == name]
            cells = [row.as_dict() | {"row": row.title, "difference": row.apart} for row in own]
            notes = dict.fromkeys(text for row in own for text in row.remarks)
            see = dict.fromkeys(row.see for row in own if row.see)
            notes |= {f"see '{heading}' in docs/explanation/limits.md": None for heading in see}
            grids.append(Grid(name, f"{name}: {table.title}", _COLUMNS, cells, label="row"))
            grids.append(lines(f"{name}-notes", "", [f"- {text}" for text in notes]))
        last = [self.summary(), *(f"- {sample}" for sample in self.samples)]
        return Content(grids, "no rows", note="\n".join(last))

    def flat(self) -> Flat:
        """Every row with all that there is of it, as CSV shows it."""
        return flat_rows([row.as_dict() for row in self.rows])

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
