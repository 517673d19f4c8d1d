"""Compiles a topology into the property graph that the simulator is wired from.

One node per component, ``CONTAINS`` edges from tray to package to cube to PE to part and from HBM slice to
pseudo-channel, and one ``LINK``
edge per direction of every wire (every link has its twin). The graph's own ``id`` is a hash of all
that was compiled: machines that differ in anything have different ids, by whatever version they were made.
"""

from __future__ import annotations

import json

from kernbench import collector
from kernbench.pgraph import Properties, PropertyGraph, topology_id
from kernbench.topology import link_parts, names, overrides
from kernbench.topology.build_cube import add_channels
from kernbench.topology.build_sip import add_sip
from kernbench.topology.builder import Builder
from kernbench.topology.loader import validate
from kernbench.topology.spec import TopologySpec


def compile_topology(spec: TopologySpec) -> PropertyGraph:
    """The property graph of a machine; :class:`~kernbench.errors.ConfigError` if the spec does not hold."""
    validate(spec)
    with collector.paused():
        build = Builder(spec, PropertyGraph(_graph_properties(spec)))
        _add_system(build)
        link_parts.note(build.graph, spec)
        overrides.apply(build.graph, spec.overrides, spec.name)
        add_channels(build.graph)
        link_parts.add_buffers(build.graph)
        build.graph.properties["id"] = topology_id(build.graph)
        if spec.components:
            build.graph.notes["components"] = json.dumps(spec.components, sort_keys=True)
    return build.graph


def _graph_properties(spec: TopologySpec) -> Properties:
    text = spec.canonical()
    mesh = spec.sip.cube_mesh
    grid_w, grid_h = spec.sip_grid
    return {
        "id": "",
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
    tray = build.add_group("tray", names.TRAY, None)
    host = build.add("host_cpu", names.HOST_CPU, tray, system.host)
    switch = build.add("switch", names.SWITCH, tray, system.switch)
    build.link(host, switch, "pcie", system.host.link_gbs, system.host.wire_mm)
    for sip in range(system.sips):
        for endpoint in add_sip(build, sip):
            build.link(switch, endpoint, "pcie", system.switch.link_gbs, system.switch.wire_mm)
