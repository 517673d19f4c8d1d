"""Which component of a compiled topology answers which range of physical addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kernbench.errors import AddressError, ConfigError
from kernbench.hardware.address.layout import BUDGETS, IO_DIES, UNITS, Kind, PeUnit, Unit
from kernbench.hardware.address.physical import PhysAddr
from kernbench.hardware.kinds import component_kind
from kernbench.support.pgraph import Node, PropertyGraph

_ALIGNED = 2 << 20
"""Bytes to which memories that follow one another are aligned."""
_TARGETS = {
    Kind.HBM: "hbm",
    Kind.CUBE_SRAM: "sram",
    Kind.PE_LOCAL: "pe",
    Kind.MCPU_LOCAL: "mcpu",
    Kind.IOCPU: "iocpu",
}


@dataclass(frozen=True, slots=True)
class AddressWindow:
    """``nbytes`` of physical addresses from ``base`` on that lead to one component.

    ``kind``: ``hbm`` (one slice), ``sram``, ``tcm``, and for registers and local memories ``pe``,
    ``mcpu``, ``iocpu``. ``start`` is ``base`` decoded; None where addresses
    have no fields and memories follow one another.
    """

    base: int
    nbytes: int
    component: str
    kind: str
    start: PhysAddr | None

    @property
    def end(self) -> int:
        """One past the last address."""
        return self.base + self.nbytes

    @property
    def unit(self) -> str:
        """Name of the sub-unit, ``""`` where the kind has none."""
        return "" if self.start is None or self.start.unit is None else self.start.unit.name


def windows_of(graph: PropertyGraph, bits: int) -> list[AddressWindow]:
    """The windows of every component, by address; :class:`ConfigError` when the layout cannot hold them.

    ``bits`` is the width of an address. IO chiplets get the dies 16, 17 ... of their SIP in the order of
    their ``io_cpu`` nodes. A machine of parts that does not fit has its memories one after the other.
    """
    if graph.properties.get("made_of") != "parts":
        return _with_fields(graph, bits)
    try:
        kinds = [component_kind(node) for node in graph.nodes()]
        fits = all(kind.windows or not kind.memory for kind in kinds)  # of others an address has no field
        return _with_fields(graph, bits) if fits else _in_order(graph)
    except ConfigError:
        return _in_order(graph)


def _with_fields(graph: PropertyGraph, bits: int) -> list[AddressWindow]:
    """The windows where an address has a field for each package, die and PE."""
    found: list[AddressWindow] = []
    io_dies: dict[int, int] = {}
    for node in graph.nodes():
        if node.properties.get("kind") == "io_cpu":
            sip = whole(node, "sip")
            io_dies[sip] = io_dies.get(sip, IO_DIES.start - 1) + 1
        try:
            found.extend(_windows(node, io_dies, bits))
        except AddressError as error:
            raise ConfigError(f"component '{node.id}' does not fit the address layout: {error}") from None
    found.sort(key=lambda window: window.base)
    for before, after in pairwise(found):
        if after.base < before.end:
            raise ConfigError(
                f"components '{before.component}' and '{after.component}' share address {after.base:#x}"
            )
    return found


def _in_order(graph: PropertyGraph) -> list[AddressWindow]:
    """Memories one after the other by place, aligned; the slices of a chiplet adjoin. Registers have none."""
    nodes = [node for node in graph.nodes() if component_kind(node).memory]
    nodes.sort(key=lambda node: (whole(node, "sip"), whole(node, "cube"), *_rank(node)))
    found: list[AddressWindow] = []
    base, before = 0, None
    for node in nodes:
        name, _ = _rank(node)
        here = node.properties["sip"], node.properties["cube"], name
        if name != "hbm" or here != before:
            base = -(-base // _ALIGNED) * _ALIGNED
        before = here
        nbytes = whole(node, "slice_bytes" if name == "hbm" else "size_bytes")
        if nbytes < 1:
            raise ConfigError(f"component '{node.id}': {name} of {nbytes} bytes; give it a positive size")
        found.append(AddressWindow(base, nbytes, node.id, name, None))
        base += nbytes
    return found


def _rank(node: Node) -> tuple[str, int]:
    """What kind of window a memory is, and its number among those of its chiplet."""
    p = node.properties
    if component_kind(node).sliced:
        return "hbm", int(p.get("slice", 0))
    return {"sram": ("sram", 0), "pe_tcm": ("tcm", int(p["pe"]))}.get(str(p["kind"]), ("memory", 0))


def whole(node: Node, key: str) -> int:
    """The integer property ``key`` of ``node``; :class:`ConfigError` when it is missing or no integer."""
    value = node.properties.get(key)
    if not isinstance(value, int | float) or value != int(value):
        raise ConfigError(f"component '{node.id}': {key} is {value!r}; give an integer")
    return int(value)


def _windows(node: Node, io_dies: dict[int, int], bits: int) -> Iterator[AddressWindow]:
    for window in component_kind(node).windows:
        kind_name, _, unit_name = window.partition(".")
        kind = Kind[kind_name]
        for unit in _units(kind, unit_name):
            die = io_dies[whole(node, "sip")] if kind is Kind.IOCPU else whole(node, "cube")
            pe = whole(node, "pe") if kind is Kind.PE_LOCAL else None
            nbytes = _nbytes(node, kind, unit)
            offset = whole(node, "slice") * nbytes if kind is Kind.HBM else 0
            start = PhysAddr(whole(node, "sip"), die, kind, offset, pe, unit, bits)
            yield _window(node, start, nbytes, "tcm" if unit is PeUnit.PE_TCM else _TARGETS[kind])


def _units(kind: Kind, name: str) -> Sequence[Unit | None]:
    """The sub-units that a kind of component names: all of them for ``*``, none where there are none."""
    if kind not in UNITS:
        return (None,)
    return tuple(UNITS[kind]) if name == "*" else (UNITS[kind][name],)


def _nbytes(node: Node, kind: Kind, unit: Unit | None) -> int:
    """Bytes of a memory as large as the topology makes it; registers and local memories have a fixed size."""
    if kind is Kind.HBM:
        return whole(node, "slice_bytes")
    if unit is None or unit is PeUnit.PE_TCM:
        return whole(node, "size_bytes")
    return BUDGETS[kind][unit]


def _window(node: Node, start: PhysAddr, nbytes: int, kind: str) -> AddressWindow:
    if nbytes <= 0:
        raise AddressError(f"{kind} of {nbytes} bytes; give it a positive size")
    last = start.offset + nbytes - 1  # the last byte must be an address too
    replace(start, offset=last)
    return AddressWindow(start.encode(), nbytes, node.id, kind, start)
