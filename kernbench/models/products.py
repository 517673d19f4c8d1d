"""Products of activations in strips on one package, as launches: how much of each passes at once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kernbench.models import prefill
from kernbench.models.layout import BY_ROWS, Strips, strip_width
from kernbench.models.step import composites

if TYPE_CHECKING:
    from kernbench.runtime import Context, Tensor

AT_ONCE = 128
"""Rows of a product in TCM at once."""
DEEP = 1024
"""Columns of x in TCM at once, at least: sums that wait in memory cost little beside so many."""
WIDTH = 128
"""Columns of a strip at most: tiles of sums have room in the buffers."""


def widest(columns: int, cubes: int, pes: int) -> int:
    """Columns of a strip of a matrix that may be cut anywhere."""
    return strip_width(columns, cubes, pes, math.gcd(columns, WIDTH) if columns > WIDTH else columns)


class Products:
    """Launches products on a package of ``cubes`` cubes.

    ``made``: what they make, and how many weights each has.
    """

    def __init__(
        self, torch: Context, cubes: int, made: Iterable[tuple[Strips, int]], eps: float = 0.0
    ) -> None:
        self._torch, self._eps = torch, eps
        self._room = torch.scratch_bytes * 3 // 4
        self._block = 0 if composites(torch) else torch.scratch_bytes // 4
        most = max(strips.each(cubes) * strips.width * strips.rows * n for strips, n in made)
        workers = cubes * torch.pes_per_cube
        self._sums = torch.empty(workers, most, dtype="f32", dp=BY_ROWS, name="sums")

    def launch(
        self,
        name: str,
        x: Tensor,
        given: Strips,
        w: Tensor,
        out: Tensor,
        made: Strips,
        squares: Tensor | None = None,
        gate: Tensor | None = None,
        bias: Tensor | None = None,
    ) -> None:
        """See :func:`kernbench.models.prefill.project`."""
        if self._block:
            at_once, deep = max(1, min(AT_ONCE, self._room // (given.columns * 2))), given.count
        else:  # while some strips are multiplied, the next are loaded
            at_once = min(AT_ONCE, given.rows)
            room = self._room // (2 * at_once * given.width * 2)
            deep = max(1, min(room, max(DEEP, given.columns // 8) // given.width))
        sizes = (self._eps, at_once, deep)
        self._torch.launch(
            name,
            prefill.project,
            x,
            given,
            w,
            gate,
            out,
            made,
            squares,
            bias,
            *sizes,
            self._sums,
            self._block,
        )
