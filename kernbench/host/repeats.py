"""``torch.repeat``: periods that are alike are simulated a few times, and accounted for after that.

At each boundary every rank waits for what it has submitted, and the machine is drained. To a machine at rest
the time of the periods that are not simulated is idle time: its clock moves on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

from kernbench.errors import UsageError
from kernbench.host.alike import EXACT
from kernbench.host.meeting import Meeting
from kernbench.host.same_launch import Sent, difference
from kernbench.host.standing import Stage, counted
from kernbench.support.hints import shown
from kernbench.support.user_code import line_of

if TYPE_CHECKING:
    from kernbench.host.context import Context
    from kernbench.host.launching import LaunchHandle
    from kernbench.host.scheduler import HostProgram


def periods(context: Context, n: int, simulate: int, name: str) -> Iterator[int]:
    """See :meth:`Context.repeat`."""
    for what, value, least in (("n", n, 1), ("simulate", simulate, 2)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise UsageError(
                f"torch.repeat: {what} is {shown(value)}; give a whole number of {least} or more"
            )
    if not isinstance(name, str) or not name:
        raise UsageError(f"torch.repeat: name is {shown(name)}; say what one period is called")
    if context.exact:
        context.made_exact = True
        context.stage = Stage(name, context.scheduler.current, n, n)
        return counted(context.stage, range(n))
    line = line_of(sys._getframe())
    program = context.scheduler.current
    if program.sent is not None:
        raise UsageError(f"torch.repeat at {line} is inside of another one; repeat one of the two loops only")
    if program.rank is None and context.scheduler.alive:
        raise UsageError(f"torch.repeat at {line}: ranks are running; join() them first, or repeat in each")
    if context.storage.data.verify and simulate < n:
        raise UsageError(
            f"torch.repeat at {line} leaves {n - simulate} of {n} periods out, so there are no values to "
            f"verify; {EXACT}"
        )
    return _run(context, program, n, simulate, name, line)


def _run(
    context: Context, program: HostProgram, n: int, simulate: int, name: str, line: str
) -> Iterator[int]:
    """The numbers of the periods that are simulated, with a boundary before and after each."""
    simulated = min(simulate, n)
    rank, times = program.rank or 0, n - simulated
    stage = context.stage = Stage(name, program, simulated, n)
    meeting = program.meeting or Meeting(context.scheduler)
    here = meeting.boundaries
    before: list[tuple[Sent, LaunchHandle]] = []
    sent: list[tuple[Sent, LaunchHandle]] = []

    def boundary(number: int, then: Callable[[], None]) -> None:
        context.hold()
        what = f"is at boundary {number} of torch.repeat({n}) at {line}"
        if program.alike is None:
            meeting.come(what, then)
        else:
            program.alike.meet(rank, what, then)

    try:
        program.sent = []
        boundary(0, partial(here.note, context))
        for number in counted(stage, range(simulated)):
            program.sent = []
            yield number
            before, sent = sent, program.sent
            if not sent:
                raise UsageError(
                    f"torch.repeat at {line}: period {number} of rank {rank} launches nothing; launch in it "
                    "what is to be repeated"
                )
            boundary(number + 1, partial(here.note, context))
        if times:
            _check_alike(line, simulated, before, sent)
            if program.alike is None or rank == 0:
                here.launches.append(([h for _, h in before], [h for _, h in sent]))
            boundary(simulated + 1, partial(here.account, context, name, simulated, times))
            for _, handle in sent:
                handle.times += times
    finally:
        program.sent = program.held_since = context.stage = None


def _check_alike(
    line: str,
    simulated: int,
    before: Sequence[tuple[Sent, LaunchHandle]],
    last: Sequence[tuple[Sent, LaunchHandle]],
) -> None:
    """``UsageError`` where the last two periods have not launched the same."""
    for one, other in zip_longest(before, last):
        if one is None or other is None:
            more, (extra, _) = (simulated - 1, other) if one is None else (simulated - 2, one)
            words = f"{extra.said} is in period {more} only"
        elif words := difference(one[0], other[0]):
            words = f"{one[0].said} and {other[0].said} in the next one: {words}"
        if words:
            raise UsageError(
                f"torch.repeat at {line}: periods {simulated - 2} and {simulated - 1} are not alike, "
                f"{words}; repeat what is alike, or {EXACT}"
            )
