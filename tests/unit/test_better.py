"""When one machine is better than another, and what is said where it is slower."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import kernbench as kb
from kernbench.api.stores import borrowed
from kernbench.api.sweeps.anomalies import anomalies
from kernbench.api.sweeps.result import SweepPoint
from kernbench.hardware.topology.better import only_better
from tests.compiled import compiled

Cli = Callable[..., Any]
SERIAL = {"pe.pe_dma.outstanding": 1, "pe.pe_scheduler.tile_transfers": "packed"}


@pytest.mark.parametrize(
    ("key", "worse", "better"),
    [
        ("cube.router.link_gbs", 128.0, 256.0),
        ("cube.router.overhead_ns", 2.0, 1.5),
        ("cube.hbm.pseudo_channels", 8, 16),
        ("pe.pe_dma.outstanding", 2, 3),
        ("pe.clock.ghz", 1.0, 1.5),
        ("system.ns_per_mm", 0.01, 0.0),
    ],
)
def test_a_key_has_a_direction(key: str, worse: Any, better: Any) -> None:
    one, other = (compiled("minimal", {key: value}) for value in (worse, better))
    assert only_better(one, other)
    assert not only_better(other, one)
    assert not only_better(one, one)


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("system.flit_bytes", (128, 256)),  # of the whole machine
        ("cube.pes.count", (1, 2)),  # other parts
        ("pe.pe_tcm.size_bytes", (1572864, 2097152)),  # a capacity
        ("pe.pe_gemm.tile.m", (16, 32)),
        ("links", ({}, {"router_mesh": {"buffer_flits": 8}})),
        ("system.worker", ("serial", "pipelined")),
    ],
)
def test_others_have_none(key: str, values: tuple[Any, Any]) -> None:
    one, other = (compiled("minimal", {key: value}) for value in values)
    assert not only_better(one, other)
    assert not only_better(other, one)


def test_better_in_one_figure_and_worse_in_another_is_not_better() -> None:
    one = compiled("minimal", {})
    both = {"cube.router.link_gbs": 512.0, "cube.router.overhead_ns": 3.0}
    assert not only_better(one, compiled("minimal", both))


@pytest.mark.slow
def test_what_if_says_where_better_is_slower(cli: Cli) -> None:
    """A faster engine writes back earlier, and its writes then meet the reads in HBM."""
    topo = [word for key, value in SERIAL.items() for word in ("--topo", f"{key}={value}")]
    cli("run", "matmul-composite", "--topology", "minimal", "tiles=native", *topo)
    faster = ("--speed", "kind:pe_gemm=2")
    assert cli("what-if", *faster).out.splitlines()[-1].startswith("slower on a better machine: ")
    assert json.loads(cli("what-if", *faster, "--format", "json").out)["slower_although_better"] is True
    slow = json.loads(cli("what-if", "--speed", "kind:pe_gemm=0.5", "--format", "json").out)
    assert slow["slower_although_better"] is False  # whatever it takes
    only = json.loads(cli("what-if", *faster, "--no-rerun", "--format", "json").out)
    assert only["slower_although_better"] is None
    by_key = json.loads(cli("what-if", "--topo", "pe.pe_gemm.clock_ghz=2", "--format", "json").out)
    assert by_key["slower_although_better"] is True
    listed = cli("what-if", "--locations", "0", "--measure", "9")
    named = [line for line in listed.out.splitlines() if " is faster and the run " in line]
    assert any(line.startswith("kind:pe_gemm ") for line in named)


def test_a_sweep_names_points_that_are_slower_with_a_better_value(cli: Cli) -> None:
    topo = [word for key, value in SERIAL.items() for word in ("--topo", f"{key}={value}")]
    shown = ("sweep", "matmul-composite", "--topology", "minimal", "tiles=native", *topo)
    speeds = ("--topo", "pe.pe_gemm.clock_ghz=2,0.25,1")
    found = json.loads(cli(*shown, *speeds, "--format", "json").out)
    slowest, one, two = sorted(found["points"], key=lambda point: point["topo"]["pe.pe_gemm.clock_ghz"])
    assert one["latency_ns"] < two["latency_ns"] < slowest["latency_ns"]
    assert found["anomalies"] == [
        {
            "key": "pe.pe_gemm.clock_ghz",
            **{"value": 2, "point": two["point"], "ns": two["latency_ns"]},
            **{"than_value": 1, "than_point": one["point"], "than_ns": one["latency_ns"]},
        }
    ]
    last = cli(*shown, *speeds).out.splitlines()[-1]
    assert last.startswith("point 1 is slower than 3 with a better pe.pe_gemm.clock_ghz: ")


def test_neighbours_differ_in_one_key_whose_direction_is_known() -> None:
    """Lower router latency is better; a larger TCM is not known to be."""
    key, other = "cube.router.overhead_ns", "pe.pe_tcm.size_bytes"
    with borrowed("memory:") as store:
        runs = {
            (ns, size): kb.run("softmax", "minimal", topo={key: ns, other: size}, store=store).id
            for ns, size in ((1.0, 1572864), (2.0, 1572864), (4.0, 1572864), (1.0, 2097152))
        }

        def point(number: int, ns: float, size: int, latency: float | None) -> SweepPoint:
            run = runs.get((ns, size), runs[1.0, size])
            return SweepPoint(number, "minimal", {}, {key: ns, other: size}, latency, run_id=run)

        points = [
            point(1, 4.0, 1572864, 70.0),
            point(2, 1.0, 1572864, 90.0),
            point(3, 2.0, 1572864, 80.0),
            point(4, 1.0, 2097152, 99.0),
            point(5, 1.5, 1572864, None),
        ]
        found = anomalies(points, store)
    assert [(one["key"], one["point"], one["than_point"]) for one in found] == [(key, 2, 3), (key, 3, 1)]
