"""The windows of a run and the use of its resources within each, as the graph has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.analysis.use.occupancy import Occupation
from kernbench.analysis.windows.chosen_window import ALL, RUN, SETUP
from kernbench.analysis.windows.place_groups import pieces
from kernbench.analysis.windows.time_window import Window, select
from kernbench.analysis.windows.window_use import Usage
from kernbench.support.pgraph import RunRecord

if TYPE_CHECKING:
    import pyarrow as pa

_MEASURES = (
    "bytes",
    "busy_ns",
    "wait_ns",
    "utilisation",
    "occupied_ns",
    "occupancy",
    "transactions",
    "max_queue",
)


def windows_of(info: Mapping[str, Any]) -> dict[str, Window]:
    """The windows of a run by name: ``run``, ``all``, ``setup`` and each launch's number."""
    names = (RUN, ALL, SETUP, *(str(number) for number in range(len(info.get("launches") or []))))
    return {name: select(info, name) for name in names}


def window_tables(run: RunRecord) -> dict[str, pa.Table]:
    """The tables ``Window``, ``Span`` and ``Touched`` of a run."""
    import pyarrow as pa

    windows = windows_of(run.info)
    spans = [
        (name, begin, end, window.spans[at - 1][1] if at else -1.0)
        for name, window in windows.items()
        for at, (begin, end) in enumerate(window.spans)
    ]
    names = ("window", "t_from", "t_to", "t_before")
    columns: dict[str, Any] = {name: [span[at] for span in spans] for at, name in enumerate(names)}
    edges = [window.spans or ((0.0, 0.0),) for window in windows.values()]
    return {
        "Window": pa.table({
            "name": list(windows),
            "number": [-1 if one.launch is None else one.launch for one in windows.values()],
            "ns": [one.ns for one in windows.values()],
            "t_from": [one[0][0] for one in edges],
            "t_to": [one[-1][1] for one in edges],
        }),
        "Span": pa.table({
            "number": np.arange(len(spans)),
            **columns,
        }),
        "Touched": _use_by_window(run, windows),
    }  # fmt: skip


def _use_by_window(run: RunRecord, windows: Mapping[str, Window]) -> pa.Table:
    """The use of each resource that something went through, for each window."""
    import pyarrow as pa

    whole = ((0.0, float(run.info["sim_ns"])),)
    index = {name: number for number, name in enumerate(run.tables["Use"]["resource"].to_pylist())}
    found: list[tuple[int, dict[str, Any]]] = []
    for tables, _ in pieces(run.tables):
        usage, occupation = Usage(tables), Occupation(tables)
        known: dict[tuple[tuple[float, float], ...], dict[str, Any]] = {}
        for number, window in enumerate(windows.values()):
            if window.spans not in known:
                used = usage.all if window.spans == whole else usage.within(window)
                known[window.spans] = occupation.of(used, window)
            used = known[window.spans]
            there = used["transactions"] > 0
            at = np.array([index[name] for name in used["resource"][there].tolist()], np.int64)
            found.append((number, {"at": at, **{name: used[name][there] for name in _MEASURES}}))
    of_window = np.repeat([number for number, _ in found], [len(used["at"]) for _, used in found])
    columns = {name: np.concatenate([used[name] for _, used in found]) for name in ("at", *_MEASURES)}
    order = np.lexsort((columns["at"], of_window))
    names = np.array(list(windows), dtype=object)
    return pa.table({
        "window": pa.array(names[of_window[order]].tolist(), pa.string()),
        "resource": run.tables["Use"]["resource"].take(pa.array(columns.pop("at")[order])),
        **{name: values[order] for name, values in columns.items()},
    })  # fmt: skip
