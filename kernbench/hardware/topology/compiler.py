"""Compiles a specification: what its sections describe, and the steps that follow."""

from __future__ import annotations

from kernbench.hardware.topology.shapes.emit import compile_described
from kernbench.hardware.topology.spec import TopologySpec
from kernbench.support.pgraph import PropertyGraph


def compile_topology(spec: TopologySpec) -> PropertyGraph:
    """The property graph of a machine.

    Raises:
        ConfigError: the specification does not hold.
        UsageError: a step of its ``built`` cannot be carried out.
    """
    if spec.built.on == "this" and not spec.built.steps:
        return compile_described(spec)
    from kernbench.hardware.topology.parts import Topology  # most machines are not built step by step

    return Topology.from_spec(spec).compile()
