"""Tensors as the host holds them: shape, dtype, placement, and access to the values."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partialmethod
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from greenlet import getcurrent
from numpy.typing import ArrayLike, NDArray

from kernbench.errors import UsageError, VerificationError
from kernbench.host.driver import shard_ref
from kernbench.host.indexing import Box, box_of, intersect, span
from kernbench.host.placement import TensorShard, check_shape, distinct
from kernbench.host.values import fill, real_numbers
from kernbench.language import TensorArg
from kernbench.language.thread import KernelGreenlet
from kernbench.support import dtypes
from kernbench.support.hints import no_attribute
from kernbench.support.host_memory import need
from kernbench.values.numeric import cast

if TYPE_CHECKING:
    from kernbench.engine.program.launches import Request
    from kernbench.host.device_memory import Allocation, Memory, Place
    from kernbench.host.storage import Storage

Array = NDArray[Any]

_SHOWN = 1000
"""Elements up to which a ``repr`` reads the values."""


INSTEAD = {
    "astype": "use .to(torch.float16)",
    "T": "transpose the array before torch.from_numpy, or swap strides in the kernel",
}
"""Attributes of PyTorch's tensors that these have not, and the way it is done here."""


class Device(str):
    """The name of a SIP."""

    type = "cuda"
    """What PyTorch calls the device that kernels run on."""

    @property
    def index(self) -> int:  # type: ignore[override]
        """The number of the SIP."""
        return int(self.removeprefix("sip:"))


class Tensor:
    """A tensor in device memory, made by :class:`~kernbench.host.context.Context`.

    ``shape`` is global, ``dtype`` a name such as ``"f16"``. Its memory is freed, unmapped and reusable
    when the last reference goes, at :meth:`free`, or with its context. Reading it is a barrier: all
    that was submitted before is done first. Reads are :meth:`numpy`, ``data``, ``t[...]``, ``np.asarray``,
    the source of :meth:`copy_` and of ``t[...] = v``, :meth:`to`, and the ``repr`` of a small tensor.
    """

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: str,
        allocation: Allocation,
        storage: Storage,
        writes: list[Request],
        again: Callable[[str, tuple[int, ...]], Tensor],
        rename: Callable[[str], str] | None = None,
        idle: Collection[Place] = (),
    ) -> None:
        self.idle = idle
        """PEs whose part of it is empty; launches with it leave them out, but see ``submit`` on grids."""
        self._again = again
        self._rename = rename
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self._allocation = allocation
        self._storage = storage
        self._writes = writes
        self._freed = False
        self.unknown = ""
        """Why it has no values: a launch with it was not carried out, or not on all ranks; else empty."""
        self._kernel_arg: TensorArg | None = None
        self._release = self._watched()

    def _watched(self) -> Callable[[], object]:
        """See to it that the memory is given back; returns what does so."""
        return self._storage.watch(self, self._allocation, self._writes)

    def __getattr__(self, name: str) -> NoReturn:
        raise no_attribute("a tensor", name, dir(self), INSTEAD)

    # -- identity -----------------------------------------------------------------------------------

    @property
    def shards(self) -> tuple[TensorShard, ...]:
        """Every shard, ordered by (SIP, cube, PE); ``pa`` is its physical address."""
        return self.allocation.shards

    @property
    def device(self) -> Device:
        """The first SIP that holds a copy: ``"sip:0"``."""
        return Device(f"sip:{self.sips[0]}")

    is_cuda = True
    """Where kernels run, as on the device of that name."""

    @property
    def sips(self) -> tuple[int, ...]:
        """The SIPs that hold a copy of this tensor, ascending."""
        return tuple(self._allocation.copies)

    @property
    def va(self) -> int | None:
        """Start of the virtual or logical range, the same on every SIP; ``None`` in the ``pa`` model."""
        return self._allocation.va

    @property
    def memory(self) -> Memory:
        """The memory that it is in: ``"hbm"``, ``"sram"`` or ``"tcm"``."""
        return self._allocation.memory

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return dtypes.dtype(self.dtype).itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of one whole copy."""
        return dtypes.nbytes(self.shape, self.dtype)

    def numel(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def stride(self, dim: int | None = None) -> int | tuple[int, ...]:
        """Elements from one to the next along ``dim``, or along each: tensors are row-major."""
        steps = tuple(math.prod(self.shape[axis + 1 :]) for axis in range(self.ndim))
        return steps if dim is None else steps[dim]

    def size(self, dim: int | None = None) -> int | tuple[int, ...]:
        """The shape, or its extent along ``dim``."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def view(self, *shape: Any) -> Tensor:
        """The same memory under another shape; ``-1`` stands for what is left. So does ``reshape``.

        Raises:
            UsageError: The shape has another number of elements, or the tensor lies on several PEs of a SIP.
        """
        listed = list(shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) else shape)
        what = f"tensor '{self.name}' of shape {self.shape}: view{tuple(listed)}"
        if listed.count(-1) == 1:
            known = -math.prod(listed)
            listed[listed.index(-1)] = self.numel() // known if known else 0
        sizes = check_shape(listed, what)
        if math.prod(sizes) != self.numel():
            raise UsageError(f"{what} has {math.prod(sizes)} elements, expected {self.numel()}")
        if any(len(shards) > 1 for shards in self.allocation.copies.values()):
            raise UsageError(f"{what}: it lies on several PEs; reshape the array before torch.from_numpy")
        return View(self.root, sizes)

    reshape = view

    @property
    def root(self) -> Tensor:
        """The tensor whose memory this is: itself, unless it is a view."""
        return self

    def element_size(self) -> int:
        """Bytes per element."""
        return self.itemsize

    def data_ptr(self) -> int:
        """Address of its first element: a kernel of Triton that loads it finds the tensor there."""
        self._storage.pointed[id(self)] = self
        first = self.allocation.shards[0].pa if self.va is None else self.va
        assert first is not None
        return first

    def pointed(self) -> list[Tensor]:
        """Those tensors of its machine whose :meth:`data_ptr` was taken, and that are there still."""
        return [one for one in self._storage.pointed.values() if not one.freed]

    def is_contiguous(self) -> bool:
        """True: tensors are row-major."""
        return True

    def contiguous(self) -> Tensor:
        """Itself: tensors are row-major, and on the machine. So are the next three."""
        return self

    cuda = cpu = detach = contiguous

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        state = ", freed" if self.freed else ""
        about = f"'{self.name}', shape={self.shape}, dtype={self.dtype}, sips={list(self.sips)}{state}"
        values = "" if self.freed or self.numel() > _SHOWN else self._shown()
        return f"Tensor({values}{about})"

    def _shown(self) -> str:
        """The values for a ``repr``; empty where there are none: results of a run without verification."""
        if isinstance(getcurrent(), KernelGreenlet):  # time stands still in a kernel
            return ""
        try:
            return f"{np.array2string(self.numpy(), separator=', ', prefix='Tensor(')}, "
        except (UsageError, VerificationError):
            return ""

    def __bool__(self) -> NoReturn:
        raise UsageError(f"tensor '{self.name}': a tensor has no truth value; read it with numpy() first")

    @property
    def is_interleaved(self) -> bool:
        """Whether it lies in memory that the PEs of its chiplet share."""
        return self.allocation.memory == "hbm" and self._storage.memory.interleaved

    @property
    def launch(self) -> Callable[..., Any]:
        """Starts a kernel on the machine that the tensor is on: its context's ``launch``."""
        return self._storage.launch

    # -- its numbers --------------------------------------------------------------------------------

    def numpy(self, sip: int | None = None) -> Array:
        """The tensor's values, moved to the host; ``sip`` says whose copy, by default the first.

        The array is the caller's own. Results that were computed need ``--verify-data``.
        """
        return self._read(tuple(slice(0, n) for n in self.shape), sip)

    def tolist(self) -> Any:
        """The tensor's values as lists of numbers."""
        return self.numpy().tolist()

    @property
    def data(self) -> Array:
        """The tensor's values, as :meth:`numpy` gives them."""
        return self.numpy()

    def __getitem__(self, key: Any) -> Array:
        """Part of the first copy, by integers, slices and ``...``; only the bytes around it are moved."""
        box, pick = box_of(key, self.shape, f"tensor '{self.name}'")
        return np.asarray(self._read(box, None)[pick])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError(f"tensor '{self.name}' lies in device memory; reading it makes a copy")
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    def copy_(self, source: ArrayLike | Tensor) -> Tensor:
        """Overwrite every copy with ``source`` (same shape, cast to this dtype) and return the tensor.

        Work submitted before sees the old values. From a tensor the values pass through the host, from
        the same SIP's copy where there is one.
        """
        self._storage.settle()
        for sip in self.allocation.copies:
            if isinstance(source, Tensor):
                self.write(source.numpy(sip if sip in source.sips else None), sip)
            else:
                self.write(source, sip)
        return self

    def __setitem__(self, key: Any, value: ArrayLike | Tensor) -> None:
        """Overwrite part of every copy, chosen as in ``t[key]``; ``value`` broadcasts to it and is cast.

        As with :meth:`copy_`, work submitted before sees the old values. Only the elements that change are
        moved, each run of neighbours by a write of its own.
        """
        what = f"tensor '{self.name}'"
        box, pick = box_of(key, self.shape, what)
        source = real_numbers(value.numpy() if isinstance(value, Tensor) else value, what)
        values = np.zeros([s.stop - s.start for s in box], dtypes.dtype(self.dtype).numpy)
        chosen = np.zeros(values.shape, bool)
        chosen[pick] = True
        try:
            values[pick] = cast(source, self.dtype)
        except ValueError:
            raise UsageError(
                f"{what}: the part has shape {values[pick].shape}, the value {source.shape}; make them equal"
            ) from None
        self._storage.settle()
        for sip in self.allocation.copies:
            self._writes += self._storage.write_part(self.copy_of(sip), box, values, chosen, self.dtype)

    def like(self, dtype: str | None = None, sips: tuple[int, ...] = ()) -> Tensor:
        """A tensor whose memory holds nothing yet, of this shape and type, placed alike."""
        return self._again(dtype or self.dtype, sips or self.sips)

    def to(self, target: str | int) -> Tensor:
        """The tensor in another type (``torch.float32``) or on another SIP (``1``, ``"sip:1"``).

        Itself if it is so already, otherwise a new tensor, placed alike; the values pass through the host.
        ``"cuda"`` is where it is.
        """
        if target == "cuda":
            return self
        dtype, sips = self.dtype, self.sips
        if isinstance(target, str) and target in dtypes.DTYPES:
            dtype = target
        else:
            sips = (self._storage.sip(target),)
        if (dtype, sips) == (self.dtype, self.sips):
            return self
        made = self.like(dtype, sips)
        for sip in sips:
            made.write(self.numpy(sip if sip in self.sips else None), sip)
        return made

    def fill(self, value: float) -> Tensor:
        """Submit host writes of ``value`` to every element of every copy, and return the tensor.

        An integer tensor takes only integers of its range. Like :meth:`write` this does not wait.
        """
        return self.write(fill(value, self.shape, self.dtype, f"tensor '{self.name}'"))

    def write(self, values: ArrayLike, sip: int | None = None) -> Tensor:
        """Submit host writes of ``values`` (same shape, cast to this dtype) to all copies or that of ``sip``.

        Unlike :meth:`copy_` this does not wait for launches that may use the tensor: with one that does, it
        is a race.
        """
        array = real_numbers(values, f"tensor '{self.name}'")
        if array.shape != self.shape:
            raise UsageError(
                f"tensor '{self.name}' of shape {self.shape}: written from shape {array.shape}; "
                "make them equal"
            )
        need(self.nbytes, f"tensor '{self.name}'")
        array = cast(array, self.dtype)
        for number in self.sips if sip is None else (sip,):
            self._writes += self._storage.write(self.copy_of(number), array, self.dtype)
        return self

    # -- its memory ---------------------------------------------------------------------------------

    @property
    def freed(self) -> bool:
        """True once the memory is given back; only name, shape and dtype are left."""
        return self._freed

    def free(self) -> None:
        """Give the memory back now, when all that was submitted is done. A second call does nothing."""
        if not self._freed:
            self._storage.settle()
            self._freed = True
            self._release()
            self._storage.flush()

    @property
    def allocation(self) -> Allocation:
        """The tensor's memory; :class:`UsageError` once it is freed."""
        if self._freed:
            raise UsageError(f"tensor '{self.name}' was freed; make a new one, or keep it until its last use")
        return self._allocation

    @property
    def takes_name(self) -> bool:
        """Whether neither the program nor a launch has given the tensor a name."""
        return self._rename is not None

    def take_name(self, argument: str) -> None:
        """Be called what a kernel calls it, unless it has a name."""
        if self._rename is not None:
            self.name = self._rename(argument)
            self._rename = self._kernel_arg = None

    @property
    def kernel_arg(self) -> TensorArg:
        """The argument that kernels get for this tensor: where each PE finds it."""
        if self._kernel_arg is None:
            allocation = self.allocation
            self._kernel_arg = TensorArg(
                self.name, self.shape, self.dtype, self._storage.memory.placements(allocation)
            )
        return self._kernel_arg

    @property
    def settled(self) -> bool:
        """Whether it is mapped and written: :meth:`settle_writes` has nothing to wait for."""
        return all(request.done for request in self._writes)

    def settle_writes(self) -> None:
        """Wait until the tensor is mapped and written, as a kernel that uses it must find it."""
        self._storage.driver.wait(list(self._writes))
        # Another rank may have written meanwhile.
        self._writes[:] = [request for request in self._writes if not request.done]

    def copy_of(self, sip: int | None) -> tuple[TensorShard, ...]:
        """The shards of one SIP's copy, the first one's by default."""
        copies = self.allocation.copies
        if sip is None:
            return next(iter(copies.values()))
        if sip not in copies:
            held = ", ".join(map(str, copies))
            raise UsageError(f"tensor '{self.name}' has no copy on SIP {sip}; it is on {held}")
        return copies[sip]

    def fetch(self) -> None:
        """Wait for what was submitted, and take the time that :meth:`numpy` takes; nothing is read."""
        self._fetched(tuple(slice(0, n) for n in self.shape), None)

    def _read(self, box: Box, sip: int | None) -> Array:
        return self._storage.peek(self._fetched(box, sip), box, self.dtype, f"tensor '{self.name}'")

    def _fetched(self, box: Box, sip: int | None) -> list[tuple[TensorShard, Box]]:
        if why := self.root.unknown:
            raise UsageError(
                f"tensor '{self.name}' has no values to read: {why}, or run with --exact (exact=True)"
            )
        shards = distinct(self.copy_of(sip))
        parts = [(shard, part) for shard in shards if (part := intersect(shard, box)) is not None]
        self._storage.settle()
        self._storage.fetch(
            [span(shard_ref(shard), shard.shape, part, self.itemsize) for shard, part in parts]
        )
        return parts


class View(Tensor):
    """The memory of a tensor under another shape. It keeps that tensor, and is freed with it."""

    def __init__(self, root: Tensor, shape: tuple[int, ...]) -> None:
        self._root = root
        index = tuple(slice(0, n) for n in shape)
        copies = {
            sip: tuple([replace(shard, shape=shape, index=index) for shard in shards])
            for sip, shards in root.allocation.copies.items()
        }
        lies = replace(root.allocation, copies=copies)
        again, rename = root._again, root._rename
        super().__init__(
            root.name, shape, root.dtype, lies, root._storage, root._writes, again, rename, root.idle
        )

    def _watched(self) -> Callable[[], object]:
        return self._root.free

    @property
    def root(self) -> Tensor:
        """The tensor whose memory this is."""
        return self._root

    @property
    def freed(self) -> bool:
        """True once the memory of the tensor is given back."""
        return self._root.freed

    def free(self) -> None:
        """Give the memory of the tensor back, as its own ``free`` does."""
        self._root.free()

    @property
    def allocation(self) -> Allocation:
        """The tensor's memory; :class:`UsageError` once it is freed."""
        if self._root.freed:
            return self._root.allocation  # which says what is wrong
        return self._allocation

    def like(self, dtype: str | None = None, sips: tuple[int, ...] = ()) -> Tensor:
        """A tensor whose memory holds nothing yet, of this shape and type, placed alike."""
        return self._root.like(dtype, sips).view(self.shape)

    @property
    def takes_name(self) -> bool:
        """Whether neither the program nor a launch has given the tensor a name."""
        return self._root.takes_name

    def take_name(self, argument: str) -> None:
        """Have the tensor be called what a kernel calls it, unless it has a name."""
        self._root.take_name(argument)
        self.name, self._kernel_arg = self._root.name, None


def _of_host(name: str) -> Callable[[Tensor, Any], Any]:
    """An operator that the host carries out, short types in f32: a tensor if as large, else an array."""
    dtype = "i8" if name in ("lt", "le", "gt", "ge") else None

    def call(self: Tensor, other: Any) -> Any:
        a, b = (
            one.numpy().astype(np.float32) if isinstance(one, Tensor) and one.itemsize < 4 else one
            for one in (self, other)
        )
        found = np.asarray(getattr(operator, name)(np.asarray(a), np.asarray(b)))
        return self.like(dtype).write(found) if found.shape == self.shape else found

    return call


for _name in ("add", "sub", "mul", "truediv", "matmul", "lt", "le", "gt", "ge"):
    setattr(Tensor, f"__{_name}__", _of_host(_name))
for _name in ("add", "mul"):
    setattr(Tensor, f"__r{_name}__", _of_host(_name))
for _name, _dtype in (("float", "f32"), ("half", "f16")):
    setattr(Tensor, _name, partialmethod(Tensor.to, _dtype))
