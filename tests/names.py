"""Ids of the parts of the built-in tray, written down a second time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from kernbench.errors import UsageError
from kernbench.hardware.topology.shapes.sections import OPPOSITE, SIDES

__all__ = ["OPPOSITE", "SIDES"]

_CUBE = "sip{sip}.cube{cube}"
_PE_PARTS = ("cpu", "scheduler", "dma", "fetch_store", "gemm", "math", "tcm", "mmu", "baaw", "ipcq")
_TEMPLATES = {
    "tray": "tray",
    "sip": "sip{sip}",
    "cube": _CUBE,
    "pe": f"{_CUBE}.pe{{pe}}",
    "host_cpu": "host.cpu",
    "switch": "fabric.switch0",
    "pcie_ep": "sip{sip}.{io}.pcie_ep",
    "io_cpu": "sip{sip}.{io}.io_cpu",
    "io_noc": "sip{sip}.{io}.io_noc",
    "io_ucie": "sip{sip}.{io}.io_ucie-{phy}",
    "io_ucie_conn": "sip{sip}.{io}.io_ucie-{phy}.conn{index}",
    "router": f"{_CUBE}.r{{row}}c{{col}}",
    "m_cpu": f"{_CUBE}.m_cpu",
    "sram": f"{_CUBE}.sram",
    "hbm_ctrl": f"{_CUBE}.hbm_ctrl.pe{{pe}}",
    "pseudo_channel": f"{_CUBE}.hbm_ctrl.pe{{pe}}.pc{{index}}",
    "memory_cache": f"{_CUBE}.hbm_ctrl.pe{{pe}}.cache",
    "link_buffer": "{link}.buffer",
    "channel_router": f"{_CUBE}.pe{{pe}}.ch_r{{index}}",
    "ucie_port": f"{_CUBE}.ucie-{{side}}",
    "ucie_conn": f"{_CUBE}.ucie-{{side}}.conn{{index}}",
    **{f"pe_{part}": f"{_CUBE}.pe{{pe}}.pe_{part}" for part in _PE_PARTS},
}
_TEXTS = {"io": r"(?!cube\d)[a-z][a-z0-9_]*", "side": "[NSEW]", "phy": r"\w+", "link": r"[\w.-]+->[\w.-]+?"}
"""Patterns of the fields of a name that are not numbers."""
TRAY, HOST_CPU, SWITCH = (_TEMPLATES[kind] for kind in ("tray", "host_cpu", "switch"))


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
    link: str = ""
    """The link whose buffers it is."""


@cache
def _pattern(template: str) -> re.Pattern[str]:
    texts = re.split(r"\{(\w+)\}", template)
    fields = (f"(?P<{field}>{_TEXTS.get(field, '[0-9]+')})" for field in texts[1::2])
    return re.compile("".join(re.escape(text) + next(fields, "") for text in texts[::2]))


def parse(name: str) -> Name:
    """Take a name apart; :class:`UsageError` for a text that names no component of the tray."""
    for kind, template in _TEMPLATES.items():
        if match := _pattern(template).fullmatch(name):
            return Name(kind, **{k: v if k in _TEXTS else int(v) for k, v in match.groupdict().items()})
    raise UsageError(f"'{name}' is not a component's name")


def of(kind: str, **fields: int | str) -> str:
    """The name of a component of ``kind``: ``of("router", sip=0, cube=1, row=2, col=3)``."""
    return _TEMPLATES[kind].format_map(fields)


def sip(sip: int) -> str:
    """A package."""
    return of("sip", sip=sip)


def cube(sip: int, cube: int) -> str:
    """A cube; ``cube`` is y * mesh width + x."""
    return of("cube", sip=sip, cube=cube)


def pe(sip: int, cube: int, pe: int) -> str:
    """A processing element as a whole."""
    return of("pe", sip=sip, cube=cube, pe=pe)


@cache
def pe_part(sip: int, cube: int, pe: int, part: str) -> str:
    """A part of a PE; ``part`` is its kind."""
    return of(part, sip=sip, cube=cube, pe=pe)


def router(sip: int, cube: int, row: int, col: int) -> str:
    """A router of a cube's mesh."""
    return of("router", sip=sip, cube=cube, row=row, col=col)


def hbm(sip: int, cube: int, slice_: int) -> str:
    """The controller of an HBM slice; slice P lies at PE P's router."""
    return of("hbm_ctrl", sip=sip, cube=cube, pe=slice_)


def channel_router(sip: int, cube: int, slice_: int, channel: int) -> str:
    """The router of a pseudo-channel, between PE P's router and slice P."""
    return of("channel_router", sip=sip, cube=cube, pe=slice_, index=channel)


def pseudo_channel(hbm: str, channel: int) -> str:
    """A pseudo-channel of the HBM slice ``hbm``: a part of its controller, without wires."""
    return f"{hbm}.pc{channel}"


def m_cpu(sip: int, cube: int) -> str:
    """A cube's management CPU."""
    return of("m_cpu", sip=sip, cube=cube)


def sram(sip: int, cube: int) -> str:
    """A cube's shared SRAM."""
    return of("sram", sip=sip, cube=cube)


def ucie_port(sip: int, cube: int, side: str) -> str:
    """A cube's UCIe port on a side."""
    return of("ucie_port", sip=sip, cube=cube, side=side)


def ucie_conn(sip: int, cube: int, side: str, index: int) -> str:
    """A connection between a UCIe port and the cube's mesh."""
    return of("ucie_conn", sip=sip, cube=cube, side=side, index=index)


def pcie_ep(sip: int, io: str) -> str:
    """The PCIe endpoint of an IO chiplet."""
    return of("pcie_ep", sip=sip, io=io)


def io_cpu(sip: int, io: str) -> str:
    """The command processor of an IO chiplet."""
    return of("io_cpu", sip=sip, io=io)


def io_noc(sip: int, io: str) -> str:
    """The internal network of an IO chiplet."""
    return of("io_noc", sip=sip, io=io)


def io_ucie(sip: int, io: str, phy: str) -> str:
    """The UCIe endpoint of an IO chiplet's PHY."""
    return of("io_ucie", sip=sip, io=io, phy=phy)


def io_ucie_conn(sip: int, io: str, phy: str, index: int) -> str:
    """A connection between an IO chiplet's network and one of its PHYs."""
    return of("io_ucie_conn", sip=sip, io=io, phy=phy, index=index)


def link(source: str, target: str) -> str:
    """The id of the directed link between two components."""
    return f"{source}->{target}"


def buffer(link: str) -> str:
    """The input buffers at the far end of a link, one for each of its virtual channels."""
    return of("link_buffer", link=link)
