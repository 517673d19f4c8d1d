"""One flow alone is never later on a machine of which one figure is better: no tolerance.

Machines of parts are drawn, with figures that floating point has exactly (powers of two, and small multiples
of them), so that the times of both machines are exact and compared as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from kernbench.engine.machine.machine import Machine
from kernbench.hardware.topology import TopologySpec, compile_topology, validate
from kernbench.support.pgraph import PropertyGraph
from tests.examples import examples

WIRES = ("noc", "d2d", "edge")
MORE = ("gbs", "channel_gbs", "internal_gbs", "read_gbs", "write_gbs", "n_channels", "buffer_flits", "vcs")
LESS = (
    "delay_ns", "credit_ns", "overhead_ns", "access_ns", "issue_ns", "switch_penalty_ns", "tlb_overhead_ns",
    "lookup_ns",
)  # fmt: skip
"""Figures of wires and parts of which more, or less, is better."""


@dataclass(frozen=True)
class Drawn:
    """A machine, and what one flow on it moves."""

    spec: dict[str, Any]
    src: str
    dst: str
    offset: int
    nbytes: int
    writing: bool

    def graph(self) -> PropertyGraph:
        spec = TopologySpec.model_validate(self.spec)
        validate(spec)
        return compile_topology(spec)


def machine(
    system: dict[str, Any], wires: dict[str, Any], pe: dict[str, Any], **parts: Any
) -> dict[str, Any]:
    """Two dies, each with three routers, two PEs, two slices and an SRAM; ``parts`` sets their figures."""
    slice_ = {"kind": "hbm_ctrl", "count": 2, "n_channels": 1, "channel_gbs": 8.0, "slice_bytes": "1 MiB"}
    die = {
        "level": "chiplet",
        "port": "r[0]",
        "parts": {
            "r": {"kind": "router", "shape": {"x": 3}, **parts.get("router", {})},
            "pe": {"block": "pe", "count": 2},
            "hbm": {**slice_, **parts.get("hbm", {})},
            "sram": {"kind": "sram", **parts.get("sram", {})},
            "m_cpu": "m_cpu",
        },
        "connect": [
            {"mesh": "r", "wire": "noc"},
            {"pair": ["r[0:2]", "pe"], "wire": parts.get("pe_wire", "noc")},
            {"pair": ["r[1:3]", "hbm"], "wire": parts.get("hbm_wire", "noc")},
            {"pair": ["r[2]", "sram"], "wire": "noc"},
            {"pair": ["r[0]", "m_cpu"], "wire": "noc"},
        ],
    }
    package = {
        "level": "package",
        "port": "io",
        "parts": {"die": {"block": "die", "count": 2}, "io": "router", "io_cpu": "io_cpu"},
        "connect": [
            {"pair": ["die[0]", "die[1]"], "wire": "d2d"},
            {"pair": ["io", "die[0]"], "wire": "d2d"},
            {"pair": ["io", "io_cpu"], "wire": "noc"},
        ],
    }
    return {
        "schema_version": 1,
        "name": "drawn",
        "system": {"ns_per_mm": 0.0, **system},
        "pe": pe,
        "wires": wires,
        "blocks": {"die": die, "package": package},
        "parts": {"host.cpu": "host_cpu", "package": {"block": "package", "count": 1}},
        "connect": [{"pair": ["host.cpu", "package"], "wire": "d2d"}],
    }


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    def one(*values: Any) -> Any:
        return draw(st.sampled_from(values))

    def rate() -> float:
        return float(2 ** draw(st.integers(2, 13)))

    def ns(*more: float) -> float:
        return float(one(0.0, 0.5, 1.25, 3.5, 7.0, *more))

    wires = {name: {"gbs": rate(), "delay_ns": ns() + 0.125, "mm": 1.0, "weight": 1} for name in WIRES}
    if one(False, True):
        wires[one("noc", "d2d")] |= {"buffer_flits": one(1, 2, 5), "vcs": one(1, 2), "credit_ns": ns()}
    elif one(False, True):
        wires["noc"]["arbiter"] = one("round_robin", "oldest_first")
    spec = machine(
        {
            "flit_bytes": one(32, 64, 256),
            "worker": one("pipelined", "serial"),
            "address_model": one("va", "pa", "la"),
        },
        wires,
        {
            "links": {"internal_gbs": rate()},
            "pe_tcm": {"read_gbs": rate(), "write_gbs": rate(), "overhead_ns": ns(), "access_ns": ns()},
            "pe_dma": {"overhead_ns": ns()},
            "pe_mmu": {"tlb_overhead_ns": ns()},
            "pe_baaw": {"lookup_ns": ns()},
        },
        router={"overhead_ns": ns(), "issue_ns": ns()},
        hbm={
            "n_channels": one(1, 2, 8), "channel_gbs": rate(), "access_ns": ns(100.5), "overhead_ns": ns(),
            "switch_penalty_ns": ns(),
        },
        sram={"overhead_ns": ns(), "access_ns": ns()},
        pe_wire=one("noc", "edge"),
        hbm_wire=one("noc", "edge"),
    )  # fmt: skip
    src = one("package0.die0.pe0", "package0.die1.pe1", "package0.die1.pe1", "host")
    memory = one("hbm0", "hbm1", "sram", "pe1.pe_tcm")
    nbytes = draw(st.integers(1, 40) | st.integers(1, 6000))
    return Drawn(spec, src, f"package0.die0.{memory}", draw(st.integers(0, 600)), nbytes, one(True, False))


def took_ns(graph: PropertyGraph, flow: Drawn) -> float:
    alone = Machine(graph, traced=False)
    transfer = alone.flow(flow.src, flow.dst, flow.offset, flow.nbytes, is_write=flow.writing)
    alone.wait(transfer)
    return float(transfer.ns)


def figures(section: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """The figures of a specification that can be better, each with the section that it stands in."""
    if isinstance(section, dict):
        for key, value in section.items():
            if key in MORE or (key in LESS and value):
                yield section, key
            else:
                yield from figures(value)


def better(value: float, key: str, times: int) -> float:
    return value * times if key in MORE else value / times


@examples(250, suppress_health_check=[HealthCheck.too_slow])
@given(flow=drawn(), data=st.data())
def test_a_flow_alone_is_never_later_where_a_figure_is_better(flow: Drawn, data: st.DataObject) -> None:
    took = took_ns(flow.graph(), flow)
    for _ in range(4):
        changed = replace(flow, spec=deepcopy(flow.spec))
        found = [*figures(changed.spec)]
        number = data.draw(st.integers(0, len(found) - 1), "figure")
        section, key = found[number]
        section[key] = better(section[key], key, data.draw(st.sampled_from([2, 8]), "times"))
        assert took_ns(changed.graph(), changed) <= took, (key, section)


@pytest.mark.daily("pipelined")
@pytest.mark.parametrize("worker", ["pipelined", "serial"])
def test_a_slow_tcm_feeds_a_faster_wire_no_later(worker: str) -> None:
    """A write was held until the wire need not wait for its last byte: the faster the wire, the later."""
    times = []
    for gbs in (128.0, 512.0, 1024.0, 4096.0):
        rates = {"noc": gbs, "d2d": 16.0, "edge": gbs}
        wires = {name: {"gbs": rate, "delay_ns": 0.5, "mm": 1.0} for name, rate in rates.items()}
        system, inside = {"flit_bytes": 64, "worker": worker}, {"links": {"internal_gbs": 512.0}}
        spec = machine(system, wires, inside, router={"overhead_ns": 3.25})
        flow = Drawn(spec, "package0.die1.pe1", "package0.die0.hbm0", 0, 4096, True)
        times.append(took_ns(flow.graph(), flow))
    assert times == sorted(times, reverse=True)
    assert times[-2] - times[-1] < 1.0  # 4,096 bytes take 8 ns out of the TCM whatever the wire
