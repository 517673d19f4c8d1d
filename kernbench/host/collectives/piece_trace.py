"""``KERNBENCH_CCL_TRACE=1``: a line on stderr for each piece that a collective sends over a queue."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.components.pe_ipcq import PeIpcq
from kernbench.engine.components.queue_ring import QueueToken
from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.transaction import Transaction
from kernbench.engine.machine.machine import Machine

VARIABLE = "KERNBENCH_CCL_TRACE"


def wanted() -> bool:
    """Whether the environment asks for the lines."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


class PieceTrace(Instrument):
    """Prints rank, time, direction and bytes of each piece when it arrives; ``sips`` are the ranks'."""

    def __init__(self, machine: Machine, sips: Sequence[int]) -> None:
        self._machine = machine
        self._ranks = {sip: rank for rank, sip in enumerate(sips)}
        machine.instruments = (*machine.instruments, self)

    def close(self) -> None:
        """Print no more."""
        self._machine.instruments = tuple(one for one in self._machine.instruments if one is not self)

    def transaction_done(self, transaction: Transaction) -> None:
        """See :meth:`Instrument.transaction_done`."""
        token = transaction.message
        if not isinstance(token, QueueToken):
            return
        dma = self._machine.component(transaction.src)
        assert isinstance(dma, PeDma)
        queues = dma.sibling("pe_ipcq")
        assert isinstance(queues, PeIpcq)
        rings = queues.queues.items()
        towards = (name for name, ring in rings if 0 <= token.address - ring.peer_address < ring.nbytes)
        direction = next(towards, "?")  # queues that have been removed by now
        sip = queues.location[0]
        print(
            f"ccl: rank {self._ranks.get(sip, '-')}, {transaction.t_submit:.3f} ns, {direction}, "
            f"{token.nbytes} bytes, {transaction.src} to {transaction.dst}, "
            f"there at {transaction.t_done:.3f} ns",
            file=sys.stderr,
        )
