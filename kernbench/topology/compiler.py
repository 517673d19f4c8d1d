"""Compiles a topology into the property graph that the simulator is wired from.

One node per component, ``CONTAINS`` edges from tray to package to cube to PE to part and from HBM slice to
pseudo-channel, and one ``LINK``
edge per direction of every wire (every link has its twin). The graph's own ``id`` is a hash of the
validated content, so equal topologies have equal ids wherever they were compiled.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from kernbench.pgraph import Properties, PropertyGraph
from kernbench.topology import names, overrides
from kernbench.topology.build_channels import add_channels
from kernbench.topology.build_cube import add_cube, add_seams
from kernbench.topology.build_io import add_io_chiplet
from kernbench.topology.build_pe import part_properties
from kernbench.topology.builder import Builder
from kernbench.topology.loader import validate
from kernbench.topology.properties import component, group
from kernbench.topology.spec import TopologySpec


def compile_topology(spec: TopologySpec) -> PropertyGraph:
    """The property graph of a machine; :class:`~kernbench.errors.ConfigError` if the spec does not hold."""
    validate(spec)
    with _collector_paused():
        build = Builder(spec, PropertyGraph(_graph_properties(spec)))
        _add_system(build)
        overrides.apply(build.graph, spec.overrides, spec.name)
        add_channels(build)
    return build.graph


def _graph_properties(spec: TopologySpec) -> Properties:
    text = spec.canonical()
    mesh = spec.sip.cube_mesh
    grid_w, grid_h = spec.sip_grid
    return {
        "id": hashlib.sha256(text.encode()).hexdigest()[:16],
        "name": spec.name,
        "schema_version": spec.schema_version,
        "ns_per_mm": spec.system.ns_per_mm,
        "flit_bytes": spec.system.flit_bytes,
        "address_model": spec.system.address_model,
        "routing_connection": spec.routing.connection,
        "sips": spec.system.sips,
        "cubes_per_sip": spec.cubes_per_sip,
        "pes_per_cube": spec.cube.pes.count,
        "cube_mesh_w": mesh.w,
        "cube_mesh_h": mesh.h,
        "inter_sip_pattern": spec.system.inter_sip.pattern,
        "sip_grid_w": grid_w,
        "sip_grid_h": grid_h,
        "spec": text,
    }


def _add_system(build: Builder) -> None:
    system = build.spec.system
    tray = build.add(group(names.TRAY, "tray"), None)
    host = build.add(component(names.HOST_CPU, "host_cpu", system.host, {}), tray)
    switch = build.add(component(names.SWITCH, "switch", system.switch, {}), tray)
    build.link(host, switch, "pcie", system.host.link_gbs, system.host.wire_mm)
    pe_own = part_properties(build.spec)
    for sip in range(system.sips):
        build.add(group(names.sip(sip), "sip", sip), tray)
        for cube in range(build.spec.cubes_per_sip):
            add_cube(build, pe_own, sip, cube)
        add_seams(build, sip)
        for io in build.spec.sip.io_chiplets:
            endpoint = add_io_chiplet(build, sip, io)
            build.link(switch, endpoint, "pcie", system.switch.link_gbs, system.switch.wire_mm)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """No cyclic garbage arises here; scanning all the new objects again and again only costs time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
