"""A bench's parameters: declared once, set by ``--set key=value``, environment or Python, and checked."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from kernbench.errors import BenchError, UsageError

ParamType = type[int] | type[float] | type[str] | type[bool]
ParamValue = int | float | str | bool

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_BOOLS = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a bench.

    ``type`` is int, float, str or bool. ``env`` names an environment variable that gives the default when
    it is set. ``choices`` lists the only values allowed, ``minimum`` the least number.
    """

    name: str
    type: ParamType
    default: ParamValue
    help: str
    env: str | None = None
    choices: tuple[ParamValue, ...] | None = None
    minimum: float | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise BenchError(f"parameter name {self.name!r}: use lower case letters, digits and underscores")
        if self.type not in (int, float, str, bool):
            raise BenchError(f"parameter '{self.name}': type {self.type!r}; use int, float, str or bool")
        if not self.help.strip():
            raise BenchError(f"parameter '{self.name}': help is empty; say in a few words what it is")
        try:
            self.accept(self.default)
        except ValueError as error:
            raise BenchError(f"parameter '{self.name}': its default is refused: {error}") from None

    def accept(self, value: object) -> ParamValue:
        """``value``, a text or of the right type, as this parameter's type; else a ``ValueError``."""
        got = self._parse(value) if isinstance(value, str) else self._typed(value)
        if self.choices is not None and got not in self.choices:
            raise ValueError(f"{got!r} is not one of {', '.join(map(str, self.choices))}")
        if self.minimum is not None and not isinstance(got, str) and not got >= self.minimum:
            raise ValueError(f"{got} is below the minimum of {self.minimum:g}")
        return got

    def _parse(self, text: str) -> ParamValue:
        if self.type is str:
            return text
        if self.type is bool:
            try:
                return _BOOLS[text.strip().lower()]
            except KeyError:
                raise ValueError(f"{text!r} is not a bool; use true or false") from None
        try:
            if self.type is float:
                return float(text)
            return int(text, 10 if text.strip(" +-0_").isdecimal() else 0)  # 064 is a number, 0x40 is one too
        except ValueError:
            raise ValueError(
                f"{text!r} is not {'a whole number' if self.type is int else 'a number'}"
            ) from None

    def _typed(self, value: object) -> ParamValue:
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, bool) != (self.type is bool):
            raise ValueError(f"{value!r} is not of type {self.type.__name__}")
        if self.type is float and isinstance(value, int):
            return float(value)
        if isinstance(value, self.type):
            return value
        raise ValueError(f"{value!r} is not of type {self.type.__name__}")


def parse_assignments(items: Iterable[str]) -> dict[str, str]:
    """``["m=64", "dtype=f32"]`` as a dictionary; a text without ``=`` or a key set twice is a UsageError."""
    values: dict[str, str] = {}
    for item in items:
        key, equals, text = item.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UsageError(f"--set {item!r}: write it as name=value")
        if key in values:
            raise UsageError(f"--set {item!r}: '{key}' is set twice")
        values[key] = text.strip()
    return values


def resolve_params(
    bench: str,
    params: Iterable[Param],
    values: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> dict[str, ParamValue]:
    """Every parameter's value: from ``values``, else its environment variable, else its default.

    Errors are :class:`UsageError` and name the parameter, the bench and where the value came from.
    """
    environ = os.environ if environ is None else environ
    declared = {p.name: p for p in params}
    given = dict(values or {})
    for key in given:
        if key not in declared:
            raise UsageError(_unknown(bench, key, declared))
    resolved: dict[str, ParamValue] = {}
    for name, param in declared.items():
        source, value = "", given.get(name, param.default)
        if name not in given and param.env is not None and param.env in environ:
            source, value = f" (from environment variable {param.env})", environ[param.env]
        try:
            resolved[name] = param.accept(value)
        except ValueError as error:
            raise UsageError(f"bench '{bench}', parameter '{name}'{source}: {error}") from None
    return resolved


def _unknown(bench: str, key: str, declared: Mapping[str, Param]) -> str:
    if not declared:
        return f"bench '{bench}' has no parameters, so '{key}' cannot be set"
    close = difflib.get_close_matches(key, declared, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    return f"bench '{bench}' has no parameter '{key}'; {hint}it has {', '.join(declared)}"
