"""The one tracing seam: an observer of a run subclasses :class:`Instrument`.

Methods do nothing by default, so an observer overrides only the ones it needs. They are called once per
transaction or operation, never per flit, in the order in which things finish in simulated time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kernbench.program.operations import Op
    from kernbench.sim.transaction import Transaction


class Instrument:
    """Observes a machine; subclass and override."""

    def transaction_done(self, transaction: Transaction) -> None:
        """A transaction has reached its end; all of its hops and waits are known."""

    def op_served(self, op: Op) -> None:
        """Memory has served the last byte of ``op``: it takes effect now.

        Called once, before :meth:`op_done`, for each operation that reads or writes memory with values; the
        order of calls is the order of effects.
        """

    def op_done(self, op: Op) -> None:
        """A data operation is over. One that touches no memory takes effect now."""

    def stage_done(self, op: Op) -> None:
        """A stage of a tile between TCM and registers, or of computing, is over: it moves no values.

        The compiled core calls this in place of :meth:`op_done` where a class defines both.
        """
        self.op_done(op)

    def launch_started(self, launch: int, name: str, pes: int, t_start: float) -> None:
        """All PEs of a launch have begun, at ``t_start`` ns."""

    def launch_ended(self, launch: int) -> None:
        """The host has the answers of all PEs of a launch; none of its operations is still to come."""


class Observers:
    """For what happens most often, the methods of those instruments that look at it."""

    def __init__(self, instruments: Sequence[Instrument]) -> None:
        self.transaction_done: list[Callable[[Transaction], None]] = [
            one.transaction_done for one in instruments if _looks(one, "transaction_done")
        ]
        self.op_served: list[Callable[[Op], None]] = [
            one.op_served for one in instruments if _looks(one, "op_served")
        ]
        self.op_done: list[Callable[[Op], None]] = [
            one.op_done for one in instruments if _looks(one, "op_done")
        ]
        self.stage_done: list[Callable[[Op], None]] = [
            one.stage_done if _of_one_class(one) else one.op_done
            for one in instruments
            if _looks(one, "op_done")
        ]


def _of_one_class(instrument: Instrument) -> bool:
    """Whether no subclass overrides ``op_done`` alone."""
    return "stage_done" in next(vars(cls) for cls in type(instrument).__mro__ if "op_done" in vars(cls))


def _looks(instrument: Instrument, method: str) -> bool:
    return getattr(type(instrument), method, None) is not getattr(Instrument, method)
