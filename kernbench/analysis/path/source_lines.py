"""Lines of source that a run's operations and launches came from, as the graph has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.support.pgraph import RunRecord

if TYPE_CHECKING:
    import pyarrow as pa


def kept_source(info: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Name and lines of the one file whose text a run keeps, that of its bench; an empty name for none."""
    lines = str(info.get("source_text") or "").splitlines()
    bench = PurePath(str((info.get("again") or {}).get("bench") or "").partition(":")[0]).name
    shipped = bench and not bench.endswith(".py")
    return (f"{bench.replace('-', '_')}.py" if shipped else bench) if lines else "", lines


def line_tables(run: RunRecord) -> dict[str, pa.Table]:
    """The tables ``Line`` and ``AtLine`` of a run.

    A line has its text where it is of the bench's own file, which is the source that a run keeps.
    """
    import pyarrow as pa

    op, sent, launch = (run.tables[name] for name in ("Op", "Transaction", "Launch"))
    source = dict(zip(op["number"].to_pylist(), op["source"].to_pylist(), strict=True))
    at = {
        "op": [(number, line) for number, line in source.items() if line],
        "txn": [
            (number, source[of])
            for number, of in zip(sent["number"].to_pylist(), sent["op"].to_pylist(), strict=True)
            if source.get(of)
        ],
        "launch": [
            (number, line)
            for number, line in zip(launch["number"].to_pylist(), launch["source"].to_pylist(), strict=True)
            if line
        ],
    }
    kept, texts = kept_source(run.info)
    lines = []
    for name in sorted({line for rows in at.values() for _, line in rows}):
        file, _, number = name.rpartition(":")
        nth = int(number) if number.isdigit() else 0
        known = kept and PurePath(file).name == kept and 0 < nth <= len(texts)
        lines.append((name, file if nth else name, nth, texts[nth - 1].strip() if known else ""))
    columns = list(zip(*lines, strict=True)) or [()] * 4
    ends = {
        end: [number if end == what else -1 for what, rows in at.items() for number, _ in rows] for end in at
    }
    return {
        "Line": pa.table({
            "name": pa.array(columns[0], pa.string()), "file": pa.array(columns[1], pa.string()),
            "line": pa.array(np.array(columns[2], np.int64)), "text": pa.array(columns[3], pa.string()),
        }),
        "AtLine": pa.table({
            **{end: pa.array(numbers, pa.int64()) for end, numbers in ends.items()},
            "line": pa.array([line for rows in at.values() for _, line in rows], pa.string()),
        }),
    }  # fmt: skip
