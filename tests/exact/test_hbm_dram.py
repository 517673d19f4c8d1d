"""An HBM slice made of DRAM in a machine: times by hand, invariants under any traffic, right results."""

# ruff: noqa: E501 - messages stand as users see them, in one line

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.errors import ConfigError
from kernbench.machine.machine import Machine
from kernbench.topology import parse
from kernbench.topology.dram import ADDRESS_MAPS
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
    watch = dram._AtMemory()
    made = dram.machine("none", watch)
    expected = [
        (100.0, 0, 429 * 0.3125 - 100.0),
        (200.0, 256, 685 * 0.3125 - 200.0),
        (300.0, 1 << 16, 1119 * 0.3125 - 300.0),
    ]
    for start, address, ns in expected:
        before = watch.ns
        made.wait(made.flow(PE, SLICE, address, 32, is_write=False, start_ns=start))
        assert watch.ns - before == pytest.approx(ns, abs=1e-9)


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
    machine = Machine(graph, [], check=True)
    start, sent = 0.0, []
    for later, address, nbytes, write in flows:
        start += later
        sent.append(machine.flow(PE, SLICE, address, nbytes, is_write=write, start_ns=start))
    machine.wait(*sent)
    slice_ = machine.components[SLICE]
    columns = sum(channel.hits + channel.misses + channel.conflicts for channel in slice_.dram)
    flits = [
        (address + at, min(256, nbytes - at))
        for _, address, nbytes, _ in flows
        for at in range(0, nbytes, 256)
    ]
    assert columns == sum((address + size - 1) // 32 - address // 32 + 1 for address, size in flits)
    assert sum(channel.bytes for channel in slice_.channels) == sum(nbytes for _, _, nbytes, _ in flows)


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
