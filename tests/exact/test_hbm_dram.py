"""An HBM slice made of DRAM in a machine: times by hand, invariants under any traffic, right results."""

# ruff: noqa: E501 - messages stand as users see them, in one line

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.engine.core.trace import TraceRecorder
from kernbench.engine.machine.machine import Machine
from kernbench.errors import ConfigError
from kernbench.hardware.topology import parse
from kernbench.hardware.topology.dram import ADDRESS_MAPS, shipped
from kernbench.validation import dram
from tests.compiled import compiled
from tests.examples import examples

SLICE, PE = "sip0.cube0.hbm_ctrl.pe0", "sip0.cube0.pe0"
FLOWS = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 1 << 18), st.integers(1, 3000), st.booleans()),
    min_size=1,
    max_size=25,
)
"""ns since the one before, address, bytes, whether it is a write."""


def test_lone_reads_take_what_their_commands_do() -> None:
    """Ticks of 0.3125 ns. At 100 ns, tick 320, ACT can start at 321 and RD at 385; data are there 44 later.

    The second read is a hit at tick 641. The third opens another row of the bank: PRE at 960, ACT 1011, RD 1075.
    """
    watch, trace = dram._AtMemory(), TraceRecorder()
    made = dram.machine("none", watch, trace)
    expected = [
        (100.0, 0, 429 * 0.3125 - 100.0),
        (200.0, 256, 685 * 0.3125 - 200.0),
        (300.0, 1 << 16, 1119 * 0.3125 - 300.0),
    ]
    for start, address, ns in expected:
        before = watch.ns
        made.wait(made.flow(PE, SLICE, address, 32, is_write=False, start_ns=start))
        assert watch.ns - before == pytest.approx(ns, abs=1e-9)
    found = rows_found(trace, made)
    assert [row[:3] for row in found] == [(0, 1, 0), (1, 0, 0), (0, 0, 1), (1, 1, 1)]
    assert [row[4] for row in found] == pytest.approx([20.0, 0.0, 35.9375, 55.9375], abs=1e-9)


@pytest.mark.parametrize("late", [0, 5, 800])
def test_a_read_says_how_long_a_refresh_held_it_up(late: int) -> None:
    """One of all banks starts at the first rising edge from tREFI on; tRFC later a row may be opened.

    Both are counted from the last edge of a command: a refresh has one half cycle after its first, an activate 3.
    """
    table, trace = shipped("hbm3_6400").figures(), TraceRecorder()
    made = dram.machine("all_bank", trace)
    due, tick = 2 * table["tREFI"], 0.3125
    made.wait(made.flow(PE, SLICE, 0, 32, is_write=False, start_ns=(due + late) * tick))
    over = (due | 1) + 2 * table["tRFC"] + 1 - 3
    (first, _) = rows_found(trace, made)
    held = max(0, over - due - late)
    assert first[3] == (held > 0)
    assert first[4:] == pytest.approx((64 * tick, held * tick), abs=1e-9)


def rows_found(trace: TraceRecorder, made: Machine) -> list[tuple[float, ...]]:
    """Hits, misses, conflicts, refreshes, row_ns and refresh_ns of each transaction, then of all."""
    columns = trace.tables(made.resources, made.clock.now)["RowUse"]
    names = ("hits", "misses", "conflicts", "refreshes", "row_ns", "refresh_ns")
    return list(zip(*(columns[name].tolist() for name in names), strict=True))


@examples(64)
@given(
    FLOWS,
    st.sampled_from(sorted(ADDRESS_MAPS)),
    st.sampled_from(["open", "closed"]),
    st.sampled_from(["all_bank", "per_bank", "none"]),
    st.sampled_from(["hbm3_6400", "hbm2_2000"]),
    st.integers(1, 40),
)
def test_machines_with_dram_keep_their_invariants(flows, address_map, page, refresh, timing, window) -> None:
    keys = {
        "timing": timing, "address_map": address_map, "page": page, "refresh": refresh,
        "read_window": window, "write_window": window,
    }  # fmt: skip
    graph = compiled("minimal", {"cube.hbm.model": "dram", "cube.hbm.dram": keys, "cube.hbm.access_ns": 3.0})
    trace = TraceRecorder()
    machine = Machine(graph, [trace], check=True)
    start, sent = 0.0, []
    for later, address, nbytes, write in flows:
        start += later
        sent.append(machine.flow(PE, SLICE, address, nbytes, is_write=write, start_ns=start))
    machine.wait(*sent)
    slice_ = machine.components[SLICE]
    columns = sum(p.hits + p.misses + p.conflicts for channel in slice_.dram for p in channel.pseudos)
    flits = [
        (address + at, min(256, nbytes - at))
        for _, address, nbytes, _ in flows
        for at in range(0, nbytes, 256)
    ]
    assert columns == sum((address + size - 1) // 32 - address // 32 + 1 for address, size in flits)
    assert sum(channel.bytes for channel in slice_.channels) == sum(nbytes for _, _, nbytes, _ in flows)
    check_rows(trace.tables(machine.resources, machine.clock.now), len(flows))


def check_rows(tables: dict[str, Any], transactions: int) -> None:
    """What transactions found adds up to the run's, and what they waited for is part of their service."""
    rows, hops = tables["RowUse"], tables["Hop"]
    place, txn = np.array(rows["resource"].to_pylist()), rows["txn"]
    for name in ("hits", "misses", "conflicts", "row_ns", "refresh_ns"):
        for one in set(place):
            of = rows[name][(place == one) & (txn >= 0)].sum()
            assert of == pytest.approx(rows[name][(place == one) & (txn < 0)].sum(), abs=1e-6)
    at_slice = np.array(hops["resource"].to_pylist()) == SLICE
    for number in range(transactions):
        waited = sum(rows[name][txn == number].sum() for name in ("row_ns", "refresh_ns"))
        assert 0.0 <= waited <= hops["service_ns"][at_slice & (hops["txn"] == number)].sum() + 1e-6


def test_results_are_right_and_the_same_twice() -> None:
    runs = [
        kb.run("gemm-single-pe", "minimal", topo={"cube.hbm.model": "dram"}, verify=True, m=96) for _ in "ab"
    ]
    assert all(run.verified for run in runs)
    assert runs[0].latency_ns == runs[1].latency_ns


def test_a_machine_without_dram_says_nothing_of_it() -> None:
    node = compiled("minimal").node(SLICE)
    assert "dram" not in node.properties
    assert "dram" not in json.loads(parse("name: t\n").canonical())["cube"]["hbm"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("timing: {like: hbm3_6400, tRC: 60}", "contradicts itself: tRC is 60, expected at least tRAS + tRP = 71"),
        ("timing: {like: hbm3_6400, tRTW: 11}", "contradicts itself: tRTW + tCWL is 21, expected at least tCL + tBL = 22"),
        ("timing: {like: hbm3_6400, tREFIpb: 10}", "contradicts itself: tREFIpb is 10, expected at least (tRFCpb + tRP) / 32 banks = 11"),
        ("timing: {like: hbm3_6400, tCL: 0}", "tCL is 0, expected at least 1"),
        ("timing: hbm3", "is 'hbm3', did you mean 'hbm3_6400'?, or a table of figures"),
        ("timing: {tRC: 60}", "has no tck_ps, expected all figures, or 'like' with a table's name"),
        ("timing: {like: hbm3_6400, tRX: 1}", "has 'tRX', did you mean"),
    ],
)  # fmt: skip
def test_a_wrong_table_is_one_line(keys: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(f"name: t\ncube:\n  hbm:\n    model: dram\n    dram: {{{keys}}}\n", "f.yaml")
    assert str(caught.value).startswith(f"f.yaml:5: cube.hbm.dram.timing: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system: {flit_bytes: 16}\ncube: {hbm: {model: dram}}\n", "f.yaml:2: system.flit_bytes: is 16, expected at least the 32"),
        ("cube: {hbm: {model: dram, switch_penalty_ns: 1.0}}\n", "f.yaml:2: cube.hbm.switch_penalty_ns: is 1 with model dram"),
        ("cube: {hbm: {model: dram, dram: {drain_low: 0.9}}}\n", "f.yaml:2: cube.hbm.dram.drain_low: is 0.9, expected less"),
        ("system: {address_model: la}\ncube: {hbm: {model: dram, mapping: one_to_one}}\n", "f.yaml:3: cube.hbm.mapping: is one_to_one with cube.hbm.model: dram, expected n_to_one, or model: channels"),
    ],
)  # fmt: skip
def test_what_does_not_go_with_dram_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse("name: t\n" + text, "f.yaml")
    assert str(caught.value).startswith(message)
