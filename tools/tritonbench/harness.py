"""Carries out a file of TritonBench-G as it is: PyTorch on the CPU is its host, device ``"cuda"`` the CPU.

``triton`` is KernBench's, values only, or an installed Triton under its own interpreter.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

Results = dict[str, np.ndarray[Any, Any]]
SCRATCH = 1 << 30
"""Bytes of it: values alone are asked for, not whether a machine has the room."""
_DEVICE = types.SimpleNamespace(
    name="H100", major=9, minor=0, multi_processor_count=132, warp_size=32, total_memory=80 << 30,
    shared_memory_per_block_optin=232448, max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536,
)  # fmt: skip


@cache
def warm() -> None:
    """Import what all files need, once: processes that are forked afterwards have it."""
    sys.setdlopenflags(os.RTLD_LAZY | os.RTLD_GLOBAL)
    import torch

    import kernbench.triton

    torch.set_num_threads(1)
    assert kernbench.triton.language


def host() -> Any:
    """PyTorch, with a GPU that is the CPU; new tensors without values are zero, so that results compare."""
    import torch
    from torch.overrides import TorchFunctionMode

    class OnCpu(TorchFunctionMode):
        def __torch_function__(self, func: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
            given, name = dict(kwargs or {}), getattr(func, "__name__", "")
            if given.get("device") is not None:
                given["device"] = "cpu"
            if name == "cuda":
                return args[0]
            if name == "to":
                on = (torch.device, str)
                args = tuple("cpu" if isinstance(one, on) else one for one in args)
            made = func(*args, **given)
            return made.zero_() if name.startswith(("empty", "new_empty")) else made

    cuda = torch.cuda
    torch.Tensor.is_cuda = property(lambda _: True)
    torch.Tensor.cuda = lambda self, *_, **__: self
    for name in ("synchronize", "set_device", "empty_cache", "manual_seed", "manual_seed_all"):
        setattr(cuda, name, lambda *_, **__: None)  # one each: PyTorch's compiler wants them to differ
    for name in ("device", "device_of", "stream", "_DeviceGuard"):
        setattr(cuda, name, lambda *_: contextlib.nullcontext())
    for name, value in {"is_available": True, "current_device": 0, "device_count": 1,
                        "get_device_properties": _DEVICE, "get_device_capability": (9, 0),
                        "get_device_name": "H100",
                        "current_stream": types.SimpleNamespace(cuda_stream=0)}.items():  # fmt: skip
        setattr(cuda, name, lambda *_, value=value: value)
    return OnCpu()


def here() -> contextlib.AbstractContextManager[None]:
    """``triton`` is KernBench's, whose launches take tensors of PyTorch: each storage is one array."""
    import ml_dtypes
    import torch

    from kernbench.language import interpret
    from kernbench.support.stand_ins import standing_in
    from kernbench.triton.launching import OnGrid

    bits = {torch.bfloat16: (torch.int16, ml_dtypes.bfloat16),
            torch.float8_e4m3fn: (torch.uint8, ml_dtypes.float8_e4m3fn),
            torch.float8_e5m2: (torch.uint8, ml_dtypes.float8_e5m2)}  # fmt: skip

    def array(tensor: Any) -> Any:
        count = tensor.untyped_storage().nbytes() // tensor.element_size()
        flat = torch.as_strided(tensor.detach(), (count,), (1,), 0)
        if tensor.dtype in bits:
            whole, dtype = bits[tensor.dtype]
            return flat.view(whole).numpy().view(dtype)
        return flat.numpy()

    def launch(self: OnGrid, *args: Any, **named: Any) -> None:
        arrays: dict[Any, Any] = {}
        offsets = {}

        def given(name: str, value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            offsets[name] = value.storage_offset()
            key = value.untyped_storage().data_ptr(), value.dtype
            if key not in arrays:
                arrays[key] = array(value)
            return arrays[key]

        with torch._C.DisableTorchFunction():
            names = self.kernel.arg_names
            positional = [given(name, one) for name, one in zip(names, args, strict=False)]
            rest = {name: given(name, one) for name, one in named.items()}
            starts = {name: first for name, first in offsets.items() if first}
            on = OnGrid(self.kernel, self.grid, starts)
            interpret(on, *positional, scratch_bytes=SCRATCH, **rest)

    OnGrid.__call__ = launch  # type: ignore[method-assign]
    return standing_in()


def reference() -> contextlib.AbstractContextManager[None]:
    """``triton`` is the installed one, with ``TRITON_INTERPRET``, and a driver that only answers."""
    os.environ["TRITON_INTERPRET"] = "1"
    import torch
    from triton.runtime import driver

    def target() -> Any:
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 90, 32)

    def once(fn: Callable[[], Any], quantiles: Any = None, **_: Any) -> list[float]:
        fn()
        return [0.0, 0.0, 0.0]

    driver.set_active(types.SimpleNamespace(
        get_benchmarker=lambda: once, get_current_device=lambda: 0, get_current_target=target,
        get_device_interface=lambda: torch.cuda, get_current_stream=lambda _=0: 0,
        get_empty_cache_for_benchmark=lambda: torch.empty(1), clear_cache=lambda _: None,
    ))  # fmt: skip
    return contextlib.nullcontext()


def carry_out(file: Path, of: Callable[[], contextlib.AbstractContextManager[None]]) -> tuple[str, Results]:
    """``ok`` or its error in one line, and what its tests have returned until then, by name."""
    mode = host()
    import torch

    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    names: dict[str, Any] = {"__name__": "__main__", "__file__": str(file)}
    said = "ok"
    try:
        with of(), mode:
            exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), names)
    except BaseException as error:
        first = str(error).splitlines() or [""]
        said = f"{type(error).__name__}: {first[0]}"
    found: Results = {}

    def keep(name: str, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            plain = value.detach()
            found[name] = (plain.double() if plain.dtype.is_floating_point else plain).numpy()
        elif isinstance(value, dict | list | tuple):
            for key, one in value.items() if isinstance(value, dict) else enumerate(value):
                keep(f"{name}/{key}", one)
        elif isinstance(value, int | float):
            found[name] = np.asarray(value)

    for name, value in names.items():
        if name.startswith("result"):
            keep(name, value)
    return said, found


def worst(one: Results, other: Results) -> float | None:
    """The largest difference of results of one name, by the largest value; None where there are none."""
    found = []
    for name in one.keys() & other.keys():
        a, b = (np.asarray(results[name], float) for results in (one, other))
        if a.shape != b.shape:
            return float("inf")
        if a.size:
            scale = np.max(np.abs(a), where=np.isfinite(a), initial=0.0) or 1.0
            same = (np.isnan(a) & np.isnan(b)) | (a == b)
            with np.errstate(invalid="ignore"):  # infinities of one sign are the same
                apart = np.where(same, 0.0, np.abs(a - b) / scale)
            found.append(float(np.max(np.where(np.isnan(apart), np.inf, apart))))
    return max(found) if found else None
