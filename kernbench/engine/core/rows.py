"""The rows that a trace gathers while a run goes on: transactions, their hops, their waits.

A transaction is an object only while somebody needs it. When it has ended its columns are taken over as they
are, and it is forgotten. Accesses to a TCM and stages of tiles that nobody looks at are never objects: they
come as a row of numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.engine.core.columns import Hops, Numbers, Waits
from kernbench.engine.core.transaction import Transaction
from kernbench.hardware.address.runs import Runs

if TYPE_CHECKING:
    from kernbench.engine.program.computing import CallSite
    from kernbench.engine.program.operations import Op


class StageRows:
    """Stages of tiles that are over; this one keeps none."""

    def __init__(self) -> None:
        self.takes_computed = True
        """Whether commands on operands in TCM are gathered here, and nobody has to be shown them."""

    def add_part(
        self, row: int, part: int, op: Op, site: CallSite, component: str, id: int, held: int, access: int,
        t_ready: float, t_start: float, t_end: float,
    ) -> int:  # fmt: skip
        """Gather a stage of a command on operands in TCM: fetch, GEMM or MATH, store.

        Args:
            row: What the call for the previous stage returned; -1 with the first.
            part: 0, 1 or 2.
            op: The command's operation.
            site: Its call site.
            component: Component that executed the stage.
            id: Number of the stage's operation.
            held: The transaction of its access to the TCM, -1 for none; of GEMM or MATH the operation that
                held the slot before it.
            access: Whether that transaction is to be gathered with it: 0 for no, 2 with its hop, 1 without.
            t_ready: When its part of the PE received it, ns.
            t_start: When it began, ns.
            t_end: When it was over, ns.
        """
        return 0

    def add_stage(
        self, id: int, parent: Op, stage: str, name: str, component: str, nbytes: int, transaction: int,
        t_ready: float, t_start: float, t_end: float, after: tuple[int, ...], hazard: str, slot: int,
    ) -> None:  # fmt: skip
        """Gather a stage.

        Args:
            id: Number of its operation.
            parent: The command that it is a part of.
            stage: Its kind.
            name: Name of the operation.
            component: Component that executed it.
            nbytes: Bytes moved.
            transaction: That of its access to memory, -1 for none.
            t_ready: When its part of the PE received it, ns.
            t_start: When it began, ns.
            t_end: When it was over, ns.
            after: The operations that it waited for.
            hazard: Kind of that dependency.
            slot: The operation that held the compute slot before it, -1 for none.
        """


class TransactionRows:
    """Rows of transactions that have ended; ``numbers``, ``hops`` and ``waits`` have columns by name.

    Hops and waits are those of one transaction after another, in the order of ``numbers``.
    """

    def __init__(self) -> None:
        self.kind: list[str] = []
        self.src: list[str] = []
        self.dst: list[str] = []
        self.request: list[str] = []
        self.gathered: list[Runs] = []
        """Of transactions that move many runs what these are: ``address`` -1 is the first of them."""
        self.splits: list[tuple[int, int]] = []
        """Legs of multicasts, and the transactions whose copies they are."""
        self.numbers = Numbers()
        self.hops = Hops()
        self.waits = Waits()
        self.forgotten = 0

    def take(self, transaction: Transaction) -> None:
        """Gather a transaction that has ended. It forgets its rows."""
        t = transaction
        launch = None if t.message is None else getattr(t.message, "launch", None)
        self.kind.append(t.kind)
        self.src.append(t.src)
        self.dst.append(t.dst)
        self.request.append(t.ids[1])
        hops = 0 if t.hop_rows is None else t.hop_rows.count
        address = t.address
        if t.gathered is not None:
            self.gathered.append(t.gathered.runs)
            address = -len(self.gathered)
        self.numbers.add(
            t.id, t.parent, t.op, -1 if launch is None else launch.id,
            t.nbytes, hops, address, t.channel, t.t_submit, t.t_done,
        )  # fmt: skip
        if t.split_from >= 0:
            self.splits.append((t.id, t.split_from))
        if t.hop_rows is not None:
            self.hops.extend(t.hop_rows)
        if t.wait_rows is not None:
            self.waits.extend_joined(t.wait_rows)
        t.forget()

    def add_access(
        self,
        id: int,
        op: int,
        kind: str,
        src: str,
        dst: str,
        nbytes: int,
        resource: int,
        hops: int,
        t_submit: float,
        t_start: float,
        t_done: float,
    ) -> None:
        """Gather an access to a TCM that stood behind nobody: a transaction of at most one hop."""
        self.kind.append(kind)
        self.src.append(src)
        self.dst.append(dst)
        self.request.append("")
        self.numbers.add(id, -1, op, -1, nbytes, hops, 0, -1, t_submit, t_done)
        if hops:
            self.hops.add(resource, t_submit, t_start, t_done, t_done - t_submit, 0.0, nbytes)

    @property
    def hop_count(self) -> int:
        """Number of hops gathered so far, including dropped ones."""
        return self.forgotten + self.hops.count

    def forget_hops(self) -> None:
        """Drop the hops; their memory is freed with the last array of their columns."""
        self.forgotten += self.hops.count
        self.hops = Hops()

    def forget_waits(self) -> None:
        """Drop the waits."""
        self.waits = Waits()
