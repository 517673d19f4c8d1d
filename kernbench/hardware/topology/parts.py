"""A machine described part by part in Python: for shapes that a program works out."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import yaml

from kernbench.errors import ConfigError, UsageError
from kernbench.hardware.kinds import LINK_KINDS, TRANSLATORS, ComponentKind, Form, component_kind
from kernbench.hardware.topology.cube_spec import MAX_PES
from kernbench.hardware.topology.fields import LinkPart, out_of_range
from kernbench.hardware.topology.harvest import number_anew, without
from kernbench.hardware.topology.link_parts import add_buffers, keep
from kernbench.hardware.topology.loader import load
from kernbench.hardware.topology.names import Said, parse
from kernbench.hardware.topology.nodes import HOST_CPU, TRAY, Location, add_channels, common, link_id, put
from kernbench.hardware.topology.overrides import inside
from kernbench.hardware.topology.part_keys import PartKeys, Wrong, by_name, check_part
from kernbench.hardware.topology.shapes.emit import add_described, compile_described, general_properties
from kernbench.hardware.topology.spec import MAX_CUBES, MAX_SIPS, TopologySpec
from kernbench.hardware.topology.zero_paths import refuse_zero_paths, zero_paths
from kernbench.support import collector
from kernbench.support.hints import did_you_mean, shown
from kernbench.support.pgraph import Edge, Node, Properties, PropertyGraph, topology_id

_FIGURES = {"gbs": "bw_gbs", "mm": "distance_mm", "delay_ns": "delay_ns", "weight_mm": "routing_weight"}
"""Properties of a link by the names that :meth:`Topology.change` has for them."""
_LEVELS = (("sip", MAX_SIPS), ("cube", MAX_CUBES), ("pe", MAX_PES))


class Topology:
    """A machine to which parts and wires are added one by one; :meth:`compile` gives what runs.

    A part's name says what it is and where, as everywhere: ``sip0.cube0.r0c1`` is a router,
    ``sip0.cube0.m_cpu`` an M_CPU, ``sip0.cube0.sram`` an SRAM. The packages, cubes and PEs that names mention
    need not be added. Routes are the shortest by weight, so wires and their weights say how messages go.

    Args:
        name: name of the machine, as in a topology file.
        flit_bytes: bytes of a flit, a power of two.
        ns_per_mm: propagation delay of wires whose delay is not given.
        address_model: ``va``, ``pa`` or ``la``; says which translator its PEs have.

    Raises:
        ConfigError: an argument that a topology file would not take.
    """

    def __init__(
        self, name: str, *, flit_bytes: int = 256, ns_per_mm: float = 0.01, address_model: str = "va"
    ) -> None:
        system = {"flit_bytes": flit_bytes, "ns_per_mm": ns_per_mm, "address_model": address_model}
        said = {"name": name, "system": system, "built": {"on": "nothing"}}
        self._begin(check_part(f"topology {shown(name)}", TopologySpec, said))

    def _begin(self, spec: TopologySpec) -> None:
        self._spec, self._keys = spec, PartKeys(spec)
        self._steps: list[dict[str, Any]] = []
        """All that was done to it, as a topology file's ``built`` has it."""
        self._links: dict[str, dict[str, object]] = {}
        """What is said of links, by kind or link."""
        self._fresh = spec.built.on == "nothing"
        """Whether it began without parts."""
        self._graph = PropertyGraph(general_properties(spec))
        if not self._fresh:
            self._graph = compile_described(spec)
            self._links = spec.link_parts()
            refuse_zero_paths(spec, self._graph)

    @classmethod
    def from_spec(cls, spec: TopologySpec) -> Topology:
        """The machine of a specification, with the steps of its ``built`` carried out.

        Raises:
            ConfigError: as from :func:`kernbench.load_topology`.
            UsageError: a step that cannot be carried out.
        """
        made = cls.__new__(cls)
        made._begin(spec.model_copy(update={"built": spec.built.model_copy(update={"steps": ()})}))
        for number, step in enumerate(spec.built.steps):
            try:
                made._carry_out(**step)
            except (TypeError, ValueError):
                where = f"topology '{spec.name}': built.steps.{number}"
                raise ConfigError(
                    f"{where}: is {shown(step)}, expected a step as kb.Topology.to_yaml writes it"
                ) from None
        return made

    def _carry_out(self, do: str, what: Any, **keys: Any) -> None:
        if do not in ("add", "link", "set_links", "change", "remove"):
            raise ValueError(do)
        getattr(self, do)(*([what] if isinstance(what, str) else what), **keys)

    @classmethod
    def from_yaml(
        cls, file: str | os.PathLike[str] | None = None, overrides: Mapping[str, object] | None = None
    ) -> Topology:
        """The machine of a topology file, to which parts can be added.

        ``file`` is a path or the name of a shipped topology, None the default one; ``overrides`` are values
        by dotted key. ``ConfigError`` as from :func:`kernbench.load_topology`.
        """
        return cls.from_spec(load(None if file is None else os.fspath(file), overrides))

    @property
    def spec(self) -> TopologySpec:
        """The machine as a topology file has it; of one that no keys describe, all steps that made it."""
        if not self._steps and not self._fresh:
            return self._spec
        built = self._spec.built.model_copy(update={"steps": tuple(self._steps)})
        return self._spec.model_copy(update={"built": built})

    def to_yaml(self) -> str:
        """The text of a topology file of this machine, which compiles to the same graph."""
        return yaml.safe_dump(json.loads(self.spec.canonical()), sort_keys=False)

    @property
    def name(self) -> str:
        """Name of the machine."""
        return str(self._graph.properties["name"])

    def add(self, part: str, *, impl: str = "", x_mm: float = 0.0, y_mm: float = 0.0, **keys: object) -> str:
        """Add a part, or a package, cube or PE; returns its name.

        Args:
            part: its name, which says its kind.
            impl: an implementation in place of the built-in one.
            x_mm: distance east of its package's north-west corner, mm; ``y_mm`` south of it.
            keys: properties of its kind as the graph has them (docs/reference/schema.md), such as
                ``overhead_ns``. Those left out are the default machine's; of an HBM slice ``n_channels``
                and ``slice_bytes`` must be given.

        Raises:
            UsageError: no such kind, a part that is there already, or one that no machine has room for.
            ConfigError: a key that its kind does not have, or a value that does not fit.
        """
        where = f"topology '{self.name}', part '{part}'"
        try:
            kind, said = parse(part)
        except UsageError as error:
            raise UsageError(f"topology '{self.name}': {error}") from None
        for level, most in _LEVELS:
            if said.get(level, -1) >= most:
                raise UsageError(f"{where}: expected a {level} from 0 to {most - 1}")
        if kind.form is Form.PART:
            raise UsageError(f"{where}: is a part of its HBM slice; give that n_channels")
        if kind.kind in TRANSLATORS.values() and kind.kind != TRANSLATORS[self._keys.model]:
            raise UsageError(f"{where}: with address_model {self._keys.model} a PE has no {kind.kind}")
        x, y = (_number(f"{where}: {key}", mm, signed=True) for key, mm in (("x_mm", x_mm), ("y_mm", y_mm)))
        parent, at = _place(kind, said, part)
        if part in self._graph:
            raise UsageError(f"{where}: is there already; give each part once")
        if kind.form is Form.GROUP:
            if impl or keys:
                raise ConfigError(f"{where}: takes x_mm and y_mm alone, not {', '.join(keys) or 'impl'}")
            own = common(part, kind.kind, "", at, x, y, 0.0)
        else:
            given = {**keys, "impl": impl} if impl else keys
            own = self._keys.of_kind(kind, given, _wrong_key(where), by_name(kind, said))
            implemented, overhead = str(own.pop("impl")), float(own.pop("overhead_ns"))
            own = {**common(part, kind.kind, implemented, at, x, y, overhead), **own}
        self._parents(parent)
        self._steps.append({"do": "add", "what": part, **_given(impl=impl, x_mm=x_mm, y_mm=y_mm), **keys})
        put(self._graph, Node(part, kind.labels, own), parent)
        return part

    def link(
        self,
        a: str,
        b: str,
        kind: str,
        *,
        gbs: float,
        mm: float = 0.0,
        delay_ns: float | None = None,
        weight_mm: float | None = None,
        back_weight_mm: float | None = None,
        one_way: bool = False,
    ) -> None:
        """Wire two parts: a wire each way, or with ``one_way`` only the one from ``a`` to ``b``.

        Answers go back the way that requests came. Where a wire of it is one-way they take the shortest route
        of their own.

        Args:
            a: the part at one end.
            b: the part at the other.
            kind: of link, such as ``router_mesh``: says which traffic may use it.
            gbs: bandwidth of each wire, GB/s.
            mm: length.
            delay_ns: time of flight; that of its length when left out.
            weight_mm: what it counts in the choice of routes; its length when left out.
            back_weight_mm: what the wire from ``b`` to ``a`` counts, where that is something else: with a
                large weight only answers use it.
            one_way: leave the wire from ``b`` to ``a`` out.

        Raises:
            UsageError: no such part or kind, wires that are there already, or a weight of a wire that is left
                out.
            ConfigError: a figure that no wire has.
        """
        where = f"topology '{self.name}', link '{link_id(a, b)}'"
        if kind not in LINK_KINDS:
            raise UsageError(f"{where}: '{kind}' is not a kind of link; {did_you_mean(kind, LINK_KINDS)}")
        for end in (a, b):
            if end not in self._graph:
                raise UsageError(f"{where}: there is no part '{end}'; add it first")
            if not self._graph.node(end).properties["impl"]:
                raise UsageError(
                    f"{where}: '{end}' has no wires; wire a component that is in it or that it is in"
                )
        if a == b:
            raise UsageError(f"{where}: leads to where it begins; wire two parts")
        if one_way and back_weight_mm is not None:
            raise UsageError(f"{where}: a one-way link has no wire back; leave out back_weight_mm")
        for source, target in ((a, b),) if one_way else ((a, b), (b, a)):
            if any(edge.target == target for edge in self._graph.out_edges(source, "LINK")):
                raise UsageError(
                    f"{where}: '{link_id(source, target)}' is there already; give each link once"
                )
        length = _number(f"{where}: mm", mm)
        delay = length * self._keys.spec.system.ns_per_mm if delay_ns is None else delay_ns
        weight = length if weight_mm is None else weight_mm
        given = {"gbs": gbs, "mm": mm, "delay_ns": delay, "weight_mm": weight}
        figures = back = {"kind": kind, **_figures(where, given)}
        if back_weight_mm is not None:
            back = {**figures, "routing_weight": _number(f"{where}: back_weight_mm", back_weight_mm)}
        self._graph.add_edge(Edge(link_id(a, b), a, b, "LINK", figures))
        if not one_way:
            self._graph.add_edge(Edge(link_id(b, a), b, a, "LINK", back))
        said = _given(
            mm=mm, delay_ns=delay_ns, weight_mm=weight_mm, back_weight_mm=back_weight_mm, one_way=one_way
        )
        self._steps.append({"do": "link", "what": [a, b, kind], "gbs": gbs, **said})

    def set_links(self, where: str, **keys: object) -> None:
        """Say of a link, or of all links of a kind, what a topology file says under ``links``.

        Args:
            where: a link ``a->b``, a kind of link such as ``router_mesh``, or a wire of the file.
            keys: ``arbiter``, ``buffer_flits``, ``vcs`` and so on; of a single link over those of its kind.

        Raises:
            UsageError: no such kind or wire.
            ConfigError: a key that links do not have, or a value that does not fit.
        """
        place = f"topology '{self.name}', links of '{where}'"
        known = {**LINK_KINDS, **self._spec.wires}
        if "->" not in where and where not in known:
            raise UsageError(f"{place}: is not a kind of link or a wire; {did_you_mean(where, known)}")
        said = {**self._links.get(where, {}), **keys}
        check_part(place, LinkPart, said)
        self._links[where] = said
        self._steps.append({"do": "set_links", "what": where, **keys})

    def change(self, where: str, **keys: object) -> None:
        """Change properties of a part, or figures of a link ``a->b``, this way alone.

        Args:
            where: the part or link.
            keys: of a part as :meth:`add` takes them; of a link ``gbs``, ``mm``, ``delay_ns``, ``weight_mm``.

        Raises:
            UsageError: no such part or link, or a group, which has no keys.
            ConfigError: a key that it does not have, or a value that does not fit.
        """
        place = f"topology '{self.name}', '{where}'"
        if "->" in where:
            found = self._link(place, where)
            found.properties = {**found.properties, **_figures(place, keys)}
        else:
            node = self._node(place, where)
            kind = component_kind(node)
            if kind.form is not Form.WIRED:
                raise UsageError(
                    f"{place}: has no keys of its own; change a component in it, or that it is in"
                )
            node.properties = self._keys.changed(kind, node.properties, keys, _wrong_key(place))
            if kind.sliced:  # its channels follow from it, and are made anew
                self._graph = without(self._graph, set(), set(inside(self._graph, where)))
        self._steps.append({"do": "change", "what": where, **keys})

    def remove(self, where: str) -> None:
        """Remove a part with its wires, a group with all in it, or a link ``a->b``, this way alone.

        Raises:
            UsageError: no such part or link.
        """
        place = f"topology '{self.name}', '{where}'"
        if "->" in where:
            self._graph = without(self._graph, {self._link(place, where).id})
        else:
            if component_kind(self._node(place, where)).form is Form.PART:
                raise UsageError(f"{place}: follows from the component that it is in; change that")
            self._graph = without(self._graph, set(), {where, *inside(self._graph, where)})
        self._steps.append({"do": "remove", "what": where})

    def compile(self) -> PropertyGraph:
        """The machine, as everything takes it that takes a topology. A host CPU is added where there is none.

        Raises:
            ConfigError: a path that takes no time.
        """
        if adds_host := not any(self._graph.nodes("HostCpu")):
            self.add(HOST_CPU)
            self._steps.pop()  # whoever compiles it adds it
        graph = PropertyGraph(self._graph.properties)
        graph.notes.update(self._graph.notes)
        with collector.paused():
            for node in self._graph.nodes():
                graph.add_node(Node(node.id, node.labels, dict(node.properties)))
            for edge in self._graph.edges():
                graph.add_edge(Edge(edge.id, edge.source, edge.target, edge.type, edge.properties))
            if adds_host:  # the last, whatever is added after this
                self._graph = without(self._graph, (), {HOST_CPU})
            if not self._fresh and not self._steps:
                return graph
            if self._fresh:
                graph = add_described(graph, self._spec)
            if self._spec.memory.cache.capacity and self._steps and not self._fresh:
                raise ConfigError(
                    f"topology '{self.name}': memory.cache is dealt to the controllers of a file, "
                    "expected their parts there"
                )
            add_channels(graph)
            keep(graph, {**self._spec.link_parts(), **self._links}, self._wrong_link)
            add_buffers(graph)
        for path in zero_paths(graph):
            raise ConfigError(
                f"topology '{self.name}': the path from '{path.src}' to '{path.dst}' takes 0 ns; "
                "give a link a delay or a part an overhead_ns"
            )
        pairs = {(link.source, link.target) for link in graph.edges("LINK")}
        graph.properties.pop("one_way_links", None)
        if one_way := sum((target, source) not in pairs for source, target in pairs):
            graph.properties["one_way_links"] = one_way
        number_anew(graph)
        graph.properties["spec"] = self.spec.canonical()
        graph.properties["id"] = topology_id(graph)
        return graph

    def _node(self, place: str, part: str) -> Node:
        if part not in self._graph:
            raise UsageError(
                f"{place}: is not there, {did_you_mean(part, [n.id for n in self._graph.nodes()])}"
            )
        return self._graph.node(part)

    def _link(self, place: str, link: str) -> Edge:
        source = link.partition("->")[0]
        near = list(self._graph.out_edges(source, "LINK")) if source in self._graph else []
        for edge in near:
            if edge.id == link:
                return edge
        raise UsageError(
            f"{place}: is not there, {did_you_mean(link, [edge.id for edge in near] or ['a->b'])}"
        )

    def _wrong_link(self, where: str, key: str, message: str) -> ConfigError:
        return ConfigError(f"topology '{self.name}', links of '{where}': " + f"{key} {message}".lstrip())

    def _parents(self, group: str | None) -> None:
        """Add ``group``, and what it is in, where it is not there yet."""
        if group is None or group in self._graph:
            return
        kind, said = parse(group)
        parent, at = _place(kind, said, group)
        self._parents(parent)
        put(self._graph, Node(group, kind.labels, common(group, kind.kind, "", at, 0.0, 0.0, 0.0)), parent)


def _place(kind: ComponentKind, said: Said, part: str) -> tuple[str | None, Location]:
    """The group that a part is in, and its (sip, cube, pe)."""
    at = said.get("sip", -1), said.get("cube", -1), said.get("pe", -1)
    if part == TRAY:
        return None, at
    if kind.form is not Form.GROUP and kind.section[0] != "pe":
        at = *at[:2], -1  # the number of a slice is not a PE
    depth = sum(level >= 0 for level in at) - (kind.form is Form.GROUP)
    return ".".join(part.split(".")[:depth]) or TRAY, at


def _given(**keys: Any) -> dict[str, Any]:
    """The keys that say anything."""
    return {key: value for key, value in keys.items() if value not in (None, "", 0.0, False)}


def _figures(where: str, said: Mapping[str, Any]) -> Properties:
    """The properties of a link that are ``said`` by the names that :meth:`Topology.change` has for them."""
    for key in said:
        if key not in _FIGURES:
            raise ConfigError(f"{where}: unknown key '{key}', {did_you_mean(key, _FIGURES)}")
    return {_FIGURES[key]: _number(f"{where}: {key}", v, above=key == "gbs") for key, v in said.items()}


def _wrong_key(where: str) -> Wrong:
    """Makes the errors of the keys of a part; ``where`` begins them."""

    def wrong(key: str, message: str) -> ConfigError:
        if message.startswith("unknown key"):
            return ConfigError(f"{where}: unknown key '{key}'{message.removeprefix('unknown key')}")
        return ConfigError(f"{where}: {key}: {message}" if key else f"{where}: {message}")

    return wrong


def _number(what: str, value: Any, *, above: bool = False, signed: bool = False) -> float:
    """``value`` as a float; ConfigError for one that is not a finite number of at least 0 (or above 0)."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and (beyond := out_of_range(value)):
        raise ConfigError(f"{what} is {shown(value)}, expected {beyond}")
    if not number or (value < 0 and not signed) or (above and value == 0):
        expected = "a finite number" if signed else "a number above 0" if above else "a number of at least 0"
        raise ConfigError(f"{what} is {shown(value)}, expected {expected}")
    return float(value)
