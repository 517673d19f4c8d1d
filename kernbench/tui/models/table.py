"""A table of any length: rows made into text only when they are looked at, sorted and filtered by column.

Columns are Arrow arrays, whose slices cost nothing, or plain lists where cells hold nodes and paths.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernbench.draw.cells import csv_cell, fold, is_number, plain, shown, text
from kernbench.draw.content import Column
from kernbench.draw.targets import Target, sort_of, targets_of
from kernbench.errors import UsageError
from kernbench.tui.models.filters import Values, matching

if TYPE_CHECKING:
    import pyarrow as pa

_SAMPLE = 200
"""Rows whose cells are measured to find how wide a column has to be."""
_FOLDABLE = 50_000
"""Rows that are folded while somebody waits."""
_NUMBERED = ("resource", "transaction", "operation")
"""Sorts of names that occur many times, differing in numbers only, in a machine or a run."""
_WIDEST = 60
"""Characters of a column; longer cells end in an ellipsis."""


@dataclass(frozen=True)
class ShownTable:
    """A table as it is shown: ``order`` has the indices of the rows that are shown, in that order."""

    columns: tuple[Column, ...]
    values: Mapping[str, Values]
    order: NDArray[np.int64]
    empty: str = "nothing"
    """Said in place of rows where there are none."""
    sorted_by: tuple[str, bool] | None = None
    """Column and whether descending, where somebody sorted it."""
    unfiltered: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    filter: str = ""

    @classmethod
    def of_arrow(
        cls, table: pa.Table | Mapping[str, Any], columns: Sequence[Column], empty: str = "nothing"
    ) -> ShownTable:
        """The columns of an Arrow table, or of a mapping of numpy columns, that ``columns`` names."""
        import pyarrow as pa

        arrays = {column.name: table[column.name] for column in columns}
        made = {
            name: found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([pa.array(found)])
            for name, found in arrays.items()
        }
        length = len(next(iter(made.values()))) if made else 0
        order = np.arange(length)
        return cls(tuple(columns), made, order, empty, unfiltered=order)

    @classmethod
    def of_rows(
        cls, rows: Iterable[Sequence[Any]], columns: Sequence[Column], empty: str = "nothing"
    ) -> ShownTable:
        """Rows of plain values, each in the order of ``columns``."""
        listed = list(rows)
        values: dict[str, Values] = {
            column.name: [row[index] for row in listed] for index, column in enumerate(columns)
        }
        order = np.arange(len(listed))
        return cls(tuple(columns), values, order, empty, unfiltered=order)

    @classmethod
    def of_dicts(
        cls, rows: Iterable[Mapping[str, Any]], columns: Sequence[Column], empty: str = "nothing"
    ) -> ShownTable:
        """The values of each row under the names of ``columns``; None where a row lacks one."""
        return cls.of_rows(([row.get(column.name) for column in columns] for row in rows), columns, empty)

    def __len__(self) -> int:
        return len(self.order)

    @property
    def total(self) -> int:
        """Rows without the filter."""
        return len(self.unfiltered)

    def value(self, row: int, column: str) -> Any:
        """One cell as plain Python."""
        found = self.values[column][int(self.order[row])]
        return found.as_py() if hasattr(found, "as_py") else found

    def record(self, row: int) -> dict[str, Any]:
        """The values of a row by column."""
        return {column.name: self.value(row, column.name) for column in self.columns}

    def cells(self, row: int) -> list[str]:
        """A row as text."""
        return [column.text(self.value(row, column.name)) for column in self.columns]

    def targets(self, row: int) -> list[Target]:
        """Everything that a row leads to, the most important first."""
        return targets_of(self.record(row))

    def layout(self) -> list[tuple[int, bool]]:
        """Width of each column in characters, and whether it stands to the right."""
        every = replace(self, order=self.unfiltered)  # columns stay where they are while a filter is typed
        rows = range(min(len(every), _SAMPLE))
        found = []
        for column in self.columns:
            values = [every.value(row, column.name) for row in rows]
            cells = [column.text(value) for value in values]
            right = any(is_number(shown(value)) for value in values)
            ends = self._extremes(column) if len(every) > _SAMPLE else []
            widest = max((len(cell) for cell in (*cells, *ends)), default=0)
            found.append((max(len(column.title) + 1, min(widest, _WIDEST)), right))
        return found

    def _extremes(self, column: Column) -> list[str]:
        """Cells that may be wider than those of the sample."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values = self.values[column.name]
        if isinstance(values, list):
            return []
        if pa.types.is_string(values.type):
            return ["x" * int(pc.max(pc.utf8_length(values)).as_py() or 0)]
        if pa.types.is_boolean(values.type):
            return []
        ends = pc.min_max(values).as_py()
        return [column.text(end) for end in ends.values() if end is not None]

    def filtered(self, words: str) -> ShownTable:
        """Only the rows that match ``words`` (:func:`kernbench.tui.models.filters.matching`)."""
        found = self.unfiltered
        if words.strip():
            keep = matching(words, {column.name: self.values[column.name] for column in self.columns})
            found = found[keep[found]]
        return replace(self, order=found, filter=words.strip())

    def sorted(self, column: str, descending: bool) -> ShownTable:
        """The rows by a column; equal ones stay as they are, missing values come last."""
        order, base = (self._by(column, descending, rows) for rows in (self.order, self.unfiltered))
        return replace(self, order=order, unfiltered=base, sorted_by=(column, descending))

    def _by(self, column: str, descending: bool, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        values = self.values[column]
        if isinstance(values, list):
            present = [row for row in rows.tolist() if values[row] is not None]
            present.sort(key=lambda row: _rank(values[row]), reverse=descending)
            return np.array([*present, *(row for row in rows.tolist() if values[row] is None)], np.int64)
        import pyarrow.compute as pc

        how = "descending" if descending else "ascending"
        return np.asarray(rows[pc.array_sort_indices(values.take(rows), order=how).to_numpy()])

    def folded(self) -> ShownTable:
        """Rows that differ only in numbers of parts, transactions or operations as one, their count first."""
        if len(self) > _FOLDABLE:
            raise UsageError(f"{len(self)} rows are too many to fold; filter them to {_FOLDABLE} first")
        names = [column.name for column in self.columns]
        rows = [[self.value(row, name) for name in names] for row in range(len(self))]
        columns, kept = fold(names, rows, [name for name in names if sort_of(name) in _NUMBERED])
        if len(columns) == len(names):
            return self
        counted = (Column(columns[-1]), *self.columns)
        return ShownTable.of_rows(((row[-1], *row[:-1]) for row in kept), counted, self.empty)

    def exported(self, fmt: str) -> str:
        """The rows that are shown, as ``csv`` or ``json`` text."""
        records = [
            {name: plain(value) for name, value in self.record(row).items()} for row in range(len(self))
        ]
        if fmt == "json":
            return json.dumps(records, ensure_ascii=False, allow_nan=False) + "\n"
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([column.name for column in self.columns])
        writer.writerows([csv_cell(value) for value in record.values()] for record in records)
        return out.getvalue()


def _rank(value: Any) -> tuple[bool, float, str]:
    """Numbers by size and before texts, all else as text."""
    number_like = isinstance(value, int | float)
    return (not number_like, float(value) if number_like else 0.0, "" if number_like else text(value))
