"""Validation of a composite's epilogue list, as kernels write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernbench.hints import shown
from kernbench.kernels import arguments
from kernbench.kernels.arguments import BadArgumentError
from kernbench.replay.epilogues import EPILOGUES, SCOPES, EpilogueOp


@dataclass(frozen=True, slots=True)
class EpilogueStep:
    """A validated step: ``tensor`` is its operand as given, ``shape`` the shape it is used in."""

    op: str
    scope: str
    argument: str
    tensor: object | None = None
    shape: tuple[int, ...] = ()
    factor: float | None = None
    zero_point: float | None = None


def parse(
    epilogue: object,
    out_shape: tuple[int, ...],
    is_gemm: bool,
    shape_of: Callable[[str, object], tuple[int, ...]],
) -> list[EpilogueStep]:
    """The steps of ``epilogue``, a sequence of dicts, for an output of ``out_shape`` (M, N).

    ``shape_of(argument, tensor)`` gives the shape of a handle or reference, or refuses it.
    """
    if epilogue is None:
        return []
    if isinstance(epilogue, Mapping | str) or not isinstance(epilogue, Sequence):
        raise BadArgumentError("epilogue", f"must be a list of dicts, not {type(epilogue).__name__}")
    return [_step(f"epilogue[{i}]", entry, out_shape, is_gemm, shape_of) for i, entry in enumerate(epilogue)]


def _step(
    where: str,
    entry: object,
    out_shape: tuple[int, ...],
    is_gemm: bool,
    shape_of: Callable[[str, object], tuple[int, ...]],
) -> EpilogueStep:
    if not isinstance(entry, Mapping):
        raise BadArgumentError(where, f"must be a dict, not {type(entry).__name__}")
    name = entry.get("op")
    rule = EPILOGUES.get(name) if isinstance(name, str) else None
    if rule is None:
        raise BadArgumentError(f"{where}.op", f"{name!r} is not known; use one of {', '.join(EPILOGUES)}")
    scope = entry.get("scope", "output_tile")
    if scope not in SCOPES:
        raise BadArgumentError(
            f"{where}.scope", f"{shown(scope)} is not known; use one of {', '.join(SCOPES)}"
        )
    if scope == "k_tile" and not is_gemm:
        raise BadArgumentError(f"{where}.scope", "'k_tile' needs a gemm; math composites have no K tiles")
    known = {"op", "scope", *rule.value} | ({"zero_point"} if rule.zero_point else set())
    for key in entry:
        if key not in known:
            raise BadArgumentError(f"{where}.{key}", f"is no field of {rule.name}")
    field, value = _value(where, entry, rule)
    argument = f"{where}.{field}"
    zero_point = (
        arguments.scalar(f"{where}.zero_point", entry["zero_point"]) if "zero_point" in entry else None
    )
    if value is None:
        return EpilogueStep(rule.name, scope, argument)
    if rule.scalar and arguments.is_scalar(value):
        factor = float(arguments.scalar(argument, value))
        return EpilogueStep(rule.name, scope, argument, factor=factor, zero_point=zero_point)
    if not rule.operand:
        raise BadArgumentError(argument, f"{shown(value)} is not a number")
    shape = out_shape[-1:] if rule.operand == "row" else out_shape
    given = shape_of(argument, value)
    # A leading axis of size 1 is a matter of writing: (1, N) is the row (N,), (N,) the matrix (1, N).
    if given != shape and given not in ((1, *shape), shape[1:] if shape[0] == 1 else shape):
        raise BadArgumentError(argument, f"shape {given} must be {shape}")
    return EpilogueStep(rule.name, scope, argument, value, shape, zero_point=zero_point)


def _value(where: str, entry: Mapping[Any, Any], rule: EpilogueOp) -> tuple[str, object]:
    """The name and content of the field that holds the operand or the factor."""
    if not rule.value:
        return "op", None
    given = [field for field in rule.value if entry.get(field) is not None]
    if not given:
        raise BadArgumentError(f"{where}.{rule.value[0]}", f"is missing; {rule.name} needs it")
    if len(given) > 1:
        raise BadArgumentError(f"{where}.{given[1]}", f"repeats '{given[0]}'; give one of them")
    return given[0], entry[given[0]]
