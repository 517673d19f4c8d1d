"""Small chips of 4 x 3 routers, each with a PE: a mesh, and tori."""

from __future__ import annotations

from functools import cache

from kernbench.hardware.topology import compile_topology, parse
from kernbench.support.pgraph import PropertyGraph

GRID = """
name: grid
system: {{flit_bytes: 64, ns_per_mm: 0.0}}
memory: {{interleave: package}}
wires: {{noc: {{gbs: 32, delay_ns: 3}}, local: {{gbs: {local}, delay_ns: 5}}, command: {{gbs: 1e6}}}}
defaults: {{router: {{overhead_ns: 0.5}}}}
blocks:
  chip:
    level: package
    port: "r[0,0]"
    parts:
      r: {{kind: router, shape: {{x: 4, y: 3}}}}
      pe: {{block: pe, count: 12, links: {{internal_gbs: {internal}, dma_gbs: {local}}}}}
      hbm: {{kind: hbm_ctrl, n_channels: 1, channel_gbs: 22, slice_bytes: 1 GiB}}
      m_cpu: {{kind: m_cpu, overhead_ns: 0}}
      io_cpu: {{kind: io_cpu, overhead_ns: 0}}
    connect:
      - {{{shape}: r, wire: noc}}
      - {{pair: [r, pe], wire: local}}
      - {{pair: ["r[0,0]", hbm], wire: local}}
      - {{pair: ["r[0,0]", m_cpu], wire: command}}
      - {{pair: ["r[0,0]", io_cpu], wire: command}}
parts: {{host.cpu: {{kind: host_cpu}}, chip: chip}}
connect: [{{pair: [host.cpu, chip], wire: command}}]
"""
GRIDS = {
    "mesh": {"shape": "mesh", "local": 32, "internal": 1000},
    "torus": {"shape": "torus", "local": 64, "internal": 1000},
    "fed torus": {"shape": "torus", "local": 64, "internal": 20},
}


@cache
def grid(name: str) -> PropertyGraph:
    """The chip called ``name``; compiled once."""
    return compile_topology(parse(GRID.format(**GRIDS[name])))
