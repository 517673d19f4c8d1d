"""A bench's parameters: declared once, set on the command line, in the environment or Python, and checked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Annotated, Any

import numpy as np
from pydantic import Field, TypeAdapter, ValidationError

from kernbench.errors import BenchError, UsageError
from kernbench.support.hints import suggestion
from kernbench.support.sizes import read_size

ParamType = type[int] | type[float] | type[str] | type[bool]
ParamValue = int | float | str | bool

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NOT_PARSED = {
    int: "{!r} is not a whole number",
    float: "{!r} is not a number",
    bool: "{!r} is not a bool; use true or false",
}


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter of a bench; pydantic parses and validates its values.

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
            raise BenchError(f"parameter '{self.name}' needs a help text")
        try:
            self.accept(self.default)
        except ValueError as error:
            raise BenchError(f"parameter '{self.name}': its default is refused: {error}") from None

    def as_dict(self) -> dict[str, Any]:
        """``name type default help env choices minimum``, as JSON shows it."""
        choices = list(self.choices) if self.choices else None
        return asdict(self) | {"type": self.type.__name__, "choices": choices}

    def accept(self, value: object) -> ParamValue:
        """``value`` as this parameter's type.

        Args:
            value: Text, as on a command line, or a value of the type. Text for a bool may be true, yes, on
                or 1; for an int decimal (``064`` is 64) or with a prefix (``0x40``), and where the name ends
                in ``bytes`` with a unit (``4KiB``).

        Raises:
            ValueError: It is of another type, not among ``choices``, or below ``minimum``.
        """
        value = value.item() if isinstance(value, np.generic) else value
        is_text = isinstance(value, str)
        if is_text and self.type is int:
            nbytes = read_size(str(value)) if self.name.endswith("bytes") else None
            value = _integer(str(value)) if nbytes is None else nbytes
        try:
            # Text is parsed; values from Python must have the type already.
            adapter = _adapter(self.type, self.minimum)  # type: ignore[arg-type]  # classes are hashable
            got: ParamValue = adapter.validate_python(value, strict=not isinstance(value, str))
        except ValidationError as problem:
            if problem.errors()[0]["type"] == "greater_than_equal":
                raise ValueError(f"{value} is below the minimum of {self.minimum:g}") from None
            if problem.errors()[0]["type"] == "finite_number":
                raise ValueError(f"{value} is not a finite number") from None
            unparsed = _NOT_PARSED.get(self.type) if is_text else None
            raise ValueError(
                unparsed.format(value) if unparsed else f"{value!r} is not of type {self.type.__name__}"
            ) from None
        if self.choices is not None and got not in self.choices:
            raise ValueError(f"{got!r} is not one of {', '.join(map(str, self.choices))}")
        return got


@cache
def _adapter(type_: type, minimum: float | None) -> TypeAdapter[Any]:
    """Made once for all parameters alike: that takes longer than parsing a value."""
    finite = False if type_ is float else None
    if type_ is str or (minimum is None and finite is None):
        return TypeAdapter(type_)
    bounded: Any = Annotated[type_, Field(ge=minimum, allow_inf_nan=finite)]
    return TypeAdapter(bounded)


def _integer(text: str) -> int:
    """The integer that ``text`` writes, decimal or with a prefix."""
    try:
        return int(text, 10 if text.strip(" +-0_").isdecimal() else 0)
    except ValueError:
        raise ValueError(_NOT_PARSED[int].format(text)) from None


def described(spec: Any, about: str) -> dict[str, Any]:
    """``name``, the attribute ``about`` and ``params`` of what is registered with parameters, for JSON."""
    params = [param.as_dict() for param in spec.params]
    return {"name": spec.name, about: getattr(spec, about), "params": params}


def resolve_params(
    owner: str,
    params: Iterable[Param],
    values: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    what: str = "bench",
) -> dict[str, ParamValue]:
    """Every parameter's value: from ``values``, else its environment variable, else its default.

    Errors are :class:`UsageError` and name the parameter, ``what`` has it, and where the value came from.
    """
    environ = os.environ if environ is None else environ
    declared = {p.name: p for p in params}
    given = dict(values or {})
    for key in given:
        if key not in declared:
            raise UsageError(_unknown(f"{what} '{owner}'", key, declared))
    resolved: dict[str, ParamValue] = {}
    for name, param in declared.items():
        source, value = "", given.get(name, param.default)
        if name not in given and param.env is not None and param.env in environ:
            source, value = f" (from environment variable {param.env})", environ[param.env]
        try:
            resolved[name] = param.accept(value)
        except ValueError as error:
            raise UsageError(f"{what} '{owner}', parameter '{name}'{source}: {error}") from None
    return resolved


def _unknown(owner: str, key: str, declared: Mapping[str, Param]) -> str:
    if not declared:
        return f"{owner} has no parameters, so '{key}' cannot be set"
    return f"{owner} has no parameter '{key}'; {suggestion(key, declared)}it has {', '.join(declared)}"
