"""The trace of loaded machines: times close, waits name their holders, links carry what was sent."""

from __future__ import annotations

import itertools
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kernbench.engine.components.dma import Job
from kernbench.engine.components.pe_dma import PeDma
from kernbench.engine.core.trace import TraceRecorder
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Op, Operand
from kernbench.hardware.routing import Traffic
from tests import names
from tests.compiled import compiled
from tests.examples import examples


class Count:
    def __init__(self, left: int) -> None:
        self.left = left
        self.done = False

    def one(self) -> None:
        self.left -= 1
        self.done = self.left == 0


JOBS = st.lists(
    st.tuples(
        st.integers(0, 63),  # PE, of those of the first cubes
        st.integers(0, 63),  # slice
        st.integers(1, 9000),  # bytes
        st.booleans(),  # writing
        st.integers(0, 40),  # start, in 5 ns
    ),
    min_size=1,
    max_size=14,
)


def play(
    topology: str, jobs: list[tuple[int, int, int, bool, int]]
) -> tuple[Machine, dict[str, dict[str, object]]]:
    graph = compiled(topology)
    recorder = TraceRecorder()
    machine = Machine(graph, [recorder])
    properties = graph.properties
    pes, cubes = int(properties["pes_per_cube"]), int(properties["cubes_per_sip"])
    count = pes * cubes
    goal = Count(len(jobs))
    for pe, slice_, nbytes, writing, start in jobs:
        pe, slice_ = pe % count, slice_ % count
        address = machine.addresses.hbm(0, slice_ // pes, slice_ % pes, 0)
        memory = Operand((nbytes,), "i8", address=address)
        value = Operand((nbytes,), "i8", handle=0)
        kind = "dma_write" if writing else "dma_read"
        op = Op(
            machine.next_op_id(),
            "memory",
            kind,
            (value if writing else memory,),
            memory if writing else value,
        )
        dma = machine.component(names.pe_part(0, pe // pes, pe % pes, "pe_dma"))
        assert isinstance(dma, PeDma)
        machine.clock.call_at(5.0 * start, dma.submit, Job(op, kind, ((address, nbytes),), goal.one))
    assert machine.clock.advance(goal)
    return machine, recorder.tables(machine.resources, machine.clock.now)


OBLONG = str(Path(__file__).with_name("oblong.yaml"))


@pytest.mark.daily("minimal")
@pytest.mark.parametrize("topology", ["minimal", OBLONG], ids=["minimal", "oblong"])
@examples(40, suppress_health_check=[HealthCheck.too_slow])
@given(jobs=JOBS)
def test_times_close_and_waits_name_their_holders(
    topology: str, jobs: list[tuple[int, int, int, bool, int]]
) -> None:
    machine, tables = play(topology, jobs)
    transactions, hops, waits, used = (tables[t] for t in ("Transaction", "Hop", "WaitedFor", "Use"))
    ids = np.asarray(transactions["number"])
    took = np.asarray(transactions["t_done"]) - np.asarray(transactions["t_submit"])
    spent = np.asarray(transactions["service_ns"]) + np.asarray(transactions["wait_ns"])
    assert np.abs(took - spent).max() < 1e-6
    assert (np.asarray(hops["service_ns"]) >= -1e-9).all()

    waited: dict[int, float] = defaultdict(float)
    for transaction, holder, ns in zip(waits["txn"], waits["holder"], waits["ns"], strict=True):  # type: ignore[call-overload]
        assert holder in ids
        assert holder != transaction
        assert ns > 0
        waited[int(transaction)] += float(ns)
    for transaction, ns in zip(ids, np.asarray(transactions["wait_ns"]), strict=True):
        assert waited[int(transaction)] == pytest.approx(ns, abs=1e-6)

    # Each hop's wait is that of the rows that name it, all of them while the transaction was there.
    at = {key: row for row, key in enumerate(zip(hops["txn"], hops["seq"], strict=True))}  # type: ignore[call-overload]
    by_hop: dict[int, float] = defaultdict(float)
    for transaction, seq, ns, begun, end in zip(
        *(waits[name] for name in ("txn", "seq", "ns", "t_from", "t_to")),  # type: ignore[misc]
        strict=True,
    ):
        row = at[transaction, seq]
        by_hop[row] += float(ns)
        assert hops["t_in"][row] - 1e-9 <= begun < end <= hops["t_out"][row] + 1e-9  # type: ignore[index]
        assert ns <= end - begun + 1e-9
    for row, ns in enumerate(np.asarray(hops["wait_ns"])):
        assert by_hop[row] == pytest.approx(ns, abs=1e-6)

    # Bytes of each link, counted again from the routes: commands and acknowledgements weigh nothing.
    carried: dict[str, int] = defaultdict(int)
    writing = {"dma_write"}
    for kind, src, dst, nbytes in zip(
        transactions["kind"].to_pylist(),  # type: ignore[attr-defined]
        transactions["src"].to_pylist(),  # type: ignore[attr-defined]
        transactions["dst"].to_pylist(),  # type: ignore[attr-defined]
        transactions["bytes"],  # type: ignore[call-overload]
        strict=True,
    ):
        way = machine.router.route(src, dst, Traffic.PE_DMA).nodes
        pairs = itertools.pairwise(way) if kind in writing else zip(way[1:], way, strict=False)
        for a, b in pairs:
            carried[f"{a}->{b}"] += int(nbytes)
        tcm = src.replace("pe_dma", "pe_tcm")  # the other end, inside the PE
        carried[f"{tcm}->{src}" if kind in writing else f"{src}->{tcm}"] += int(nbytes)
    for resource, is_link, nbytes, share in zip(
        used["resource"],
        used["is_link"],
        used["bytes"],
        used["utilisation"],
        strict=True,  # type: ignore[call-overload]
    ):
        assert 0.0 <= share <= 1.0 + 1e-9, f"{resource} was used {share:.3f} of the time"
        if is_link:
            assert nbytes == carried[str(resource)]


def test_contention_at_one_slice_is_blamed_on_the_other_writer() -> None:
    machine, tables = play(OBLONG, [(0, 0, 4096, True, 0), (1, 0, 4096, True, 0)])
    waits = tables["WaitedFor"]
    assert set(zip(waits["txn"], waits["holder"], strict=True)) <= {(0, 1), (1, 0)}  # type: ignore[call-overload]
    total = float(np.sum(waits["ns"]))  # type: ignore[arg-type]
    alone = [
        float(play(OBLONG, [job])[0].clock.now) for job in [(0, 0, 4096, True, 0), (1, 0, 4096, True, 0)]
    ]
    assert total > 0
    assert machine.clock.now > max(alone)
