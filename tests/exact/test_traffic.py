"""Plain traffic: a lone flow takes what the max-plus recursion says; many keep within their peaks."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.engine.machine.machine import Machine
from kernbench.errors import ConfigError, UsageError
from kernbench.hardware.routing import Traffic
from kernbench.host.session import NoRequestsError
from kernbench.support.pgraph import PropertyGraph
from kernbench.workloads.probes.traffic_flow import MAX_TRANSFERS, Flow
from kernbench.workloads.probes.traffic_patterns import (
    find_pattern,
    pattern_flows,
    patterns,
    resolve_values,
)
from kernbench.workloads.probes.traffic_runner import TrafficOutcome, run_traffic
from tests.compiled import compiled
from tests.exact.max_plus import MaxPlus
from tests.examples import examples

OBLONG = str(Path(__file__).with_name("oblong.yaml"))
NS = {"abs": 1e-9, "rel": 0}


@pytest.fixture(scope="module")
def default() -> PropertyGraph:
    """The default machine with half of one package: machines of its size take long to wire."""
    return compiled("default", {"system.sips": 1, "sip.cube_mesh": {"w": 4, "h": 2}})


@pytest.fixture(scope="module")
def oblong() -> PropertyGraph:
    return compiled(OBLONG)


@pytest.fixture(scope="module")
def minimal() -> PropertyGraph:
    return compiled("minimal")


def run(graph: PropertyGraph, *flows: Flow) -> TrafficOutcome:
    return run_traffic(graph, flows)


SOURCES = ("sip0.cube0.pe0", "sip1.cube5.pe5", "host", "sip0.cube4.m_cpu")
SLICES = ("sip0.cube0.hbm_ctrl.pe0", "sip1.cube3.hbm_ctrl.pe4")
SIZES = ((100_000, 512), (1, 0), (256, 3), (257, 256), (4096, 1280), (16384, 0))
"""(bytes, offset); the largest first, while the clock is early and has most digits behind the point."""


@pytest.mark.daily("oblong-sip1.cube5.pe5-read", "oblong-host-write", "oblong-sip0.cube4.m_cpu-write")
@pytest.mark.parametrize("op", ["read", "write"])
@pytest.mark.parametrize("src", SOURCES)
@pytest.mark.parametrize(
    "topology",
    [pytest.param(OBLONG, id="oblong"), pytest.param("default", id="default", marks=pytest.mark.slow)],
)
def test_a_lone_flow_takes_the_closed_forms_time(topology: str, src: str, op: str) -> None:
    graph = compiled(topology)
    reference = MaxPlus(graph)
    closed = reference.write_ns if op == "write" else reference.read_ns
    for dst in SLICES:
        outcome = run(
            graph,
            *(
                Flow(src, dst, nbytes, op, 3000.0 * k, offset=offset)
                for k, (nbytes, offset) in enumerate(SIZES)
            ),
        )
        names = _names(outcome.machine, src, dst)
        for (nbytes, offset), row in zip(SIZES, outcome.rows(), strict=True):
            expected = closed(names, nbytes, offset)
            assert row["end_ns"] - row["start_ns"] == pytest.approx(expected, **NS)
            assert row["wait_ns"] == 0.0
            assert row["bandwidth_gbs"] == pytest.approx(nbytes / expected)


def _names(machine: Machine, src: str, dst: str) -> tuple[str, ...]:
    """Components on the way, as the router tells them."""
    kind = src.rpartition(".")[2]
    if kind == "m_cpu":
        return machine.router.route(src, dst, Traffic.MCPU_DMA).nodes
    if kind == "host":
        return machine.router.route("host.cpu", dst, Traffic.HOST_MEMORY).nodes
    return machine.router.route(f"{src}.pe_dma", dst, Traffic.PE_DMA).nodes


@pytest.mark.daily("*-257-*", "*-65536-read", "sip0.cube0.sram-1-write")
@pytest.mark.parametrize("op", ["read", "write"])
@pytest.mark.parametrize("nbytes", [1, 256, 257, 64 * 1024])
@pytest.mark.parametrize("dst", ["sip0.cube0.sram", "sip0.cube0.pe0.pe_tcm", "sip0.cube3.pe1.pe_tcm"])
def test_sram_and_tcm_take_the_closed_forms_time(op: str, nbytes: int, dst: str) -> None:
    # A TCM has no access time in the default machine, and its ports are equally fast; here neither is so.
    ports = {"overhead_ns": 1.5, "read_gbs": 96, "write_gbs": 80}
    graph = compiled(None, {"system.sips": 1, "sip.cube_mesh": {"w": 4, "h": 1}, "pe.pe_tcm": ports})
    outcome = run(graph, Flow("sip0.cube0.pe0", dst, nbytes, op))
    (row,) = outcome.rows()
    reference = MaxPlus(graph)
    closed = reference.write_ns if op == "write" else reference.read_ns
    assert row["end_ns"] == pytest.approx(
        closed(_names(outcome.machine, "sip0.cube0.pe0", dst), nbytes), **NS
    )
    assert row["peak_path_gbs"] == row["peak_fair_gbs"] >= row["bandwidth_gbs"]


@pytest.mark.daily("host-write", "sip0.cube3.m_cpu-read")
@pytest.mark.parametrize("op", ["read", "write"])
@pytest.mark.parametrize("src", ["host", "sip0.cube0.m_cpu", "sip0.cube3.m_cpu"])
def test_others_reach_a_tcm_through_its_pe(default: PropertyGraph, src: str, op: str) -> None:
    dst = "sip0.cube0.pe0.pe_tcm"
    outcome = run(default, Flow(src, dst, 1000, op))
    names = _names(outcome.machine, src, dst)
    assert names[-2:] == ("sip0.cube0.pe0.pe_dma", dst)
    reference = MaxPlus(default)
    closed = reference.write_ns if op == "write" else reference.read_ns
    assert outcome.rows()[0]["end_ns"] == pytest.approx(closed(names, 1000), **NS)


SERIAL = {"pe.pe_dma.outstanding": 1, "cube.m_cpu.outstanding": 1}


@pytest.mark.daily("write-sip0.cube0.pe0")
@pytest.mark.parametrize("src", ["sip0.cube0.pe0", "sip0.cube0.m_cpu"])
@pytest.mark.parametrize("op", ["read", "write"])
def test_a_serial_dma_moves_one_transfer_at_a_time_each_way(
    default: PropertyGraph, src: str, op: str
) -> None:
    dst = "sip0.cube0.hbm_ctrl.pe3"
    serial = compiled("default", SERIAL)
    alone = run(serial, Flow(src, dst, 4096, op)).makespan_ns
    # With two in flight the second's data come right behind the first's.
    (pair,) = run(default, Flow(src, dst, 4096, op, count=2)).transfers
    assert [t.t_done for t in pair] == pytest.approx([alone, alone + 4096 / 256], **NS)
    outcome = run(serial, Flow(src, dst, 4096, op, count=4))
    (transfers,) = outcome.transfers
    assert [t.t_done for t in transfers] == pytest.approx([alone * k for k in (1, 2, 3, 4)], **NS)
    assert [t.wait_ns for t in transfers] == pytest.approx([alone * k for k in (0, 1, 2, 3)], **NS)
    (row,) = outcome.rows()
    assert row["wait_ns"] == pytest.approx(6 * alone, **NS)
    assert row["bandwidth_gbs"] == pytest.approx(4096 / alone)
    # The other direction has an engine of its own.
    both = run(serial, Flow(src, dst, 4096, "read"), Flow(src, "sip0.cube0.hbm_ctrl.pe4", 4096, "write"))
    assert all(t.wait_ns < alone / 2 for (t,) in both.transfers)


def test_host_transfers_share_the_wires_only(default: PropertyGraph) -> None:
    flow = Flow("host", "sip0.cube0.hbm_ctrl.pe0", 4096)
    alone = run(default, flow).makespan_ns
    twice = run(default, flow, flow)
    # The second stands behind the first one's 4096 bytes at the narrowest link, 128 GB/s.
    assert twice.makespan_ns == pytest.approx(alone + 4096 / 128, **NS)


def test_repetitions_start_at_their_times(minimal: PropertyGraph) -> None:
    flow = Flow("sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe0", 256, start_ns=50.0, count=3, period_ns=1000.0)
    outcome = run(minimal, flow)
    (transfers,) = outcome.transfers
    assert [t.t_submit for t in transfers] == [50.0, 1050.0, 2050.0]
    assert len({round(t.ns, 9) for t in transfers}) == 1
    assert all(t.wait_ns == 0 for t in transfers)
    assert outcome.makespan_ns == pytest.approx(2000 + transfers[0].ns, **NS)


def test_at_one_instant_first_transfers_go_before_second_ones(minimal: PropertyGraph) -> None:
    src, dst = "sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe0"
    outcome = run(minimal, Flow(src, dst, 256, count=2), Flow(src, dst, 256, count=2))
    done = sorted((t.t_done, f, k) for f, one in enumerate(outcome.transfers) for k, t in enumerate(one))
    assert [(f, k) for _, f, k in done] == [(0, 0), (1, 0), (0, 1), (1, 1)]


def test_no_flow_is_an_error(minimal: PropertyGraph) -> None:
    with pytest.raises(NoRequestsError, match=r"^NO_REQUESTS: no flows"):
        run(minimal)


def test_too_many_transfers_are_refused_at_once(minimal: PropertyGraph) -> None:
    with pytest.raises(UsageError, match="at most 1000000"):
        run(minimal, Flow("sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe0", 1, count=MAX_TRANSFERS + 1))


@pytest.mark.parametrize(
    ("change", "key", "message"),
    [
        ({"src": "sip0.cube0.pe1"}, "src", "cannot send traffic"),
        ({"src": "sip0.cube0.sram"}, "src", "cannot send traffic"),
        ({"dst": "sip0.cube0.pe0"}, "dst", "is not a memory"),
        ({"dst": "sip0.cube9.sram"}, "dst", "is not a memory"),
        ({"dst": "sip0.cube0.sram", "bytes": 1 << 40}, "bytes", "leave the"),
        ({"dst": "sip0.cube0.sram", "offset": 1 << 40}, "offset", "leave the"),
    ],
)
def test_wrong_ends_are_named(
    minimal: PropertyGraph, change: dict[str, object], key: str, message: str
) -> None:
    given_ = {"src": "sip0.cube0.pe0", "dst": "sip0.cube0.hbm_ctrl.pe0", "bytes": 256, **change}
    with pytest.raises(ConfigError, match=f"^flow: {key}: .*{message}"):
        run(minimal, Flow(**given_))  # type: ignore[arg-type]


def test_peaks_of_flows_that_share(default: PropertyGraph) -> None:
    """Two PEs write to one slice of 256 GB/s, a third reads from it; a fourth is on its own."""
    dst = "sip0.cube0.hbm_ctrl.pe0"
    outcome = run(
        default,
        Flow("sip0.cube0.pe0", dst, 4096),
        Flow("sip0.cube0.pe1", dst, 4096),
        Flow("sip0.cube0.pe2", dst, 4096, "read"),
        Flow("sip0.cube5.pe0", "sip0.cube5.hbm_ctrl.pe0", 4096),
    )
    assert outcome.peaks.path_gbs == [256.0] * 4
    # All links on the way are as fast as the slice, which reads and writes share.
    assert outcome.peaks.fair_gbs == pytest.approx([256 / 3] * 3 + [256])
    assert outcome.totals()["peak_path_gbs"] == 1024.0
    assert outcome.totals()["peak_fair_gbs"] == pytest.approx(512.0)


def test_reads_are_held_against_the_way_back(default: PropertyGraph) -> None:
    """A read and a write in opposite directions over one seam share no link."""
    a = Flow("sip0.cube0.pe0", "sip0.cube1.hbm_ctrl.pe0", 4096, "read")
    b = Flow("sip0.cube0.pe0", "sip0.cube1.hbm_ctrl.pe1", 4096, "write")
    assert (
        run(default, a, b).peaks.fair_gbs == run(default, a).peaks.fair_gbs + run(default, b).peaks.fair_gbs
    )


@pytest.mark.daily("*-minimal-*", "read-oblong-tornado", "write-oblong-hot-spot")
@pytest.mark.parametrize("name", [p.name for p in patterns()])
@pytest.mark.parametrize("topology", ["minimal", OBLONG], ids=["minimal", "oblong"])
@pytest.mark.parametrize("op", ["write", "read"])
def test_patterns_keep_within_their_peaks(topology: str, name: str, op: str) -> None:
    graph = compiled(topology)
    pattern = find_pattern(name)
    flows = pattern_flows(graph, pattern, resolve_values(pattern, {"bytes": 2048, "op": op}))
    totals = run(graph, *flows).totals()
    assert 0 < totals["bandwidth_gbs"] <= totals["peak_fair_gbs"] <= totals["peak_path_gbs"] * (1 + 1e-12)
    assert totals["total_bytes"] == 2048 * len(flows)


@st.composite
def some_flows(draw: st.DrawFn) -> list[Flow]:
    places = st.sampled_from(
        ["sip0.cube0.pe0", "sip0.cube0.pe3", "sip0.cube1.pe1", "host", "sip0.cube1.m_cpu"]
    )
    slices = st.sampled_from(
        ["sip0.cube0.hbm_ctrl.pe0", "sip0.cube1.hbm_ctrl.pe2", "sip1.cube0.hbm_ctrl.pe1"]
    )
    nbytes = draw(st.integers(1, 3000))
    op = st.sampled_from(["read", "write"])
    return [
        Flow(draw(places), draw(slices), nbytes, draw(op), float(draw(st.integers(0, 40))))
        for _ in range(draw(st.integers(1, 8)))
    ]


@examples(25)
@given(flows=some_flows())
def test_equal_flows_never_beat_the_fair_peak_and_tracing_changes_nothing(
    oblong: PropertyGraph, flows: list[Flow]
) -> None:
    plain, untraced = run_traffic(oblong, flows), run_traffic(oblong, flows, traced=False)
    timed = [{**row, "wait_ns": None} for row in untraced.rows()]
    assert timed == [{**row, "wait_ns": None} for row in plain.rows()]
    assert untraced.totals() == plain.totals()
    totals = plain.totals()
    assert totals["bandwidth_gbs"] <= totals["peak_fair_gbs"] * (1 + 1e-12)
    assert totals["peak_fair_gbs"] <= totals["peak_path_gbs"] * (1 + 1e-12)
    for row, transfers in zip(plain.rows(), plain.transfers, strict=True):
        assert 0 <= row["wait_ns"] <= transfers[0].ns
