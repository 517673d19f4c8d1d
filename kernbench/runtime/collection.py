"""Python's cycle collector while time is simulated: seldom, and not over what was there before.

A run allocates millions of small tuples and hardly a cycle. The collector's default pace walks the
machine and the growing trace again and again, which takes a tenth of a run's time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_PACE = (100_000, 20, 50)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Within the block the collector leaves alone what exists now and runs rarely over what is new."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_PACE)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
