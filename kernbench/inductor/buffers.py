"""Tensors as code of Inductor handles them: sizes and strides over a part of a buffer on the machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernbench.hardware.topology.neighbours import MachineShape
from kernbench.host.context import Context
from kernbench.host.current import context_of
from kernbench.host.placement import DPPolicy
from kernbench.host.tensors import Tensor
from kernbench.inductor.sources import refused
from kernbench.support import dtypes
from kernbench.support.hints import shown
from kernbench.torch import default_placement

Array = np.ndarray[Any, Any]
Sizes = tuple[int, ...]
SPREAD = DPPolicy(cube="row_wise", pe="row_wise")
"""Where buffers lie on machines whose PEs have memory of their own: over all PEs of a package."""


def context() -> Context:
    """The run that is going on; an error outside of one."""
    return context_of(None, "a file that Inductor wrote (run it: kernbench run FILE.py)")


def extent(size: Sequence[int], stride: Sequence[int]) -> int:
    """Elements from the first to the last one of a strided tensor; 0 where it has none."""
    return 0 if 0 in size else 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))


class Strided:
    """Element ``i, j, ...`` is the one at ``offset + i * stride[0] + j * stride[1] + ...`` of ``memory``.

    Several of them may lie in one buffer: what is written through one is read through another.
    """

    def __init__(self, memory: Tensor, size: Sequence[int], stride: Sequence[int], offset: int = 0) -> None:
        self.memory = memory
        self.shape = tuple(int(n) for n in size)
        self.strides = tuple(int(n) for n in stride)
        self.offset = offset

    @property
    def dtype(self) -> str:
        """The type of its elements."""
        return self.memory.dtype

    def size(self, dim: int | None = None) -> Any:
        """The shape, or its extent along ``dim``."""
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim: int | None = None) -> Any:
        """Elements from one to the next along each dimension, or along ``dim``."""
        return self.strides if dim is None else self.strides[dim]

    def numel(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def viewed(self, size: Sequence[int], stride: Sequence[int], offset: int = 0) -> Strided:
        """Another view of the same buffer, ``offset`` elements further on."""
        return Strided(self.memory, size, stride, self.offset + offset)

    def of(self, flat: Array) -> Array:
        """The part that it is of the numbers of its buffer; writing into it changes these."""
        steps = tuple(step * flat.itemsize for step in self.strides)
        return np.lib.stride_tricks.as_strided(flat[self.offset :], self.shape, steps)

    @property
    def end(self) -> int:
        """How many elements of the buffer there are up to its last one."""
        return self.offset + extent(self.shape, self.strides)

    def numpy(self) -> Array:
        """Its numbers, read from the machine."""
        return np.array(self.of(self.memory[: self.end]))

    def item(self) -> Any:
        """Its only number, read from the machine."""
        return self.numpy().item()

    def write(self, values: Array) -> Strided:
        """Have the host write its numbers; those between that are not its own become 0."""
        flat = np.zeros(self.end, dtypes.dtype(self.dtype).numpy)
        self.of(flat)[...] = values
        self.memory[: self.end] = flat
        return self

    def __repr__(self) -> str:
        return f"<{self.dtype}{list(self.shape)} with strides {self.strides} in '{self.memory.name}'>"


def empty_strided(
    size: Sequence[int], stride: Sequence[int], dtype: str = "f32", *, name: str | None = None, **_: Any
) -> Strided:
    """A tensor in a buffer of its own, which holds nothing yet."""
    run = context()
    elements, placed = max(1, extent(size, stride)), default_placement()
    if placed is None and not run.storage.memory.interleaved:
        # Every PE gets a part, of whole bursts, for a launch runs where all of its tensors have some.
        placed = SPREAD
        burst = run.storage.driver.machine.addresses.burst_bytes // dtypes.SIZES[dtype]
        least = burst * sum(MachineShape.of(run.graph).pes_of(run.ahbm.sips[0]))
        elements = -(-elements // least) * least
    return Strided(run.empty(elements, dtype=dtype, dp=placed, name=name), size, stride)


def like(tensor: Strided, size: Sequence[int] | None = None, dtype: str | None = None) -> Strided:
    """An empty one of the same type, without gaps: its axes in the order of ``tensor``'s, or as ``size``."""
    kind = tensor.dtype if dtype is None else dtype
    if size is not None:
        return empty_strided(size, dtypes.row_major(size), kind)
    if extent(tensor.shape, tensor.strides) == tensor.numel():
        return empty_strided(tensor.shape, tensor.strides, kind)
    steps, step = list(tensor.strides), 1
    for axis in sorted(range(len(steps)), key=lambda n: (steps[n], -n)):
        steps[axis], step = step, step * tensor.shape[axis]
    return empty_strided(tensor.shape, steps, kind)


def reinterpret_tensor(
    tensor: Strided, size: Sequence[int], stride: Sequence[int], offset: int = 0
) -> Strided:
    """A view of the buffer of ``tensor`` with other sizes and strides."""
    return tensor.viewed(size, stride, offset)


def assert_size_stride(tensor: Strided, size: Sequence[int], stride: Sequence[int], what: str = "") -> None:
    """An error unless a tensor has these sizes and strides; strides of a single element do not matter."""
    same = tensor.shape == tuple(size) and all(
        n <= 1 or a == b for n, a, b in zip(size, tensor.strides, stride, strict=True)
    )
    if not same:
        raise refused(
            f"{what or 'tensor'} has size {tensor.shape} and strides {tensor.strides}; the file was compiled "
            f"for {tuple(size)} and {tuple(stride)}"
        )


def assert_size_stride_grouped(
    tensors: Sequence[Strided], sizes: Sequence[Sizes], strides: Sequence[Sizes], what: str = ""
) -> None:
    """The same of several tensors."""
    for one, size, stride in zip(tensors, sizes, strides, strict=True):
        assert_size_stride(one, size, stride, what)


def assert_tensor_metadata(
    tensor: Strided, size: Sequence[int], stride: Sequence[int], dtype: str, what: str = ""
) -> None:
    """The same of sizes, strides and type."""
    assert_size_stride(tensor, size, stride, what)
    if tensor.dtype != dtype:
        raise refused(f"{what or 'tensor'} is {tensor.dtype}; the file was compiled for {shown(dtype)}")
