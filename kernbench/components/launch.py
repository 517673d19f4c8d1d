"""One kernel launch on its way through the machine, and the barrier at which its PEs meet."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kernbench.components.request import Request
from kernbench.errors import KernelError, LaunchError
from kernbench.pe.commands import KernelCall

Target = tuple[int, int, int]
_KERNBENCH = Path(__file__).parents[1]
_BENCHES = _KERNBENCH / "benches"


@dataclass(eq=False)
class Launch:
    """A launch: what runs, where, and how far it has come.

    ``start_ns`` is the latest of the instants that the IO CPUs have stamped (ADR-0009 D5). The PEs begin
    at that instant or, when launch messages were held up by other traffic or a PE was still busy, when
    the last PE has its launch and is free: all at one time, over cubes and SIPs, and none before it has
    been told. ``waiting`` are those already at the barrier.
    """

    id: int
    call: KernelCall
    targets: tuple[Target, ...]
    request: Request
    start_ns: float = 0.0
    failure: Exception | None = None
    _ready: list[tuple[Target, Callable[[], None]]] = field(default_factory=list)

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

    def program_id(self, target: Target) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """(index, count) of a PE within the launch by axis: PE in its cube, cube in its SIP, SIP."""
        sip, cube, pe = target
        pes, cubes, sips = self.pes(sip, cube), self.cubes(sip), self.sips()
        return (
            (pes.index(pe), cubes.index(cube), sips.index(sip)),
            (len(pes), len(cubes), len(sips)),
        )

    def arrive(
        self, target: Target, now: float, begin: Callable[[], None]
    ) -> list[Callable[[], None]] | None:
        """A PE has its launch and is free. The last one gets everybody's ``begin``, in order of place."""
        self._ready.append((target, begin))
        if len(self._ready) < len(self.targets):
            return None
        self.start_ns = max(self.start_ns, now)
        return [begin for _, begin in sorted(self._ready, key=lambda entry: entry[0])]

    def fail(self, where: str, now: float, error: BaseException) -> None:
        """The kernel has failed on PE ``where``; the first failure is the launch's error."""
        if self.failure is not None:
            return
        own = [f for f in traceback.extract_tb(error.__traceback__) if _is_kernel(Path(f.filename))]
        at = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
        # An error of tl says kernel, PE and time itself.
        told = f"kernel '{self.call.name}' on {where} at "
        what = str(error)
        if isinstance(error, KernelError) and what.startswith(told):
            what = what.partition(" ns: ")[2]
        else:
            what = f"{type(error).__name__}: {what}"
        self.failure = LaunchError(
            f"kernel '{self.call.name}' failed on {where} at {now:.3f} ns ({self.correlation_id}): {what}{at}"
        )
        self.failure.__cause__ = error
        self.failure.traceback_text = "".join(  # type: ignore[attr-defined]
            traceback.format_exception(type(error), error, error.__traceback__)
        )


def _is_kernel(file: Path) -> bool:
    """Whether code of ``file`` may be a kernel's own, rather than what carries kernels out."""
    return file.is_relative_to(_BENCHES) or not file.is_relative_to(_KERNBENCH)
