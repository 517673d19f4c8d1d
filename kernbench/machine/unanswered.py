"""The open waits of a machine, for the report of a deadlock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from kernbench.components.base import Component
from kernbench.sim.server import Server
from kernbench.sim.transaction import Transaction

_TRANSACTIONS = 10
_MOST_LISTED = 40
"""Lines of the report."""


def lines_of(
    in_flight: Iterable[Transaction], resources: Sequence[Server], components: Iterable[Component]
) -> list[str]:
    """Where transactions under way were last, then which component waits for what."""
    lines = []
    for transaction in islice(in_flight, _TRANSACTIONS):
        rows = transaction.rows
        last = resources[rows[-1].resource].resource if rows else transaction.src
        lines.append(
            f"transaction {transaction.id} ({transaction.kind}, {transaction.src} to {transaction.dst}, "
            f"sent at {transaction.t_submit:.3f} ns) was last seen at {last}"
        )
    for component in components:
        lines.extend(component.waiting())
        if len(lines) > _MOST_LISTED:
            lines.append("...")
            break
    return lines
