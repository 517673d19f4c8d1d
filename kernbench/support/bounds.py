"""Arguments that are numbers within bounds; nan is within none, and infinity is none."""

from __future__ import annotations

import math
from numbers import Real

from kernbench.errors import UsageError
from kernbench.support.hints import shown


def check_number(name: str, value: object, least: float = 0.0, most: float = math.inf) -> None:
    """``UsageError`` where the argument ``name`` is not a finite number from ``least`` to ``most``."""
    number = math.nan if isinstance(value, bool) or not isinstance(value, Real) else float(value)
    if not (math.isfinite(number) and least <= number <= most):
        expected = f"of at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise UsageError(f"{name} is {shown(value)}, expected a finite number {expected}")
