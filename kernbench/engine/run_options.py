"""How a program is run, and what is kept of its run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from kernbench.support.bounds import check_number

if TYPE_CHECKING:
    from kernbench.engine.core.instrument import Instrument

Progress = Callable[[float, int], None]
"""Called now and then while time is simulated, with (simulated ns, events so far)."""
ShareProgress = Callable[[float, int, float | None], None]
"""The same of several runs, with the share of them that is done where it is known."""


class Work(NamedTuple):
    """What a run has done of its work, in words that may be empty, and the share where that is known."""

    text: str = ""
    share: float | None = None


@dataclass(frozen=True, slots=True)
class WorkProgress:
    """A :data:`Progress` whose function is also given the :class:`Work` that is done."""

    tell: Callable[[float, int, Work], None]

    def __call__(self, sim_ns: float, events: int) -> None:
        """As a plain progress is called: nothing is known of the work."""
        self.tell(sim_ns, events, Work())


def tell(progress: Progress, sim_ns: float, events: int, work: Work) -> None:
    """Call a progress, with the work that is done if it takes that."""
    if isinstance(progress, WorkProgress):
        progress.tell(sim_ns, events, work)
    else:
        progress(sim_ns, events)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of a run. :func:`kernbench.run` has them as arguments and says what each means."""

    verify: bool | Literal["ops"] = False
    device: str | None = None
    trace: bool = True
    tags: Sequence[str] = ()
    project: str | None = None
    user: str | None = None
    progress: Progress | None = None
    check: bool | None = None
    max_ns: float | None = None
    max_events: int | None = None
    timeout: float | None = None
    spent_s: float = 0.0
    """Seconds of ``timeout`` that were spent before."""
    detail: str = "full"
    keep_partial: bool = False
    exact: bool = False
    strict_device: bool = False
    instruments: Sequence[Instrument | str] = ()

    def __post_init__(self) -> None:
        for name in ("max_ns", "max_events", "timeout"):
            if (limit := getattr(self, name)) is not None:
                check_number(name, limit)

    @property
    def recorded(self) -> bool:
        """Whether hops are recorded: to be kept, or for an instrument."""
        return self.trace or bool(self.instruments)
