"""What the parts of a machine have counted, as numbers to work with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernbench.engine.core.server import Server

Counts = NDArray[np.float64]
"""By part ``bytes busy_ns wait_ns transactions``; bytes and transactions are whole numbers below 2^53."""


def counted(resources: Sequence[Server]) -> Counts:
    """What each of the parts has counted so far."""
    rows: list[tuple[Any, ...]] = [(r.bytes, r.busy_ns, r.wait_ns, r.transactions) for r in resources]
    return np.array(rows, np.float64).reshape(-1, 4)
