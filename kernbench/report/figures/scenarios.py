"""Which transfers to look at: found from the topology, so that any machine has its near and its far.

The transfers start at PE 0 of cube 0 of SIP 0, or at the first PEs of that cube. Near and far are meant by
the time of a message without bytes over the route that the DMA takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kernbench.machine.machine import Machine
from kernbench.routing import Traffic
from kernbench.topology import names

MOST_PES = 8
"""PEs that transfer at once at most."""


@dataclass(frozen=True, slots=True)
class ScenarioFlow:
    """One transfer: a PE, an HBM slice, and which of the transfers to that slice it is, counted from 0."""

    src: str
    dst: str
    place: int = 0


@dataclass(frozen=True, slots=True)
class Scenario:
    """Transfers that start together."""

    name: str
    flows: tuple[ScenarioFlow, ...]

    @property
    def contended(self) -> bool:
        """Several PEs transfer at once."""
        return len(self.flows) > 1


@dataclass(frozen=True, slots=True)
class ScenarioLeftOut:
    """A scenario that the topology is too small for."""

    scenario: str
    why: str


def find(machine: Machine) -> tuple[list[Scenario], list[ScenarioLeftOut]]:
    """All scenarios of a topology, from near to far and from few to many, and those that it cannot have."""
    found: list[Scenario] = []
    missing: list[ScenarioLeftOut] = []
    for item in (*_alone(machine), *_together(machine)):
        if isinstance(item, Scenario):
            found.append(item)
        else:
            missing.append(item)
    return found, missing


def _ns(machine: Machine, pe: str, memory: str) -> float:
    return machine.path(f"{pe}.pe_dma", memory, Traffic.PE_DMA).latency_ns()


def _slices(machine: Machine, sip: int, cube: int) -> list[str]:
    """Controllers of a cube's HBM slices."""
    found: list[str] = []
    while (name := names.hbm(sip, cube, len(found))) in machine.components:
        found.append(name)
    return found


def _alone(machine: Machine) -> Iterator[Scenario | ScenarioLeftOut]:
    pe = names.pe(0, 0, 0)
    own, *others = _slices(machine, 0, 0)
    yield Scenario("own slice", (ScenarioFlow(pe, own),))

    others.sort(key=lambda memory: _ns(machine, pe, memory))
    yield _one("same cube, nearest slice", pe, others[:1], "its cube has one HBM slice")
    yield _one("same cube, farthest slice", pe, others[1:][-1:], "its cube has no third HBM slice")

    cubes = int(machine.graph.properties["cubes_per_sip"])
    away = sorted((names.hbm(0, c, 0) for c in range(1, cubes)), key=lambda memory: _ns(machine, pe, memory))
    yield _one("neighbour cube", pe, away[:1], "its SIP has one cube")
    yield _one("farthest cube", pe, away[1:][-1:], "its SIP has no third cube")

    there = [names.hbm(1, 0, 0)] if int(machine.graph.properties["sips"]) > 1 else []
    yield _one("other SIP", pe, there, "the tray has one SIP")


def _one(name: str, pe: str, memory: list[str], why: str) -> Scenario | ScenarioLeftOut:
    return Scenario(name, (ScenarioFlow(pe, memory[0]),)) if memory else ScenarioLeftOut(name, why)


def _together(machine: Machine) -> Iterator[Scenario | ScenarioLeftOut]:
    pes = int(machine.graph.properties["pes_per_cube"])
    most = min(pes, MOST_PES)
    here = [names.pe(0, 0, p) for p in range(most)]
    slices = _slices(machine, 0, 0)
    if most < 2:
        for name in ("several PEs, one slice", "several PEs, all local", "several PEs, ring neighbours"):
            yield ScenarioLeftOut(name, "its cube has one PE")
        return
    for count in sorted({2, min(4, most), most}):
        flows = tuple(ScenarioFlow(pe, slices[0], place) for place, pe in enumerate(here[:count]))
        yield Scenario(f"{count} PEs, one slice", flows)
    local = [min(slices, key=lambda memory, pe=pe: _ns(machine, pe, memory)) for pe in here]  # type: ignore[misc]
    yield Scenario(f"{most} PEs, all local", _place(here, local))
    yield Scenario(f"{most} PEs, ring neighbours", _place(here, [*local[1:], local[0]]))


def _place(pes: list[str], memories: list[str]) -> tuple[ScenarioFlow, ...]:
    """Transfers to one slice take places one behind the other."""
    taken: dict[str, int] = {}
    flows = []
    for pe, memory in zip(pes, memories, strict=True):
        place = taken.get(memory, 0)
        taken[memory] = place + 1
        flows.append(ScenarioFlow(pe, memory, place))
    return tuple(flows)
