"""Writing into a transaction: batches of rows, pieces of files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graph.store import StoreError
from graph.stores.neo4j_files import Piece
from graph.stores.neo4j_rows import Batch
from graph.stores.neo4j_server import Transaction


def run_batches_in(tx: Transaction, found: Iterable[Batch]) -> None:
    """Run each batch; ``StoreError`` when it does not make as many as it has rows.

    An answer is waited for when the next batch is under way: the server works while that one is packed.
    """
    pending: tuple[Any, int] | None = None
    for batch in found:
        answer = tx.run(batch.cypher, batch.parameters()), batch.rows.num_rows
        if pending:
            _check(*pending)
        pending = answer
    if pending:
        _check(*pending)


def _check(answer: Any, rows: int) -> None:
    made = answer.single(strict=True)["made"]
    if made != rows:
        raise StoreError(
            f"only {made} of {rows} rows could be pushed: the database has lost nodes meanwhile; "
            "push the run again"
        )


def write_files(tx: Transaction, owner: str, pieces: Iterable[Piece]) -> None:
    """Keep pieces of archived files."""
    for piece in pieces:
        tx.run(
            "CREATE (:KernbenchFile {owner: $owner, name: $name, part: $part, data: $data})",
            owner=owner, name=piece.file, part=piece.part, data=piece.data,
        ).consume()  # fmt: skip
