"""Devices that scripts name, such as ``"cuda"``: the machine of the run, whatever the computer has.

PyTorch's own tensors stay on the host, where their values are worked out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FrameType
from typing import Any

import torch
from torch._dynamo.eval_frame import skip_code
from torch.overrides import TorchFunctionMode

from kernbench.inductor.residents import device
from kernbench.support.user_code import is_users

_NAMES = ("cuda", "xpu", "mps", "hpu", "mtia")
_SHARES = (torch.as_tensor, torch.asarray)
_IS_CUDA = torch.Tensor.is_cuda.__get__
_READS = frozenset(
    getattr(torch.Tensor, name)
    for name in ("numpy", "tolist", "data_ptr", "storage", "untyped_storage", "__array__", "__deepcopy__",
                 "__dlpack__", "__format__", "__reduce_ex__", "__repr__")
)  # fmt: skip
"""What hands out a tensor's values other than by PyTorch's operations."""


def here(value: Any) -> Any:
    """``value``, or the host where it is the name of an accelerator."""
    if isinstance(value, str):
        return "cpu" if value.partition(":")[0] in _NAMES else value
    if isinstance(value, torch.device):
        return torch.device("cpu") if value.type in _NAMES else value
    return value


def of_script(frame: FrameType | None) -> bool:
    """Whether a frame is the script's own, wherever PyTorch is installed."""
    file = "" if frame is None else frame.f_code.co_filename
    return is_users(file) and not file.startswith(torch.__path__[0])


class Accelerators(TorchFunctionMode):  # type: ignore[misc]
    """Meanwhile tensors that a script asks for on an accelerator are made on the host.

    One that it moves is copied, as it would be there, but in compiled code, where it is there already.
    """

    def __init__(self) -> None:
        super().__init__()
        self._asked = False
        """Whether the script named an accelerator: then what it moves to ``"cpu"`` comes from there."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """See PyTorch."""
        named = kwargs or {}
        if func is torch.Tensor.cuda or func is torch.Tensor.cpu:
            args, named = (args[0], "cuda" if func is torch.Tensor.cuda else "cpu"), {}
            func = torch.Tensor.to
        if torch.compiler.is_compiling():  # names would become those of nodes
            there = dict(named)
            for key in named:
                there[key] = here(named[key])
            return func(*map(here, args), **there)
        if func is torch.Tensor.pin_memory:
            return args[0]
        if func == _IS_CUDA and of_script(sys._getframe(1)):
            return True
        if func in _READS:
            device().fetched(args[:1])
        moved, given = [here(one) for one in args], {key: here(one) for key, one in named.items()}
        before, after = (*args, *named.values()), (*moved, *given.values())
        self._asked = self._asked or any(a is not b for a, b in zip(before, after, strict=True))
        found = func(*moved, **given)
        same = func in _SHARES or (func is torch.Tensor.to and found is args[0])
        placed = self._asked and any(isinstance(one, str | torch.device) for one in after)
        return found.clone() if same and placed else found


skip_code(Accelerators.__torch_function__.__code__)  # alone it is not to be compiled, only within models


def autocast(before: Callable[..., None]) -> Callable[..., None]:
    """``torch.autocast.__init__`` that has accelerators' types of numbers in what the host works out."""

    @wraps(before)
    def init(self: Any, device_type: str, dtype: Any = None, *args: Any, **named: Any) -> None:
        kind = torch.get_autocast_dtype(device_type) if dtype is None else dtype
        before(self, here(device_type), kind, *args, **named)

    return init


@contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Meanwhile ``owner`` has ``value`` under a name."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)
