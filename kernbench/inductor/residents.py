"""PyTorch's tensors on the machine: what lies there, when it is copied, and what the host does with it."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from kernbench.errors import UsageError
from kernbench.host.context import Context
from kernbench.host.expectations import Check
from kernbench.inductor.buffers import Array, Strided, context, empty_strided, extent
from kernbench.inductor.files import check_of
from kernbench.inductor.sources import refused
from kernbench.support import dtypes
from kernbench.torch import TYPES

TOLERANCE = {"f32": 1e-4}
"""How far results may be from PyTorch's where that is not what checks allow otherwise: of whole models."""
SHORT = ("bf16", "f16")
"""Floats that a graph rounds to where PyTorch does, and a kernel not in between: f32 is as far off then."""
_COPIES = frozenset(("_local_scalar_dense", "_to_copy", "copy_", "clone"))
"""Operations that move values and work out none."""


class Resident:
    """The storage of a tensor of PyTorch's, and the buffer on the machine that holds the same."""

    def __init__(self, storage: Any, whole: Strided) -> None:
        self.alive = StorageWeakRef(storage)
        self.whole = whole
        """The buffer, element by element."""
        self.seen = _bytes(storage).copy()
        """What the machine holds, as PyTorch has it."""
        self.check: Check | None = None
        self.ahead = False
        """Whether the machine wrote it, and the host has not read it since."""
        self.stale = False
        """Whether a kernel of the script may have written it, so that PyTorch's values are old."""

    def changed(self, storage: Any) -> bool:
        """Whether PyTorch's values are others than when that was last asked."""
        now = _bytes(storage)
        if np.array_equal(now, self.seen):
            return False
        self.seen = now.copy()
        return True


class Device:
    """The machine of a run, to PyTorch: its tensors there, by the address of their storage."""

    def __init__(self, run: Context) -> None:
        self._run = run
        self._residents: dict[int, Resident] = {}
        self._derived: dict[int, StorageWeakRef] = {}
        """Storages on the host that came of those on the machine."""
        self.empty: dict[int, StorageWeakRef] = {}
        """Storages whose values nobody has set."""

    def put(self, tensor: Any, name: str, whole: bool = False) -> Strided:
        """``tensor`` on the machine: copied there, unless it is there with these values, or has none.

        Of a larger tensor that is not there the part alone is copied, each time, but ``whole``.
        """
        if tensor.device.type != "cpu":
            raise refused(f"tensor {name} is on {tensor.device}; make it in the run, or move it to 'cpu'")
        storage, dtype = tensor.untyped_storage(), dtype_of(tensor)
        resident = self._residents.get(storage._cdata)
        if resident is None:
            count = storage.nbytes() // tensor.element_size()
            span = extent(tensor.shape, tensor.stride())
            if (span < count and not whole) or not span:
                made = empty_strided(tensor.shape, tensor.stride(), dtype, name=name)
                flat = _values(storage, dtype)[tensor.storage_offset() :]
                return made.write(made.of(flat)) if span else made
            buffer = empty_strided((count,), (1,), dtype, name=name)
            resident = self._residents[storage._cdata] = Resident(storage, buffer)
            if storage._cdata not in self.empty:
                buffer.write(_values(storage, dtype))
        elif not resident.stale and resident.changed(storage):
            self._checked(resident, None)
            resident.whole.write(_values(storage, resident.whole.dtype)[: resident.whole.numel()])
            resident.ahead = False
        if resident.whole.dtype != dtype:
            raise refused(f"a view of {resident.whole.dtype} as {dtype} is not supported")
        return resident.whole.viewed(tensor.shape, tensor.stride(), tensor.storage_offset())

    def holds(self, tensor: Any, strided: Strided) -> bool:
        """Whether ``strided`` lies in the buffer of all of the storage that ``tensor`` lies in."""
        resident = self._residents.get(tensor.untyped_storage()._cdata)
        return resident is not None and resident.whole.memory is strided.memory

    def lent(self, tensor: Any, name: str) -> Strided:
        """``tensor`` on the machine for a kernel of the script, which may write it."""
        strided = self.put(tensor, name, whole=True)
        resident = self._residents.get(tensor.untyped_storage()._cdata)
        if resident is not None:
            self._checked(resident, None)
            resident.stale = True
        return strided

    def fetched(self, tensors: Sequence[Any], free: bool = False) -> None:
        """Have PyTorch's values of ``tensors`` be those that kernels of the script wrote.

        ``free``: in no time but that of their work, for the host only works out what the machine does.
        """
        for storage in (one.untyped_storage() for one in tensors):
            one = self._residents.get(storage._cdata)
            if one is None or not one.stale:
                continue
            memory, count = one.whole.memory, one.whole.numel()
            if free:
                self._run.wait_all()
                box = (slice(0, count),)
                values = self._run.storage.peek_box(memory.copy_of(None), box, memory.dtype, memory.name)
            else:
                values = memory[:count]
            one.stale = one.ahead = False
            _values(storage, memory.dtype)[:count] = values
            one.seen = _bytes(storage).copy()

    def written(self, tensor: Any, strided: Strided, short: str) -> None:
        """The machine has written the values that ``tensor`` has now, if they are new."""
        storage = tensor.untyped_storage()
        resident = self._residents.get(storage._cdata)
        if resident is not None and resident.changed(storage):
            self._wrote(resident, strided, storage, short)

    def result(self, strided: Strided, values: Any, known: dict[int, Any], short: str) -> Any:
        """A tensor for what the machine has in ``strided``, where PyTorch has ``values``.

        ``known``: storages by the buffer on the machine that they are; a new one is added. ``short``: the
        shortest type of numbers that it is made of, if that is one of ``SHORT``.
        """
        if strided.dtype != dtype_of(values):
            raise refused(f"a result of {dtype_of(values)} as {strided.dtype} is not supported")
        key = id(strided.memory)
        if key not in known:  # as long as the buffer, for other results may be views of it
            known[key] = torch.zeros(strided.memory.numel(), dtype=values.dtype).untyped_storage()
        storage = known[key]
        made = torch.empty(0, dtype=values.dtype).set_(
            storage, strided.offset, strided.shape, strided.strides
        )
        made.copy_(values)
        resident = self._residents.get(storage._cdata)
        if resident is None:
            whole = Strided(strided.memory, (strided.memory.numel(),), (1,))
            resident = self._residents[storage._cdata] = Resident(storage, whole)
        resident.changed(storage)
        self._wrote(resident, strided, storage, short)
        return made

    def sweep(self) -> None:
        """Give back the memory of tensors that are no more."""
        for key, one in list(self._residents.items()):
            if one.alive.expired():
                self._checked(one, None)
                del self._residents[key]
        for known in (self._derived, self.empty):
            for key in [key for key, one in known.items() if one.expired()]:
                del known[key]

    def _wrote(self, resident: Resident, strided: Strided, storage: Any, short: str) -> None:
        resident.ahead = True
        name, dtype = strided.memory.name, strided.dtype
        tolerance = dtypes.dtype(short).tolerance if short and dtype == "f32" else TOLERANCE.get(dtype)
        wanted = np.array(strided.of(_values(storage, dtype)))
        self._checked(resident, check_of(name, strided, wanted, tolerance))

    def _checked(self, resident: Resident, check: Check | None) -> None:
        """``check`` from here on takes the place of what is checked of it at the end."""
        old, resident.check = resident.check, check
        self._run.checks[:] = [one for one in self._run.checks if one is not old]
        if check is not None:
            self._run.checks.append(check)

    def host(self, name: str, tensors: Sequence[Any]) -> bool:
        """The host carries out ``name`` on ``tensors``: counted if one of them is or was on the machine."""
        self.fetched(tensors)
        keys = dict.fromkeys(one.untyped_storage()._cdata for one in tensors)
        for one in [self._residents[key] for key in keys if key in self._residents]:
            if one.ahead:
                one.whole.memory.fetch()
                one.ahead = False
        if not any(key in self._residents or key in self._derived for key in keys):
            return False
        if name not in _COPIES:
            self.count(name, sum(t.numel() * t.element_size() for t in tensors))
        return True

    def derived(self, results: Sequence[Any]) -> None:
        """Results of the host's that came of tensors on the machine."""
        for storage in (one.untyped_storage() for one in results):
            if storage._cdata not in self._residents:
                self._derived[storage._cdata] = StorageWeakRef(storage)

    def count(self, name: str, nbytes: int) -> None:
        """The host did ``name``, of so many bytes."""
        if self._run.strict_device:
            raise refused(f"{name} would run on the host; --strict-device (strict_device=True) forbids it")
        times, before = self._run.on_host.get(name, (0, 0))
        self._run.on_host[name] = times + 1, before + nbytes


_devices: dict[Context, Device] = {}


def device() -> Device:
    """That of the run that is going on."""
    try:
        run = context()
    except UsageError:
        raise UsageError(
            "no machine is running: call a model that was compiled for KernBench in a run, "
            "kernbench run FILE.py or kernbench.run(lambda torch: model(x), 'h100')"
        ) from None
    if run not in _devices:
        _devices[run] = Device(run)
    return _devices[run]


def dtype_of(tensor: Any) -> str:
    """KernBench's name of the type of a tensor's elements."""
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in TYPES:
        raise refused(f"tensors of torch.{name} do not lie on the machine")
    return str(TYPES[name])


def _bytes(storage: Any) -> Array:
    """The bytes of a storage, where they are."""
    count = storage.nbytes()
    if count == 0:
        return np.zeros(0, np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * count).from_address(storage.data_ptr()))


def _values(storage: Any, dtype: str) -> Array:
    return _bytes(storage).view(dtypes.dtype(dtype).numpy)


def _tensors(values: Any) -> list[Any]:
    """The tensors in ``values`` that hold numbers, unlike those with which PyTorch compiles."""
    return [one for one in tree_leaves(values) if type(one) in (torch.Tensor, torch.nn.Parameter)]


class HostOperations(TorchDispatchMode):  # type: ignore[misc]
    """Meanwhile operations of PyTorch's on tensors that lie on the machine are counted as the host's.

    With its end nothing of PyTorch's lies there any more.
    """

    def __exit__(self, *failure: Any) -> None:
        _devices.pop(context(), None)
        super().__exit__(*failure)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """``torch.compile`` compiles nevertheless."""
        return True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """See PyTorch."""
        kwargs = kwargs or {}
        schema = func._schema
        views = bool(schema.returns) and all(
            one.alias_info is not None and not one.alias_info.is_write for one in schema.returns
        )
        name = schema.name.removeprefix("aten::")
        tensors = _tensors((args, kwargs))
        free = views or name.endswith("_like") or name.startswith("new_")
        counted = False
        if tensors and not free:
            counted = device().host(name, tensors)
            for one in tensors:
                device().empty.pop(one.untyped_storage()._cdata, None)
        found = func(*args, **kwargs)
        if "empty" in name and type(found) is torch.Tensor:
            storage = found.untyped_storage()
            device().empty[storage._cdata] = StorageWeakRef(storage)
        if counted:
            device().derived(_tensors(found))
        return found


@contextmanager
def untouched() -> Iterator[None]:
    """Meanwhile PyTorch works for us: nothing is counted, and nothing recorded for a backward pass."""
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes(), torch.no_grad(), torch._C.DisableTorchFunction():
        yield
