"""Atomic accesses: what ``tl.atomic_add`` asks of the PE, and what all mean to memory and to races."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from kernbench.engine.program.operations import Op
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle
from kernbench.language.issue import tl_call
from kernbench.language.loadstore import MemoryCalls, Ptr
from kernbench.support import dtypes
from kernbench.support.dtypes import widen
from kernbench.support.hints import shown
from kernbench.values.numeric import cast
from kernbench.values.semantics import Array, means, pieces_of

_SEM, _SCOPE = ("acq_rel", "release", "acquire", "relaxed"), ("gpu", "sys", "cta")
RELEASES = ("acq_rel", "release")


class AtomicCalls(MemoryCalls):
    """atomic_add."""

    _title = "Atomics"

    @tl_call
    def atomic_add(
        self,
        ptr: Ptr,
        val: TensorHandle,
        mask: TensorHandle | None = None,
        sem: str = "acq_rel",
        scope: str = "gpu",
        dtype: str | None = None,
        strides: object = None,
        boundary_check: Sequence[int] = (),
    ) -> None:
        """Add a handle's value to memory, in the memory; returns when memory has done it.

        The value travels as a store's does and takes the same time. Additions to the same bytes take effect
        one after the other, in the order in which the memory serves them; each is rounded to the type of the
        target. They do not race with each other, but with plain loads and stores of other PEs.

        Unlike Triton's it has no result: what the memory held before does not travel back.

        Args:
            ptr: A tensor argument, an address in bytes, or a block pointer.
            val: The block, or a number, as in ``store``.
            mask: Handle that broadcasts to the block; elements where it is 0 keep what memory holds.
            sem: ``"acq_rel"`` or ``"release"``: what this kernel did before comes before what another PE
                does after it saw the sum with ``load(volatile=True)``. Not with ``"relaxed"``, ``"acquire"``.
            scope: ``"gpu"``, ``"sys"`` or ``"cta"``, which mean the same here.
            dtype: As in ``store``.
            strides: As in ``store``; no element may be there twice.
            boundary_check: As in ``store``.
        """
        check_order(sem, scope)
        handle, block, masks = self._written("val", val, ptr, mask, dtype, strides, boundary_check)
        if any(a + n > b for (a, n), (b, _) in pairwise(sorted(block.runs))):
            raise BadArgumentError("strides", "an element is there twice; add the parts up first")
        target = block.operand()
        command = self._store("atomic_add", (handle.operand(), target, *masks), target, block)
        order = command.op.order
        if order is not None:
            order.atomic, order.releases = True, sem in RELEASES
        self._send(command)


def check_order(sem: object, scope: object) -> None:
    """Refuse words that say nothing of the order of an atomic access."""
    for argument, word, known in (("sem", sem, _SEM), ("scope", scope, _SCOPE)):
        if word not in known:
            raise BadArgumentError(argument, f"{shown(word)} is not one of {', '.join(map(repr, known))}")


ATOMICS: dict[str, tuple[Any, str]] = {
    "atomic_add": (np.add, "Add to what memory holds."),
    "atomic_max": (np.fmax, "Memory keeps the larger."),
    "atomic_min": (np.fmin, "Memory keeps the smaller."),
    "atomic_and": (np.bitwise_and, "Memory keeps ``&`` of both."),
    "atomic_or": (np.bitwise_or, "Memory keeps ``|`` of both."),
    "atomic_xor": (np.bitwise_xor, "Memory keeps ``^`` of both."),
    "atomic_xchg": (None, "Memory keeps the new value."),
    "atomic_cas": (None, "Memory keeps ``val`` where it held ``cmp``."),
}
"""What each does with old and new values (None: the new one stays), and in words."""
BITS = ("atomic_and", "atomic_or", "atomic_xor")
"""Those of integers alone."""


def _change(op: Op, inputs: Sequence[Array]) -> Array:
    """What memory holds afterwards: floats are changed in f32, f64 in f64, integers in i64, and rounded once.

    With ``places`` in the parameters, ``chosen`` elements of the block go there, several to one in turn.
    """
    before, change = inputs[1], ATOMICS[op.name][0]
    target = dtypes.dtype(op.inputs[1].dtype)
    block = np.broadcast_to(inputs[0], op.inputs[0].shape)
    wide = np.asarray if target.name == "f64" else widen if target.is_float else _as_i64
    places = op.params.get("places")
    if places is not None:
        after = np.array(wide(before)).reshape(-1)
        chosen = op.params["chosen"]
        values = wide(cast(block.reshape(-1)[chosen], target.name))
        if op.name == "atomic_cas":
            expected = wide(cast(inputs[2].reshape(-1)[chosen], target.name))
            for place, value, wanted in zip(places, values, expected, strict=True):
                after[place] = value if after[place] == wanted else after[place]
        elif change is None:
            after[places] = values
        else:
            change.at(after, places, values)
        return after
    more = wide(cast(pieces_of(op, block), target.name).reshape(before.shape))
    after = more if change is None else change(wide(before), more)
    if len(inputs) > 2:
        mask = pieces_of(op, np.broadcast_to(inputs[2], op.inputs[0].shape)).reshape(before.shape)
        after = np.where(mask != 0, after, wide(before))
    return after


for _name in ATOMICS:
    means("memory", _name)(_change)


def _as_i64(array: Array) -> Array:
    return array if array.dtype == np.uint64 else array.astype(np.int64)
