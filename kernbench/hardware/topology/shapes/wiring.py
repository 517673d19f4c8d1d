"""Joins the parts of a block: the links of a connection, with the figures of its wire."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from kernbench.hardware.kinds import COMPONENT_KINDS, LINK_KINDS
from kernbench.hardware.topology.fields import LinkPart
from kernbench.hardware.topology.marked_yaml import Path
from kernbench.hardware.topology.problems import from_pydantic
from kernbench.hardware.topology.shapes.model import Connect, Wire
from kernbench.hardware.topology.shapes.patterns import Join, crowd, joins
from kernbench.hardware.topology.shapes.references import port_rows, within
from kernbench.hardware.topology.shapes.rows import Element, Rows
from kernbench.hardware.topology.shapes.uses import MAX_LINKS, refuse_crowd
from kernbench.support.hints import did_you_mean, shown
from kernbench.support.pgraph import Properties

if TYPE_CHECKING:
    from kernbench.hardware.topology.shapes.elaborate import Elaboration

_PORTS = frozenset({"ucie_port"})
_MOST = 100_000
"""Repetitions of a connection by ``each``."""
_FIGURES = ("gbs", "lanes", "delay_ns", "mm", "weight")


def link_kind(a: str, b: str) -> str:
    """The kind of a link by the kinds of its ends."""
    ends = {a, b}
    if "pe_dma" in ends:
        return "pe_to_router"
    if "host_cpu" in ends:
        return "pcie"
    if ends & {"m_cpu", "io_cpu", "pe_cpu", "pe_mmu", "pe_baaw"}:
        return "command"
    if ends <= _PORTS:
        return "ucie_mesh"
    if ends & _PORTS and "router" in ends:  # within its chiplet the DMA of a PE keeps to the mesh
        return "ucie_to_router"
    memories = [kind for end in ends if (kind := COMPONENT_KINDS[end]).memory]
    if memories:
        return "router_to_hbm" if any(kind.sliced for kind in memories) else "router_to_sram"
    return "pcie" if ends & {"switch", "pcie_ep"} else "router_mesh"


class Wiring:
    """The links of one file. Links with equal figures share their properties."""

    def __init__(self, made: Elaboration) -> None:
        self._made = made
        self._wires: dict[str, tuple[str, Wire]] = {}
        self._figures: dict[tuple[Any, ...], Properties] = {}
        self._links: dict[tuple[Any, ...], Properties] = {}

    def connect(self, rows: Rows, path: Path, statement: Connect, params: Mapping[str, Any]) -> None:
        """Add the links of ``statement``."""
        name, wire = self._wire((*path, "wire"), statement.wire)
        figures = self._worked_out((*path, "wire"), name, wire, params)
        there = set(zip(rows.sources, rows.targets, strict=True))
        repeated = self._repeated(path, statement, params)
        try:
            crowds = sum(crowd(statement, rows, names) for names in repeated)
            refuse_crowd(len(rows.links) + crowds, "links", MAX_LINKS)
            for names in repeated:
                for join in joins(statement, rows, names):
                    refuse_crowd(len(rows.links), "links", MAX_LINKS)
                    self._join(rows, statement, join, name, wire, figures, there)
        except ValueError as error:
            raise self._made.wrong(path, error) from None

    def _repeated(self, path: Path, statement: Connect, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The names of each repetition: parameters and, by ``each``, its counters."""
        found = [dict(params)]
        for name, size in statement.each.items():
            count = self._made.filled((*path, "each", name), size, params)
            if type(count) is not int or not 1 <= count * len(found) <= _MOST:
                raise self._made.wrong(
                    (*path, "each", name),
                    f"is {shown(count)}, expected an integer from 1, at most {_MOST} in all",
                )
            found = [{**names, name: i} for names in found for i in range(count)]
        return found

    def _join(
        self,
        rows: Rows,
        statement: Connect,
        join: Join,
        name: str,
        wire: Wire,
        figures: Properties,
        there: set[tuple[int, int]],
    ) -> None:
        a, b = join.a, join.b
        if join.along in statement.by:
            facing = statement.by[join.along]
            if len(facing) != 2:
                raise ValueError(
                    f"by.{join.along} lists {len(facing)} ports, expected two: of each, and of its next"
                )
            next_, before = reversed(facing) if join.backwards else facing
            a, b = within(a, next_), within(b, before)
        ways = [(a, b, 0), (b, a, 1)]
        if statement.one_way:
            ways = ways[1:] if statement.reverse else ways[:1]
        for one, other, way in ways:
            for source in _rows(rows, one):
                for target in _rows(rows, other):
                    pair = f"'{rows.names[source]}' to '{rows.names[target]}'"
                    if source == target:
                        raise ValueError(f"joins {pair}, expected two parts")
                    if (source, target) in there:
                        raise ValueError(
                            f"joins {pair} again, expected each link once; parallel links are lanes"
                        )
                    there.add((source, target))
                    kind = wire.kind or link_kind(rows.sorts[source].kind.kind, rows.sorts[target].kind.kind)
                    rows.sources.append(source)
                    rows.targets.append(target)
                    rows.links.append(self._link(name, wire, kind, join, way, figures))

    def _link(
        self, name: str, wire: Wire, kind: str, join: Join, way: int, figures: Properties
    ) -> Properties:
        """The properties of a link."""
        key = id(figures), kind, join.axis, join.ring and way, join.wraps, join.dealt
        found = self._links.get(key)
        if found is None:
            found = self._links[key] = {"kind": kind, **figures, "wire": name}
            if join.axis >= 0:
                found |= {"axis": join.axis, "ring": f"{name}.{join.axis_name}"}
            if join.ring:
                found["way"] = way
            if join.wraps and wire.buffer_flits is not None and wire.vcs > 1:
                found["dateline"] = True
            if join.dealt:
                found["dealt"] = True
        return found

    def deal(self, rows: Rows) -> None:
        """Number the links of ``all`` that leave each part: destinations are dealt to them."""
        leaving: dict[int, list[int]] = {}
        for number, (source, link) in enumerate(zip(rows.sources, rows.links, strict=True)):
            if link.get("dealt") is True:
                leaving.setdefault(source, []).append(number)
        for numbers in leaving.values():
            for i, number in enumerate(numbers):
                key = id(rows.links[number]), i, len(numbers)
                if key not in self._links:
                    self._links[key] = {**rows.links[number], "dealt": f"{i} of {len(numbers)}"}
                    self._figures[key] = rows.links[number]  # its id stays its own
                rows.links[number] = self._links[key]

    def _wire(self, path: Path, value: Any) -> tuple[str, Wire]:
        """The wire that a connection names or describes, and what it is called."""
        wires = self._made.spec.wires
        if isinstance(value, str):
            if value not in wires:
                hint = did_you_mean(value, wires) if wires else "expected its figures, such as {gbs: 100}"
                raise self._made.wrong(path, f"'{value}' is not a wire, {hint}")
            return value, wires[value]
        text = json.dumps(value, sort_keys=True, default=str)
        if text not in self._wires:
            if not isinstance(value, dict):
                raise self._made.wrong(
                    path, f"is {shown(value)}, expected the name of a wire, or its figures"
                )
            if buffered := [key for key in LinkPart.model_fields if key in value]:
                raise self._made.wrong(
                    (*path, buffered[0]), "is set for a wire without a name, expected it of one of 'wires'"
                )
            try:
                self._wires[text] = "", Wire.model_validate(value)
            except ValidationError as error:
                first = from_pydantic(error, Wire)[0]
                raise self._made.wrong((*path, *first.path), first.message) from None
        return self._wires[text]

    def _worked_out(self, path: Path, name: str, wire: Wire, params: Mapping[str, Any]) -> Properties:
        """The figures of a link of ``wire``."""
        made = self._made
        values = {key: made.filled(path, getattr(wire, key), params) for key in _FIGURES}
        where = ("wires", name) if name else path
        for key, value in values.items():
            number = type(value) in (int, float) and math.isfinite(value)
            least = value > 0 if number and key in ("gbs", "lanes") else number and value >= 0
            if not least or (key == "lanes" and value != int(value)):
                expected = {"gbs": "a number above 0", "lanes": "an integer from 1 on"}.get(
                    key, "a number of at least 0"
                )
                raise made.wrong((*where, key), f"is {shown(value)}, expected {expected}")
        near = get_close_matches(wire.kind, LINK_KINDS, 1, 0.85)
        if wire.kind and wire.kind not in LINK_KINDS and (near or not wire.kind.isidentifier()):
            hint = did_you_mean(wire.kind, LINK_KINDS) if near else "expected letters, digits and _"
            raise made.wrong((*where, "kind"), f"'{wire.kind}' is not a kind of link, {hint}")
        known = (name, *values.values())
        if known not in self._figures:
            self._figures[known] = {
                "bw_gbs": float(values["gbs"] * values["lanes"]),
                "distance_mm": float(values["mm"]),
                "delay_ns": values["delay_ns"] + values["mm"] * made.spec.system.ns_per_mm,
                "routing_weight": float(values["weight"]),
            }
        return self._figures[known]


def _rows(rows: Rows, end: Element) -> list[int]:
    try:
        return port_rows(end)
    except ValueError as error:
        raise ValueError(f"the block of '{rows.names[end.row]}' {error}") from None
