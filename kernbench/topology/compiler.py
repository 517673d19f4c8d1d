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
from kernbench.topology import link_parts, overrides
from kernbench.topology.build_cube import add_channels
from kernbench.topology.build_tray import add_tray
from kernbench.topology.builder import Builder
from kernbench.topology.loader import validate
from kernbench.topology.spec import TopologySpec


def compile_topology(spec: TopologySpec) -> PropertyGraph:
    """The property graph of a machine; :class:`~kernbench.errors.ConfigError` if the spec does not hold."""
    validate(spec)
    with collector.paused():
        graph = PropertyGraph(_graph_properties(spec))
        if spec.parts:
            from kernbench.topology.shapes.emit import emit  # most machines have no parts

            emit(spec, graph)
        else:
            add_tray(Builder(spec, graph))
        link_parts.note(graph, spec)
        graph.properties |= {
            key: value for key in ("answers", "spread") if (value := getattr(spec.routing, key))
        }
        if spec.memory.interleave:
            graph.properties["interleave"] = spec.memory.interleave
            graph.properties["interleave_bytes"] = spec.memory.granule_bytes
        overrides.apply(graph, spec.overrides, spec.name)
        add_channels(graph)
        link_parts.add_buffers(graph)
        graph.properties["id"] = topology_id(graph)
        if spec.components:
            graph.notes["components"] = json.dumps(spec.components, sort_keys=True)
    return graph


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
