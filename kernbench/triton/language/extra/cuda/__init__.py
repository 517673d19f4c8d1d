"""``triton.language.extra.cuda``: the same functions under the name of CUDA, and hints to its launches."""

from __future__ import annotations

from typing import NoReturn

from kernbench.language.building import UnknownNameError
from kernbench.triton.language.extra import libdevice as libdevice


def gdc_wait() -> None:
    """Without effect: launches follow each other."""


gdc_launch_dependents = gdc_wait


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    raise UnknownNameError(f"tl.extra.cuda.{name} is not here; it has libdevice, tl has the rest")
