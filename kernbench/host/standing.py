"""How much of its work a program has done: periods of a repeat, launches, blocks of a grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernbench.engine.run_options import Work

if TYPE_CHECKING:
    from kernbench.host.context import Context
    from kernbench.host.scheduler import HostProgram


@dataclass(slots=True)
class Stage:
    """Period ``number`` of ``total`` simulated ones, of ``all``. ``before``: launches of the last one."""

    name: str
    program: HostProgram
    total: int
    all: int
    number: int = 0
    before: int = 0

    def begin(self, number: int) -> None:
        """A period begins; :attr:`HostProgram.sent` has the launches of the last one."""
        self.number, self.before = number, len(self.program.sent or ())

    @property
    def work(self) -> Work:
        """The periods, and their share once one is over."""
        more = f" ({self.all} in all)" if self.all > self.total else ""
        over = max(0, len(self.program.sent or ()) - 1) / self.before if self.before else 0.0
        share = (self.number + min(over, 1.0)) / self.total if self.number else None
        return Work(f"{self.name} {self.number + 1} of {self.total}{more}", share)


def counted(stage: Stage, numbers: Iterable[int]) -> Iterator[int]:
    """Yield each period's number, and report it as the one in progress."""
    for number in numbers:
        stage.begin(number)
        yield number


def of(context: Context) -> Work:
    """What a run says of itself."""
    said, share = [], None
    if context.stage is not None:
        text, share = context.stage.work
        said.append(text)
    if context.launches:
        last = context.launches[-1]
        said.append(f"launch {len(context.launches)}")
        if last.grid is not None and not last.done:
            said.append(f"block {last.grid.taken} of {last.grid.blocks}")
    return Work(", ".join(said), share)
