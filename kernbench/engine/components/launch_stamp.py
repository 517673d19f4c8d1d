# cython: boundscheck=True, wraparound=True, cdivision=False
"""The instant at which the last PE of a launch has its message, on a machine with nothing else to do.

The longest path to the launch's PEs does not do for its common start: the messages of the fan-out
also wait for each other, at the IO_CPU's first routers and at each M_CPU's. This module plays that fan-out
through, message by message, with the rules of the fabric. A component takes its overhead for a message
without bytes, for one after the other unless it is pipelined. A link takes its distance, and is held for as
long as a message holds the output of its node. At equal times messages go by their number. On an idle machine
the engine takes exactly the same times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count

from kernbench.engine.core.node import FabricNode, Link
from kernbench.engine.core.transaction import Path

_MESSAGE, _CALL = range(2)


def last_arrival(now: float, legs: Sequence[tuple[Path, Sequence[Path]]]) -> float:
    """When the last message of a fan-out has been received, ns.

    Args:
        now: when the messages of the first leg are sent, in order.
        legs: for each message of the first leg its path, and the paths of the messages that its receiver
            sends on when it has it.

    Returns:
        The time at which the last receiver of the second leg has paid its overhead.
    """
    free: defaultdict[FabricNode | Link, float] = defaultdict(float)
    agenda: list[tuple[float, int, int, int, Path, Sequence[Path]]] = []
    numbers = count()
    last = now

    def send(time: float, path: Path, then: Sequence[Path]) -> None:
        if not path.links:
            heappush(agenda, (time, _CALL, next(numbers), 0, path, then))
            return
        heappush(agenda, (_cross(free, time, path.links[0]), _MESSAGE, next(numbers), 1, path, then))

    for path, then in legs:
        send(now, path, then)
    while agenda:
        time, kind, number, hop, path, then = heappop(agenda)
        if kind == _CALL:
            last = max(last, time)
            for following in then:
                send(time, following, ())
            continue
        node = path.nodes[hop]
        overlaps = node.is_transit and node.pipelined and hop < len(path.links)
        out = (time if overlaps else max(time, free[node])) + node.overhead_ns
        free[node] = out
        if hop < len(path.links):
            heappush(agenda, (_cross(free, out, path.links[hop]), _MESSAGE, number, hop + 1, path, then))
        else:
            heappush(agenda, (out, _CALL, number, hop, path, then))
    return last


def _cross(free: defaultdict[FabricNode | Link, float], time: float, link: Link) -> float:
    """When a message that comes at ``time`` has crossed ``link``, ns; ``free`` says when each part is."""
    begun = max(time, free[link])
    free[link] = begun + link.issue_ns
    return begun + link.delay_ns
