"""The bench ``pe2pe``: what arrives is right, and a queue is never faster than DMA of the same bytes."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from kernbench.engine.run_options import RunOptions
from kernbench.errors import KernBenchError
from kernbench.host import run_bench
from kernbench.workloads.benches import resolve
from tests.compiled import compiled
from tests.queue_runs import PAIR

SMALL = PAIR | {"system.sips": 2, "sip.cube_mesh": {"w": 2, "h": 2}}
MACHINES: dict[str, tuple[str | None, dict[str, object]]] = {
    "small": (None, SMALL),
    "la": (None, SMALL | {"system.address_model": "la", "cube.hbm.mapping": "one_to_one"}),
    "slow": (None, SMALL | {"pe.pe_ipcq.overhead_ns": 3.0, "pe.pe_dma.overhead_ns": 1.0}),
    "default": ("default", {}),
    "six SIPs": ("six-sip-torus", {}),
}
PATHS = ["in-cube", "next-cube", "far-cube", "next-sip"]


@cache
def latencies(machine: str, kind: str, nbytes: int, path: str = "all") -> dict[tuple[str, str], float]:
    """Latency by (way, path), ns."""
    bench = resolve("pe2pe")
    params = bench.resolve_params({"path": path, "nbytes": nbytes, "buffer_kind": kind})
    outcome = run_bench(
        compiled(*MACHINES[machine]),
        bench,
        params,
        options=RunOptions(verify=True, check=machine != "default"),
    )
    outcome.raise_for_error()
    assert outcome.verified == "yes"
    words = [(launch.name.split(), launch.t_done - launch.t_start) for launch in outcome.launches]
    return {(name[0], name[1]): ns for name, ns in words if len(name) == 3}


CUT_THROUGH_NS = 256 / 512
"""A slot is written while it crosses the link to the TCM; a flit of DMA crosses the link, then is written."""


def in_order(took: dict[tuple[str, str], float], path: str) -> None:
    assert took["dma", path] <= took["queue-unread", path] + CUT_THROUGH_NS
    assert took["queue-unread", path] <= took["queue", path]


@pytest.mark.daily("small-tcm-128")
@pytest.mark.parametrize(
    ("machine", "kind", "nbytes"),
    [
        *(("small", kind, 128) for kind in ("tcm", "sram", "hbm")),
        *(
            pytest.param("small", kind, nbytes, marks=pytest.mark.slow)
            for kind in ("tcm", "sram", "hbm")
            for nbytes in (1024, 65_536)
        ),
        ("la", "hbm", 4096),
        ("slow", "tcm", 128),
        ("slow", "sram", 8192),
    ],
)
def test_a_queue_is_never_faster_than_dma(machine: str, kind: str, nbytes: int) -> None:
    took = latencies(machine, kind, nbytes)
    for path in PATHS:
        in_order(took, path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tcm", "sram", "hbm"])
@pytest.mark.parametrize(
    ("machine", "nbytes"),
    [
        *(("default", nbytes) for nbytes in (128, 512, 4096, 65_536)),
        ("six SIPs", 65_536),  # of the same parts: only the way is another
    ],
)
def test_a_queue_is_never_faster_than_dma_on_shipped_machines(machine: str, kind: str, nbytes: int) -> None:
    took = latencies(machine, kind, nbytes)
    for path in PATHS:
        in_order(took, path)


@pytest.mark.slow
@pytest.mark.parametrize("machine", ["small", "default"])
def test_at_64_kib_tcm_beats_hbm_beats_sram(machine: str) -> None:
    took = {
        kind: latencies(machine, kind, 65_536, "in-cube")["queue", "in-cube"]
        for kind in ("tcm", "hbm", "sram")
    }
    assert took["tcm"] < took["hbm"] < took["sram"]


PRINTED = {
    "PE to PE in a cube": "in-cube", "to the next cube": "next-cube", "to the farthest cube": "far-cube",
    "to the next SIP": "next-sip",
}  # fmt: skip


@pytest.mark.slow
def test_the_page_of_queues_has_what_messages_take() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "queues.md").read_text("utf-8")
    rows = re.findall(r"^\| ([a-zA-Z ]*) ?\| ([\d,]+) \| (\S+) \| (\S+) \| (\S+) \|$", page, re.M)
    assert len(rows) == 9
    path = ""
    for name, size, *times in rows:
        path = PRINTED[name.strip()] if name.strip() else path
        took = latencies("default", "tcm", int(size.replace(",", "")))
        assert [f"{took[how, path]:,.1f}" for how in ("dma", "queue-unread", "queue")] == times
    kinds = re.search(r"TCM take (\d+) ns, in HBM (\d+) ns and in SRAM ([\d,]+) ns", page)
    assert kinds is not None
    for kind, time in zip(("tcm", "hbm", "sram"), kinds.groups(), strict=True):
        assert f"{latencies('default', kind, 65_536, 'in-cube')['queue', 'in-cube']:,.0f}" == time


@pytest.mark.parametrize(
    ("file", "params", "message"),
    [
        ("minimal", {}, "needs two PEs; the topology has one"),
        ("minimal", {"path": "next-cube"}, "has no path 'next-cube'; it has one PE alone"),
        (None, {"nbytes": 6}, "nbytes=6 is not a multiple of 4"),
    ],
)
def test_what_the_machine_or_the_bench_lacks(
    file: str | None, params: dict[str, object], message: str
) -> None:
    bench = resolve("pe2pe")
    outcome = run_bench(compiled(file, SMALL if file is None else {}), bench, bench.resolve_params(params))
    with pytest.raises(KernBenchError, match=message):
        outcome.raise_for_error()
