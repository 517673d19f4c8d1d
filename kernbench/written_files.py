"""Files that users ask for: an error in writing one says which."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def writing(file: str | os.PathLike[str]) -> Iterator[None]:
    """An ``OSError`` within the block that names no file names ``file``, as that of a full disk does not."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = os.fspath(file)
        raise


def write_csv(file: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write ``rows`` with a line of ``columns`` above; digits beyond 1e-9 are rounding, and left out."""
    with writing(file), file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _csv_cell(value) for name, value in row.items()} for row in rows)


def _csv_cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return round(value, 9) if isinstance(value, float) else value
