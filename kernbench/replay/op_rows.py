"""Rows of the op log as operations end, brought into its columns by thousands."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, NoReturn

from kernbench.errors import KernBenchError
from kernbench.program.operations import Op, Operand
from kernbench.sim.columns import Words
from kernbench.sim.rows import StageRows

GATHERED = 4096
"""Operations that are kept as rows before the columns are extended."""
_ROOM = 1024
_OUTPUT = -1
_NONE = -1


class OpRows(StageRows):
    """What is known of finished operations, in report order.

    Args:
        codes: for each text of an operation (kind, name, stage, component, source, label), of an operand
            (shape, dtype) and of a dependency (hazard) a code, made for one that is new.
        columns: the columns of operations, operands, regions, dependencies and transactions, which
            :meth:`gather` extends, in the order in which :meth:`append` gives their values.
    """

    def __init__(self, codes: Sequence[dict[Any, int]], columns: Sequence[Sequence[array[Any]]]) -> None:
        (
            self.kind_codes, self.name_codes, self.stage_codes, self.component_codes, self.source_codes,
            self.label_codes, self.shape_codes, self.dtype_codes, self.hazard_codes,
        ) = codes  # fmt: skip
        StageRows.__init__(self)
        self.columns = columns
        self.length = self.waiting = 0
        """Rows in all, and those of them that are not in the columns yet."""
        self.tile_code = code(self.kind_codes, "tile")
        self.stage_code = code(self.hazard_codes, "stage")
        self.seen = bytearray()
        """A bit for each operation that was appended, by its number."""
        self.plain: dict[str, int] = {}
        """Codes of labels of operations without operands, by name."""
        self.ops, self.operands, self.regions, self.edges, self.moved = [Words(len(one)) for one in columns]
        self.operand_count = self.region_count = self.edge_count = self.moved_count = 0

    def __len__(self) -> int:
        return self.length

    def append(self, op: Op, dependencies: Sequence[tuple[int, str]] = ()) -> None:
        """Add a finished operation and its ``(op id, hazard)`` dependencies.

        Raises:
            KernBenchError: An operation of that id is in the log already.
        """
        number = op.id
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self.seen):
            self.seen.extend(bytes(place + _ROOM))
        elif self.seen[place] & bit:
            _refuse(op)
        self.seen[place] |= bit
        rows = self.ops
        if self.waiting >= GATHERED:
            self.gather()
        name, inputs, output = op.name, op.inputs, op.output
        if output is None and not inputs:
            label = self.plain_label(name)
        else:
            label = self.add_operands(name, inputs, output)
        made = op.transactions
        if made:
            for transaction in made if len(made) == 1 else dict.fromkeys(made):
                self.moved.integer(transaction)
                self.moved_count += 1
        for on, hazard in dependencies:
            self.edges.integer(on)
            self.edges.integer(code(self.hazard_codes, hazard))
            self.edge_count += 1
        rows.integer(number)
        rows.integer(op.launch)
        rows.integer(op.parent)
        rows.integer(op.nbytes)
        rows.number(op.t_ready)
        rows.number(op.t_start)
        rows.number(op.t_end)
        rows.integer(code(self.kind_codes, op.kind))
        rows.integer(code(self.name_codes, name))
        rows.integer(code(self.stage_codes, op.stage))
        rows.integer(code(self.component_codes, op.component))
        rows.integer(code(self.source_codes, op.source))
        rows.integer(label)
        rows.integer(self.moved_count)
        rows.integer(self.operand_count)
        rows.integer(self.edge_count)
        self.length += 1
        self.waiting += 1

    def add_computed(self, op: Op) -> None:
        """See :meth:`StageRows.add_computed`: it depends on those that made its operands, as they say."""
        found = list(op.after)
        for operand in op.inputs:
            assert operand.handle is not None
            made = (operand.handle, "handle")
            if made not in found:
                found.append(made)
        found.sort()
        self.append(op, found)

    def add_stage(
        self,
        id: int,
        parent: Op,
        stage: str,
        name: str,
        component: str,
        nbytes: int,
        transaction: int,
        t_ready: float,
        t_start: float,
        t_end: float,
        after: tuple[int, ...],
        hazard: str,
        slot: int,
    ) -> None:
        """See :meth:`StageRows.add_stage`."""
        rows = self.ops
        if self.waiting >= GATHERED:
            self.gather()
        label = self.plain_label(name)
        if transaction >= 0:
            self.moved.integer(transaction)
            self.moved_count += 1
        if slot < 0 and len(after) == 1 and hazard == "stage":
            self.edges.integer(after[0])
            self.edges.integer(self.stage_code)
            self.edge_count += 1
        elif slot >= 0 or after:
            found = {(one, hazard) for one in after}
            if slot >= 0:
                found.add((slot, "slot"))
            for on, why in sorted(found):
                self.edges.integer(on)
                self.edges.integer(code(self.hazard_codes, why))
                self.edge_count += 1
        rows.integer(id)
        rows.integer(parent.launch)
        rows.integer(parent.id)
        rows.integer(nbytes)
        rows.number(t_ready)
        rows.number(t_start)
        rows.number(t_end)
        rows.integer(self.tile_code)
        rows.integer(code(self.name_codes, name))
        rows.integer(code(self.stage_codes, stage))
        rows.integer(code(self.component_codes, component))
        rows.integer(code(self.source_codes, parent.source))
        rows.integer(label)
        rows.integer(self.moved_count)
        rows.integer(self.operand_count)
        rows.integer(self.edge_count)
        self.length += 1
        self.waiting += 1

    def plain_label(self, name: str) -> int:
        """The code of the label of an operation without operands."""
        found = self.plain.get(name)
        if found is None:
            found = self.plain[name] = code(self.label_codes, (name, (), None, ""))
        return found

    def append_stage(self, op: Op) -> None:
        """Add a stage of a tile, which is over. It depends on its ``after`` alone.

        Raises:
            KernBenchError: An operation of that id is in the log already.
        """
        after = op.after
        self.append(op, sorted({*after}) if len(after) > 1 else after)

    def add_operands(self, name: str, inputs: Sequence[Operand], output: Operand | None) -> int:
        """Rows for operands of an operation; returns the code of its label."""
        shapes = []
        for position, operand in enumerate(inputs):
            shapes.append(self.add_operand(position, operand))
        if output is None:
            return code(self.label_codes, (name, tuple(shapes), None, ""))
        shape = self.add_operand(_OUTPUT, output)
        return code(self.label_codes, (name, tuple(shapes), shape, output.dtype))

    def add_operand(self, position: int, operand: Operand) -> tuple[int, ...]:
        """A row for one operand; returns its shape."""
        for addr, nbytes in operand.regions:
            self.regions.integer(addr)
            self.regions.integer(nbytes)
            self.region_count += 1
        rows, handle, address, shape = self.operands, operand.handle, operand.address, operand.shape
        rows.integer(position)
        rows.integer(_NONE if handle is None else handle)
        rows.integer(_NONE if address is None else address)
        rows.integer(code(self.shape_codes, shape))
        rows.integer(code(self.dtype_codes, operand.dtype))
        rows.integer(self.region_count)
        self.operand_count += 1
        return shape

    def gather(self) -> None:
        """Bring the rows into the columns."""
        self.waiting = 0
        groups = (self.ops, self.operands, self.regions, self.edges, self.moved)
        for rows, columns in zip(groups, self.columns, strict=True):
            if rows.count:
                for number, column in enumerate(columns):
                    column.frombytes(rows.column(number, column.typecode))
                rows.clear()


def code(codes: dict[Any, int], key: Any) -> int:
    """The code of ``key``; one that is new has the next number."""
    found = codes.get(key)
    if found is None:
        found = codes[key] = len(codes)
    return found


def _refuse(op: Op) -> NoReturn:
    raise KernBenchError(
        f"op {op.id} ({op.kind}/{op.name} on {op.component}) was reported twice; "
        "a component reports an operation once, when it is done"
    )
