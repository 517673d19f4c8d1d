"""How long launches wait that would not with ``--exact``: at boundaries of repeats, before collectives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernbench.host.launching import LaunchHandle, Place


def waits(launches: Sequence[LaunchHandle]) -> list[float]:
    """By launch of one rank, in order, how much later it began than if its program had gone on, ns.

    It would have begun when its message had come and the kernels before it had ended on all of its PEs.
    """
    free: dict[Place, float] = {}
    found = []
    for launch in launches:
        of, wait = launch.request, 0.0
        if launch.held_since is not None:
            on_the_way = of.t_start - of.late_ns - of.t_submit
            ready = max([launch.held_since + on_the_way, *(free.get(pe, 0.0) for pe in launch.targets)])
            wait = max(0.0, of.t_start - ready)
        free |= {pe: of.t_start + times.exec_ns for pe, times in of.pe_times.items()}
        found.append(wait)
    return found


def least(launches: Sequence[LaunchHandle], period_ns: float, waited_ns: float) -> float:
    """The shortest that one of many periods could be: without waits, and with all overlap of its launches.

    Launches on the same PEs do not overlap. Where PEs differ one begins when the last of its own is free.
    """
    if len({launch.targets for launch in launches}) == 1:
        return period_ns - waited_ns
    free: dict[Place, float] = {}
    begins = []
    for _ in range(3):
        for number, launch in enumerate(launches):
            start = max(free.get(pe, 0.0) for pe in launch.targets)
            if number == 0:
                begins.append(start)
            free |= {pe: start + times.exec_ns for pe, times in launch.request.pe_times.items()}
    return min(period_ns - waited_ns, begins[2] - begins[1])
