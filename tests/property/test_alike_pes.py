"""PEs that are alike: one is simulated for many, and each time is that of a run of all, to the last digit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernbench as kb
from tests.compiled import compiled
from tests.examples import examples

CORNERS = ["NW", "NE", "SW", "SE"]
PLACED = kb.DPPolicy(cube="row_wise", pe="column_wise")
COPIED = kb.DPPolicy(cube="replicate", pe="row_wise")
TRANSIT = ["router", "ucie_port", "ucie_conn"]


def local(x: Any, y: Any, tl: Any) -> None:
    tl.store(y.local, tl.exp(tl.load(x.local)))


def twice(x: Any, y: Any, tl: Any) -> None:
    a = tl.load(x.local) + 1.0
    tl.cycles(7)
    tl.store(y.local, a)
    tl.store(y.local, a * tl.load(x.local))


def product(x: Any, y: Any, tl: Any) -> None:
    a = tl.load(x.local)
    tl.store(y.local, a + tl.sum(tl.exp(a), axis=-1, keep_dims=True))


def uneven(x: Any, y: Any, tl: Any) -> None:
    a = tl.load(x.local)
    for _ in range(1 + tl.program_id(0) % 2):
        a = tl.exp(a)
    tl.store(y.local, a)


def by_cube(x: Any, y: Any, tl: Any) -> None:
    a = tl.load(x.local)
    for _ in range(1 + tl.program_id(1)):
        a = tl.exp(a)
    tl.store(y.local, a)


def whole(x: Any, y: Any, tl: Any) -> None:
    """Reads what the PEs of its cube have, and writes its own."""
    tl.store(y.local, tl.load(y.local) + tl.max(tl.load(x, shape=x.shape)))


LOCAL = (local, twice, product, uneven)


@st.composite
def machines(draw: Any) -> dict[str, Any]:
    pes = draw(st.sampled_from([1, 2, 4]))
    return {
        "system.sips": 1,
        "sip.cube_mesh.w": draw(st.integers(2, 3)),
        "sip.cube_mesh.h": draw(st.integers(1, 2)),
        "cube.pes.count": pes,
        "cube.pes.corners": CORNERS[:pes],
        "cube.router.overhead_ns": draw(st.sampled_from([1.0, 2.0, 5.0])),
        "cube.hbm.channel_gbs": draw(st.sampled_from([16.0, 32.0, 50.0])),
        "pe.links.dma_gbs": draw(st.sampled_from([60.0, 256.0])),
        "pe.pe_dma.outstanding": draw(st.integers(1, 3)),
        "pe.pe_cpu.dispatch_cycles": draw(st.sampled_from([0.0, 3.0])),
        "pe.pe_cpu.run_ahead": draw(st.booleans()),
        "pe.pe_math.lanes": draw(st.sampled_from([16, 128])),
        "system.flit_bytes": draw(st.sampled_from([128, 256])),
    }


def ran(kernels: list[Any], topo: dict[str, Any], exact: bool, in_cube: bool = False) -> kb.Run:
    def bench(torch: Any) -> None:
        x, y = (torch.empty(48, 64, dp=COPIED if in_cube else PLACED) for _ in range(2))
        for kernel in kernels:
            torch.launch(kernel.__name__, kernel, x, y)
        torch.wait_all()

    graph = compiled(None, topo)
    return kb.run(bench, graph, store="memory:", trace=False, exact=exact, check=False)


def compare(alike: kb.Run, exact: kb.Run) -> None:
    assert alike.sim_ns == exact.sim_ns
    assert alike.launches == exact.launches
    found, expected = (run.frame("Use") for run in (alike, exact))
    for column in ("resource", "bytes", "transactions"):
        assert found[column].tolist() == expected[column].tolist(), column
    ours, theirs = found["busy_ns"], expected["busy_ns"]
    other = ~np.isin(expected["kind"].astype(str), TRANSIT)
    assert ours[other].tolist() == pytest.approx(theirs[other].tolist())
    # A router is busy while it has anything: a message may pass it with data, or alone.
    passed = 10.0 * len(exact.launches) * 5.0
    assert ours.tolist() == pytest.approx(theirs.tolist(), abs=passed)


@examples(200)
@given(machines(), st.lists(st.sampled_from(LOCAL), min_size=1, max_size=4), st.booleans())
def test_alike_pes_take_the_times_of_a_run_of_all(topo: Any, kernels: Any, in_cube: bool) -> None:
    if in_cube:
        kernels = [whole, *kernels]
    alike, exact = (ran(kernels, topo, one, in_cube) for one in (False, True))
    pes = alike.info["pes"]
    assert pes["simulated"] < pes["of"]
    assert alike.info["events"] < exact.info["events"]
    assert "pes" not in exact.info
    compare(alike, exact)


PARTS = ("pe_gemm", "pe_math", "pe_cpu")


@examples(200)
@given(machines(), st.sampled_from(PARTS), st.sampled_from(LOCAL), st.data())
def test_pes_that_differ_are_simulated_and_it_says_in_what(
    topo: Any, part: str, kernel: Any, data: Any
) -> None:
    topo = {
        **topo,
        "sip.cube_mesh.w": 2,
        "sip.cube_mesh.h": 1,
        "cube.pes.count": 1,
        "cube.pes.corners": ["NW"],
    }
    cube = data.draw(st.integers(0, 1))
    topo["overrides"] = [
        {"where": f"sip0.cube{cube}.pe0.{part}", "speed": data.draw(st.sampled_from([0.5, 2.0]))}
    ]
    alike, exact = (ran([kernel], topo, one) for one in (False, True))
    assert "pes" not in alike.info
    assert alike.info["events"] == exact.info["events"]
    compare(alike, exact)
