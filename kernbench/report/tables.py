"""The tables of a trace as files, one a table: CSV, or Parquet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet


def _csv(table: pa.Table, out: BinaryIO) -> None:
    options = pyarrow.csv.WriteOptions(quoting_style="needed")
    pyarrow.csv.write_csv(table, out, options)


def _parquet(table: pa.Table, out: BinaryIO) -> None:
    pyarrow.parquet.write_table(table, out, compression="zstd")


WRITERS: Mapping[str, Callable[[pa.Table, BinaryIO], Any]] = {"csv": _csv, "parquet": _parquet}
"""Writers of one table by format, which is how its file ends too."""
