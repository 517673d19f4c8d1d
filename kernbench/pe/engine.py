"""A DMA engine: one job at a time, first come first served, and who held it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from kernbench.sim.ops import Op
from kernbench.sim.server import Server
from kernbench.sim.transaction import Transaction


class Job:
    """One transfer between a PE and memory: all regions of it at once, done with the last."""

    __slots__ = (
        "address",
        "done",
        "engine",
        "is_write",
        "kind",
        "nbytes",
        "op",
        "open",
        "t_ready",
        "t_start",
    )

    def __init__(self, op: Op, kind: str, address: int, nbytes: int, done: Callable[[], None]) -> None:
        self.op = op
        self.kind = kind
        self.is_write = kind == "dma_write"
        self.address = address
        self.nbytes = nbytes
        self.done = done
        self.open = 0
        self.t_ready = 0.0
        self.t_start = 0.0
        self.engine: Engine | None = None


class Engine(Server):
    """One engine. It is held from a job's start to its end, whose time nobody knows beforehand."""

    busy = False

    def hold(self, time: float, owner: Transaction, *, waited: bool) -> None:
        """``owner``'s job has it from ``time`` on; ``waited`` when others stood before it in the queue."""
        if not waited:
            self._runs.clear()
        elif self.holder is not None:
            self._runs.append((self.since, self.holder))
        self.holder = owner
        self.since = time


class EngineGroup:
    """Engines of one direction with one queue."""

    def __init__(self, name: str, count: int) -> None:
        self.engines = [Engine(f"{name}{i}") for i in range(count)]
        self.queue: deque[Job] = deque()

    def free_engine(self) -> Engine | None:
        """An idle engine, the first by number, or None."""
        return next((e for e in self.engines if not e.busy), None)

    def jobs(self) -> int:
        """Jobs queued or running."""
        return len(self.queue) + sum(e.busy for e in self.engines)
