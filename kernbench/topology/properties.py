"""Properties of the nodes of a compiled topology: which kinds there are and what each carries.

Every node has ``name, kind, impl, sip, cube, pe`` (-1 where it has none), ``x_mm, y_mm`` (place in its
package) and ``overhead_ns``; the kinds add what their component needs to know.
"""

from __future__ import annotations

from kernbench.pgraph import Node, Properties
from kernbench.topology.fields import Part

COMMON = ("name", "kind", "impl", "sip", "cube", "pe", "x_mm", "y_mm", "overhead_ns")
"""Properties of every node."""

KINDS: dict[str, tuple[str, ...]] = {
    "host_cpu": (),
    "switch": (),
    "pcie_ep": ("cut_through",),
    "io_cpu": (),
    "io_noc": (),
    "io_ucie": (),
    "io_ucie_conn": (),
    "m_cpu": (),
    "sram": ("size_bytes",),
    "router": ("row", "col"),
    "hbm_ctrl": (
        "slice",
        "n_channels",
        "burst_bytes",
        "slice_gbs",
        "channel_gbs",
        "switch_penalty_ns",
        "slice_bytes",
    ),
    "channel_router": ("slice", "channel"),
    "ucie_port": ("side",),
    "ucie_conn": ("side", "index"),
    "pe_cpu": ("clock_ghz", "dispatch_cycles"),
    "pe_scheduler": (),
    "pe_dma": ("read_engines", "write_engines"),
    "pe_fetch_store": (),
    "pe_gemm": ("clock_ghz", "tile_m", "tile_k", "tile_n", "macs_per_ns"),
    "pe_math": ("clock_ghz", "lanes"),
    "pe_tcm": ("size_bytes", "read_gbs", "write_gbs", "scheduler_reserved_bytes", "scratch_bytes"),
    "pe_mmu": ("page_bytes", "tlb_overhead_ns"),
    "pe_baaw": ("lookup_ns",),
    "pe_ipcq": ("slots", "slot_bytes", "credit_bytes"),
}
"""Wired kinds with the properties that they have beyond :data:`COMMON`."""

GROUPS = ("tray", "sip", "cube", "pe")
"""Kinds that hold others and are not wired."""

PARTS: dict[str, tuple[str, ...]] = {"pseudo_channel": ("slice", "channel", "bw_gbs")}
"""Kinds that are parts of a wired component and not wired themselves, as :data:`KINDS`."""

LABELS: dict[str, tuple[str, str]] = {
    kind: ("Component", "".join(word.capitalize() for word in kind.split("_")))
    for kind in (*GROUPS, *KINDS, *PARTS)
}
"""Labels of the nodes of each kind: ``Component`` and the kind in CamelCase."""


def reserved(kind: str) -> frozenset[str]:
    """Names that a user's ``attributes`` may not take for this kind."""
    return frozenset((*COMMON, *KINDS[kind]))


def group(
    name: str, kind: str, sip: int = -1, cube: int = -1, pe: int = -1, x: float = 0.0, y: float = 0.0
) -> Node:
    """A node of the hierarchy: it contains others, has no time and no wires."""
    return Node(name, LABELS[kind], _common(name, kind, "", sip, cube, pe, x, y, 0.0))


def component(
    name: str,
    kind: str,
    part: Part,
    own: Properties,
    sip: int = -1,
    cube: int = -1,
    pe: int = -1,
    x: float = 0.0,
    y: float = 0.0,
) -> Node:
    """A wired node. ``own`` are the kind's own properties; the file's ``attributes`` follow them."""
    impl = part.impl or f"builtin.{kind}"
    properties = _common(name, kind, impl, sip, cube, pe, x, y, part.overhead_ns)
    properties.update(own)
    properties.update(part.attributes)
    return Node(name, LABELS[kind], properties)


def part(name: str, whole: Node, kind: str, own: Properties) -> Node:
    """A part of the wired component ``whole``: in the same place, without wires or time of its own."""
    properties = {**whole.properties, "name": name, "kind": kind, "impl": "", "overhead_ns": 0.0}
    return Node(name, LABELS[kind], {key: properties[key] for key in COMMON} | own)


def _common(
    name: str, kind: str, impl: str, sip: int, cube: int, pe: int, x: float, y: float, overhead: float
) -> Properties:
    return {
        "name": name,
        "kind": kind,
        "impl": impl,
        "sip": sip,
        "cube": cube,
        "pe": pe,
        "x_mm": x,
        "y_mm": y,
        "overhead_ns": overhead,
    }
