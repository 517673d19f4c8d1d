"""Contexts on a small real machine (two SIPs of two cubes with two PEs), and two kernels for them."""

from __future__ import annotations

from kernbench.engine.machine.machine import Machine
from kernbench.host import Context, DPPolicy
from kernbench.values import DataPlane
from tests.compiled import compiled
from tests.small_machines import SMALL, minimal, small

GRAPHS = {
    "va": small("va"),
    "pa": small("pa"),
    "serial": compiled(None, SMALL | {"system.worker": "serial"}),
    "minimal": minimal(),
}
ALL = DPPolicy("row_wise", "row_wise")


def make(graph="va", *, verify=True, device="all", params=None):
    data = DataPlane(verify=verify)
    return Context(Machine(GRAPHS[graph], [data]), data, device=device, params=params)


def copy_kernel(src, dst, tl):
    tl.store(dst.local, tl.load(src.local))


def double_kernel(src, dst, tl):
    tl.store(dst.local, tl.load(src.local) * 2)
