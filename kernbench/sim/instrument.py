"""What a run can be observed by: a subclass of :class:`Instrument`, the engine's own or a user's.

Methods do nothing by default, so an observer overrides only the ones it needs, and only those are called:
once per transaction or operation, never per flit, in the order in which things finish in simulated time. Who
looks at what is worked out once, when a run starts (:class:`Observers`): what nobody looks at is not made
into an object. The trace, the data plane and the checks are instruments as a user's are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from kernbench.program.operations import Op
    from kernbench.sim.clock import Clock
    from kernbench.sim.rows import StageRows, TransactionRows
    from kernbench.sim.server import Server
    from kernbench.sim.transaction import Transaction


R = TypeVar("R")


class Instrument:
    """Observes a machine; subclass and override.

    Objects are given to ``kernbench.run(..., instruments=[...])``. An instrument watches: it must not change
    what it is shown. It may have a table of its own, ``table`` and :meth:`rows`.
    """

    table: str = ""
    """Name of its table, a word such as ``energy``; empty where it has none."""

    access_rows: TransactionRows | None = None
    """Of an instrument that gathers rows: where; it need not be shown accesses to TCMs one by one."""
    stage_rows: StageRows | None = None
    """The same of stages of tiles."""

    def started(self, resources: Sequence[Server], clock: Clock) -> None:
        """Called when the machine is wired, before anything happens.

        ``resources`` are its components and links, and parts of them, each with its name ``resource``; hops
        and waits of a transaction refer to them by position in this list. ``clock.now`` is the simulated time
        in ns.
        """

    def rows(self) -> Iterable[Mapping[str, object]]:
        """The rows of its table; called once, when the run is over.

        A row maps columns to texts, numbers or booleans. Two columns have a meaning: ``resource`` is the name
        of the component or link that the row is about, ``launch`` the number of a launch. Rows are kept with
        the run as nodes ``(:Run)-[:RECORDED]->(:Reading {kind: table})``, with their columns as properties
        and ``ABOUT`` relationships to the resource or launch.
        """
        return ()

    def transaction_done(self, transaction: Transaction) -> None:
        """Called when a transaction has ended; all of its hops and waits are known."""

    def op_served(self, op: Op) -> None:
        """Called when memory has served the last byte of ``op``, which takes effect now.

        Called once, before :meth:`op_done`, for each operation that reads or writes memory with values; the
        order of calls is the order of effects.
        """

    def op_done(self, op: Op) -> None:
        """Called when a data operation is over. One that touches no memory takes effect now."""

    def stage_done(self, op: Op) -> None:
        """Called when a stage of a tile between TCM and registers, or of computing, is over (no values).

        Called instead of :meth:`op_done` if a class defines both.
        """
        self.op_done(op)

    def launch_started(self, launch: int, name: str, pes: int, t_start: float) -> None:
        """Called when all PEs of a launch have started.

        Args:
            launch: Its number in the run, from 0.
            name: The name that it was launched under.
            pes: How many PEs it runs on.
            t_start: When they started, ns.
        """

    def launch_ended(self, launch: int) -> None:
        """Called when the host has the answers of all PEs of a launch; all of its operations are over."""


class Observers:
    """For the most frequent events, the methods of the instruments that override them."""

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
        accesses = [one.access_rows for one in instruments if _looks(one, "transaction_done")]
        self.access_rows, self.accesses_seen = _gathered(accesses)
        """Where accesses to TCMs are gathered, and whether an instrument looks at each as a transaction."""
        stages = [
            one.stage_rows if _of_one_class(one) else None for one in instruments if _looks(one, "op_done")
        ]
        self.stage_rows, self.stages_seen = _gathered(stages)
        """The same of stages of tiles, as operations."""
        self.stage_done: list[Callable[[Op], None]] = [
            one.stage_done if _of_one_class(one) else one.op_done
            for one in instruments
            if _looks(one, "op_done")
        ]


def _gathered(rows: Sequence[R | None]) -> tuple[R | None, bool]:
    """The rows of the only instrument that looks, or else whether one does."""
    return (rows[0], rows[0] is None) if len(rows) == 1 else (None, len(rows) > 1)


def _of_one_class(instrument: Instrument) -> bool:
    """Whether no subclass overrides ``op_done`` alone."""
    return "stage_done" in next(vars(cls) for cls in type(instrument).__mro__ if "op_done" in vars(cls))


def _looks(instrument: Instrument, method: str) -> bool:
    """Whether the instrument has the method itself, or a class of it below :class:`Instrument` does."""
    below = [cls for cls in type(instrument).__mro__ if cls not in Instrument.__mro__]
    return any(method in vars(place) for place in (instrument, *below) if hasattr(place, "__dict__"))
