"""Blocks of grids as they ran: where, when, and the operations and transactions of each."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernbench.engine.program.commands import PeContext

Columns = dict[str, Any]


class BlockRun:
    """One block of a grid on a PE. The numbers of its operations come from :meth:`next_op_id`."""

    __slots__ = ("at", "launch", "numbers", "pe", "t_end", "t_start")

    def __init__(self, pe: PeContext, at: tuple[int, int, int]) -> None:
        """``pe`` takes the block at ``at`` of the grid now."""
        self.pe, self.at, self.launch = pe, at, pe.launch
        self.t_start, self.t_end = pe.now(), -1.0
        self.numbers = array("q")

    def next_op_id(self) -> int:
        """The number of its next operation."""
        number = self.pe.next_op_id()
        self.numbers.append(number)
        return number

    def over(self) -> None:
        """All of its commands are over."""
        self.t_end = self.pe.now()


def block_tables(
    blocks: Sequence[BlockRun], ops: Mapping[str, Any], transactions: Mapping[str, Any], until: float
) -> dict[str, Columns]:
    """The archive's tables ``Block`` and ``OfBlock``; none for a run without grids.

    Args:
        blocks: All blocks, in the order in which PEs took them.
        ops: Of all operations ``number`` and ``parent``, the one that a stage is a part of, or -1.
        transactions: Of all transactions ``number`` and ``op``, the operation that each was sent for, or -1.
        until: The end of the run, for blocks that were not over then.
    """
    if not blocks:
        return {}
    x, y, z = np.array([one.at for one in blocks], np.int64).T
    numbers = np.concatenate([np.frombuffer(one.numbers, np.int64) for one in blocks])
    # By the number of an operation its block. Slot -1 stands for no operation, and is of none.
    most = max(int(part.max(initial=-1)) for part in (numbers, ops["number"], transactions["op"]))
    block = np.full(most + 2, -1, np.int64)
    block[numbers] = np.repeat(np.arange(len(blocks)), [len(one.numbers) for one in blocks])
    of_op = np.where(ops["parent"] >= 0, block[ops["parent"]], block[ops["number"]])
    block[ops["number"]] = of_op  # parts too
    of_txn = block[transactions["op"]]
    some_ops, some_txns = ops["number"][of_op >= 0], transactions["number"][of_txn >= 0]
    none = np.full(len(some_ops), -1, np.int64), np.full(len(some_txns), -1, np.int64)
    return {
        "Block": {
            "number": np.arange(len(blocks)),
            "launch": np.array([one.launch for one in blocks], np.int64),
            "x": x, "y": y, "z": z,
            "pe": [one.pe.name for one in blocks],
            "t_start": np.array([one.t_start for one in blocks]),
            "t_end": np.array([until if one.t_end < 0 else one.t_end for one in blocks]),
        },
        "OfBlock": {
            "op": np.concatenate([some_ops, none[1]]),
            "txn": np.concatenate([none[0], some_txns]),
            "block": np.concatenate([of_op[of_op >= 0], of_txn[of_txn >= 0]]),
        },
    }  # fmt: skip
