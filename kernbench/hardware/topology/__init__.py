"""From a topology file to the property graph that everything else runs on.

``load`` reads and validates YAML, ``compile_topology`` turns the result into a
:class:`~kernbench.support.pgraph.PropertyGraph`: one node per component, one edge per directed link.
"""

from __future__ import annotations

from kernbench.hardware.topology.loader import find, load, parse, validate
from kernbench.hardware.topology.shapes.emit import compile_topology
from kernbench.hardware.topology.spec import TopologySpec

__all__ = ["TopologySpec", "compile_topology", "find", "load", "parse", "validate"]
