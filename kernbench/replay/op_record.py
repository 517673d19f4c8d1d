"""One operation of an op log, read from its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernbench.program.operations import Operand

if TYPE_CHECKING:
    from kernbench.replay.oplog import OpLog

OUTPUT = -1
"""``position`` of an operation's output in the table ``Operand``; inputs count from 0."""


class OpRecord:
    """One row of an :class:`OpLog`: the fields of an :class:`Op` without its values and parameters."""

    __slots__ = ("_log", "row")

    def __init__(self, log: OpLog, row: int) -> None:
        self._log = log
        self.row = row

    def __repr__(self) -> str:
        return f"<OpRecord {self.id} {self.kind}/{self.name} {self.t_start:g}..{self.t_end:g} ns>"

    @property
    def id(self) -> int:
        """Number of the operation."""
        return self._log.integers()["id"][self.row]

    @property
    def launch(self) -> int:
        """Launch it belongs to, -1 when none."""
        return self._log.integers()["launch"][self.row]

    @property
    def parent(self) -> int:
        """Operation it is a part of, -1 when none."""
        return self._log.integers()["parent"][self.row]

    @property
    def nbytes(self) -> int:
        """Bytes moved or produced."""
        return self._log.integers()["bytes"][self.row]

    @property
    def kind(self) -> str:
        """``memory``, ``gemm``, ``math``, ``view`` or ``tile``."""
        return self._log.texts()["kind"][self.row]

    @property
    def name(self) -> str:
        """Name within its kind, such as ``dma_read``."""
        return self._log.texts()["name"][self.row]

    @property
    def stage(self) -> str:
        """Stage of a tile pipeline, empty when none."""
        return self._log.texts()["stage"][self.row]

    @property
    def component(self) -> str:
        """Component that carried it out."""
        return self._log.texts()["component"][self.row]

    @property
    def label(self) -> str:
        """The operation in one phrase."""
        return self._log.texts()["label"][self.row]

    @property
    def source(self) -> str:
        """``file.py:12``, the line of the kernel that asked for it; empty for the host's operations."""
        return self._log.texts()["source"][self.row]

    @property
    def t_ready(self) -> float:
        """When the component received it, ns."""
        return self._log.times()["t_ready"][self.row]

    @property
    def t_start(self) -> float:
        """When it began, ns."""
        return self._log.times()["t_start"][self.row]

    @property
    def t_end(self) -> float:
        """When it was done, ns."""
        return self._log.times()["t_end"][self.row]

    @property
    def after(self) -> list[tuple[int, str]]:
        """The operations that it depends on, with the hazard."""
        return self._log.dependencies_of(self.row)

    @property
    def transactions(self) -> list[int]:
        """Transactions that carried it out."""
        return self._log.transactions_of(self.row)

    @property
    def inputs(self) -> tuple[Operand, ...]:
        """Operands read, in order."""
        return tuple(operand for position, operand in self._log.operands_of(self.row) if position != OUTPUT)

    @property
    def output(self) -> Operand | None:
        """Operand written, if any."""
        found = self._log.operands_of(self.row)
        return next((operand for position, operand in found if position == OUTPUT), None)
