"""Lines of source that a run's operations and launches came from, as the graph has them."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from kernbench.pgraph import RunRecord

if TYPE_CHECKING:
    import pyarrow as pa


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
    texts = str(run.info.get("source_text") or "").splitlines()
    bench = PurePath(str((run.info.get("again") or {}).get("bench", "")).partition(":")[0]).name
    lines = []
    for name in sorted({line for rows in at.values() for _, line in rows}):
        file, _, number = name.rpartition(":")
        nth = int(number) if number.isdigit() else 0
        known = bench.endswith(".py") and PurePath(file).name == bench and 0 < nth <= len(texts)
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
