"""Which component of a compiled topology answers which range of physical addresses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from kernbench.address.layout import BUDGETS, IO_DIES, IocpuUnit, McpuUnit, PeUnit
from kernbench.address.physical import PhysAddr
from kernbench.errors import AddressError, ConfigError
from kernbench.pgraph import Node, PropertyGraph

_PE_UNITS: dict[str, tuple[PeUnit, ...]] = {
    "pe_cpu": (PeUnit.PE_CPU_DTCM, PeUnit.PE_CPU_SFR),
    "pe_math": (PeUnit.MATH_ENGINE_DTCM, PeUnit.MATH_ENGINE_SFR),
    "pe_ipcq": (PeUnit.IPCQ,),
    "pe_dma": (PeUnit.DMA_ENGINE_SFR,),
    "pe_tcm": (PeUnit.PE_TCM,),
}


@dataclass(frozen=True, slots=True)
class Window:
    """``nbytes`` of physical addresses from ``base`` on that lead to one component.

    ``kind``: ``hbm`` (one slice), ``sram``, ``tcm``, and for registers and local memories ``pe``,
    ``mcpu``, ``iocpu``. ``start`` is ``base`` decoded.
    """

    base: int
    nbytes: int
    component: str
    kind: str
    start: PhysAddr

    @property
    def end(self) -> int:
        """One past the last address."""
        return self.base + self.nbytes

    @property
    def unit(self) -> str:
        """Name of the sub-unit, ``""`` where the kind has none."""
        return "" if self.start.unit is None else self.start.unit.name


def windows_of(graph: PropertyGraph) -> list[Window]:
    """The windows of every component, by address; :class:`ConfigError` when the layout cannot hold them.

    IO chiplets get the dies 16, 17 ... of their SIP in the order of their ``io_cpu`` nodes.
    """
    found: list[Window] = []
    io_dies: dict[int, int] = {}
    for node in graph.nodes():
        if node.properties.get("kind") == "io_cpu":
            sip = whole(node, "sip")
            io_dies[sip] = io_dies.get(sip, IO_DIES.start - 1) + 1
        try:
            found.extend(_windows(node, io_dies))
        except AddressError as error:
            raise ConfigError(f"component '{node.id}' does not fit the address layout: {error}") from None
    found.sort(key=lambda window: window.base)
    for before, after in pairwise(found):
        if after.base < before.end:
            raise ConfigError(
                f"components '{before.component}' and '{after.component}' share address {after.base:#x}"
            )
    return found


def whole(node: Node, key: str) -> int:
    """The integer property ``key`` of ``node``; :class:`ConfigError` when it is missing or no integer."""
    value = node.properties.get(key)
    if not isinstance(value, int | float) or value != int(value):
        raise ConfigError(f"component '{node.id}': {key} is {value!r}; give an integer")
    return int(value)


def _windows(node: Node, io_dies: dict[int, int]) -> Iterator[Window]:
    kind = node.properties.get("kind")
    if kind == "hbm_ctrl":
        nbytes = whole(node, "slice_bytes")
        offset = whole(node, "slice") * nbytes
        yield _window(node, PhysAddr.hbm(whole(node, "sip"), whole(node, "cube"), offset), nbytes, "hbm")
    elif kind == "sram":
        start = PhysAddr.cube_sram(whole(node, "sip"), whole(node, "cube"), 0)
        yield _window(node, start, whole(node, "size_bytes"), "sram")
    elif kind in _PE_UNITS:
        for pe_unit in _PE_UNITS[str(kind)]:
            place = whole(node, "sip"), whole(node, "cube"), whole(node, "pe")
            start = PhysAddr.pe_local(*place, pe_unit, 0)
            if pe_unit is PeUnit.PE_TCM:
                yield _window(node, start, whole(node, "size_bytes"), "tcm")
            else:
                yield _window(node, start, BUDGETS[start.kind][pe_unit], "pe")
    elif kind == "m_cpu":
        for m_unit in McpuUnit:
            start = PhysAddr.mcpu_local(whole(node, "sip"), whole(node, "cube"), m_unit, 0)
            yield _window(node, start, BUDGETS[start.kind][m_unit], "mcpu")
    elif kind == "io_cpu":
        sip = whole(node, "sip")
        for io_unit in IocpuUnit:
            start = PhysAddr.iocpu(sip, io_dies[sip], io_unit, 0)
            yield _window(node, start, BUDGETS[start.kind][io_unit], "iocpu")


def _window(node: Node, start: PhysAddr, nbytes: int, kind: str) -> Window:
    if nbytes <= 0:
        raise AddressError(f"{kind} of {nbytes} bytes; give it a positive size")
    replace(start, offset=start.offset + nbytes - 1)  # the last byte must be an address too
    return Window(start.encode(), nbytes, node.id, kind, start)
