"""The built-in blocks: what a topology file without ``parts`` is made of, under any name.

Each takes today's sections as parameters, over those of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from kernbench.errors import ConfigError
from kernbench.hardware.topology.checks import problems
from kernbench.hardware.topology.marked_yaml import Path
from kernbench.hardware.topology.problems import Problem, from_pydantic
from kernbench.hardware.topology.shapes.chiplet import chiplet, pe
from kernbench.hardware.topology.shapes.package import io_chiplet, package, tray
from kernbench.hardware.topology.shapes.rows import Array, Element, Rows
from kernbench.hardware.topology.shapes.sections import Sections
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.support.hints import did_you_mean

if TYPE_CHECKING:
    from kernbench.hardware.topology.shapes.elaborate import Elaboration


class Template(NamedTuple):
    """A built-in block."""

    sections: tuple[str, ...]
    """Sections that it takes; empty: the keys of its own section."""
    build: Callable[[Sections], Rows]


TEMPLATES: Mapping[str, Template] = {
    "tray": Template(("system", "sip", "cube", "pe"), tray),
    "package": Template(("sip", "cube", "pe"), package),
    "chiplet": Template(("cube", "pe"), chiplet),
    "io_chiplet": Template(("sip",), io_chiplet),
    "pe": Template((), pe),
}
"""The built-in blocks by name."""


def template(made: Elaboration, path: Path, name: str, given: Mapping[str, Any]) -> Rows:
    """The built-in block ``name`` with ``given`` over the sections of the file."""
    found = TEMPLATES[name]
    for key in given:
        if found.sections and key not in found.sections:
            hint = did_you_mean(key, found.sections)
            raise made.wrong((*path, key), f"is not a parameter of block '{name}', {hint}")
    made.sections |= set(found.sections or ("pe",))
    rows = found.build(Sections(_spec(made, path, name, given)))
    for row, (part, sort) in enumerate(zip(rows.names, rows.sorts, strict=True)):
        if sort.properties["impl"] or not part:
            rows.arrays.setdefault(part, Array((), (), [Element(row, None)]))
    return rows


def _spec(made: Elaboration, path: Path, name: str, given: Mapping[str, Any]) -> TopologySpec:
    """The sections of the file with ``given`` over them."""
    own = {**given} if TEMPLATES[name].sections else {"pe": {**given}}
    merged = _merged(
        made.spec.model_dump(include={"name", "system", "sip", "cube", "pe"}, exclude_unset=True), own
    )

    def wrong(problem: Problem) -> ConfigError:
        inner = problem.path if TEMPLATES[name].sections else problem.path[1:]
        return made.wrong((*path, *inner), problem.message)

    try:
        spec = TopologySpec.model_validate(merged)
    except ValidationError as error:
        raise wrong(from_pydantic(error, TopologySpec)[0]) from None
    for problem in problems(spec, fields=False):
        raise wrong(problem)
    return spec


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """``below`` with the values of ``above`` in place of its own, section by section."""
    found = dict(below)
    for key, value in above.items():
        old = found.get(key)
        found[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return found
