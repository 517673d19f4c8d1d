"""Requests of the host, and kernel launches with the barrier at which their PEs meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kernbench.engine.program.commands import BoundKernel
from kernbench.errors import LaunchError
from kernbench.support.user_code import raised_at

Target = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class PeTimes:
    """Time of one PE in a launch, ns."""

    exec_ns: float
    """From the common start to the end of its kernel."""
    dma_ns: float
    """Part of it in which its DMA had a transfer of the launch in flight."""
    compute_ns: float
    """Part of it in which GEMM or MATH worked."""
    wait_ns: float
    """Part of it in which neither did."""


class Request:
    """A host operation in flight. Times in ns; ``t_start`` is the common kernel start of a launch.

    ``ids`` are the message's correlation id and request id; they come back in the answer and are kept with
    every transaction of the request.
    """

    def __init__(self, label: str, t_submit: float, ids: tuple[str, str] = ("", "")) -> None:
        self.label = label
        self.ids = ids
        self.t_submit = t_submit
        self.t_start = -1.0
        self.t_done = -1.0
        self.done = False
        self.wait_ns = 0.0
        """Longest time that one transaction of a transfer stood behind others, once it is done."""
        self.late_ns = 0.0
        """Of a launch: how long after the stamped instant it began, ns."""
        self.pe_times: dict[Target, PeTimes] = {}
        """Of a launch: the times of its PEs, as their kernels end."""
        self.error: Exception | None = None
        self.led: Request | None = None
        """That of a launch that this one, like it, follows."""
        self.open = 0
        """Parts that are still unanswered."""
        self._calls: list[Callable[[], None]] = []

    def when_done(self, call: Callable[[], None]) -> None:
        """Have ``call`` called when the request is done, at once if it is."""
        if self.done:
            call()
        else:
            self._calls.append(call)

    def part_done(self, time: float, error: Exception | None = None) -> None:
        """One part is answered; the request is done with its last. The first error stays."""
        if error is not None and self.error is None:
            self.error = error
        self.open -= 1
        if self.open <= 0 and not self.done:
            self.done = True
            self.t_done = time
            calls, self._calls = self._calls, []
            for call in calls:
                call()


@dataclass(eq=False)
class Launch:
    """A launch: its kernel, its PEs, and its progress.

    ``stamp_ns`` is the latest of the instants that the IO CPUs have stamped. The PEs begin
    at that instant or, when launch messages were held up by other traffic or a PE was still busy, when
    the last PE has its launch and is free: all at one time, over cubes and SIPs, and none before it has
    its launch. With ``fail_fast`` the first failure stops the kernels of all its PEs; else they run on.
    """

    id: int
    kernel: BoundKernel
    targets: tuple[Target, ...]
    request: Request
    fail_fast: bool = True
    stamp_ns: float = 0.0
    start_ns: float = 0.0
    failure: Exception | None = None
    leaders: dict[Target, Target] = field(default_factory=dict)
    """By PE that is not simulated the one that is simulated for it: it ends when that does."""
    followers: dict[Target, list[Callable[[], None]]] = field(default_factory=dict)
    """By PE that is simulated what ends those that it is simulated for."""
    begun: bool = False
    _ready: list[tuple[Target, Callable[[], None], Callable[[Launch], None]]] = field(default_factory=list)

    @property
    def correlation_id(self) -> str:
        """Names this launch in errors and answers."""
        return f"launch-{self.id}"

    def __post_init__(self) -> None:
        self._pes: dict[int, dict[int, list[int]]] = {}
        for sip, cube, pe in sorted(self.targets):
            self._pes.setdefault(sip, {}).setdefault(cube, []).append(pe)

    def sips(self) -> list[int]:
        """SIPs that take part, ascending."""
        return list(self._pes)

    def cubes(self, sip: int) -> list[int]:
        """Cubes of ``sip`` that take part, ascending."""
        return list(self._pes[sip])

    def pes(self, sip: int, cube: int) -> list[int]:
        """PEs of a cube that take part, ascending."""
        return self._pes[sip][cube]

    def work_of(self, sip: int) -> int:
        """PEs of a package that have work in it: not more than it has blocks of a grid."""
        pes = sum(len(pes) for pes in self._pes[sip].values())
        return min(pes, getattr(self.kernel, "blocks", pes))

    def program_id(self, target: Target) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """(index, count) of a PE within the launch by axis: PE in its cube, cube in its SIP, SIP."""
        sip, cube, pe = target
        pes, cubes, sips = self.pes(sip, cube), self.cubes(sip), self.sips()
        return (
            (pes.index(pe), cubes.index(cube), sips.index(sip)),
            (len(pes), len(cubes), len(sips)),
        )

    @property
    def stopped(self) -> bool:
        """Whether kernels that run or have yet to begin are stopped, because one has failed."""
        return self.fail_fast and self.failure is not None

    @property
    def over(self) -> bool:
        """Whether all of its kernels have ended."""
        return len(self.request.pe_times) == len(self.targets)

    def stamp(self, time: float) -> None:
        """An IO CPU starts its share at ``time`` ns; the latest stamp holds for all."""
        self.stamp_ns = max(self.stamp_ns, time)

    def arrive(
        self, target: Target, now: float, begin: Callable[[], None], stop: Callable[[Launch], None]
    ) -> list[Callable[[], None]] | None:
        """A PE has its launch and is free.

        Args:
            target: the PE.
            now: simulated time, ns.
            begin: starts its kernel.
            stop: ends its kernel of this launch where another one has failed.

        Returns:
            For the last one: the ``begin`` of all, in order of location. None for the others.
        """
        self._ready.append((target, begin, stop))
        if len(self._ready) < len(self.targets):
            return None
        self._ready.sort(key=lambda entry: entry[0])
        self.start_ns = max(self.stamp_ns, now)
        self.request.late_ns = self.start_ns - self.stamp_ns
        return [begin for _, begin, _ in self._ready]

    def fail(self, where: str, now: float, error: BaseException) -> None:
        """The kernel has failed on PE ``where``; the first failure is the launch's error."""
        if self.failure is not None:
            return
        self.failure = LaunchError.of_kernel(self.kernel.name, where, now, self.id, raised_at(error), error)
        if self.fail_fast:
            for _, _, stop in self._ready:
                stop(self)
