"""The rows that a trace gathers while a run goes on: transactions, their hops, their waits."""

from __future__ import annotations

from kernbench.sim.columns import Hops, Numbers, Waits
from kernbench.sim.transaction import Transaction


class TransactionRows:
    """Rows of transactions that have ended; ``numbers``, ``hops`` and ``waits`` have columns by name.

    Hops and waits are those of one transaction after another, in the order of ``numbers``.
    """

    def __init__(self) -> None:
        self.kind: list[str] = []
        self.src: list[str] = []
        self.dst: list[str] = []
        self.request: list[str] = []
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
        self.numbers.add(
            t.id, t.parent, t.op, -1 if launch is None else launch.id,
            t.nbytes, hops, t.address, t.channel, t.t_submit, t.t_done,
        )  # fmt: skip
        if t.hop_rows is not None:
            self.hops.extend(t.hop_rows)
        if t.wait_rows is not None:
            self.waits.extend_joined(t.wait_rows)
        t.forget()

    @property
    def hop_count(self) -> int:
        """Hops gathered so far, forgotten ones too."""
        return self.forgotten + self.hops.count

    def forget_hops(self) -> None:
        """Let go of the hops; their memory goes with the last array of their columns."""
        self.forgotten += self.hops.count
        self.hops = Hops()

    def forget_waits(self) -> None:
        """Let go of the waits."""
        self.waits = Waits()
