"""What to say when nothing can happen any more and somebody still waits."""

from __future__ import annotations

from kernbench.components.board import Board


def report(board: Board, waited_for: str) -> str:
    """Why ``waited_for`` is unanswered: where transactions under way were last, who waits for what."""
    lines = [f"nothing can happen any more at {board.clock.now:.3f} ns, but '{waited_for}' is unanswered"]
    for transaction in list(board.in_flight.values())[:10]:
        where = (
            board.resources[transaction.rows[-1].resource].resource if transaction.rows else transaction.src
        )
        lines.append(
            f"transaction {transaction.id} ({transaction.kind}, {transaction.src} to {transaction.dst}, "
            f"sent at {transaction.t_submit:.3f} ns) was last seen at {where}"
        )
    for component in board.components.values():
        lines.extend(component.waiting())
        if len(lines) > 40:
            lines.append("...")
            break
    return "; ".join(lines)
