"""How a kernel function takes its arguments: where ``tl`` goes, and whether the rest fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from kernbench.errors import KernelError
from kernbench.language.scratch import Cycles
from kernbench.support.hints import did_you_mean
from kernbench.support.user_code import is_ours

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_SUSPENDABLE = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
_RESERVED = object()
_OF_TRITON = {
    "num_warps": "a PE has no warps; leave it out",
    "num_stages": "composites pipeline their tiles by themselves; leave it out",
    "num_ctas": "the tensors' placement says how many PEs run; leave it out, and place with DPPolicy",
    "grid": "the tensors' placement says which PEs run; leave it out, and place with DPPolicy",
}
"""Arguments of launches in Triton, and how the same is done here."""


def name_of(function: object) -> str:
    """The name that a kernel function goes by in errors and traces."""
    return str(getattr(function, "__name__", None) or type(function).__name__)


def argument_names(function: Callable[..., Any], count: int) -> list[str]:
    """What a kernel calls its first ``count`` arguments, ``tl`` aside; ``arg2`` where it does not say."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []  # the launch says what is wrong with it
    names = [one.name for one in parameters if one.kind in _POSITIONAL and one.name != "tl"]
    return [*names[:count], *(f"arg{i}" for i in range(len(names), count))]


class Binding:
    """A kernel function and the position of its ``tl`` parameter.

    Only the parameter called ``tl`` gets it, wherever it stands; a kernel without one takes it from
    :mod:`kernbench.tl`. No other argument is ever the language: one that the caller forgot is an error.
    Arguments that do not fit the function are a :class:`KernelError` before anything runs.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function = function
        self.name = name
        self.cycles = Cycles()
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
        self._index = None if place is None or parameters[place].kind not in _POSITIONAL else place

    def check(self, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        """Raise a :class:`KernelError` unless the function can be called so."""
        if "tl" in kwargs:
            raise KernelError(f"kernel '{self.name}': argument 'tl' is passed by the simulator, leave it out")
        for key in kwargs:
            if key in _OF_TRITON and key not in self._signature.parameters:
                raise KernelError(f"kernel '{self.name}': argument '{key}': {_OF_TRITON[key]}")
        positional, named = self._arrange(args, kwargs, _RESERVED)
        try:
            self._signature.bind(*positional, **named)
        except TypeError as error:
            problem = str(error)
            names = [name for name in self._signature.parameters if name != "tl"]
            strange = next((key for key in kwargs if key not in names), "")
            if strange:
                meant = did_you_mean(strange, names)
                problem = f"got an unexpected keyword argument '{strange}'; {meant}"
            elif self._index is None and not self._by_keyword:
                problem += "; the language goes to a parameter called 'tl' and to no other"
            raise KernelError(f"kernel '{self.name}{self._signature}': {problem}") from None

    def has_lines(self, args: Sequence[object], kwargs: Mapping[str, object]) -> bool:
        """Whether a line of the user's own code can be running within the kernel.

        Not where the function is KernBench's, as those of collectives are, and is handed nothing to call.
        """
        function = inspect.unwrap(self.function)
        if not isinstance(function, FunctionType) or function.__closure__:
            return True
        if not is_ours(function.__code__.co_filename):
            return True
        return any(callable(value) for value in (*args, *kwargs.values()))

    def call(self, args: Sequence[object], kwargs: Mapping[str, object], tl: object) -> None:
        """Run the kernel; its return value is ignored."""
        positional, named = self._arrange(args, kwargs, tl)
        self.function(*positional, **named)

    def _arrange(
        self, args: Sequence[object], kwargs: Mapping[str, object], tl: object
    ) -> tuple[list[object], dict[str, object]]:
        if self._index is not None and len(args) >= self._index:
            return [*args[: self._index], tl, *args[self._index :]], dict(kwargs)
        if self._by_keyword:
            return list(args), {**kwargs, "tl": tl}
        return list(args), dict(kwargs)
