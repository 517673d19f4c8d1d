"""Traces of a Wormhole chip as traffic: which events are transfers, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.errors import ConfigError
from kernbench.validation import wormhole
from kernbench.validation.noc_trace import BARRIER_CYCLES, Chip, Trace, read_traces, replay
from kernbench.validation.table_file import folder
from kernbench.workloads.probes.traffic_file import read_flows
from kernbench.workloads.probes.traffic_flow import Flow

ZONE = {"proc": "BRISC", "zone": "BRISC-KERNEL", "zone_phase": "begin", "sx": 1, "sy": 2, "timestamp": 9000}
READ = {"proc": "BRISC", "noc": "NOC_0", "vc": -1, "sx": 1, "sy": 2, "dx": 0, "dy": 11, "num_bytes": 2048,
        "type": "READ", "timestamp": 9244}  # fmt: skip
WRITE = READ | {"noc": "NOC_1", "dx": 4, "dy": 1, "num_bytes": 64, "type": "WRITE_", "timestamp": 9300}
BARRIER = {key: READ[key] for key in ("proc", "noc", "sx", "sy")} | {"type": "READ_BARRIER_START"}


def written(events: list[Any], tmp_path: Path) -> Path:
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(events))
    return file


def test_each_transfer_is_a_flow_at_its_cycle(tmp_path: Path) -> None:
    file = written([ZONE, READ, BARRIER | {"timestamp": 9250}, WRITE], tmp_path)
    assert read_flows(file) == [
        Flow("noc0.die.n1_2.src", "noc0.die.n0_11.mem", 2048, "read", 244.0, name="event2"),
        Flow("noc1.die.n1_2.src", "noc1.die.n4_1.mem", 64, "write", 300.0, name="event4"),
    ]
    run = kb.traffic(file, "wormhole", trace=False)
    assert [flow["start_ns"] for flow in run.flows] == [244.0, 300.0]
    assert run.totals["total_bytes"] == 2112


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (READ | {"type": "WRITE_MULTICAST", "mcast_start_x": 1}, "mcast_start_x: is a multicast"),
        (READ | {"fabric_send": {}}, "fabric_send: is a transfer between chips"),
        (READ | {"type": "SEMAPHORE_INC"}, "type: 'SEMAPHORE_INC' is not a type of event"),
        (READ | {"type": "READ_SET_STATE"}, "type: 'READ_SET_STATE' is not a type of event"),
        (READ | {"type": "WRITE_MULTICAST"}, "type: 'WRITE_MULTICAST' is not a type of event"),
        (READ | {"src_device_id": 0, "dst_device_id": 1}, "is of another chip"),
        (READ | {"noc": "NOC_2"}, "noc: is 'NOC_2', expected NOC_0 or NOC_1"),
        (READ | {"noc": []}, "noc: is [], expected NOC_0 or NOC_1"),
        (READ | {"dx": None}, "dx: is missing, expected an integer"),
        (READ | {"sx": "1"}, "sx: is '1', expected an integer"),
        (READ | {"num_bytes": 0}, "bytes: is 0, expected at least 1"),
        (READ | {"timestamp": True}, "timestamp: is True, expected an integer"),
        (7, "is 7, expected an event"),
    ],
)
def test_what_is_not_taken_is_named(event: object, message: str, tmp_path: Path) -> None:
    file = written([ZONE, READ, event], tmp_path)
    with pytest.raises(ConfigError) as raised:
        read_flows(file)
    assert str(raised.value).startswith(f"{file}: event 3: {message}")


def test_a_node_off_the_chip_and_a_machine_that_is_another_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="event 2: dst: "):
        kb.traffic(written([ZONE, READ | {"dx": 12}], tmp_path), "wormhole")
    with pytest.raises(ConfigError, match="event 2: src: "):
        kb.traffic(written([ZONE, READ], tmp_path), "minimal")


def as_events(trace: Trace) -> list[dict[str, Any]]:
    """A trace as the profiler would have written it, from cycle 0 on."""
    found: list[dict[str, Any]] = [ZONE | {"timestamp": 0}]
    for at, events in trace.items():
        for event in events:
            node = {
                "proc": at.name,
                "sx": at.x,
                "sy": at.y,
                "noc": f"NOC_{event.network}",
                "type": event.type,
            }
            ends = {"dx": event.dx, "dy": event.dy, "num_bytes": event.nbytes} if event.nbytes else {}
            found.append(node | ends | {"timestamp": event.cycle})
    return found


@pytest.mark.daily("1x2_BLOCK_TO_2x4_HEIGHT")
@pytest.mark.parametrize("name", ["DRAM_TO_1x1_HEIGHT", "1x2_BLOCK_TO_2x4_HEIGHT", "2x4_BLOCK_TO_8x8_BLOCK"])
def test_a_trace_of_silicon_takes_as_long_as_its_validation_says(name: str, tmp_path: Path) -> None:
    trace = read_traces(folder() / "wormhole_traces.csv.gz")[name]
    run = kb.traffic(written(as_events(trace), tmp_path), "wormhole", trace=False)
    done = max(flow["end_ns"] for flow in run.flows)
    cycles = replay(wormhole.machine(), Chip(wormhole.worker, wormhole.memory), trace, closed=False)
    assert cycles == pytest.approx(done + BARRIER_CYCLES / 2, abs=1e-6)
