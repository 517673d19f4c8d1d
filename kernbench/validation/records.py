"""Figures of the earlier system's decision records: transfers between PEs and memory, a sum over packages."""

from __future__ import annotations

from functools import cache

from kernbench.api.running import run
from kernbench.api.topologies import load_topology
from kernbench.engine.components.registry import problems
from kernbench.engine.machine.machine import Machine
from kernbench.hardware.topology import compile_topology, load
from kernbench.hardware.topology.places import places
from kernbench.support.pgraph import PropertyGraph
from kernbench.validation.table_file import Case
from kernbench.workloads.probes.scenarios import scenarios

NBYTES = 16384
"""Of each PE's transfer."""


def makespan(case: Case) -> float:
    """Time from the start of a scenario of ``kernbench evaluate dma`` to the end of its last flow, ns."""
    return _measure_scenario(case)[0]


def bandwidth(case: Case) -> float:
    """Bytes of all flows of a scenario over its makespan, GB/s."""
    ns, nbytes = _measure_scenario(case)
    return nbytes / ns


def read(case: Case) -> float:
    """Time of a read of a cube's first slice by the first PE of all, ns."""
    graph = _graph(str(case["topology"]))
    machine, found = Machine(graph, [], check=False), places(graph)
    source = found.part("hbm_ctrl", 0, int(case["cube"]), 0)
    machine.wait(machine.flow(found.pe(0, 0, 0), source, 0, NBYTES, is_write=False, start_ns=0.0))
    return machine.clock.now


def sum_us(case: Case) -> float:
    """Time of an all-reduce over six packages as a torus of 2 x 3, its root in cube ``root``, us."""
    torus = {"pattern": "torus_2d", "w": 2, "h": 3}
    changes = {"system.sips": 6, "system.inter_sip": torus, "pe.pe_ipcq.slots": int(case["slots"])}
    graph = load_topology(str(case["topology"]), changes)
    params = {"elements": int(case["elements"]), "root": int(case["root"])}
    return (run("ccl-allreduce", graph, params=params, trace=False).kernels_ns or 0.0) / 1000.0


def _measure_scenario(case: Case) -> tuple[float, int]:
    """Makespan and bytes of a scenario."""
    graph = _graph(str(case["topology"]))
    wanted = case["scenario"], case["op"]
    flows = next(flows for name, op, flows, _ in scenarios(graph, NBYTES) if (name, op) == wanted)
    machine = Machine(graph, [], check=False)
    write = case["op"] == "write"
    sent = [
        machine.flow(one["src"], one["dst"], one["offset"], one["bytes"], is_write=write, start_ns=0.0)
        for one in flows
    ]
    machine.wait(*sent)
    return machine.clock.now, sum(one["bytes"] for one in flows)


@cache
def _graph(topology: str) -> PropertyGraph:
    return compile_topology(load(topology, {}, problems))
