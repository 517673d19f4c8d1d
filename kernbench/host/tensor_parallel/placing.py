"""How parallel layers place their tensors within a SIP: columns over all cubes and PEs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kernbench.errors import UsageError
from kernbench.host import DPPolicy
from kernbench.host.placement import distinct

if TYPE_CHECKING:
    from kernbench.host import Context, Tensor

REPLICATED = DPPolicy("replicate", "replicate", num_pes=1, even=True)
"""A copy in every cube, on its PE 0: where inputs of parallel layers lie, so that every PE can reach them."""


_LEAST_COLUMNS = 32
"""Columns that a PE has at least, if its cube has as many: fewer do not fill a tile of the GEMM engine."""


def columns(torch: Context, features: int) -> DPPolicy:
    """The last dimension over all cubes, if it divides, and over PEs of each while they have columns enough.

    Every cube holds some of the tensor or a copy of it, so that all layers' tensors can reach each other.
    """
    cubes = torch.cubes_per_sip
    divides = features % cubes == 0
    own = features // cubes if divides else features
    common = math.gcd(own, torch.pes_per_cube)
    pes = max(n for n in range(1, common + 1) if common % n == 0 and (n == 1 or own // n >= _LEAST_COLUMNS))
    return DPPolicy("column_wise" if divides else "replicate", "column_wise", num_pes=pes, even=True)


def bases(tensor: Tensor) -> list[int] | int:
    """Addresses of the distinct blocks of ``tensor``, or their number where they lie one after another.

    They do in a virtual or logical range. In the ``pa`` model every block has an address of its own, unless
    each PE has a copy of the whole nearby.
    """
    blocks = distinct(tensor.copy_of(None))
    if tensor.va is not None or len(blocks) == 1:
        return len(blocks)
    return [shard.pa for shard in blocks if shard.pa is not None]


def check_reachable(layer: str, x: Tensor, torch: Context) -> None:
    """See that every cube holds some of ``x``.

    Raises:
        UsageError: A cube does not.
    """
    held = len({shard.cube for shard in x.shards})
    if held != torch.cubes_per_sip:
        raise UsageError(
            f"{layer}: its input '{x.name}' lies on {held} of {torch.cubes_per_sip} cubes and the weights on "
            "all; make it with dp=tp.REPLICATED"
        )
