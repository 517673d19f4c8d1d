"""Transactions and operations of a machine, from where they begin to where they have ended.

Everything that begins gets its number here and everything that ends comes by here, once: so this is where
instruments are told, and where rows are gathered of what no instrument looks at one by one, for which no
object is made. It is the compiled base of :class:`~kernbench.engine.machine.machine.Machine`: components call
it for each access and stage, and a method of a Python class would be looked up each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from kernbench.engine.core.clock import Clock
from kernbench.engine.core.columns import Words
from kernbench.engine.core.instrument import gathered, observing, of_one_class
from kernbench.engine.core.rows import StageRows, TransactionRows
from kernbench.engine.core.transaction import Path, Transaction

if TYPE_CHECKING:
    from kernbench.engine.core.fabric import Fabric
    from kernbench.engine.core.instrument import Instrument
    from kernbench.engine.program.operations import Op

_IN_PE = frozenset({"FETCH", "GEMM", "MATH", "STORE"})
"""Stages of tiles that stay within their PE; those of its DMA move data to memory or from there."""
_MOVING = frozenset({"FETCH", "STORE"})
"""Stages between TCM and registers: they are neither DMA nor compute."""
_NO_IDS = ("", "")


class Ledger:
    """Transactions and operations of a machine; notifies instruments when they end."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.fabric: Fabric
        """Carries its packets."""
        self.paths: dict[tuple[str, str, str, str], Path] = {}
        """Routes requested so far, by source, target, kind of traffic and channel router."""
        Ledger.forget(self)

    def forget(self) -> None:
        """Reset: nothing has begun, and nobody looks."""
        self.traced = True
        """Whether transactions keep their hops."""
        self.in_flight: dict[int, Any] = {}
        """Transactions that have not ended, by id; of an access to a TCM that nobody looks at, the access."""
        self.busy_intervals: dict[int, dict[str, Words]] = {}
        """When a component was busy for a launch, ns; kept until the launch ends."""
        self.transactions = 0
        self.ops = 0
        self.when_served: tuple[Callable[[Op], None], ...] = ()
        self.when_ended: tuple[Callable[[Transaction], None], ...] = ()
        self.when_done: tuple[Callable[[Op], None], ...] = ()
        self.when_staged: tuple[Callable[[Op], None], ...] = ()
        self.access_rows: TransactionRows | None = None
        """Where accesses to TCMs are gathered that no instrument looks at."""
        self.stage_rows: StageRows | None = None
        """The same for stages of tiles."""
        self.accesses_seen = self.stages_seen = False
        """Whether an instrument looks at each one, so that it needs an object."""

    def inform(self, instruments: Sequence[Instrument]) -> None:
        """Notify ``instruments`` from now on, and no others: each of what it looks at."""
        ending, done = observing(instruments, "transaction_done"), observing(instruments, "op_done")
        self.when_ended = tuple([one.transaction_done for one in ending])
        self.when_served = tuple([one.op_served for one in observing(instruments, "op_served")])
        self.when_done = tuple([one.op_done for one in done])
        self.when_staged = tuple([one.stage_done if of_one_class(one) else one.op_done for one in done])
        self.access_rows, self.accesses_seen = gathered([one.access_rows for one in ending])
        self.stage_rows, self.stages_seen = gathered(
            [one.stage_rows if of_one_class(one) else None for one in done]
        )

    def path(self, source: str, target: str, traffic: str, via: str = "") -> Path:
        """The route between two components, with its reverse: the same object for the same arguments.

        Args:
            source: name of the component that sends.
            target: name of the component that receives.
            traffic: kind of traffic, which restricts the links that may be used.
            via: name of the channel router by which the route enters an HBM slice that has them.

        Raises:
            RoutingError: this traffic has no route; the message names both ends.
        """
        key = (source, target, traffic, via)
        path = self.paths.get(key)
        if path is None:
            path = self.paths[key] = self.new_path(source, target, traffic, via)
        return path

    def new_path(self, source: str, target: str, traffic: str, via: str) -> Path:
        """The path that :meth:`path` keeps."""
        raise NotImplementedError

    def next_transaction(self) -> int:
        """The number of the next transaction."""
        number = self.transactions
        self.transactions = number + 1
        return number

    def begin(
        self,
        kind: str,
        path: Path,
        nbytes: int,
        t_submit: float,
        *,
        parent: int = -1,
        op: int = -1,
        address: int = 0,
        channel: int = -1,
        is_write: bool = False,
        message: object = None,
        ids: tuple[str, str] = _NO_IDS,
    ) -> Transaction:
        """A new transaction over ``path``, in flight until :meth:`end`.

        Args:
            kind: such as ``dma_read``; kept in the trace.
            path: its route; the first node sends, the last one receives.
            nbytes: payload of the request or of its answer.
            t_submit: when it was requested, ns.
            parent: id of the transaction that caused it, -1 for none.
            op: id of the operation that it serves, -1 for none.
            address: byte offset within the destination memory.
            channel: pseudo-channel that holds all of its bytes, -1 if address bits select it.
            is_write: the payload travels out rather than back.
            message: the payload of a control message.
            ids: correlation id and request id of the host's message that it belongs to.
        """
        transaction = self.open(kind, path, nbytes, t_submit, op, is_write)
        transaction.parent = parent
        transaction.address = address
        transaction.channel = channel
        transaction.message = message
        transaction.ids = ids
        return transaction

    def open(
        self, kind: str, path: Path, nbytes: int, t_submit: float, op: int, is_write: bool
    ) -> Transaction:
        """Like :meth:`begin`, for a transaction without further attributes."""
        return self.opened(self.next_transaction(), kind, path, nbytes, t_submit, op, is_write)

    def opened(
        self, number: int, kind: str, path: Path, nbytes: int, t_submit: float, op: int, is_write: bool
    ) -> Transaction:
        """Like :meth:`open`, for one that has its number."""
        nodes = path.nodes
        transaction = Transaction.__new__(Transaction)
        transaction.prepare(
            number, kind, nodes[0].resource, nodes[len(nodes) - 1].resource, nbytes, t_submit, path
        )
        transaction.op = op
        transaction.is_write = is_write
        transaction.traced = self.traced
        self.in_flight[number] = transaction
        return transaction

    def under_way(self) -> list[Transaction]:
        """Transactions that have not ended, in the order in which they began."""
        return [one if isinstance(one, Transaction) else one.seen() for one in self.in_flight.values()]

    def end(self, transaction: Transaction) -> None:
        """End ``transaction``, which is answered now: notify the instruments, then call its ``on_done``."""
        transaction.t_done = self.clock.time
        transaction.wait_ns = transaction.waited() if transaction.traced else nan
        del self.in_flight[transaction.id]
        for transaction_done in self.when_ended:
            transaction_done(transaction)
        done = transaction.on_done
        if done is not None:
            # Servers remember transactions for long, and are not to keep what asked for them.
            transaction.on_done = transaction.on_served = None
            done(transaction)

    def report(self, op: Op) -> None:
        """Record ``op``, which a component has executed."""
        stage = op.stage
        if stage not in _MOVING:
            self.note_work(op.launch, op.component, op.t_start, op.t_end)
        done = self.when_done
        if stage in _IN_PE and op.kind == "tile":
            done = self.when_staged
        for op_done in done:
            op_done(op)

    def note_work(self, launch: int, component: str, begin: float, end: float) -> None:
        """Note that ``component`` was busy for ``launch`` between two times, ns."""
        if launch < 0 or end <= begin:
            return
        of_launch = self.busy_intervals.get(launch)
        if of_launch is None:
            of_launch = self.busy_intervals[launch] = {}
        intervals = of_launch.get(component)
        if intervals is None:
            intervals = of_launch[component] = Words(2)
        intervals.number(begin)
        intervals.number(end)

    def next_op_id(self) -> int:
        """The id of the next data operation."""
        number = self.ops
        self.ops = number + 1
        return number
