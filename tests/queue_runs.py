"""Runs of kernels that talk over queues, on small checked machines: what the tests of queues share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernbench.engine.core.instrument import Instrument
from kernbench.engine.core.transaction import Transaction
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Op
from kernbench.host import Context, DPPolicy
from kernbench.values import DataPlane
from tests.compiled import compiled

PAIR = {"system.sips": 1, "sip.cube_mesh": {"w": 1, "h": 1}, "cube.pes.count": 2,
        "cube.hbm.pseudo_channels": 16, "cube.pes.corners": ["NW", "SE"]}  # fmt: skip
Location = tuple[int, int, int]
Body = Callable[..., None]


class Seen(Instrument):
    """Keeps the operations and transactions of a run."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.transactions: list[Transaction] = []
        self.rows: dict[int, list[Any]] = {}

    def op_done(self, op: Op) -> None:
        self.ops.append(op)

    def transaction_done(self, transaction: Transaction) -> None:
        self.transactions.append(transaction)
        self.rows[transaction.id] = list(transaction.rows)

    def named(self, name: str, stage: str | None = None) -> list[Op]:
        return [op for op in self.ops if op.name == name and stage in (None, op.stage)]

    def of_kind(self, kind: str) -> list[Transaction]:
        return [t for t in self.transactions if t.kind == kind]


@dataclass
class Rig:
    """A context on a checked machine; ``torch`` is what benches get."""

    overrides: Mapping[str, object] = field(default_factory=lambda: PAIR)
    file: str | None = None
    verify: bool = True
    rest_cycles: int = 0
    """Cycles that each PE spends before it ends: its answer to the host then meets no message."""

    def __post_init__(self) -> None:
        self.seen = Seen()
        self.data = DataPlane(verify=self.verify)
        graph = compiled(self.file, dict(self.overrides))
        self.machine = Machine(graph, [self.data, self.seen], check=True)
        self.torch = Context(self.machine, self.data, device="all")

    def launch(self, bodies: Mapping[Location, Body] | Sequence[Body], *args: object) -> Any:
        """One launch in which each PE runs its own function; a list is for PEs 0, 1 ... of cube 0."""
        if not isinstance(bodies, Mapping):
            bodies = {(0, 0, pe): body for pe, body in enumerate(bodies)}
        mine = dict(bodies)

        def kernel(_: Any, *rest: Any, tl: Any) -> None:
            mine.get((tl._pe.sip, tl._pe.cube, tl._pe.pe), lambda *_: None)(*rest, tl)
            tl.cycles(self.rest_cycles)

        torch = self.torch
        here = torch.zeros(self._everywhere(), dtype="i8", dp=DPPolicy("row_wise", "row_wise"))
        return torch.launch("bodies", kernel, here, *args)

    def run(self, bodies: Mapping[Location, Body] | Sequence[Body], *args: object) -> None:
        self.launch(bodies, *args).wait()
        self.machine.drain()

    def _everywhere(self) -> tuple[int, int]:
        properties = self.machine.graph.properties
        return int(properties["cubes_per_sip"]) * int(properties["pes_per_cube"]), 1

    def close(self) -> None:
        """End the run; whatever is left unanswered is an error."""
        self.torch.close()
        self.machine.settle()
