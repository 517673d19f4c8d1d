"""Devices that scripts name, such as ``"cuda"``: the machine of the run, whatever the computer has.

PyTorch's own tensors stay on the host, where their values are worked out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_NAMES = ("cuda", "xpu", "mps", "hpu", "mtia")
_SHARES = (torch.as_tensor, torch.asarray)


def _here(value: Any) -> Any:
    """``value``, or the host where it is the name of an accelerator."""
    if isinstance(value, str):
        return "cpu" if value.partition(":")[0] in _NAMES else value
    if isinstance(value, torch.device):
        return torch.device("cpu") if value.type in _NAMES else value
    return value


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
            return func(*map(_here, args), **{key: _here(named[key]) for key in named})
        moved, given = [_here(one) for one in args], {key: _here(one) for key, one in named.items()}
        before, after = (*args, *named.values()), (*moved, *given.values())
        self._asked = self._asked or any(a is not b for a, b in zip(before, after, strict=True))
        found = func(*moved, **given)
        same = func in _SHARES or (func is torch.Tensor.to and found is args[0])
        placed = self._asked and any(isinstance(one, str | torch.device) for one in after)
        return found.clone() if same and placed else found


def autocast(before: Callable[..., None]) -> Callable[..., None]:
    """``torch.autocast.__init__`` that has accelerators' types of numbers in what the host works out."""

    @wraps(before)
    def init(self: Any, device_type: str, dtype: Any = None, *args: Any, **named: Any) -> None:
        kind = torch.get_autocast_dtype(device_type) if dtype is None else dtype
        before(self, _here(device_type), kind, *args, **named)

    return init
