"""A latency costs no bandwidth: neither a router's, nor that of a memory's cells."""

from __future__ import annotations

import pytest

import kernbench as kb
from kernbench.workloads.probes.traffic_flow import Flow

READS = 2000


def gbs(**changes: object) -> float:
    """What one PE gets by reads of 256 bytes from its own slice, 64 of them in flight, in GB/s."""
    keys = {key.replace("__", "."): value for key, value in changes.items()}
    topology = kb.load_topology("minimal", {"pe.pe_dma.outstanding": 64, **keys})
    pe, slice_ = "sip0.cube0.pe0", "sip0.cube0.hbm_ctrl.pe0"
    flows = [Flow(pe, slice_, 256, op="read", offset=256 * i) for i in range(READS)]
    return READS * 256 / kb.traffic(flows, topology, store="memory:", check=True).sim_ns


@pytest.mark.daily("40.0")
@pytest.mark.parametrize("access_ns", [0.0, 40.0])
def test_small_reads_reach_the_bandwidth_of_the_slice(access_ns: float) -> None:
    assert gbs(cube__hbm__access_ns=access_ns) >= 250.0 - access_ns / 10


def test_a_serial_worker_spends_its_overhead_on_command_and_data_of_each() -> None:
    assert gbs(system__worker="serial") == pytest.approx(64.0, rel=0.01)


def test_a_message_takes_its_output_for_the_issue_interval_beyond_its_bytes() -> None:
    assert gbs(cube__router__issue_ns=3.0) == pytest.approx(256 / (1 + 3), rel=0.01)
