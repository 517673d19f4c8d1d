"""The built-in blocks: what a topology file without ``parts`` is made of, under any name.

Each takes today's sections as parameters, over those of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from kernbench.errors import ConfigError
from kernbench.hints import did_you_mean
from kernbench.kinds import COMPONENT_KINDS
from kernbench.pgraph import Node, PropertyGraph
from kernbench.topology import names
from kernbench.topology.build_cube import add_cube
from kernbench.topology.build_pe import add_pe_parts
from kernbench.topology.build_sip import add_io_chiplet, add_sip
from kernbench.topology.build_tray import add_tray
from kernbench.topology.builder import Builder
from kernbench.topology.checks import problems
from kernbench.topology.marked_yaml import Path
from kernbench.topology.problems import Problem, from_pydantic
from kernbench.topology.shapes.rows import Array, Element, Rows, Sort
from kernbench.topology.spec import TopologySpec

if TYPE_CHECKING:
    from kernbench.topology.shapes.elaborate import Elaboration

_PLACED = ("name", "kind", "sip", "cube", "pe", "x_mm", "y_mm")
"""Properties of a part that its row says."""


class Template(NamedTuple):
    """A built-in block."""

    level: str
    sections: tuple[str, ...]
    """Sections that it takes; empty: the keys of its own section."""
    root: str
    """The group that it is, as it is built."""
    above: str
    """The group that it is built in."""
    build: Callable[[Builder], list[str]]
    """Builds it, and gives its ports."""


def _tray(build: Builder) -> list[str]:
    add_tray(build)
    return [names.SWITCH]


def _chiplet(build: Builder) -> list[str]:
    add_cube(build, 0, 0)
    return []


def _io_chiplet(build: Builder) -> list[str]:
    return [add_io_chiplet(build, 0, build.spec.sip.io_chiplets[0].model_copy(update={"name": _IO}))]


def _pe(build: Builder) -> list[str]:
    parts = add_pe_parts(build, 0, 0, 0)
    return [parts["pe_dma"], parts["pe_cpu"], parts["pe_mmu"]]


_IO = "io"
"""Name of the IO chiplet that is built."""
TEMPLATES: Mapping[str, Template] = {
    "tray": Template("", ("system", "sip", "cube", "pe"), "tray", "", _tray),
    "package": Template(
        "package", ("sip", "cube", "pe"), names.sip(0), "tray", lambda build: add_sip(build, 0)
    ),
    "chiplet": Template("chiplet", ("cube", "pe"), names.cube(0, 0), names.sip(0), _chiplet),
    "io_chiplet": Template("", ("sip",), f"{names.sip(0)}.{_IO}", names.sip(0), _io_chiplet),
    "pe": Template("pe", (), names.pe(0, 0, 0), names.cube(0, 0), _pe),
}
"""The built-in blocks by name."""


def template(made: Elaboration, path: Path, name: str, given: Mapping[str, Any]) -> Rows:
    """The built-in block ``name`` with ``given`` over the sections of the file."""
    found = TEMPLATES[name]
    for key in given:
        if found.sections and key not in found.sections:
            hint = did_you_mean(key, found.sections)
            raise made.wrong((*path, key), f"is not a parameter of block '{name}', {hint}")
    spec = _spec(made, path, name, given)
    build = Builder(spec, PropertyGraph({}))
    if found.above:
        build.graph.add_node(Node(found.above, (), {}))
    ports = found.build(build)
    rows = _rows(build.graph, found)
    rows.ports = tuple(_relative(port, found.root) for port in ports)
    if name in ("tray", "package"):
        mesh = spec.sip.cube_mesh
        rows.grids["chiplet"] = Array(("x", "y"), (mesh.w, mesh.h), [])
        rows.size = mesh.w * spec.cube.size_mm.w, mesh.h * spec.cube.size_mm.h
    if name == "tray":
        rows.packages, rows.bare = spec.system.sips, True
        rows.grids["package"] = Array(("x", "y"), spec.sip_grid, [])
    elif name == "package":
        rows.chiplets = spec.cubes_per_sip
    elif name == "chiplet":
        rows.pes, rows.size = spec.cube.pes.count, (spec.cube.size_mm.w, spec.cube.size_mm.h)
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


def _relative(name: str, root: str) -> str:
    """The name of a part within the block that is called ``root``; empty for the block itself."""
    return name.removeprefix(root).removeprefix(".")


def _rows(graph: PropertyGraph, built: Template) -> Rows:
    """The nodes and links that were built, as rows."""
    rows, numbers = Rows(level=built.level), dict[str, int]()
    sorts: dict[tuple[Any, ...], Sort] = {}
    for node in graph.nodes():
        if node.id in (built.above, "tray"):
            continue
        p = node.properties
        own = {key: value for key, value in p.items() if key not in _PLACED}
        key = (p["kind"], *own.items())
        if key not in sorts:
            sorts[key] = Sort(COMPONENT_KINDS[str(p["kind"])], own)
        number = numbers[node.id] = rows.add(
            _relative(node.id, built.root), sorts[key], (float(p["x_mm"]), float(p["y_mm"]))
        )
        if built.level in ("package", ""):
            rows.cube[number] = int(p["cube"])
        if built.level != "pe":
            rows.pe[number] = int(p["pe"])
        if not built.above:
            rows.sip[number] = int(p["sip"])
        if p["kind"] == "hbm_ctrl":
            rows.number[number] = int(p["slice"])
        if not rows.names[number] or node.properties["impl"]:
            rows.arrays.setdefault(rows.names[number], Array((), (), [Element(number, None)]))
    for edge in graph.edges():
        if edge.type == "LINK":
            rows.sources.append(numbers[edge.source])
            rows.targets.append(numbers[edge.target])
            rows.links.append(edge.properties)
        elif edge.source in numbers:
            rows.parent[numbers[edge.target]] = numbers[edge.source]
    return rows
