"""Files that users ask for: each appears whole or not at all, and an error in writing one says which."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def writing(file: str | os.PathLike[str]) -> Iterator[Path]:
    """A path to write to, which becomes ``file`` when the block ends well, and vanishes when it does not.

    What is there and is not a file, such as ``/dev/stdout``, is written to itself. An ``OSError`` within the
    block, of a full disk too, names ``file``.
    """
    target = Path(os.path.realpath(file))
    is_itself = target.exists() and not target.is_file()
    partial = target if is_itself else target.with_name(f".{os.getpid()}.{target.name}")
    try:
        yield partial
        if not is_itself:
            os.replace(partial, target)
    except OSError as error:
        if error.filename in (None, str(partial)):
            error.filename = os.fspath(file)
        raise
    finally:
        if not is_itself:
            partial.unlink(missing_ok=True)


def write_csv(file: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write ``rows`` with a line of ``columns`` above; digits beyond 1e-9 are rounding, and left out."""
    with writing(file) as partial, partial.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _csv_cell(value) for name, value in row.items()} for row in rows)


def _csv_cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return round(value, 9) if isinstance(value, float) else value
