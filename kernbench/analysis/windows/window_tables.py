"""The tables of a trace, cut to a window."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from kernbench.analysis.windows.time_window import Window
from kernbench.analysis.windows.window_use import use_within

_TIMES = {
    "Launch": ("t_start", "t_done"),
    "Block": ("t_start", "t_end"),
    "Transaction": ("t_submit", "t_done"),
    "Hop": ("t_in", "t_out"),
    "WaitedFor": ("t_from", "t_to"),
    "Op": ("t_ready", "t_end"),
    "Race": ("t_first", "t_second"),
    "Step": ("t_from", "t_to"),
}
"""Begin and end of a row, by table."""
_OF_OPERATIONS = ("Operand", "Region", "DependsOn", "Awaited", "Access")


def tables_within(tables: Mapping[str, pa.Table], window: Window) -> dict[str, pa.Table]:
    """The rows that overlap the window, whole, and what belongs to them.

    ``Use`` is that of the window. Operands, regions, dependencies and accesses are those of its operations,
    which may depend on earlier ones; routes those of its transactions, times of PEs those of its launches.
    Tensors are all there.
    """
    found = dict(tables)
    for column in found.pop("HopUse", pa.table({})).column_names:  # one row for each hop
        found["Hop"] = found["Hop"].append_column(column, tables["HopUse"][column])
    tables = dict(found)
    for name, (begin, end) in _TIMES.items():
        if name not in tables:
            continue  # steps, where nothing has asked for them
        table = tables[name]
        found[name] = table.filter(pa.array(window.touches(table[begin].to_numpy(), table[end].to_numpy())))
    # A last hop without length at the window's start belongs to a transaction that was over by then.
    for name in ("Hop", "WaitedFor", "Dealt"):
        if name not in found:
            continue  # runs of versions that did not keep it
        found[name] = _where(found[name], "txn", found["Transaction"]["number"])
    for name in _OF_OPERATIONS:
        found[name] = _where(tables[name], "op", found["Op"]["number"])
    if "RanAt" in found:
        found["RanAt"] = _where(tables["RanAt"], "launch", found["Launch"]["number"])
    if "OfBlock" in found:
        of = _where(tables["OfBlock"], "block", found["Block"]["number"])
        ends = (("op", found["Op"]), ("txn", found["Transaction"]))
        there = [pc.is_in(of[name], pc.unique(rows["number"])) for name, rows in ends]
        found["OfBlock"] = of.filter(pc.or_(*there))
    found["Route"] = _where(tables["Route"], "number", found["Transaction"]["route"])
    found["Via"] = _where(tables["Via"], "route", found["Transaction"]["route"])
    used = use_within(tables, window)
    found["Use"] = pa.table(
        {field.name: pa.array(used[field.name].tolist(), field.type) for field in tables["Use"].schema}
    )
    return found


def _where(table: pa.Table, column: str, numbers: pa.ChunkedArray) -> pa.Table:
    return table.filter(pc.is_in(table[column], pc.unique(numbers)))
