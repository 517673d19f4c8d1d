"""What rows of commands stand for: operations, operands, dependencies and accesses to the TCM, by numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernbench.values.recorder import MOST_INPUTS, NONE, OUTPUT, Form, code

Columns = dict[str, Any]
_PARTS = ("fetch", "work", "store")
_NEVER = np.iinfo(np.int64).max


def expanded(rows: dict[str, Any], forms: Sequence[Form], codes: dict[Any, int]) -> dict[str, Columns]:
    """All tables but ``command``, with rows for the operations of commands where they were reported.

    Args:
        rows: The rows of each table of ``LAYOUT``.
        forms: What commands are, by number.
        codes: A code for each text; those that are needed here are made.

    Returns:
        The columns of each; and ``tcm``, the transactions that are recorded with commands.
    """
    given, commands = rows["op"], rows["command"]
    total = len(given) + sum(int((commands[f"{part}_row"] > 0).sum()) for part in _PARTS)
    parts = [_Part(number, commands, forms, codes) for number in range(3)]
    ours = np.zeros(total, bool)
    for part in parts:
        ours[part.place] = True
    theirs = np.flatnonzero(~ours)

    def merged(of_given: Any, of_parts: Sequence[Any]) -> Any:
        column = np.empty(total, of_given.dtype)
        column[theirs] = of_given
        for part, values in zip(parts, of_parts, strict=True):
            column[part.place] = values
        return column

    columns = [part.columns() for part in parts]
    ops = {name: merged(given[name], [one[name] for one in columns]) for name in given.dtype.names}
    found = {"op": ops}
    of_parts = {
        "moved": [part.moved() for part in parts],
        "operand": [part.operands() for part in parts],
        "edge": [part.edges() for part in parts],
    }
    for table, more in of_parts.items():
        found[table] = _joined(rows[table], given[table], theirs, ops[table], parts, more)
    for table in ("region", "access"):
        found[table] = {name: rows[table][name].copy() for name in rows[table].dtype.names}
    found["tcm"] = {name: np.concatenate([part.accesses()[name] for part in parts[::2]]) for name in _ACCESS}
    return found


_ACCESS = ("id", "op", "src", "nbytes", "hops", "is_write", "t_submit", "t_start", "t_done")


def _joined(
    rows: Any, counts: Any, theirs: Any, all_counts: Any, parts: Sequence[_Part], more: Sequence[Columns]
) -> Columns:
    """The rows of a table that belong to operations, with ``more`` of those of parts between them."""
    begins = np.cumsum(all_counts) - all_counts
    total = int(all_counts.sum())
    places = [_spread(begins[theirs], counts)]
    places += [_spread(begins[part.place], all_counts[part.place]) for part in parts]
    found = {}
    for name in rows.dtype.names:
        found[name] = np.empty(total, rows[name].dtype)
        for place, values in zip(places, (rows, *more), strict=True):
            found[name][place] = values[name]
    return found


def _spread(begins: Any, counts: Any) -> Any:
    """From where each begins on, so many numbers: of all one after the other."""
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(begins, counts) + within


class _Part:
    """One of the three parts of the commands in which it is over."""

    def __init__(self, number: int, commands: Any, forms: Sequence[Form], codes: dict[Any, int]) -> None:
        self.number = number
        self.name = name = _PARTS[number]
        self.rows = rows = commands[commands[f"{name}_row"] > 0]
        self.state = rows[f"{name}_row"] % 4
        self.place = rows["row"] + rows[f"{name}_row"] // 4
        """Where they stand among all operations."""
        self.forms = forms
        self.codes = codes

    def _of_form(self, field: str) -> Any:
        """A field of the form of each."""
        return np.array([getattr(form, field) for form in self.forms] or [0], np.int64)[self.rows["form"]]

    def _bytes(self) -> Any:
        return self._of_form(("fetched", "bytes", "stored")[self.number])

    def _id(self) -> Any:
        return self.rows["id"] if self.number == 1 else self.rows["id"] + self.rows[f"{self.name}_id"]

    def columns(self) -> Columns:
        """The columns of ``op``."""
        rows, name, works = self.rows, self.name, self.number == 1
        of_part = {"kind": "tile", "name": name, "stage": name.upper(), "label": name}
        return {
            "id": self._id(),
            "parent": NONE if works else rows["id"],
            "bytes": self._bytes(),
            **{time: rows[f"{name}_{time}"] for time in ("t_ready", "t_start", "t_end")},
            "launch": rows["launch"],
            **{
                field: self._of_form(field) if works else code(self.codes, of_part[field])
                for field in ("kind", "name", "label", "stage")
            },
            "component": rows["engine" if works else "mover"],
            "source": rows["source"],
            "moved": 0 if works else rows[f"{name}_held"] >= 0,
            "operand": self._operand_counts(),
            "edge": (self._edges() != _NEVER).sum(axis=1),
        }

    def moved(self) -> Columns:
        """The rows of ``moved``."""
        held = self.rows[f"{self.name}_held"]
        return {"txn": held[held >= 0] if self.number != 1 else held[:0]}

    def _operand_counts(self) -> Any:
        if self.number != 1:
            return np.zeros(len(self.rows), np.int64)
        return np.array([len(form.operands) for form in self.forms] or [0], np.int64)[self.rows["form"]]

    def operands(self) -> Columns:
        """The rows of ``operand``: the handles that the call was given, and the one that it made."""
        counts = self._operand_counts()
        row = np.repeat(np.arange(len(self.rows)), counts)
        position = _spread(np.zeros(len(counts), np.int64), counts)
        output = position == counts[row] - 1
        types = np.zeros((len(self.forms) + 1, MOST_INPUTS + 1, 2), np.int64)
        for number, form in enumerate(self.forms):
            types[number, : len(form.operands)] = form.operands
        shape, dtype = types[self.rows["form"][row], position].T
        away = np.stack([self.rows[f"in{place}"] for place in range(MOST_INPUTS)] + [0 * self.rows["in0"]], 1)
        return {
            "position": np.where(output, OUTPUT, position),
            "region": 0,
            "handle": self.rows["id"][row] - away[row, position],  # of the output nothing
            "address": NONE,
            "shape": shape,
            "dtype": dtype,
        }

    def _edges(self) -> Any:
        """What each depends on, in order: eight times the operation, and the place of the hazard by name."""
        rows, ids = self.rows, self.rows["id"]
        if self.number == 0:
            return np.zeros((len(rows), 0), np.int64)
        if self.number == 2:
            return (8 * ids + _HAZARDS.index("stage"))[:, None]
        on = [
            (ids + rows["fetch_id"], rows["fetch_id"] != 0, "stage"),
            (rows["work_held"], rows["work_held"] >= 0, "slot"),
        ]
        on += [(ids - rows[hazard], rows[hazard] != 0, hazard) for hazard in ("issue", "wait")]
        on += [(ids - rows[f"in{place}"], rows[f"in{place}"] != 0, "handle") for place in range(MOST_INPUTS)]
        columns = [np.where(there, 8 * one + _HAZARDS.index(hazard), _NEVER) for one, there, hazard in on]
        found = np.sort(np.stack(columns, 1), axis=1)
        found[:, 1:][found[:, 1:] == found[:, :-1]] = _NEVER  # a handle that was given twice
        return np.sort(found, axis=1)

    def edges(self) -> Columns:
        """The rows of ``edge``."""
        found = self._edges()
        found = found[found != _NEVER]
        hazards = np.array([code(self.codes, hazard) for hazard in _HAZARDS])
        return {"on": found // 8, "hazard": hazards[found % 8]}

    def accesses(self) -> Columns:
        """The transactions that are recorded with the part; see ``_ACCESS``."""
        there = self.state > 1
        rows = self.rows[there]
        ready, start, end = (rows[f"{self.name}_{time}"] for time in ("t_ready", "t_start", "t_end"))
        return {
            "id": rows[f"{self.name}_held"],
            "op": self._id()[there],
            "src": rows["mover"],
            "nbytes": self._bytes()[there],
            "hops": self.state[there] - 2,
            "is_write": np.full(len(rows), self.number == 2),
            "t_submit": ready,
            "t_start": start,
            "t_done": end,
        }


_HAZARDS = ("handle", "issue", "slot", "stage", "wait")
"""In the order of dependencies on one operation."""
