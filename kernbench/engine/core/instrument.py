"""What a run can be observed by: a subclass of :class:`Instrument`, the engine's own or a user's.

Methods do nothing by default, so an observer overrides only the ones it needs, and only those are called:
once per transaction or operation, never per flit, in the order in which things finish in simulated time. Who
looks at what is worked out once, when a run starts (:meth:`Ledger.inform`): what nobody looks at is not made
into an object. The trace, the data plane and the checks are instruments as a user's are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from kernbench.engine.core.clock import Clock
    from kernbench.engine.core.rows import StageRows, TransactionRows
    from kernbench.engine.core.server import Server
    from kernbench.engine.core.transaction import Transaction
    from kernbench.engine.program.operations import Op


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


def observing(instruments: Sequence[Instrument], method: str) -> list[Instrument]:
    """Those that look at what ``method`` is called for.

    They have the method themselves, or a class of theirs below :class:`Instrument` does.
    """
    found = []
    for one in instruments:
        below = [cls for cls in type(one).__mro__ if cls not in Instrument.__mro__]
        if any(method in vars(place) for place in (one, *below) if hasattr(place, "__dict__")):
            found.append(one)
    return found


def of_one_class(instrument: Instrument) -> bool:
    """Whether no subclass overrides ``op_done`` alone."""
    return "stage_done" in next(vars(cls) for cls in type(instrument).__mro__ if "op_done" in vars(cls))


def gathered(rows: Sequence[R | None]) -> tuple[R | None, bool]:
    """The rows of the only instrument that looks, or else whether one does."""
    return (rows[0], rows[0] is None) if len(rows) == 1 else (None, len(rows) > 1)
