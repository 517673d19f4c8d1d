"""``libdevice``: functions of CUDA's math library that are operations of the table."""

from __future__ import annotations

from typing import Any, NoReturn

from kernbench.language.building import UnknownNameError
from kernbench.support.hints import did_you_mean
from kernbench.triton.calls import called
from kernbench.triton.names import LIBDEVICE
from kernbench.triton.values import INT32

globals().update({name: called(name) for name in LIBDEVICE})


def llrint(x: Any) -> Any:
    """The nearest integer, of halves the even one: ``i32``, as engines have integers; on a GPU ``i64``."""
    return globals()["rint"](x).to(INT32)


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnknownNameError(f"libdevice has no '{name}'; {did_you_mean(name, LIBDEVICE)}")
