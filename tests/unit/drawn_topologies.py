"""Topologies that are drawn in tests: the shipped ones, and some that ask a lot of a layout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from kernbench.hardware.topology import compile_topology, load, parse
from kernbench.support.pgraph import PropertyGraph

OBLONG = str(Path(__file__).parents[1] / "exact" / "oblong.yaml")
SHIPPED = ("default", "minimal", "six-sip-torus", "tray-16")

_ODD = {
    # Chiplets on all sides, two behind each other; 16 PEs; rows 0.06 mm apart; M_CPU in the HBM zone.
    "crowded": """
        system: {sips: 3, host: {wire_mm: 400.0}, address_model: la}
        sip:
          cube_mesh: {w: 5, h: 3}
          io_chiplets:
            - {name: io0, side: N, cubes: [0, 2, 4]}
            - {name: io1, side: N, cubes: [1, 3]}
            - {name: west, side: W}
            - {name: a_name_of_exactly_32_characters_, side: E, cubes: [4]}
            - {name: south, side: S, cubes: [11, 12]}
        cube:
          size_mm: {w: 9.0, h: 9.5}
          pes: {count: 16}
          hbm: {mapping: one_to_one}
          m_cpu: {position_mm: {x: 4.5, y: 4.2}}
          sram: {position_mm: {x: 0.4, y: 0.3}}
          ucie: {n_connections: 9}
    """,
    # A column of cubes, 16 connections a port on few columns, PEs in the southern corners.
    "narrow": """
        system: {sips: 1}
        sip: {cube_mesh: {w: 1, h: 16}}
        cube:
          size_mm: {w: 4.0, h: 9.2}
          pes: {count: 5, corners: [SE, SW]}
          hbm: {pseudo_channels: 40, capacity_bytes: 20 GiB}
          ucie: {n_connections: 16}
    """,
    # Three columns, so an HBM zone of one; one connection a port; a large seam.
    "small": """
        system: {sips: 1}
        sip: {cube_mesh: {w: 2, h: 1}}
        cube:
          size_mm: {w: 6.0, h: 10.0}
          pes: {count: 2, corners: [NW]}
          m_cpu: {position_mm: {x: 2.5, y: 4.2}}
          hbm: {capacity_bytes: 16 GiB}
          ucie: {n_connections: 1, seam_mm: 30.0}
    """,
}
ALL = (*SHIPPED, OBLONG, *_ODD)
PLAIN = (*SHIPPED, OBLONG)
"""Those in which no line need pass behind a box."""


@cache
def graph(name: str) -> PropertyGraph:
    """The compiled topology of that name."""
    if name in _ODD:
        lines = _ODD[name].splitlines()
        text = "\n".join(line.removeprefix(" " * 8) for line in lines)
        return compile_topology(parse(f"schema_version: 1\nname: {name}\n{text}", name))
    return compile_topology(load(name))


def label(name: str) -> str:
    """A short name for pytest's list."""
    return Path(name).stem
