"""Files that users ask for: an error in writing one says which."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def writing(file: str | os.PathLike[str]) -> Iterator[None]:
    """An ``OSError`` within the block that names no file names ``file``, as that of a full disk does not."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = os.fspath(file)
        raise
