"""Topologies: compiling a file, counting its parts, the route between two of them."""

from __future__ import annotations

import json
import os
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kernbench.analysis.configuration import changed
from kernbench.errors import ConfigError, UsageError
from kernbench.hardware.kinds import Traffic
from kernbench.support.pgraph import PropertyGraph, flat

if TYPE_CHECKING:
    from kernbench.hardware.topology import TopologySpec
    from kernbench.hardware.topology.builder import Topology as Made

Topology: TypeAlias = "str | os.PathLike[str] | PropertyGraph | Made | None"
"""A topology, compiled or made in Python, a file, the name of a shipped one, or None for the default one."""

Components = Mapping[str, str] | str | os.PathLike[str] | None
"""Classes (``module:Class`` or ``file.py:Class``) by ``impl`` name, or a file of them."""

TRAFFIC = tuple(traffic.value for traffic in Traffic)
"""Kinds of traffic that a route may carry; see :class:`kernbench.hardware.kinds.Traffic`."""


def load_topology(
    file: Topology = None,
    overrides: Mapping[str, object] | None = None,
    components: Components = None,
) -> PropertyGraph:
    """Read, check and compile a topology file into the graph that the simulator runs on.

    Args:
        file: A path or the name of a topology that comes with the package; None is the default one. What is
            made in Python or compiled already is taken as well.
        overrides: Values by dotted key in place of the file's, such as ``{"cube.hbm.switch_penalty_ns": 4}``.
        components: Classes for ``impl`` names, or a file of them, beside those of the file's
            ``components_file``.

    Raises:
        ConfigError: A line for each mistake, naming file, line, key and what was expected.
    """
    return described_machine(file, overrides, components)[0]


def described_machine(
    topology: Topology, topo: Mapping[str, object] | None = None, components: Components = None
) -> tuple[PropertyGraph, dict[str, str]]:
    """The compiled graph of ``topology`` with the keys ``topo`` changed, and its own component classes.

    ``ConfigError`` as from :func:`load_topology`.
    """
    if isinstance(topology, PropertyGraph) and not topo:
        from kernbench.engine.components.registry import own_classes

        return topology, own_classes(topology, _classes(components, None))
    spec, classes, changes = _check(topology, topo, components)
    return _compile(spec, classes, changes), classes


_KEPT = 2
"""Compiled topologies that a process keeps for further runs."""
_kept: OrderedDict[str, PropertyGraph] = OrderedDict()


def kept_machine(
    topology: Topology, topo: Mapping[str, object] | None = None, components: Components = None
) -> tuple[PropertyGraph, dict[str, str]]:
    """As :func:`described_machine`, but what was compiled of late is the same graph again.

    So a further run finds its routes and its wired machine (:mod:`kernbench.engine.machine.kept`). The graph
    must not be changed, and no user gets it.
    """
    from kernbench.engine.machine.kept import SEALED

    if isinstance(topology, PropertyGraph) and not topo:
        return described_machine(topology, topo, components)
    spec, classes, changes = _check(topology, topo, components)
    key = json.dumps([spec.canonical(), spec.name, classes, changes], default=repr)
    graph = _kept.pop(key, None)
    if graph is None:
        graph = _compile(spec, classes, changes)
        graph.worked_out[SEALED] = True
    _kept[key] = graph
    while len(_kept) > _KEPT:
        _kept.popitem(last=False)
    return graph, classes


@dataclass(frozen=True, slots=True)
class MachineText:
    """A checked topology as text, complete in itself: it can be compiled where its file is not."""

    spec: str
    name: str
    classes: Mapping[str, str]
    changes: Mapping[str, object]

    @classmethod
    def of(
        cls, topology: Topology, topo: Mapping[str, object] | None = None, components: Components = None
    ) -> MachineText:
        """That of what :func:`described_machine` would compile. ``ConfigError`` as from there."""
        spec, classes, changes = _check(topology, topo, components)
        return cls(spec.canonical(), spec.name, classes, changes)

    def compiled(self) -> PropertyGraph:
        """The same graph as that of :func:`described_machine`."""
        from kernbench.hardware.topology import parse

        return _compile(parse(self.spec, f"topology '{self.name}'"), self.classes, self.changes)


def _check(
    topology: Topology, topo: Mapping[str, object] | None, components: Components
) -> tuple[TopologySpec, dict[str, str], dict[str, object]]:
    """The checked topology, its component classes, and the keys by which it differs from its file."""
    from kernbench.engine.components.registry import classes_of, own_classes, problems
    from kernbench.hardware.topology import find, load, parse
    from kernbench.hardware.topology.builder import Topology as Made
    from kernbench.hardware.topology.problems import Problem
    from kernbench.hardware.topology.shapes.idle import unused_wires

    if isinstance(topology, PropertyGraph):
        name = f"topology '{topology.properties['name']}'"
        spec = parse(str(topology.properties["spec"]), name, topo)
        classes = own_classes(topology, _classes(components, None))
        return spec, classes, {**changes_of(topology), **(topo or {})}
    given = rest = dict(topo or {})
    folder: Path | None = None
    if not isinstance(topology, Made) and os.fspath(topology or "").endswith(".py"):
        folder = Path(str(topology)).parent
        topology, rest = _made_in(str(topology), given)
    elif not isinstance(topology, Made):
        folder = find(topology).parent
    extra = _classes(components, folder)

    def also(spec: TopologySpec) -> Iterable[Problem]:
        return [*problems(spec, extra), *unused_wires(spec)]

    spec = topology.checked(rest, also, folder) if isinstance(topology, Made) else load(topology, given, also)
    return spec, classes_of(spec, extra), given


def _made_in(file: str, topo: Mapping[str, object]) -> tuple[Made, dict[str, object]]:
    """The machine that ``topology`` of a Python file makes, and the keys of ``topo`` that are left.

    Keys that are parameters of the function are passed to it; the others change the topology that it returns.
    """
    import sys
    from functools import partial
    from inspect import signature

    from kernbench.hardware.topology.builder import Topology as Made
    from kernbench.hardware.topology.marked_yaml import load_value
    from kernbench.support.user_code import raised, raised_at
    from kernbench.support.user_greenlets import run_user
    from kernbench.support.user_modules import load_file

    make = getattr(sys.modules[load_file(file, "topology")], "topology", None)
    given: dict[str, object] = {}
    if callable(make):
        known = signature(make).parameters
        given = {key: load_value(v) if isinstance(v, str) else v for key, v in topo.items() if key in known}
        try:
            make = run_user(partial(make, **given))
        except (ConfigError, KeyboardInterrupt):
            raise
        except BaseException as error:
            at = raised_at(error) or file
            raise UsageError(f"topology file '{file}': topology() {raised(error)} ({at})") from error
    if not isinstance(make, Made):
        raise UsageError(
            f"topology file '{file}': has no machine, expected 'topology', a kb.Topology or a function that "
            "returns one"
        )
    return make, {key: value for key, value in topo.items() if key not in given}


def _compile(spec: TopologySpec, classes: Mapping[str, str], changes: Mapping[str, object]) -> PropertyGraph:
    from kernbench.hardware.topology import compile_topology
    from kernbench.hardware.topology.zero_paths import refuse_zero_paths

    graph = compile_topology(spec)
    refuse_zero_paths(spec, graph)
    if classes:
        graph.notes["components"] = json.dumps(classes, sort_keys=True)
    mark_changes(graph, changes)
    return graph


def mark_changes(graph: PropertyGraph, changes: Mapping[str, object]) -> None:
    """Note on a machine the keys by which it differs from its topology file, beside those noted already."""
    if changes:
        texts = {key: str(value) for key, value in changes.items()}
        graph.notes["changes"] = json.dumps({**texts, **changes_of(graph)})


def changes_of(graph: PropertyGraph) -> dict[str, str]:
    """The keys by which a machine differs from its topology file, as they were given: value by dotted key."""
    changes: dict[str, str] = json.loads(graph.notes.get("changes", "{}"))
    return changes


def _classes(components: Components, beside: Path | None) -> Mapping[str, str] | None:
    """The ``impl`` names and classes that ``components`` stands for.

    A file that is not found from the working directory is sought in the folder ``beside``.
    """
    if components is None or isinstance(components, Mapping):
        return components
    from kernbench.hardware.topology.component_file import read_components

    file = Path(components).expanduser()
    if beside is not None and not file.exists() and (beside / file).exists():
        file = beside / file
    return read_components(file)


def topology_schema() -> dict[str, Any]:
    """The JSON Schema of topology files."""
    from kernbench.hardware.topology.spec import schema

    return schema()


def topology_kinds() -> list[dict[str, str]]:
    """The kinds of parts and of wires that a topology of parts may name: rows ``what kind means keys``.

    ``means`` says what follows from the kind, ``keys`` what a part of it takes beside ``overhead_ns``,
    ``impl`` and ``attributes``.
    """
    from kernbench.hardware.kinds import COMPONENT_KINDS, LINK_KINDS, Form, Passage

    passes = {Passage.FLITS: "passes flits on", Passage.MESSAGES: "passes whole messages on"}
    found = []
    for kind in COMPONENT_KINDS.values():
        if kind.form is Form.WIRED:
            means = [
                f"memory: {kind.memory}" if kind.memory else "",
                passes.get(kind.passage, "") + (f" to a {kind.entrance_to}" if kind.entrance_to else ""),
                f"sends as {kind.sends}" if kind.sends else "",
                "commands others" if kind.commands else "",
                "translates addresses" if kind.lookup else "",
                "part of a PE" if kind.section[:1] == ("pe",) else "",
            ]
            keys = " ".join((*kind.properties, *kind.switches))
            found.append({"what": "part", "kind": kind.kind, "means": _joined(means), "keys": keys})
    for wire in LINK_KINDS.values():
        always = wire.barred_within & wire.barred_across
        bars = {"": always, " within a chiplet": wire.barred_within, " between chiplets": wire.barred_across}
        means = [wire.title, "joins two dies" if wire.seam else ""]
        for where, barred in bars.items():
            if traffic := sorted(barred - always if where else barred):
                means.append(f"no {' or '.join(traffic)}{where}")
        found.append({"what": "wire", "kind": wire.kind, "means": _joined(means), "keys": ""})
    return [*found, {"what": "wire", "kind": "any other name", "means": "a plain wire", "keys": ""}]


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(text.strip() for text in texts if text)


def check_routes(topology: Topology = None) -> None:
    """See that the routes of a topology cannot deadlock where the buffers of its links are finite.

    Runs do not ask for it: one that comes to a deadlock says where.

    Raises:
        ConfigError: They can, with a cycle of links that wait for each other; or a dateline is not needed.
    """
    from kernbench.hardware.routing.channel_cycles import refuse_cycles

    refuse_cycles(load_topology(topology))


def topology_warnings(graph: PropertyGraph) -> list[str]:
    """What cannot go on though the topology is valid: a sentence for each kind of reason."""
    from kernbench.hardware.topology.harvest import consequences
    from kernbench.hardware.topology.reach import lacking, unreached

    return [*unreached(graph), *lacking(graph), *consequences(graph)]


def topology_counts(graph: PropertyGraph) -> dict[str, dict[str, int]]:
    """How many components and links there are of each kind, and links of each wire, most frequent first."""
    components = Counter(str(node.properties["kind"]) for node in graph.nodes() if node.properties["impl"])
    links = Counter(str(edge.properties["kind"]) for edge in graph.edges("LINK"))
    wires = Counter(
        str(edge.properties["wire"]) for edge in graph.edges("LINK") if edge.properties.get("wire")
    )
    found = {"components": dict(components.most_common()), "links": dict(links.most_common())}
    return found | ({"wires": dict(wires.most_common())} if wires else {})


def topology_differences(old: PropertyGraph, new: PropertyGraph) -> list[dict[str, Any]]:
    """In what two machines differ: rows ``what key before after``; what one of them has not is None.

    ``what`` is ``topology``, with keys of the file after its defaults, or ``components`` or ``links``, with
    how many of a kind there are.
    """
    both = []
    for graph in (old, new):
        found = {
            ("topology", key): value for key, value in flat(json.loads(str(graph.properties["spec"]))).items()
        }
        for what, counts in topology_counts(graph).items():
            found |= {(what, kind): count for kind, count in counts.items()}
        both.append(found)
    return changed(*both)


def topology_area(graph: PropertyGraph) -> dict[str, float]:
    """mm2 of all parts of each kind whose area is known, largest first: see ``configs/energy.yaml``.

    Kinds without a figure are left out, so the sum is less than the machine's area.
    """
    from kernbench.hardware.topology.energy import area_mm2, figures_of

    figures = figures_of(str(graph.properties["spec"]))
    found: dict[str, list[float]] = {}
    for node in graph.nodes():
        area = area_mm2(str(node.properties["kind"]), node.properties, figures)
        if area is not None:
            found.setdefault(str(node.properties["kind"]), []).append(area)
    sums = {kind: fsum(areas) for kind, areas in found.items()}
    return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))


def topology_overrides(graph: PropertyGraph) -> list[dict[str, Any]]:
    """The parts that are faster or slower than their kind, in the order of the topology file.

    Each has ``where``, ``speed`` (a number or ``"free"``), and how many ``components`` and ``links`` it is.
    """
    from kernbench.hardware.topology.overrides import matching

    found = []
    for override in json.loads(str(graph.properties["spec"])).get("overrides", []):
        parts = matching(graph, override["where"])
        components = sum(part in graph for part in parts)
        found.append(
            {
                "where": override["where"],
                "speed": "free" if override["free"] else override["speed"],
                "components": components,
                "links": len(parts) - components,
            }
        )
    return found


def route(graph: PropertyGraph, src: str, dst: str, traffic: str | None = None) -> dict[str, Any]:
    """The route from ``src`` to ``dst`` that the simulator takes.

    Args:
        graph: A compiled topology.
        src: Name of the component that sends.
        dst: Name of the component that it sends to.
        traffic: One of :data:`TRAFFIC`; by default what ``src`` sends: a PE's DMA ``PE_DMA``, a management
            CPU ``MCPU_DMA``, the host ``HOST_MEMORY``, all others ``COMMAND``.

    Returns:
        ``src dst traffic weight hops``; each hop has ``node`` and the link that leads to it: ``link
        link_kind wire bw_gbs distance_mm weight`` (None for the first). A weight is mm in
        packages of cubes, and what the wire says, 1 by default, in a machine of ``parts``.

    Raises:
        RoutingError: No such component exists, or no route leads to it.
    """
    from kernbench.analysis.routes.routing import resolve_component, traffic_of
    from kernbench.hardware.routing import router_of

    start, end = resolve_component(graph, src), resolve_component(graph, dst)
    kind = traffic or traffic_of(graph, start).value
    if kind not in TRAFFIC:
        raise UsageError(f"traffic '{kind}' does not exist; use one of {', '.join(TRAFFIC)}")
    found = router_of(graph).route(start, end, Traffic(kind))
    of_link = ("link", "link_kind", "wire", "bw_gbs", "distance_mm", "weight")
    hops: list[dict[str, Any]] = [{"node": start, **dict.fromkeys(of_link)}]
    for link in found.links:
        p = link.properties
        figures = (
            link.id,
            p["kind"],
            p.get("wire") or None,
            p["bw_gbs"],
            p["distance_mm"],
            p["routing_weight"],
        )
        hops.append({"node": link.target, **dict(zip(of_link, figures, strict=True))})
    return {"src": start, "dst": end, "traffic": kind, "weight": found.weight, "hops": hops}
