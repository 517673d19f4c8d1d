"""The language of kernels as a module, for annotations and for kernels that do not take ``tl``.

A call goes to the kernel that is running: ``tl.load(x)`` here is ``tl.load(x)`` of the ``tl`` that a kernel
gets as its argument. Outside of a kernel it is an error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

from greenlet import getcurrent

from kernbench.errors import KernelError
from kernbench.language.building import UnknownNameError
from kernbench.language.thread import KernelGreenlet
from kernbench.language.tl import Language, public_names
from kernbench.language.triton_names import unknown


def _forward(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        kernel = getcurrent()
        if not isinstance(kernel, KernelGreenlet):
            raise KernelError(f"tl.{name} is called outside of a kernel; launch the function that calls it")
        return getattr(kernel.tl, name)(*args, **kwargs)

    return call


for _name in public_names():
    _value = getattr(Language, _name)
    _is_call = callable(_value) and not isinstance(_value, type)
    globals()[_name] = _forward(_name, _value) if _is_call else _value

__all__ = public_names()


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnknownNameError(unknown(name, public_names()))
