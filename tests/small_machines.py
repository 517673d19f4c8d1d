"""A small machine with several of everything: two SIPs of two cubes with two PEs."""

from __future__ import annotations

from functools import cache

from kernbench.support.pgraph import PropertyGraph
from tests.compiled import compiled

SMALL = {
    "system.sips": 2,
    "sip.cube_mesh.w": 2,
    "sip.cube_mesh.h": 1,
    "cube.pes.count": 2,
    "cube.pes.corners": ["NW"],
}
PROGRAMS = 4
"""PEs of one SIP."""

MODELS: dict[str, dict[str, object]] = {
    "va": {},
    "pa": {"system.address_model": "pa"},
    "la": {"system.address_model": "la"},
    "one_to_one": {"system.address_model": "la", "cube.hbm.mapping": "one_to_one"},
    "ahead": {"pe.pe_cpu.run_ahead": True},
}


@cache
def small(model: str) -> PropertyGraph:
    """The machine with this address model and mapping, a key of ``MODELS``."""
    return compiled(None, SMALL | MODELS[model])


@cache
def minimal(ahead: bool = False) -> PropertyGraph:
    """The shipped machine of one PE; its kernels may run ahead."""
    return compiled("minimal", {"pe.pe_cpu.run_ahead": True} if ahead else {})


ONE_CUBE = {"system.sips": 1, "sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1}
"""Leaves one cube of the shipped machine, with all of its PEs."""

TWO_PES = {"cube.pes.count": 2}
"""Gives the smallest shipped machine a second PE, so that it can be halved."""
