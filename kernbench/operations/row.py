"""A row of the table of operations, and how its results are checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from kernbench.support.bounded import Bounded

Array = np.ndarray[Any, Any]
REQUIRED = "required"
"""An axis that calls must name."""


@dataclass(frozen=True, slots=True)
class Check:
    """How ``--verify-ops`` computes an operation again, from its inputs in f64 (integers in i64).

    ``exact``: nothing is rounded but to the type of the result; ``floats``: of floats alone. ``smooth``:
    rounded on its way, where numbers of magnitude ``size`` come up if that is larger than the result.
    ``sums``: arithmetic of :class:`~kernbench.support.bounded.Bounded`. ``along``: of an array along an axis.
    ``smooth`` and ``sums`` say nothing of integers.
    """

    kind: Literal["exact", "floats", "smooth", "sums", "along"]
    function: Callable[..., Any]
    size: float | None = None

    def of(self, given: list[Array], axis: int | None, integers: bool) -> Bounded | None:
        """The result with a bound; None where there is none."""
        if self.kind == "exact":
            return Bounded(self.function(*given))
        if self.kind == "along":
            found: Bounded | None = self.function(given[0], axis, integers)
            return found
        if integers:
            return None
        if self.kind == "floats":
            return Bounded(self.function(*given))
        return self.after(Bounded(given[0]), given[1] if len(given) > 1 else None, self.size)

    def after(self, x: Bounded, value: Any, size: Any = None) -> Bounded | None:
        """The result where ``x``, and ``value`` of two, were rounded before; None of exact ones."""
        if self.kind == "smooth" and value is None:
            return x.mapped(self.function, size)
        made: Bounded | None = self.function(x, Bounded(value)) if self.kind == "sums" else None
        return made


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of PE_MATH: the only place where it is named.

    Its ``function`` gets arrays of one compute type, f32 or (for integers) i64, and broadcasts as numpy does.
    The larger and the smaller of a number and NaN is the number, as in Triton.
    """

    name: str
    meaning: str
    """Docstring of the call."""
    function: Callable[..., Any]
    arguments: tuple[str, ...] = ("x",)
    """In ``kernbench.tl``; in Triton's language ``x``, ``y``, ``z``. Each is a block or a number."""
    kind: Literal["elementwise", "cast", "reduce", "rowwise", "move"] = "elementwise"
    """``elementwise`` broadcasts its arguments, ``reduce`` shrinks one axis (None: all) to size 1,
    ``rowwise`` needs a whole axis; the function of these takes an axis. ``cast`` and ``move`` give elements
    another type or place."""
    axis: int | str | None = None
    """Default axis of the call."""
    float_only: bool = False
    """Integers become f32 first."""
    integer_only: bool = False
    result: Literal["", "mask", "index"] = ""
    """The type of the result where it does not follow from the arguments: i1, i32."""
    logical: bool = False
    """Gives a mask of masks, with booleans in place of bits; all others take masks as numbers."""
    wide: tuple[str, ...] = ()
    """Of one that adds up or multiplies: the short types whose results are f32 or i32."""
    divides: bool = False
    """A division: of integers by 0 an error, unless they become f32."""
    block_first: bool = False
    """The first argument must be a block; of ``where`` its type does not count."""
    chooses: bool = False
    check: Check | None = None
    running: bool = False
    """Of a rowwise one: along the axis each element with all before it."""
    index: str = ""
    """The operation that finds where the result of a reduction is."""
    nan: str = ""
    """The operation of ``propagate_nan=``."""
    engine: str = field(default="")
    """Under which name PE_MATH carries it out, where that is another one's."""
    tl: bool = True
    """Whether it is a call of ``kernbench.tl``."""
    triton: tuple[str, ...] = ()
    """Names in ``triton.language``; with ``math`` also in ``tl.math`` and libdevice."""
    math: bool = False
    libdevice: tuple[str, ...] = ()
    """Names in libdevice alone."""
    operators: tuple[str, ...] | None = None
    """Calls of Triton's language that its operators make; None: its own name."""
    ignored: tuple[str, ...] = ()
    """Arguments of Triton's call without effect."""

    def __post_init__(self) -> None:
        if not self.engine:
            object.__setattr__(self, "engine", self.name)

    @property
    def in_triton(self) -> tuple[str, ...]:
        """All names of calls in Triton's language, public or not."""
        own = (self.name,) if self.operators is None else self.operators
        return (*own, *self.triton, *self.libdevice)

    @property
    def arity(self) -> int:
        """How many arguments it takes, blocks and numbers alike."""
        return len(self.arguments)
