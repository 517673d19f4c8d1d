"""The interface of collective algorithms, and where the algorithms of a name are found.

An algorithm is a module with ``ALGORITHMS``: one :class:`Algorithm` for each collective that it implements.
It lies in ``kernbench/host/collectives/algorithms``, in a Python file of the user's or in an installed
package; ``ccl.yaml`` names those to use.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from kernbench.errors import ConfigError, UsageError
from kernbench.hardware.topology.neighbours import MachineShape, Neighbours
from kernbench.hardware.topology.nodes import Location
from kernbench.host.collectives.steps import Limits, Vector
from kernbench.support.hints import suggestion
from kernbench.support.user_modules import check, load_file, load_module

if TYPE_CHECKING:
    from kernbench.host import Tensor

COLLECTIVES = (
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
    "all_to_all",
    "send",
    "barrier",
)
"""The collectives that algorithms serve; ``send`` is a send and the receive that it meets."""

Over = Literal["ranks", "cubes", "pes"]
"""Whose contributions a reduction adds up: those of ranks, or also of each cube, or of each PE, of a rank."""

_SHIPPED = "kernbench.host.collectives.algorithms"


@dataclass(frozen=True)
class Call:
    """One rank's part in one collective, as an algorithm sees it. Ranks count within the group.

    Attributes:
        collective: One of :data:`COLLECTIVES`.
        tensors: The rank's tensors, in the order in which the kernel gets them; all are placed alike.
        op: How values are reduced, one of ``sum max min prod avg``; empty where nothing is.
        rank: The rank that makes the call.
        root: The rank that a rooted collective starts from or leads to; the peer of ``send``.
        sips: The SIP of each rank of the group.
        over: Whose contributions are added up.
        lanes: The PEs ``(cube, pe)`` that hold shards, the same on every rank; each is in one ring, chain
            or tree with its like on the other ranks.
        shape: The machine.
        limits: Sizes of pieces and windows.
        tag: What directions of this group begin with, so that groups can use a PE at once.
        options: The algorithm's settings in ``ccl.yaml``.
    """

    collective: str
    tensors: tuple[Tensor, ...]
    op: str
    rank: int
    root: int
    sips: tuple[int, ...]
    over: Over
    lanes: tuple[tuple[int, int], ...]
    shape: MachineShape
    limits: Limits
    tag: str
    options: dict[str, Any]

    @property
    def size(self) -> int:
        """Number of ranks in the group."""
        return len(self.sips)

    @cached_property
    def members(self) -> list[list[Location]]:
        """For each lane the PE of every rank, in the order of ranks."""
        return [[(sip, cube, pe) for sip in self.sips] for cube, pe in self.lanes]

    def named(self, neighbours: Neighbours) -> Neighbours:
        """``neighbours`` with directions of this group's own."""
        if not self.tag:
            return neighbours
        return {
            location: {self.tag + direction: peer for direction, peer in directions.items()}
            for location, directions in neighbours.items()
        }


@dataclass(frozen=True)
class Algorithm:
    """How one collective is carried out.

    Attributes:
        collective: One of :data:`COLLECTIVES`.
        kernel: Run on every PE of the rank that holds a shard: ``kernel(*arguments, *tensors, tl)``.
        neighbours: The queues that the group's PEs need, of all its ranks: the same for each rank.
        arguments: The kernel's first arguments on the calling rank.
        over: The contributions that it can add up.
        patterns: The patterns between SIPs that it serves: ``ring_1d``, ``torus_2d``, ``torus_3d`` and
            ``mesh_2d_no_wrap``.
        refuses: Why it cannot serve a call, or None; asked before anything is sent.
        turns: Of a call and a PE's part of its first tensor the rows of vectors that ranks take in turn,
            where ranks do the same but for that: each begins with another one of a row and goes on in its
            order. None where they do not.
    """

    collective: str
    kernel: Callable[..., None]
    neighbours: Callable[[Call], Neighbours]
    arguments: Callable[[Call], tuple[Any, ...]]
    over: tuple[Over, ...] = ("ranks",)
    patterns: tuple[str, ...] = ("ring_1d", "torus_2d", "torus_3d", "mesh_2d_no_wrap")
    refuses: Callable[[Call], str | None] = lambda call: None
    turns: Callable[[Call, Vector], Sequence[Sequence[Vector]] | None] = lambda call, vector: None

    def refusal(self, call: Call) -> str | None:
        """Why this algorithm cannot serve ``call``, or None."""
        if call.over not in self.over:
            return f"it sums over {' and '.join(self.over)}, not over {call.over}"
        if call.size > 1 and call.shape.inter_sip not in self.patterns:
            return f"it serves {', '.join(self.patterns)} between SIPs, not {call.shape.inter_sip}"
        return self.refuses(call)


def find(name: str) -> Sequence[Algorithm]:
    """The algorithms of the module ``name``: a shipped one, ``file.py``, or a dotted module.

    Raises:
        ConfigError: There is no such module, or it has no ``ALGORITHMS``.
    """
    place = name if "." in name else f"{_SHIPPED}.{name}"
    check(place, "algorithm")
    try:
        module = _module(name, place)
    except UsageError as error:
        raise ConfigError(str(error)) from error
    found = getattr(module, "ALGORITHMS", None)
    if not isinstance(found, tuple | list) or not all(isinstance(one, Algorithm) for one in found):
        raise ConfigError(f"algorithm '{name}': its module has no ALGORITHMS, a tuple of Algorithm; add it")
    return found


def shipped() -> list[str]:
    """The names of the algorithms that come with KernBench."""
    folder = Path(__file__).parent / "algorithms"
    return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


def _module(name: str, place: str) -> ModuleType:
    if name.endswith(".py"):
        return sys.modules[load_file(name, "algorithm")]
    if "." not in name and name not in (known := shipped()):
        raise ConfigError(
            f"algorithm '{name}' does not exist{suggestion(name, known)}; use one of {', '.join(known)}, "
            "a Python file or an importable module"
        )
    return sys.modules[load_module(place, "algorithm")]
