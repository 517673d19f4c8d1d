"""Whether two launches are alike: kernel, constants, and shapes, types and placement of tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from kernbench.host.tensors import Tensor
from kernbench.language.binding import argument_names, name_of

if TYPE_CHECKING:
    from kernbench.host.launching import LaunchSpec


@dataclass(frozen=True, slots=True)
class Sent:
    """What a rank has launched; ``line`` is that of its call."""

    name: str
    kernel: Callable[..., Any]
    args: Mapping[str, object]
    """By the names that the kernel has for them; of tensors how they look from their package."""
    line: str
    collective: bool = False

    @property
    def said(self) -> str:
        """The launch with its line, for messages."""
        return f"launch '{self.name}'" + (f" at {self.line}" if self.line else "")


def sent(spec: LaunchSpec, line: str) -> Sent:
    """A launch as it is compared; of one of a collective only the tensors are, as its ranks are not alike."""
    names = argument_names(spec.kernel, len(spec.args))
    named = {**dict(zip(names, spec.args, strict=True)), **spec.constexpr}
    taken = {
        key: seen(value) if isinstance(value, Tensor) else value
        for key, value in named.items()
        if isinstance(value, Tensor) or not spec.collective
    }
    return Sent(spec.name, spec.kernel, taken, line, spec.collective)


def difference(one: Sent, other: Sent) -> str:
    """In what two launches differ, in words; empty where they are alike."""
    if one.name != other.name:
        return f"their names are '{one.name}' and '{other.name}'"
    if not (one.collective or _same_kernel(one.kernel, other.kernel)):
        return f"their kernels are not the same '{name_of(one.kernel)}'"
    for key in dict.fromkeys((*one.args, *other.args)):
        if key not in one.args or key not in other.args:
            return f"only one has {key}"
        a, b = one.args[key], other.args[key]
        if isinstance(a, _Seen) and isinstance(b, _Seen):
            if word := next((w for w in _Seen.__slots__ if getattr(a, w) != getattr(b, w)), ""):
                what = f"{getattr(a, word)} and {getattr(b, word)}" if word != "placement" else "not the same"
                return f"{key} differs in {word}: {what}"
        elif not _equal(a, b):
            return f"{key} is {a!r} and {b!r}"
    return ""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A tensor, as it looks from its package."""

    shape: tuple[int, ...]
    dtype: str
    memory: str
    placement: tuple[tuple[object, ...], ...]


def seen(tensor: Tensor) -> _Seen:
    """How a tensor looks from its package; equal where ranks have placed theirs alike."""
    shards = tuple((s.cube, s.pe, s.shape, s.offset_bytes) for s in tensor.shards)
    return _Seen(tensor.shape, tensor.dtype, tensor.memory, shards)


def _same_kernel(one: object, other: object) -> bool:
    """Whether it is one function, or two that the same lines have made of the same values."""
    if one is other:
        return True
    if not (isinstance(one, FunctionType) and isinstance(other, FunctionType)):
        like = getattr(one, "like", None)  # of a kernel that is made anew for each launch
        return bool(one == other if like is None else like(other))
    lines, others = one.__code__, other.__code__
    return (
        lines is others
        and _equal(one.__defaults__, other.__defaults__)
        and _equal(one.__kwdefaults__, other.__kwdefaults__)
        and all(
            a is b
            or (a.cell_contents is one and b.cell_contents is other)
            or _equal(a.cell_contents, b.cell_contents)
            for a, b in zip(one.__closure__ or (), other.__closure__ or (), strict=True)
        )
    )


def _equal(one: object, other: object) -> bool:
    if one is other or (isinstance(one, FunctionType) and _same_kernel(one, other)):
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return type(one) is type(other) and np.array_equal(np.asarray(one), np.asarray(other))
    try:
        return type(one) is type(other) and bool(one == other)
    except ValueError:  # of arrays within
        return False
