"""Hazards, one by one, and what they cost."""

from __future__ import annotations

import numpy as np

from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.hardware.address.runs import Form, Runs
from kernbench.values.dependencies import AccessMap, DependencyBuilder
from kernbench.values.late_reads import LateReads


def mem(addr: int, nbytes: int) -> Operand:
    return Operand((nbytes,), "i8", regions=(Region(addr, nbytes),))


def val(handle: int) -> Operand:
    return Operand((4,), "i8", handle=handle)


def op(me: int, inputs=(), output=None, kind: str = "memory", after=()) -> Op:
    return Op(me, kind, "copy", tuple(inputs), output, component="pe0", after=list(after))


def test_a_value_is_after_its_maker():
    builder = DependencyBuilder()
    builder.add(op(7, (), val(7)))
    assert builder.add(op(8, (val(7), val(7)), val(8))) == [(7, "handle")]


def test_read_after_write_and_write_after_read_and_write_after_write():
    builder = DependencyBuilder()
    assert builder.add(op(1, (), mem(0, 8))) == []
    assert builder.add(op(2, (mem(0, 8),), val(1))) == [(1, "raw")]
    assert builder.add(op(3, (mem(4, 2),), val(2))) == [(1, "raw")]
    assert builder.add(op(4, (), mem(5, 1))) == [(1, "waw"), (2, "war"), (3, "war")]
    assert builder.add(op(5, (), mem(6, 2))) == [(1, "waw"), (2, "war")]
    assert builder.add(op(6, (mem(0, 8),), val(3))) == [(1, "raw"), (4, "raw"), (5, "raw")]


def test_touching_ranges_do_not_overlap():
    builder = DependencyBuilder()
    builder.add(op(1, (), mem(8, 8)))
    assert builder.add(op(2, (mem(0, 8), mem(16, 8)), val(1))) == []
    assert builder.add(op(3, (), mem(0, 8))) == [(2, "war")]


def test_a_write_in_place_does_not_wait_for_itself():
    builder = DependencyBuilder()
    builder.add(op(1, (), mem(0, 8)))
    assert builder.add(op(2, (mem(0, 8),), mem(2, 8))) == [(1, "raw"), (1, "waw")]
    assert builder.add(op(3, (mem(0, 10),), val(1))) == [(1, "raw"), (2, "raw")]


def test_a_read_before_any_write_holds_back_the_first_write():
    builder = DependencyBuilder()
    assert builder.add(op(1, (mem(0, 4),), val(1))) == []
    assert builder.add(op(2, (), mem(0, 4))) == [(1, "war")]
    assert builder.add(op(3, (), mem(0, 4))) == [(2, "waw")]


def test_what_the_hardware_adds_is_kept_once_and_sorted():
    builder = DependencyBuilder()
    builder.add(op(3, (), val(3)))
    after = [(9, "stage"), (3, "slot"), (9, "stage"), (3, "issue")]
    assert builder.add(op(4, (val(3),), val(4), after=after)) == [
        (3, "handle"),
        (3, "issue"),
        (3, "slot"),
        (9, "stage"),
    ]


def test_tiles_order_time_and_not_data():
    builder = DependencyBuilder()
    builder.add(op(1, (), mem(0, 8)))
    assert builder.add(op(2, (mem(0, 8), val(99)), mem(0, 8), kind="tile", after=[(1, "stage")])) == [
        (1, "stage")
    ]
    assert builder.add(op(3, (mem(0, 8),), val(1))) == [(1, "raw")]


def test_a_write_over_everything_forgets_the_pieces():
    memory = AccessMap()
    for i in range(1000):
        memory.write(Region(8 * i, 8), i, {})
        memory.read(Region(8 * i + 2, 4), 5000 + i, {})
    assert len(memory) == 3000
    memory.write(Region(0, 8000), 9000, {})
    assert len(memory) == 1
    found: dict[tuple[int, str], None] = {}
    memory.write(Region(0, 8000), 9001, found)
    assert list(found) == [(9000, "waw")]


def test_many_readers_of_a_range_that_is_cut_afterwards_are_visited_once():
    class Counted(dict):
        stored = 0

        def __setitem__(self, key, value):
            self.stored += 1
            super().__setitem__(key, value)

    memory = AccessMap()
    memory.write(Region(0, 20_000), 0, {})
    for reader in range(1, 2001):
        memory.read(Region(0, 20_000), reader, {})
    for piece in range(2000):
        memory.read(Region(10 * piece, 10), 3000 + piece, {})
    found = Counted()
    memory.write(Region(0, 20_000), 9000, found)
    assert found.stored == 2000 + 2000 + 2000  # a writer and a reader of every piece, and the common readers
    assert sorted(found) == [(0, "waw"), *((r, "war") for r in [*range(1, 2001), *range(3000, 5000)])]


def test_a_write_to_memories_far_apart_looks_at_what_is_read_alone():
    """Each MiB between them was looked at: here that would take a day."""
    form = Form(np.array([0, 32]), np.array([8, 8]))
    late, reads = LateReads(), [Runs(form, at) for at in (64, 1 << 30, 1 << 58)]
    for number, runs in enumerate(reads):
        late.add(runs, number)
    assert late.take([(1 << 29, 4), (1 << 57, 4)]) == [(reads[1], 1)]
    assert late.take([(0, 4), (1 << 59, 4)]) == [(reads[0], 0), (reads[2], 2)]
    assert late.take([(0, 4), (1 << 59, 4)]) == []
