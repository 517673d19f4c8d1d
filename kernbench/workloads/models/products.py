"""Products of activations in strips on one package, as launches: how much of each passes at once."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kernbench.workloads.models import prefill
from kernbench.workloads.models.layout import BY_ROWS, Strips, strip_width, tile_bytes
from kernbench.workloads.models.quantized import PLAIN, Weights
from kernbench.workloads.models.step import buffer_bytes

if TYPE_CHECKING:
    from kernbench.host import Context, Tensor

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
        self,
        torch: Context,
        cubes: int,
        made: Iterable[tuple[Strips, int]],
        eps: float = 0.0,
        kind: Weights = PLAIN,
    ) -> None:
        self._torch, self._eps, self._kind = torch, eps, kind
        self._room = torch.scratch_bytes * 3 // 4
        self._buffers = buffer_bytes(torch)
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
        scales: tuple[Tensor | None, Tensor | None] = (None, None),
    ) -> None:
        """See :func:`kernbench.workloads.models.prefill.project`."""
        at_once, block = min(AT_ONCE, given.rows), 0
        sums = 8 if gate is None else 10  # and the product of both, in f16
        kind = self._kind
        if not kind.plain or tile_bytes(made.width, given.columns, at_once, sums) > self._buffers:
            scratch, row = self._torch.scratch_bytes, given.columns * 2 + 18 * made.width  # of x, and of sums
            at_once, deep = max(1, min(AT_ONCE, scratch // 2 // row)), given.count
            copies = 3 if kind.plain else 3 + 5 * kind.packed  # in use, under way, gaps; and as f16
            block = min(scratch // 4, (scratch - at_once * row) // copies)
        else:  # while some strips are multiplied, the next are loaded
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
            block,
            *scales,
            kind.group,
        )
