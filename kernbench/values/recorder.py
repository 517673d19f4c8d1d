"""What is recorded of operations while a run goes on: a row of numbers for each, as ``LAYOUT`` says.

A long run has millions of operations, so none is kept as an object: texts are codes, and a ``tl`` call that
works on operands in TCM is one row (``command``) with its three stages and their accesses to the TCM. What an
archive says of those is worked out when it is kept (``oplog.py``).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, NoReturn

import numpy as np

from kernbench.engine.core.columns import Words
from kernbench.engine.core.rows import StageRows
from kernbench.engine.program.computing import CallSite
from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.errors import KernBenchError
from kernbench.hardware.address.runs import Runs
from kernbench.values.tensor_names import NamedShard, TensorNames

OUTPUT: Final = -1
"""``position`` of an operation's output; inputs count from 0."""
NONE: Final = -1
MOST_INPUTS: Final = 4
"""Operands that a row of a command has room for."""
_ROOM: Final = 1024


_PART: Final = "{0}_row:i4 {0}_held:i8 {0}_t_ready:f8 {0}_t_start:f8 {0}_t_end:f8"
_COLUMNS: Final = {
    "op": "id:i8 parent:i8 bytes:i8 t_ready:f8 t_start:f8 t_end:f8 launch:i4 kind:i4 name:i4 stage:i4 "
    "component:i4 source:i4 label:i4 moved:i4 operand:i4 edge:i4",
    "operand": "position:i4 region:i4 handle:i8 address:i8 shape:i4 dtype:i4",
    "region": "addr:i8 bytes:i8",
    "edge": "on:i8 hazard:i8",
    "moved": "txn:i8",
    "access": "op:i8 tensor:i4 is_write:i4 offset:i8 bytes:i8",
    "command": "id:i8 row:i8 form:i4 source:i4 launch:i4 mover:i4 issue:i4 wait:i4 in0:i4 in1:i4 in2:i4 "
    f"in3:i4 fetch_id:i4 {_PART.format('fetch')} engine:i4 {_PART.format('work')} "
    f"store_id:i4 {_PART.format('store')}",
}
LAYOUT: Final = {
    table: np.dtype([(name, kind) for name, _, kind in (column.partition(":") for column in columns.split())])
    for table, columns in _COLUMNS.items()
}
"""The rows of each table.

Of an ``op``, ``moved``, ``operand`` and ``edge`` count its rows in those tables, as ``region`` of an operand
does. A ``command`` is an operation on handles with its FETCH and STORE. Numbers of other operations are how
far they are from its own, 0 for none: ``issue`` and ``wait`` are what it came after, ``in0`` to ``in3`` made
its inputs. ``row`` is where its first part stands among all operations; ``held`` is as in
:meth:`StageRows.add_part`. The ``*_row`` of a part is how much later than the first it stands, times four,
and 1 where it is over, 2 or 3 where its access to the TCM is recorded with it, without a hop or with one.
"""


class Form(NamedTuple):
    """What is alike for all calls of a site; texts, shapes and types by their codes."""

    kind: int
    name: int
    bytes: int
    label: int
    stage: int
    fetched: int
    """Bytes that FETCH moves."""
    stored: int
    """Bytes that STORE moves."""
    operands: tuple[tuple[int, int], ...]
    """Shape and type of each input, and of the output last."""


_runs = itertools.count()


class Recorder(StageRows):
    """What is known of finished operations, in report order, and what they moved to and from tensors."""

    def __init__(self) -> None:
        StageRows.__init__(self)
        self.length = 0
        """Operations so far, stages of tiles with them."""
        self.codes: dict[Any, int] = {}
        """A number for each text: a string, a shape, or the parts of a label (name, shapes, shape, type).

        The label of an operation without operands is its name.
        """
        self.forms: dict[Form, int] = {}
        self.run = next(_runs)
        self.seen = bytearray()
        """A bit for each operation that was appended, by its number."""
        self.ops, self.operands, self.regions, self.edges, self.moved, self.accesses, self.commands = [
            Words(layout.itemsize // 8) for layout in LAYOUT.values()
        ]
        self.command_count = 0
        self.command_words = self.commands.width
        self.part_words = _PART.count(":")
        """How many eight-byte values a part has, and how many precede the parts."""
        self.head_words = self.command_words - 3 * self.part_words

    def __len__(self) -> int:
        return self.length

    def words(self) -> Sequence[Words]:
        """The rows of each table of ``LAYOUT``."""
        return (
            self.ops, self.operands, self.regions, self.edges, self.moved, self.accesses, self.commands,
        )  # fmt: skip

    def append(self, op: Op, dependencies: Sequence[tuple[int, str]] = ()) -> None:
        """Add a finished operation and its ``(op id, hazard)`` dependencies.

        Raises:
            KernBenchError: An operation of that id is recorded already.
        """
        number = op.id
        self.mark(op)
        name, inputs, output = op.name, op.inputs, op.output
        operands = len(inputs)
        if output is not None:
            operands += 1
        label = self.add_operands(name, inputs, output) if operands else code(self.codes, name)
        moved = edges = 0
        made = op.transactions
        if made:
            for transaction in made if len(made) == 1 else dict.fromkeys(made):
                self.moved.integer(transaction)
                moved += 1
        for on, hazard in dependencies:
            self.edges.integer(on)
            self.edges.integer(code(self.codes, hazard))
            edges += 1
        self.add_row(
            number, op.parent, op.nbytes, op.t_ready, op.t_start, op.t_end, op.launch, op.kind, name,
            op.stage, op.component, op.source, label, moved, operands, edges,
        )  # fmt: skip

    def add_row(
        self, id: int, parent: int, nbytes: int, t_ready: float, t_start: float, t_end: float, launch: int,
        kind: str, name: str, stage: str, component: str, source: str, label: int, moved: int, operands: int,
        edges: int,
    ) -> None:  # fmt: skip
        """A row of ``op``."""
        rows, codes = self.ops, self.codes
        rows.integer(id)
        rows.integer(parent)
        rows.integer(nbytes)
        rows.number(t_ready)
        rows.number(t_start)
        rows.number(t_end)
        rows.pair(launch, code(codes, kind))
        rows.pair(code(codes, name), code(codes, stage))
        rows.pair(code(codes, component), code(codes, source))
        rows.pair(label, moved)
        rows.pair(operands, edges)
        self.length += 1

    def add_part(
        self, row: int, part: int, op: Op, site: CallSite, component: str, id: int, held: int, access: int,
        t_ready: float, t_start: float, t_end: float,
    ) -> int:  # fmt: skip
        """See :meth:`StageRows.add_part`."""
        rows = self.commands
        if row < 0:
            row = self.begin_command(op, site, component)
        if part == 1:
            self.mark(op)
            id = code(self.codes, component)
        else:
            id -= op.id
        place = self.command_words * row + self.head_words + self.part_words * part
        later = self.length - rows.integer_at(self.command_words * row + 1)
        rows.set_pair(place, id, 4 * later + 1 + access)
        rows.set_integer(place + 1, held)
        rows.set_number(place + 2, t_ready)
        rows.set_number(place + 3, t_start)
        rows.set_number(place + 4, t_end)
        self.length += 1
        return row

    def begin_command(self, op: Op, site: CallSite, component: str) -> int:
        """The row of ``command`` for ``op``, with all but its parts."""
        rows, codes, number = self.commands, self.codes, op.id
        issue = wait = 0
        for on, hazard in op.after:
            if hazard == "issue":
                issue = number - on
            else:
                wait = number - on
        rows.integer(number)
        rows.integer(self.length)
        rows.pair(site.form if site.form_of == self.run else self.form(site, op), code(codes, op.source))
        rows.pair(op.launch, code(codes, component))
        rows.pair(issue, wait)
        inputs = op.inputs
        given = len(inputs)
        rows.pair(_away(op, 0) if given > 0 else 0, _away(op, 1) if given > 1 else 0)
        rows.pair(_away(op, 2) if given > 2 else 0, _away(op, 3) if given > 3 else 0)
        rows.blank(self.command_words - self.head_words)
        self.command_count += 1
        return self.command_count - 1

    def form(self, site: CallSite, op: Op) -> int:
        """The number of the record that all calls of ``site`` share; ``op`` is one of them."""
        codes, (fetch, work, store), output = self.codes, site.plan.stages, op.output
        assert output is not None
        operands = (*op.inputs, output)
        label = (op.name, tuple([one.shape for one in op.inputs]), output.shape, output.dtype)
        form = Form(
            code(codes, op.kind), code(codes, op.name), op.nbytes, code(codes, label), code(codes, work.kind),
            fetch.nbytes, store.nbytes,
            tuple([(code(codes, one.shape), code(codes, one.dtype)) for one in operands]),
        )  # fmt: skip
        site.form_of, site.form = self.run, code(self.forms, form)
        return site.form

    def mark(self, op: Op) -> None:
        """Note that ``op`` is recorded, which it is once."""
        number = op.id
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self.seen):
            self.seen.extend(bytes(place + _ROOM))
        elif self.seen[place] & bit:
            _refuse(op)
        self.seen[place] |= bit

    def add_stage(
        self, id: int, parent: Op, stage: str, name: str, component: str, nbytes: int, transaction: int,
        t_ready: float, t_start: float, t_end: float, after: tuple[int, ...], hazard: str, slot: int,
    ) -> None:  # fmt: skip
        """See :meth:`StageRows.add_stage`."""
        moved = 0
        if transaction >= 0:
            self.moved.integer(transaction)
            moved = 1
        found = {(one, hazard) for one in after}
        if slot >= 0:
            found.add((slot, "slot"))
        for on, why in sorted(found) if len(found) > 1 else found:
            self.edges.integer(on)
            self.edges.integer(code(self.codes, why))
        self.add_row(
            id, parent.id, nbytes, t_ready, t_start, t_end, parent.launch, "tile", name, stage, component,
            parent.source, code(self.codes, name), moved, 0, len(found),
        )  # fmt: skip

    def add_operands(self, name: str, inputs: Sequence[Operand], output: Operand | None) -> int:
        """Rows for operands of an operation; returns the code of its label."""
        shapes = []
        for position, operand in enumerate(inputs):
            shapes.append(self.add_operand(position, operand))
        if output is None:
            return code(self.codes, (name, tuple(shapes), None, ""))
        shape = self.add_operand(OUTPUT, output)
        return code(self.codes, (name, tuple(shapes), shape, output.dtype))

    def add_operand(self, position: int, operand: Operand) -> tuple[int, ...]:
        """A row for one operand; returns its shape."""
        regions = 0
        if isinstance(operand.regions, Runs):
            regions = len(operand.regions)
            self.regions.integers(operand.regions.table())
        else:
            for addr, nbytes in operand.regions:
                self.regions.integer(addr)
                self.regions.integer(nbytes)
                regions += 1
        rows, handle, address, shape = self.operands, operand.handle, operand.address, operand.shape
        rows.pair(position, regions)
        rows.integer(NONE if handle is None else handle)
        rows.integer(NONE if address is None else address)
        rows.pair(code(self.codes, shape), code(self.codes, operand.dtype))
        return shape

    def follow(self, op: Op, names: TensorNames) -> None:
        """Add what an operation moves to and from tensors, found by their ``names`` as they are now.

        An operation that moves bytes itself has the access: a load, a store, the host's write, each DMA
        transfer of a composite's tiles. A composite has none beside those of its parts, so bytes add up to
        what was moved: a tile that is read again counts again. Reads by the host are no operations.
        """
        if op.kind == "tile":
            if op.moved:
                self.add_access(op.id, op.moved, names, op.stage == "DMA_WRITE")
        elif op.kind == "memory":
            for operand in op.inputs:
                if operand.regions:
                    self.add_access(op.id, operand.regions, names, False)
            output = op.output
            if output is not None and output.regions:
                self.add_access(op.id, output.regions, names, True)

    def add_access(self, op: int, regions: Iterable[Region], names: TensorNames, is_write: bool) -> None:
        """A row for each tensor that ``regions`` touch; bytes that belong to none are left out."""
        found: dict[int, tuple[int, int]] = {}
        shard: NamedShard
        if isinstance(regions, Runs):
            start, end = regions.span
            parts = names.parts(start, end)
            if len(parts) == 1 and parts[0].start == start and parts[0].end == end:
                shard = parts[0].value
                found[shard.number] = shard.offset + start - shard.addr, regions.nbytes
                regions = ()
        for addr, nbytes in regions:
            for part in names.parts(addr, addr + nbytes):
                shard = part.value
                offset, size = shard.offset + part.start - shard.addr, part.end - part.start
                before = found.get(shard.number)
                found[shard.number] = (
                    (offset, size) if before is None else (min(offset, before[0]), size + before[1])
                )
        rows = self.accesses
        for tensor, (offset, size) in found.items():
            rows.integer(op)
            rows.pair(tensor, is_write)
            rows.integer(offset)
            rows.integer(size)


def _away(op: Op, position: int) -> int:
    """How long before ``op`` the operation was that made its input at ``position``."""
    operand = op.inputs[position]
    made = operand.handle
    assert made is not None
    return op.id - made


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
