"""Runs output files of PyTorch's Inductor without PyTorch: its names, as far as such files use them.

``kernbench run output_code.py``: while it runs, ``torch._inductor`` and its like are this module, whichever
module of PyTorch's has a name; ``torch.ops``, ``torch._C`` and ``torch._dynamo`` too.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from kernbench.inductor import buffers, files, helpers, heuristics, library
from kernbench.inductor.sources import refused
from kernbench.triton.language import math
from kernbench.triton.language.extra import libdevice


class Unknown:
    """A name of PyTorch's that files only mention; to call it is an error that says it."""

    def __init__(self, name: str, table: Mapping[str, Any]) -> None:
        self._name, self._table = name, table

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._table.get(name, Unknown(f"{self._name}.{name}", self._table))

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Nothing of the kind is here; where PyTorch is, it does it on the host."""
        if (on_host := library.host_calls.get()) is not None:
            return on_host(self._name, args, named)
        raise refused(f"{self._name} is not here, and needs PyTorch, which is not used")


class Hint:
    """Anything that a file tells Triton's compiler of a kernel: without effect."""

    def __call__(self, *_: object, **__: object) -> Hint:
        """Another one."""
        return self

    def __getattr__(self, name: str) -> Hint:
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def _nothing(*_: object, **__: object) -> int:
    """What needs no doing here."""
    return 0


_hint = Hint()
_NAMES: dict[str, Any] = {
    **helpers.TABLE,
    **heuristics.TABLE,
    **library.TABLE,
    **dict.fromkeys(("AutotuneHint", "ReductionHint", "TileHint", "DeviceProperties", "instance_descriptor",
                     "HeuristicType"), _hint),
    **dict.fromkeys(("get_raw_stream", "_cuda_getCurrentRawStream", "start_graph", "end_graph",
                     "run_intermediate_hooks", "assert_alignment"), _nothing),
    **dict.fromkeys(("empty_strided", *(f"_empty_strided_{device}" for device in ("cpu", "cuda", "cpu_pinned",
                                                                                  "xpu", "mtia"))),
                    buffers.empty_strided),
    **dict.fromkeys(("reinterpret_tensor", "_reinterpret_tensor"), buffers.reinterpret_tensor),
    **{one.__name__: one for one in (buffers.assert_size_stride, buffers.assert_size_stride_grouped,
                                     buffers.assert_tensor_metadata, files.rand_strided, files.AsyncCompile,
                                     files.compiled_module_main)},
    "print_performance": files.carry_out,
    "maybe_profile": nullcontext,
    "_align": lambda nbytes: -(-nbytes // 64) * 64,
    "libdevice": libdevice,
    "math": math,
}  # fmt: skip
_NAMES |= {
    name: Unknown(f"torch.{name}", _NAMES)
    for name in ("triton_helpers", "triton_heuristics", "extern_kernels", "_C", "_inductor", "_dynamo")
}
_NAMES["ops"] = Unknown("torch.ops", {**library.TABLE, "_reinterpret_tensor": buffers.reinterpret_tensor})


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return _NAMES.get(name, Unknown(f"torch._inductor: {name}", _NAMES))
