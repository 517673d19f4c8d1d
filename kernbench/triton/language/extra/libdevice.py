"""``libdevice``: functions of CUDA's math library; those that engines lack are made of several operations."""

from __future__ import annotations

from typing import Any, NoReturn

from kernbench.language.tl import UnknownNameError
from kernbench.support.hints import did_you_mean
from kernbench.triton.calls import called, current
from kernbench.triton.names import MATH

_IMPORTED = frozenset(globals())
globals().update({name: called(name) for name in (*MATH, "pow", "tanh")})
fast_expf, fast_logf, fast_dividef, fast_tanhf = (called(name) for name in ("exp", "log", "fdiv", "tanh"))


def round(x: Any) -> Any:
    """The nearest integer as a float; halves go away from zero."""
    size, whole = _parts(x)
    return _signed(x, whole + (size - whole >= 0.5))


def rint(x: Any) -> Any:
    """The nearest integer as a float; halves go to the even one."""
    size, whole = _parts(x)
    part = size - whole
    return _signed(x, whole + ((part > 0.5) | ((part == 0.5) & (whole % 2 == 1))))


nearbyint = rint


def trunc(x: Any) -> Any:
    """``x`` cut towards zero, as a float."""
    return _signed(x, _parts(x)[1])


def log1p(x: Any) -> Any:
    """``log(1 + x)``, exact for small x too."""
    tl, near = current("log1p"), x + 1.0
    return tl.where(near == 1.0, x, tl.log(near) * x / tl.where(near == 1.0, 1.0, near - 1.0))


def expm1(x: Any) -> Any:
    """``exp(x) - 1``, exact for small x too."""
    tl = current("expm1")
    power = tl.exp(x)
    small = (power == 1.0) | (power == 0.0)
    return tl.where(small, tl.where(power == 0.0, -1.0, x), (power - 1.0) * x / tl.log(power))


def isnan(x: Any) -> Any:
    """Whether elements are not a number."""
    return x != x


def isinf(x: Any) -> Any:
    """Whether elements are infinite."""
    return current("abs").abs(x) == float("inf")


def _parts(x: Any) -> tuple[Any, Any]:
    """The size of ``x``, and its whole part."""
    tl = current("abs")
    size = tl.abs(x)
    return size, tl.floor(size)


def _signed(x: Any, size: Any) -> Any:
    return current("where").where(x < 0.0, -size, size)


def __getattr__(name: str) -> NoReturn:
    if name.startswith("__"):
        raise AttributeError(name)
    known = [one for one in globals() if one not in _IMPORTED and not one.startswith("_")]
    raise UnknownNameError(f"libdevice has no '{name}'; {did_you_mean(name, known)}")
