"""Minimum cuts and bisections of machines, against SciPy's flows, all halves, and known machines."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

import kernbench as kb
from kernbench.analysis.routes.least_cuts import bisection, minimum_cut
from kernbench.analysis.run_view import RunView
from kernbench.errors import UsageError
from tests.compiled import compiled


def asked(components: list[dict[str, Any]], links: list[tuple[str, str, float]]) -> RunView:
    rows = [{"parent": "", "sip": 0, "cube": 0, "pe": -1, "kind": "router", "x_mm": 0.0, "y_mm": 0.0, **one}
            for one in components]  # fmt: skip
    wires = [{"name": f"{a}->{b}", "src": a, "dst": b, "bw_gbs": gbs} for a, b, gbs in links]
    tables = {"Component": pa.Table.from_pylist(rows), "Link": pa.Table.from_pylist(wires, _LINK)}
    return cast(RunView, SimpleNamespace(topology_tables=tables))


_LINK = pa.schema(
    [("name", pa.string()), ("src", pa.string()), ("dst", pa.string()), ("bw_gbs", pa.float64())]
)


def answer(found: Any) -> tuple[dict[str, Any], set[str]]:
    ((_, tables),) = found.items()
    made = tables()
    (cut,) = made["Cut"].to_pylist()
    return cut, {row["link"] for row in made["Crossed"].to_pylist()}


@st.composite
def networks(draw: st.DrawFn, most: int = 7) -> tuple[list[str], list[tuple[str, str, float]]]:
    names = [f"n{at}" for at in range(draw(st.integers(2, most)))]
    pairs = [(a, b) for a in names for b in names if a != b]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True))
    return names, [(a, b, float(draw(st.integers(1, 9)))) for a, b in chosen]


@given(networks())
def test_a_minimum_cut_has_the_bandwidth_of_the_maximum_flow(
    network: tuple[list[str], list[tuple[str, str, float]]],
) -> None:
    names, links = network
    capacity = np.zeros((len(names), len(names)), np.int32)
    for a, b, gbs in links:
        capacity[names.index(a), names.index(b)] = int(gbs)
    flow = maximum_flow(csr_matrix(capacity), 0, len(names) - 1).flow_value
    found = minimum_cut(
        asked([{"name": name} for name in names], links), {"src": names[0], "dst": names[-1], "lost": ""}
    )
    if not flow:
        with pytest.raises(UsageError, match="no path leads"):
            answer(found)
        return
    cut, crossed = answer(found)
    assert cut["gbs"] == flow == sum(gbs for a, b, gbs in links if f"{a}->{b}" in crossed)
    left = [(a, b) for a, b, _ in links if f"{a}->{b}" not in crossed]
    reached = {names[0]}
    while more := {b for a, b in left if a in reached} - reached:
        reached |= more
    assert names[-1] not in reached


@given(networks(), st.integers(2, 5))
def test_a_bisection_is_the_least_of_all_halves(
    network: tuple[list[str], list[tuple[str, str, float]]], packages: int
) -> None:
    names, links = network
    ends = names[:packages]
    parts = [
        {"name": name, "sip": at, "pe": 0, "kind": "pe"} if name in ends else {"name": name, "sip": -1}
        for at, name in enumerate(names)
    ]
    found = bisection(asked(parts, links), {})
    free = [name for name in names if name not in ends]
    least = min(
        sum(gbs for a, b, gbs in links if a in side and b not in side)
        for half in combinations(ends, len(ends) // 2)
        for count in range(len(free) + 1)
        for more in combinations(free, count)
        for side in [{*half, *more}]
    )
    if not least:
        with pytest.raises(UsageError, match="no link leads"):
            answer(found)
        return
    cut, crossed = answer(found)
    assert (cut["gbs"], cut["exact"]) == (least, True)
    assert sum(gbs for a, b, gbs in links if f"{a}->{b}" in crossed) == least
    assert len(cut["first"].split(", ")) == len(ends) // 2


def machine(name: str) -> RunView:
    from kernbench.support.pgraph import topology_record

    return cast(RunView, SimpleNamespace(topology_tables=topology_record(compiled(name)).tables))


@pytest.mark.parametrize(
    ("name", "links", "gbs"),
    [
        ("mesh-8x8", 8, 8 * 32.0),  # a row of links
        ("torus-8x8", 16, 16 * 32.0),  # and those around
    ],
)
def test_bisections_of_known_machines(name: str, links: int, gbs: float) -> None:
    cut, crossed = answer(bisection(machine(name), {}))
    assert (len(crossed), cut["gbs"]) == (links, gbs)


def test_a_machine_that_cannot_be_halved_or_parts_within_each_other(tmp_path: Path) -> None:
    run = kb.run("gemm-single-pe", store=tmp_path, topology="minimal")
    with pytest.raises(UsageError, match="one PE"):
        run.query("routing/bisection")
    with pytest.raises(UsageError, match="share components"):
        run.query("routing/minimum-cut", src="sip0", dst="sip0.cube0")
    rows = run.query("routing/minimum-cut", src="sip0.cube0.pe0", dst="sip0.cube0.hbm_ctrl.pe0").rows
    assert rows
    assert sum(row[2] for row in rows) == rows[0][3]
    assert run.cypher(
        "MATCH (c:Cut)-[:CROSSES]->(l:Link) RETURN c.kind AS kind, sum(l.bw_gbs) AS gbs"
    ).rows == [("minimum", rows[0][3])]


def test_few_halves_are_all_tried_however_many_components_are_on_either_side() -> None:
    """Four packages on a ring of twenty switches: two in a row are cut off by two links of it."""
    ring = [f"s{at}" for at in range(20)]
    links = [
        wire for a, b in zip(ring, ring[1:] + ring[:1], strict=True) for wire in ((a, b, 8.0), (b, a, 8.0))
    ]
    links += [
        wire for at in range(4) for wire in ((f"p{at}", ring[at * 5], 99.0), (ring[at * 5], f"p{at}", 99.0))
    ]
    parts = [{"name": f"p{at}", "sip": at, "pe": 0, "kind": "pe"} for at in range(4)]
    cut, crossed = answer(bisection(asked(parts + [{"name": name, "sip": -1} for name in ring], links), {}))
    assert (cut["gbs"], cut["exact"], len(crossed)) == (16.0, True, 2)
