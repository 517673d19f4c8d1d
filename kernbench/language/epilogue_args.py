"""Validation of a composite's epilogue list, as kernels write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kernbench.language import arguments
from kernbench.language.arguments import BadArgumentError
from kernbench.language.handles import TensorHandle, TensorRef
from kernbench.operations import EPILOGUES
from kernbench.operations.epilogues import EpilogueOp
from kernbench.support.hints import shown, suggestion
from kernbench.values import epilogues
from kernbench.values.epilogues import BY_NAME, SCOPES

Source = TensorHandle | TensorRef


@dataclass(frozen=True, slots=True)
class EpilogueTarget:
    """The composite that the steps are for: its output of shape (M, N), of a gemm K and the tile's K as well.

    ``tile_k`` is None where the kernel leaves the tile to the hardware.
    """

    shape: tuple[int, ...]
    k: int | None = None
    tile_k: int | None = None

    @property
    def is_gemm(self) -> bool:
        """Whether there are K tiles."""
        return self.k is not None


def parse(
    epilogue: object,
    target: EpilogueTarget,
    source_of: Callable[[str, object], Source],
    use: Callable[[Source, tuple[int, ...]], int],
) -> list[dict[str, Any]]:
    """The steps of ``epilogue``, a sequence of dicts, for the composite ``target``.

    Each as :func:`kernbench.values.epilogues.apply` takes it. ``source_of(argument, tensor)`` is a handle or
    reference, or refuses it; ``use(source, shape)`` makes it an operand of that shape and gives its place.
    """
    if epilogue is None:
        return []
    if isinstance(epilogue, Mapping | str) or not isinstance(epilogue, Sequence):
        raise BadArgumentError("epilogue", f"must be a list of dicts, not {type(epilogue).__name__}")
    return [_step(f"epilogue[{i}]", entry, target, source_of, use) for i, entry in enumerate(epilogue)]


def _step(
    where: str,
    entry: object,
    target: EpilogueTarget,
    source_of: Callable[[str, object], Source],
    use: Callable[[Source, tuple[int, ...]], int],
) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise BadArgumentError(where, f"must be a dict, not {type(entry).__name__}")
    name = entry.get("op")
    rule = epilogues.find(name) if isinstance(name, str) else None
    if rule is None:
        raise BadArgumentError(f"{where}.op", _unknown(name))
    scope = entry.get("scope", "output_tile")
    if scope not in SCOPES:
        raise BadArgumentError(
            f"{where}.scope", f"{shown(scope)} is not known; use one of {', '.join(SCOPES)}"
        )
    if scope == "k_tile" and not target.is_gemm:
        raise BadArgumentError(f"{where}.scope", "'k_tile' needs a gemm; math composites have no K tiles")
    known = {"op", "scope", *rule.value}
    known |= ({"zero_point"} if rule.zero_point else set()) | ({"group"} if rule.groups else set())
    for key in entry:
        if key not in known:
            raise BadArgumentError(f"{where}.{key}", f"is not a field of {rule.name}")
    field, value = _value(where, entry, rule)
    argument = f"{where}.{field}"
    step: dict[str, Any] = {"op": rule.name, "scope": scope, "operand": None, "factor": None}
    if "zero_point" in entry:
        step["zero_point"] = arguments.scalar(f"{where}.zero_point", entry["zero_point"])
    if value is None:
        return step
    group = _group(where, entry, scope, target)
    if rule.scalar and arguments.is_scalar(value):
        if group is not None:
            raise BadArgumentError(f"{where}.group", "needs a tensor with a scale for each group")
        number = arguments.scalar(argument, value)
        step["factor"] = number if rule.name in BY_NAME else float(number)
        return step
    if not rule.operand:
        raise BadArgumentError(argument, f"{shown(value)} is not a number")
    source = source_of(argument, value)
    row, full = target.shape[-1:], target.shape
    if group is not None:
        step["group"] = group
        assert target.k is not None
        full = (-(-target.k // group), *row)
    wanted = [full] if rule.operand == "full" or group is not None else [row]
    if rule.operand == "any" and full != row:
        wanted += [full, *([(full[0], 1)] if full[1] > 1 else [])]
    for shape in wanted:
        # A leading axis of size 1 is a matter of writing: (1, N) is the row (N,), (N,) the matrix (1, N).
        if source.shape in (shape, (1, *shape), shape[1:] if shape[0] == 1 else shape):
            step["operand"] = use(source, shape)
            return step
    raise BadArgumentError(argument, f"shape {source.shape} must be {' or '.join(map(str, wanted))}")


def _unknown(name: object) -> str:
    """The message for an epilogue that is not known."""
    if name in ("clamp", "fma", "where"):
        parts = {"clamp": "maximum and minimum", "fma": "mul and add"}.get(str(name))
        instead = f"use {parts}" if parts else "store the composite and use tl.where on what is loaded"
        return f"{name!r} takes three arguments; {instead}"
    hint = suggestion(str(name), (*EPILOGUES, *BY_NAME)) if isinstance(name, str) else ""
    return f"{name!r} is not known; {hint}use one of {', '.join(EPILOGUES)} or, by name, {', '.join(BY_NAME)}"


def _group(where: str, entry: Mapping[Any, Any], scope: str, target: EpilogueTarget) -> int | None:
    """The number of elements along K that share a row of scales, if the step gives one."""
    group = entry.get("group")
    if group is None:
        return None
    argument = f"{where}.group"
    if scope != "k_tile":
        raise BadArgumentError(argument, f"needs the scope 'k_tile', not {scope!r}: groups lie along K")
    if isinstance(group, bool) or not isinstance(group, int) or group < 1:
        raise BadArgumentError(argument, f"{shown(group)} must be a whole number, 1 or more")
    if target.tile_k is None:
        raise BadArgumentError(argument, "needs tile_shape: a K tile must lie within a group")
    if group % target.tile_k:
        raise BadArgumentError(
            argument, f"{group} must be a multiple of the tile's K, {target.tile_k}: a tile has one scale"
        )
    return group


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
