"""Every key of a topology file acts or is refused: each is changed alone, and what that changes is looked at.

A key that changes nothing is a fault: a study of its influence would believe the flat line. The small machine
does a bit of everything; its times, what fits where, which PEs are neighbours and where things are drawn are
compared with those of the unchanged machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest

from kernbench.engine.components.registry import problems
from kernbench.engine.machine.machine import Machine
from kernbench.errors import ConfigError
from kernbench.hardware.kinds import COMPONENT_KINDS, LINK_KINDS
from kernbench.hardware.topology import compile_topology, load
from kernbench.hardware.topology.energy import KindEnergy, figures_of, keys_of
from kernbench.hardware.topology.fields import LinkPart, Section
from kernbench.hardware.topology.neighbours import MachineShape, neighbours
from kernbench.host import Context, DPPolicy
from kernbench.support.pgraph import PropertyGraph
from kernbench.values import DataPlane

BASE: dict[str, object] = {
    "system.sips": 2,
    "sip.cube_mesh": {"w": 2, "h": 1},
    "cube.pes": {"count": 2, "corners": ["NW", "SE"]},
    "cube.hbm.pseudo_channels": 16,
    "pe.pe_ipcq.slot_bytes": 512,
}
IN_LA = {"system.address_model": "la"}
ONE_TO_ONE = {**IN_LA, "cube.hbm.mapping": "one_to_one"}
GRID = {"system.inter_sip": {"pattern": "torus_2d", "w": 2, "h": 1}}
SHAPE: dict[str, object] = {
    "parts": {"tray": "tray", "more": {"block": "store", "count": 2}},
    "blocks": {"store": {"port": "m", "parts": {"m": "memory"}}},
    "wires": {"w": {"gbs": 64, "delay_ns": 5}},
    "connect": [{"all": ["tray.fabric.switch0", "more"], "wire": "w"}],
}
"""The small tray with two memories at its switch, as a file of any shape has them."""
BESIDE: dict[str, dict[str, object]] = {
    **dict.fromkeys((*SHAPE, "defaults"), SHAPE),
    **{
        f"{part}.worker": {**more, f"{part}.overhead_ns": 5.0}
        for part, more in {
            "sip.io_chiplets.0.pcie_ep": {"sip.io_chiplets.0.pcie_ep.cut_through": True},
            "sip.io_chiplets.0.io_noc": {},
            "sip.io_chiplets.0.io_ucie_conn": {},
            "cube.ucie_conn": {},
            "cube.channel_router": ONE_TO_ONE,
        }.items()
    },
    "memory.granule_bytes": {"memory.interleave": "package"},
    "memory.cache": {"memory.cache.capacity": 8192, "memory.cache.gbs": 256.0},
    "pe.pe_baaw": IN_LA,
    "cube.hbm.mapping": IN_LA,
    "cube.hbm.dram": {"cube.hbm.model": "dram"},
    "cube.channel_router": ONE_TO_ONE,
    "system.inter_sip.pattern": GRID,
    "system.inter_sip.w": GRID,
    "system.inter_sip.h": GRID,
    "pe.pe_gemm.smallest": {"pe.pe_gemm.smallest": {"m": 48, "fixed": 10.0, "macs": 500.0}},
    "pe.pe_gemm.subblock": {
        "pe.pe_gemm.subblock": {"tiles": 2, "cycles": 50.0},
        "pe.pe_gemm.tile": {"m": 16, "k": 64, "n": 16},
    },
    "pe.clock": {"pe.clock": {"ghz": 1.0}},
    "pe.pe_dma.issue.slot": {"pe.pe_dma.issue.bytes_per_cycle": 0.1, "pe.pe_cpu.run_ahead": True},
    "pe.pe_gemm.rows": {"pe.pe_gemm.dataflow": "os"},
    "pe.pe_gemm.cols": {"pe.pe_gemm.dataflow": "os"},
    "pe.pe_ipcq.poll_ns": {"pe.pe_ipcq.backpressure": "poll", "pe.pe_ipcq.slots": 1},
    "pe.pe_ipcq.backpressure": {"pe.pe_ipcq.slots": 1},
    "pe.pe_ipcq.sram": {"pe.pe_ipcq.buffer_kind": "sram"},
    "pe.pe_ipcq.hbm": {"pe.pe_ipcq.buffer_kind": "hbm"},
}
"""Other keys that must be set for keys with this prefix to have a meaning."""
TO: dict[str, object] = {
    "parts": {"tray": "tray", "more": {"block": "store", "count": 3}},
    "blocks": {"store": {"port": "m", "parts": {"m": {"kind": "memory", "access_ns": 50}}}},
    "wires": {"w": {"gbs": 32, "delay_ns": 5}},
    "connect": [{"pair": ["tray.fabric.switch0", "more"], "wire": {"gbs": 64, "delay_ns": 50}}],
    "defaults": {"memory": {"access_ns": 50}},
    "routing.answers": "own",
    "schema_version": 2,
    "name": "another",
    "system.sips": 3,
    "system.inter_sip.pattern": "mesh_2d_no_wrap",
    "system.inter_sip.w": 4,
    "system.inter_sip.h": 4,
    "system.flit_bytes": 128,
    "sip.io_chiplets.0.name": "edge",
    "sip.io_chiplets.0.side": "S",
    "sip.io_chiplets.0.cubes": [1],
    "sip.io_chiplets.0.ports": [{"cube": 1, "side": "E", "distance_mm": 3.0}],
    "sip.cube_mesh.w": 3,
    "sip.cube_mesh.h": 2,
    "cube.pes.count": 4,
    "cube.pes.corners": ["NE", "SW"],
    "memory.cache.capacity": 16384,
    "memory.cache.line": 1024,
    "memory.cache.ways": 1,
    "memory.cache.gbs": 128.0,
    "memory.cache.write_gbs": 16.0,
    "cube.hbm.slices": 1,
    "cube.hbm.zone.row": 1,
    "cube.hbm.zone.col": 1,
    "cube.hbm.zone.rows": 0,
    "cube.hbm.zone.cols": 0,
    "cube.hbm.efficiency": 0.25,
    "cube.hbm.dram.timing": "hbm2_2000",
    "cube.hbm.dram.read_window": 1,
    "cube.hbm.dram.write_window": 1,
    "cube.hbm.dram.drain_high": 0.25,
    "cube.hbm.dram.drain_low": 0.7,
    "cube.hbm.dram.refresh_phase": 0.5,
    "cube.sram.size_bytes": 1 << 20,
    "cube.ucie.n_connections": 1,
    "sip.io_chiplets.0.io_ucie.n_connections": 1,
    "cube.size_mm.h": 20.0,
    "cube.m_cpu.position_mm.x": 14.0,
    "cube.sram.position_mm.x": 14.0,
    "cube.sram.position_mm.y": 12.0,
    "cube.channel_router.issue_ns": 50.0,
    "pe.pe_tcm.scratch_bytes": 512 << 10,
    "pe.pe_gemm.rows": 16,
    "pe.pe_gemm.cols": 16,
    "pe.pe_math.passes": {"exp": 2},
    "pe.pe_math.cycles": {"exp": [9, 16]},
    "pe.pe_math.reduce.across": [301, 38],
    "pe.pe_math.reduce.within": [50, 2],
    "pe.pe_gemm.smallest.m": 16,
    "pe.pe_gemm.phases": {"hifi2": 2},
    "pe.pe_gemm.subblock.tiles": 1,
    "pe.warps": 64,
    "pe.pe_dma.issue.load_cycles": 5000.0,
    "pe.pe_dma.issue.bytes_per_cycle": 0.1,
    "pe.clock.ghz": 2.0,
    "pe.clock.loaded_ghz": 0.5,
    "pe.pe_gemm.smallest.macs": 99.0,
    "pe.pe_tcm.size_bytes": (2 << 20) - 4096,
    "pe.pe_ipcq.slots": 1,
    "pe.pe_ipcq.credit_bytes": 4096,
    "routing.connection": "first",
    "links.*.arbiter": "oldest_first",
    "links.*.buffer_flits": 1,
    "overrides": [{"where": "kind:pe_gemm", "speed": 2.0}],
    "faults": [{"part": "sip0.cube0.pe0.pe_gemm", "speed": 0.5}],
    "components_file": "none.yaml",
}
"""Values of keys that do not simply double."""
REFUSED = {
    "schema_version", "cube.hbm.slices", "system.inter_sip.w", "system.inter_sip.h", "components_file",
    "links.*.dateline", "routing.spread",
}  # fmt: skip
"""Keys whose other value does not fit this machine: an error. So is an ``impl`` that is no class."""
OF_BUFFERS = {"links.*.vcs", "links.*.credit_ns", "links.*.allocation_ns"}
"""Keys that say more of finite buffers; what each does is in ``tests/exact/test_buffers.py``."""


OFF = {key for kind in COMPONENT_KINDS.values() for key in kind.switches}
"""Properties that are there where a key is not off, whatever it changes."""
OF_OTHERS = {
    "pe.warps", "memory.cache.coalesce", "pe.pe_gemm.phases", "pe.pe_gemm.staging_bytes_per_cycle"
}  # fmt: skip
"""Keys for kernels of a grid, whose blocks share a PE or read the same bytes at once, for those that name a
precision, or for loops of one stage; what each does is in
``tests/exact/test_pe_keys.py`` and ``tests/unit/test_cached.py``."""


def keys(section: Section, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every key of the small machine: its dotted name, its type and its value."""
    for name, field in type(section).model_fields.items():
        key, value = f"{path}{name}", getattr(section, name)
        if isinstance(value, Section):
            yield from keys(value, f"{key}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], Section):
            yield from keys(value[0], f"{key}.0.")
        elif field.annotation == dict[str, LinkPart]:
            yield from keys(LinkPart(), f"{key}.*.")
        elif field.annotation == dict[str, KindEnergy]:
            yield from keys(KindEnergy(), f"{key}.*.")
        else:
            yield key, field.annotation, value


def other(key: str, annotation: Any, default: Any) -> object:
    """A value of the key that is not its default: slower, larger, farther."""
    if key in TO:
        return TO[key]
    if key.endswith(".worker"):
        return "serial" if load(None, BASE).system.worker == "pipelined" else "pipelined"
    if key.endswith(".impl"):
        return "no_such_module:Class"
    if key.endswith(".attributes"):
        return {"a_note": 1}
    if get_origin(annotation) is Literal:
        return next(value for value in get_args(annotation) if value != default)
    if isinstance(default, bool):
        return not default
    if key.endswith(("_gbs", ".gbs", "_ghz")):
        return default / 2
    return default * 2 if default else 3.0


def compiled(changes: dict[str, object]) -> PropertyGraph:
    """The small machine with ``changes``, checked as a user's file is."""
    spec = load(None, {**BASE, **changes}, problems)
    if spec.components_file:
        raise AssertionError("a file that does not exist was accepted")
    return compile_topology(spec)


def kernel(x: Any, y: Any, local: Any, shared: Any, out: Any, tl: Any) -> None:
    a = tl.load(x.local)
    tl.store(local.local, tl.load(shared.local))
    b = tl.dot(a, tl.trans(a))
    b = tl.max(b + tl.sum(b), axis=1) + b
    tl.store(out.local + 0, tl.softmax(tl.exp(b)) if tl.program_id(0) == 0 else tl.exp(b))
    done = tl.composite(
        op="gemm", a=tl.ref(x.local), b=tl.ref(y.local), out_ptr=out.local, epilogue=[{"op": "gelu"}]
    )
    for _ in range(16):  # beside the composite
        a = tl.exp(a)
    tl.wait(done)
    tl.cycles(10)
    for axis, forth, back in ((0, "pe_E", "pe_W"), (2, "global_E", "global_W")):
        if tl.program_id(axis) % 2:
            tl.recv(back, shape=(768,), dtype="f16")
        tl.send(forth, tl.zeros((768,), "f16"))
        if not tl.program_id(axis) % 2:
            tl.recv(back, shape=(768,), dtype="f16")


def observed(graph: PropertyGraph) -> dict[str, object]:
    """The behaviour of the machine of ``graph``, and the sizes that fit into it."""
    machine = Machine(graph, [data := DataPlane(verify=False)], check=False)
    torch = Context(machine, data, device="all")
    every, times = DPPolicy("row_wise", "row_wise"), []
    p = graph.properties
    pes = int(p["cubes_per_sip"]) * int(p["pes_per_cube"])
    rows = 32 * pes
    x, out = (torch.from_numpy(np.zeros((rows, 64), np.float16), dp=every) for _ in range(2))
    y = torch.from_numpy(np.zeros((64, 64), np.float16), dp=DPPolicy("replicate", "replicate"))
    local = torch.zeros((rows, 8), dtype="f16", dp=every, memory="tcm")
    shared = torch.zeros((rows, 8), dtype="f16", dp=every, memory="sram")
    torch.wait_all()
    times.append(torch.now)
    torch.empty((rows, 64), dtype="f16", dp=every)
    torch.wait_all()
    times.append(torch.now)
    torch.install_ipcq(["intracube_pe_ring", "inter_sip"])
    times.append(torch.now)
    launch = torch.launch("a bit of everything", kernel, x, y, local, shared, out)
    launch.wait()
    times.append(torch.now)
    x.numpy()
    times.append(torch.now)
    sent = [
        machine.flow(src, dst, 0, 9000, is_write=write)
        for src, dst in (("sip0.cube0.m_cpu", "sip1.cube0.hbm_ctrl.pe0"),
                         ("sip0.cube0.pe0", "sip0.cube1.hbm_ctrl.pe1"),
                         ("sip0.cube0.pe0", "sip1.cube1.sram"), ("host", "sip0.cube1.sram"),
                         ("host", "more0.m"), ("host", "more2.m"))
        if dst in graph
        for write in (False, True, False, True, False, True)
    ] + [
        machine.flow(f"sip0.cube{cube}.pe{pe}", f"sip{sip}.cube0.hbm_ctrl.pe{pe}", 0, 700, is_write=write)
        for sip in range(2) for write in (True, False) for cube in range(2) for pe in range(2)
    ]  # fmt: skip
    for transfer in sent:
        machine.wait(transfer)
        times.append(transfer.t_done)
    windows = [(*start_end, name) for *start_end, name in _windows(machine)]
    return {
        "times": times,
        "addresses": [t.va for t in (x, out, y, local, shared)],
        "sizes": windows,
        "neighbours": neighbours("inter_sip", MachineShape.of(graph)),
        "drawn": [(n.id, n.properties["x_mm"], n.properties["y_mm"]) for n in graph.nodes()],
        "classes": sorted({type(c).__name__ for c in machine.components.values()}),
        "attributes": sorted({key for n in graph.nodes() for key in n.properties} - OFF),
        "energy": figures_of(str(p["spec"])),
    }


def _windows(machine: Machine) -> Iterator[tuple[int, int, str]]:
    for sip in range(1):
        for window in (machine.addresses.hbm_window(sip, 0, 0), machine.addresses.sram_window(sip, 0)):
            yield window.base, window.nbytes, window.component
        yield (*machine.addresses.scratch(sip, 0, 0), "scratch")
        yield (*machine.addresses.allocatable_tcm(sip, 0, 0), "allocatable")


def of_links(key: str, value: object) -> dict[str, object]:
    """A key of links, set for the kinds of link at which messages meet."""
    said = {key.rpartition(".")[2]: value}
    if key in OF_BUFFERS:
        said["buffer_flits"] = 2
    return {"links": dict.fromkeys(("router_mesh", "router_to_hbm", "ucie_to_router"), said)}


def of_energy(key: str, value: object) -> dict[str, object]:
    """A figure of energy or area, set for a kind that has it; what each comes to is in other tests."""
    name = key.rpartition(".")[2]
    kind = next(kind for kind in (*COMPONENT_KINDS, *LINK_KINDS) if name in keys_of(kind))
    return {"energy": {kind: {name: {"f16": value} if name in ("pj_per_mac", "pj_per_op") else value}}}


@cache
def unchanged(beside: str) -> dict[str, object]:
    return observed(compiled(json.loads(beside)))


KEYS = {key: (annotation, value) for key, annotation, value in keys(load(None, BASE))}


EVERY_DAY = 9
"""One key in so many is changed every day, all of them in CI: each runs a machine."""


@pytest.mark.daily(
    "links.*",
    "system.worker",
    "pe.pe_tcm.overhead_ns",
    "cube.hbm.channel_gbs",
    "routing.spread",
    "system.switch.attributes",
    "pe.pe_math.impl",
    "schema_version",
    "pe.pe_gemm.attributes",
)
@pytest.mark.parametrize(
    "key",
    [pytest.param(key, marks=[pytest.mark.slow] if n % EVERY_DAY else []) for n, key in enumerate(KEYS)],
)
def test_a_key_acts_or_is_refused(key: str) -> None:
    beside = next((more for start, more in BESIDE.items() if key.startswith(start)), {})
    value = other(key, *KEYS[key])
    by_kind = {"links": of_links, "energy": of_energy}.get(key.partition(".*.")[0])
    changes = {**beside, **(by_kind(key, value) if by_kind else {key: value})}
    try:
        graph = compiled(changes)
    except (ConfigError, AssertionError):
        assert key in REFUSED or key.endswith(".impl")
        return
    assert key not in REFUSED
    assert not key.endswith(".impl")
    if key.endswith(".attributes"):
        noted = [*graph.nodes(), *(link.edge for link in Machine(graph, check=False).links.values())]
        assert any("a_note" in part.properties for part in noted)
        return
    if key == "system.inter_sip.pattern":  # the kernel's directions are those of a ring
        usual = compiled(dict(beside))
        one, another = (neighbours("inter_sip", MachineShape.of(g)) for g in (usual, graph))
        assert one != another
        return
    after, before = observed(graph), unchanged(json.dumps(beside))
    changed = [what for what in before if before[what] != after[what]]
    if key == "name":
        assert graph.properties["name"] == "another"
        return
    assert changed or key in OF_OTHERS, f"{key} changes nothing"


def test_the_grid_of_packages_acts_where_both_sides_fit() -> None:
    wide = {"system.inter_sip": {"pattern": "mesh_2d_no_wrap", "w": 2, "h": 1}}
    tall = {"system.inter_sip": {"pattern": "mesh_2d_no_wrap", "w": 1, "h": 2}}
    one, other_one = (neighbours("inter_sip", MachineShape.of(compiled(grid))) for grid in (wide, tall))
    assert one != other_one
