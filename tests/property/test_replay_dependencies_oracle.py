"""Dependencies against an oracle that keeps last writer and readers for every single byte."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernbench.engine.program.operations import Op, Operand, Region
from kernbench.hardware.address.runs import Form, Runs
from kernbench.values.dependencies import DependencyBuilder
from tests.examples import examples

SPACE = 40

regions = st.lists(
    st.builds(
        lambda at, n: Region(at, min(n, SPACE - at)),
        st.integers(0, SPACE - 1),
        st.integers(0, 14),
    ),
    max_size=3,
).map(tuple)


class ByteOracle:
    def __init__(self) -> None:
        self.writer: dict[int, int] = {}
        self.readers: dict[int, set[int]] = defaultdict(set)

    def add(self, op: int, reads: tuple[Region, ...], writes: tuple[Region, ...]) -> list[tuple[int, str]]:
        edges = set()
        read = {b for r in reads for b in range(r.addr, r.addr + r.nbytes)}
        written = {b for r in writes for b in range(r.addr, r.addr + r.nbytes)}
        for byte in read:
            if byte in self.writer:
                edges.add((self.writer[byte], "raw"))
            self.readers[byte].add(op)
        for byte in written:
            if byte in self.writer:
                edges.add((self.writer[byte], "waw"))
            edges |= {(reader, "war") for reader in self.readers[byte] if reader != op}
        for byte in written:
            self.writer[byte] = op
            self.readers[byte] = set()
        return sorted(edges)


def array_in(where: tuple[Region, ...]) -> Operand:
    return Operand((sum(r.nbytes for r in where),), "i8", regions=where)


def as_runs(where: tuple[Region, ...]) -> Operand:
    """The same bytes as the runs of one block of addresses, which ascend."""
    read = sorted({b for r in where for b in range(r.addr, r.addr + r.nbytes)})
    if not read:
        return array_in(())
    starts = [b for b in read if b - 1 not in read]
    sizes = [next(n for n in range(SPACE) if b + n not in read) for b in starts]
    form = Form(np.array(starts) - starts[0], np.array(sizes))
    return Operand((len(read),), "i8", regions=Runs(form, starts[0]))


@given(
    accesses=st.lists(st.tuples(st.lists(regions, max_size=2), regions), min_size=1, max_size=25),
    operand=st.sampled_from([array_in, as_runs]),
)
@examples(300)
def test_edges_and_last_writers_are_exact_to_the_byte(accesses, operand):
    builder, oracle = DependencyBuilder(), ByteOracle()
    for me, (reads, writes) in enumerate(accesses):
        op = Op(me, "memory", "copy", tuple(map(operand, reads)), array_in(writes))
        assert builder.add(op) == oracle.add(me, tuple(r for part in reads for r in part), writes)
    last = {byte: op for byte in range(SPACE) if (op := builder.writer(byte)) is not None}
    assert last == oracle.writer
