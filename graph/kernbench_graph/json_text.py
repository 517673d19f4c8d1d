"""JSON that comes from outside: a file that may be damaged, a client that may be hostile."""

from __future__ import annotations

import json
from typing import Any


def parse(data: str | bytes) -> Any:
    """The value that ``data`` is; ``ValueError`` where it is not JSON, or nested too deeply to be read.

    >>> parse("[1]")
    [1]
    >>> parse("[" * 100_000)
    Traceback (most recent call last):
    ValueError: nested too deeply
    """
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None
