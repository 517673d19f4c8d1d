"""How a kernel function takes its arguments: where ``tl`` goes, and whether the rest fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kernbench.errors import KernelError

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_SUSPENDABLE = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
_RESERVED = object()


def name_of(function: object) -> str:
    """The name that a kernel function goes by in errors and traces."""
    return str(getattr(function, "__name__", None) or type(function).__name__)


class Binding:
    """A kernel function with its place for ``tl`` found.

    The parameter called ``tl`` gets it, wherever it stands; without one the argument after the last given.
    Arguments that do not fit the function are a :class:`KernelError` before anything runs.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function = function
        self.name = name
        if any(is_one(function) for is_one in _SUSPENDABLE):
            raise KernelError(f"kernel '{name}' must be a plain function, without yield and async")
        try:
            self._signature = inspect.signature(function)
        except (TypeError, ValueError):
            raise KernelError(f"kernel '{name}' must be a plain Python function, not {function!r}") from None
        parameters = list(self._signature.parameters.values())
        place = next((i for i, p in enumerate(parameters) if p.name == "tl"), None)
        self._by_keyword = (
            place is not None and parameters[place].kind is not inspect.Parameter.POSITIONAL_ONLY
        )
        self._place = None if place is None or parameters[place].kind not in _POSITIONAL else place

    def check(self, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        """Raise a :class:`KernelError` unless the function can be called so."""
        if "tl" in kwargs:
            raise KernelError(f"kernel '{self.name}': argument 'tl' is passed by the simulator, leave it out")
        positional, named = self._arranged(args, kwargs, _RESERVED)
        try:
            self._signature.bind(*positional, **named)
        except TypeError as problem:
            raise KernelError(f"kernel '{self.name}{self._signature}': {problem}") from None

    def call(self, args: Sequence[object], kwargs: Mapping[str, object], tl: object) -> None:
        """Run the kernel; what it returns is of no use to anyone."""
        positional, named = self._arranged(args, kwargs, tl)
        self.function(*positional, **named)

    def _arranged(
        self, args: Sequence[object], kwargs: Mapping[str, object], tl: object
    ) -> tuple[list[object], dict[str, object]]:
        if self._place is not None and len(args) >= self._place:
            return [*args[: self._place], tl, *args[self._place :]], dict(kwargs)
        if self._by_keyword:
            return list(args), {**kwargs, "tl": tl}
        return [*args, tl], dict(kwargs)
