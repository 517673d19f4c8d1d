"""Component names: the one module that builds and parses them (ADR-0051 D5).

Everything else asks here, so that a change of the naming scheme is a change of this file. The scheme::

    tray  host.cpu  fabric.switch0
    sip{S}  sip{S}.{io}.{pcie_ep|io_cpu|io_noc|io_ucie-{PHY}|io_ucie-{PHY}.conn{N}}
    sip{S}.cube{C}  sip{S}.cube{C}.{m_cpu|sram|r{R}c{C}|hbm_ctrl.pe{P}|ucie-{N|S|E|W}|ucie-{..}.conn{N}}
    sip{S}.cube{C}.hbm_ctrl.pe{P}.pc{N}
    sip{S}.cube{C}.pe{P}  sip{S}.cube{C}.pe{P}.{pe_cpu|pe_scheduler|pe_dma|...}  sip{S}.cube{C}.pe{P}.ch_r{N}
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kernbench.errors import UsageError

TRAY = "tray"
HOST_CPU = "host.cpu"
SWITCH = "fabric.switch0"

SIDES = ("N", "S", "E", "W")
"""Sides of a cube or package; x grows to the east, y to the south."""
OPPOSITE = {"N": "S", "S": "N", "E": "W", "W": "E"}
"""The side that faces a side across a seam."""

PE_PARTS = (
    "pe_cpu",
    "pe_scheduler",
    "pe_dma",
    "pe_fetch_store",
    "pe_gemm",
    "pe_math",
    "pe_tcm",
    "pe_mmu",
    "pe_ipcq",
)
"""Kinds of the parts of a PE, in the order in which they are compiled."""

TRANSLATORS = {"va": "pe_mmu", "pa": "pe_mmu", "la": "pe_baaw"}
"""The part of a PE that translates its addresses, by address model; it stands in the MMU's place."""


def sip(sip: int) -> str:
    """A package."""
    return f"sip{sip}"


def cube(sip: int, cube: int) -> str:
    """A cube; ``cube`` is y * mesh width + x."""
    return f"sip{sip}.cube{cube}"


def pe(sip: int, cube: int, pe: int) -> str:
    """A processing element as a whole."""
    return f"sip{sip}.cube{cube}.pe{pe}"


def pe_part(sip: int, cube: int, pe: int, part: str) -> str:
    """A part of a PE; ``part`` is one of :data:`PE_PARTS`."""
    return f"sip{sip}.cube{cube}.pe{pe}.{part}"


def router(sip: int, cube: int, row: int, col: int) -> str:
    """A router of a cube's mesh."""
    return f"sip{sip}.cube{cube}.r{row}c{col}"


def hbm(sip: int, cube: int, slice_: int) -> str:
    """The controller of an HBM slice; slice P lies at PE P's router."""
    return f"sip{sip}.cube{cube}.hbm_ctrl.pe{slice_}"


def channel_router(sip: int, cube: int, slice_: int, channel: int) -> str:
    """The router of a pseudo-channel, between PE P's router and slice P."""
    return f"sip{sip}.cube{cube}.pe{slice_}.ch_r{channel}"


def pseudo_channel(sip: int, cube: int, slice_: int, channel: int) -> str:
    """A pseudo-channel of an HBM slice: a part of its controller, without wires."""
    return f"sip{sip}.cube{cube}.hbm_ctrl.pe{slice_}.pc{channel}"


def m_cpu(sip: int, cube: int) -> str:
    """A cube's management CPU."""
    return f"sip{sip}.cube{cube}.m_cpu"


def sram(sip: int, cube: int) -> str:
    """A cube's shared SRAM."""
    return f"sip{sip}.cube{cube}.sram"


def ucie_port(sip: int, cube: int, side: str) -> str:
    """A cube's UCIe port on a side."""
    return f"sip{sip}.cube{cube}.ucie-{side}"


def ucie_conn(sip: int, cube: int, side: str, index: int) -> str:
    """A connection between a UCIe port and the cube's mesh."""
    return f"sip{sip}.cube{cube}.ucie-{side}.conn{index}"


def pcie_ep(sip: int, io: str) -> str:
    """The PCIe endpoint of an IO chiplet."""
    return f"sip{sip}.{io}.pcie_ep"


def io_cpu(sip: int, io: str) -> str:
    """The command processor of an IO chiplet."""
    return f"sip{sip}.{io}.io_cpu"


def io_noc(sip: int, io: str) -> str:
    """The internal network of an IO chiplet."""
    return f"sip{sip}.{io}.io_noc"


def io_ucie(sip: int, io: str, phy: str) -> str:
    """The UCIe endpoint of an IO chiplet's PHY."""
    return f"sip{sip}.{io}.io_ucie-{phy}"


def io_ucie_conn(sip: int, io: str, phy: str, index: int) -> str:
    """A connection between an IO chiplet's network and one of its PHYs."""
    return f"sip{sip}.{io}.io_ucie-{phy}.conn{index}"


def link(source: str, target: str) -> str:
    """The id of the directed link between two components."""
    return f"{source}->{target}"


def contains(parent: str, child: str) -> str:
    """The id of the edge that says that ``child`` is a part of ``parent``."""
    return f"{parent}/{child}"


@dataclass(frozen=True, slots=True)
class Name:
    """A parsed name. Numbers are -1 and texts empty where the name has none."""

    kind: str
    """The component's kind, ``"router"``, ``"pe_dma"``, ``"cube"`` ..."""
    sip: int = -1
    cube: int = -1
    pe: int = -1
    """PE, or slice of an HBM controller, pseudo-channel or channel router."""
    io: str = ""
    row: int = -1
    col: int = -1
    side: str = ""
    phy: str = ""
    index: int = -1
    """Number of a UCIe connection or of a slice's channel."""


_SIP = r"sip(?P<sip>\d+)"
_CUBE = rf"{_SIP}\.cube(?P<cube>\d+)"
_PE = rf"{_CUBE}\.pe(?P<pe>\d+)"
_IO = rf"{_SIP}\.(?P<io>(?!cube\d)[a-z][a-z0-9_]*)"
_PORT = rf"{_CUBE}\.ucie-(?P<side>[NSEW])"
_PHY = rf"{_IO}\.io_ucie-(?P<phy>\w+)"
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("tray", TRAY),
        ("host_cpu", re.escape(HOST_CPU)),
        ("switch", re.escape(SWITCH)),
        ("sip", _SIP),
        ("cube", _CUBE),
        ("pe", _PE),
        *((part, rf"{_PE}\.{part}") for part in (*PE_PARTS, "pe_baaw")),
        ("channel_router", rf"{_PE}\.ch_r(?P<index>\d+)"),
        ("router", rf"{_CUBE}\.r(?P<row>\d+)c(?P<col>\d+)"),
        ("pseudo_channel", rf"{_CUBE}\.hbm_ctrl\.pe(?P<pe>\d+)\.pc(?P<index>\d+)"),
        ("hbm_ctrl", rf"{_CUBE}\.hbm_ctrl\.pe(?P<pe>\d+)"),
        ("m_cpu", rf"{_CUBE}\.m_cpu"),
        ("sram", rf"{_CUBE}\.sram"),
        ("ucie_conn", rf"{_PORT}\.conn(?P<index>\d+)"),
        ("ucie_port", _PORT),
        ("pcie_ep", rf"{_IO}\.pcie_ep"),
        ("io_cpu", rf"{_IO}\.io_cpu"),
        ("io_noc", rf"{_IO}\.io_noc"),
        ("io_ucie_conn", rf"{_PHY}\.conn(?P<index>\d+)"),
        ("io_ucie", _PHY),
    )
)
_TEXTS = frozenset({"io", "side", "phy"})


def parse(name: str) -> Name:
    """Take a name apart; a text that names no component of the scheme is a :class:`UsageError`."""
    for kind, pattern in _PATTERNS:
        if match := pattern.fullmatch(name):
            fields = {k: v if k in _TEXTS else int(v) for k, v in match.groupdict().items()}
            return Name(kind, **fields)  # type: ignore[arg-type]
    raise UsageError(
        f"'{name}' is not a component's name, expected one such as '{pe_part(0, 0, 0, 'pe_dma')}'"
    )
