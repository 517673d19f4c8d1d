"""Whether a model fits the memory of a machine: what would lie where, before anything is made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kernbench.host.placement import DPPolicy, place
from kernbench.support.sizes import decimal_size
from kernbench.workloads.models.layout import Share

if TYPE_CHECKING:
    from kernbench.host import Context
    from kernbench.workloads.models.config import Model

Bytes = Counter[tuple[int, int]]
"""Bytes by (cube, PE)."""
Make = Callable[[Any, Share], Any]
"""Makes a step of a context and what a package has of a model."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A tensor that takes no memory."""

    shape: tuple[int, ...]
    bytes: Bytes


class _Plan:
    """Stands for the context of a run while a step makes its tensors."""

    def __init__(self, torch: Context) -> None:
        self.graph, self.scratch_bytes = torch.graph, torch.scratch_bytes
        self.cubes_per_sip, self.pes_per_cube = torch.cubes_per_sip, torch.pes_per_cube
        self._burst = torch.storage.driver.machine.addresses.burst_bytes
        self.made: list[_Placed] = []

    def empty(self, *shape: int, dp: DPPolicy, name: str, dtype: str = "f16") -> _Placed:
        """As :meth:`kernbench.host.Context.empty`."""
        found: Bytes = Counter()
        cubes, pes = self.cubes_per_sip, self.pes_per_cube
        for shard in place(dp, shape, dtype, sip=0, cubes=cubes, pes=pes, name=name):
            found[shard.cube, shard.pe] += -(-shard.nbytes // self._burst) * self._burst
        self.made.append(_Placed(shape, found))
        return self.made[-1]

    zeros = empty


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes of a package: of all layers' weights, all layers' cache, and activations."""

    weights: Bytes
    cache: Bytes
    activations: Bytes

    @classmethod
    def of(cls, torch: Context, make: Make, share: Share, model: Model, layers: int, packages: int) -> Need:
        """What each of ``packages`` needs for ``layers`` layers, placed as their steps place them.

        Where the model has no more layers, the embedding and the product with the vocabulary are there too,
        which are not simulated: taken to lie on all PEs alike.
        """
        cache, activations = _made(torch, make, share)[1:]
        # Tokens pass some experts, and all are there.
        weights = _made(torch, make, replace(share, ffn=round(model.ffn * model.experts) // packages))[0]
        rows = model.vocabulary * (1 if model.tied else 2) if layers >= model.layers else 0
        beside = -(-rows * model.hidden * 2 // (packages * share.workers))
        pes = [(cube, pe) for cube in range(share.cubes) for pe in range(share.pes)]
        return cls(
            Counter({at: weights[at] * layers + beside for at in pes}),
            Counter({at: nbytes * layers for at, nbytes in cache.items()}),
            activations,
        )

    @property
    def total(self) -> Bytes:
        """All of it."""
        return self.weights + self.cache + self.activations

    def __str__(self) -> str:
        parts = {"weights": self.weights, "cache": self.cache, "activations": self.activations}
        return ", ".join(f"{name} {decimal_size(each.total())}" for name, each in parts.items())


def _made(torch: Context, make: Make, share: Share) -> tuple[Bytes, Bytes, Bytes]:
    """Bytes of the weights of a layer, its cache, and activations."""
    plan = _Plan(torch)
    step = make(plan, share)
    first = len(plan.made)
    cache = step.cache(step.layer(0))
    kept = {id(one) for one in cache}

    def added(placed: Sequence[_Placed]) -> Bytes:
        return sum((one.bytes for one in placed if id(one) not in kept), Counter())

    return added(plan.made[first:]), sum((one.bytes for one in cache), Counter()), added(plan.made[:first])


@dataclass(frozen=True, slots=True)
class Fit:
    """Bytes needed and free in the fullest memory of a package, and free in all memories of its PEs."""

    name: str
    needed: int
    free: int
    package_free: int

    @classmethod
    def of(cls, torch: Context, sips: Sequence[int], need: Need) -> Fit:
        """The fullest memory of the package that has least room."""
        found = []
        for sip in sips:
            wanted: Counter[int] = Counter()
            lists = {}
            for (cube, pe), nbytes in need.total.items():
                memory = torch.storage.memory.memory_of((sip, cube, pe), "hbm")
                lists[id(memory)] = memory
                wanted[id(memory)] += nbytes
            whole = sum(memory.free_bytes for memory in lists.values())
            found += [cls(lists[key].name, n, lists[key].free_bytes, whole) for key, n in wanted.items()]
        return max(found, key=lambda one: one.needed / max(1, one.free))

    @property
    def fits(self) -> bool:
        """Whether every memory has room."""
        return self.needed <= self.free
