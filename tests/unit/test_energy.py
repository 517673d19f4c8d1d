"""Energy worked out by hand, from published tables and by other code; none appears and none gets lost."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kernbench as kb
from kernbench.analysis.energy.energy_tables import Energy, shared_out, shares_of_time
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents.energy import EMPTY
from kernbench.api.energy_use import energy_of, launches_pj
from kernbench.api.running import benches
from kernbench.api.topologies import topology_area
from kernbench.errors import ConfigError, UsageError
from kernbench.hardware.topology.energy import keys_of, with_defaults
from kernbench.page.answers import Answers
from kernbench.support.pgraph import RunRecord
from kernbench.tui.models.browser import Browser
from kernbench.tui.models.run_page import run_page
from tests.conformance import energy_oracle
from tests.examples import examples
from tests.page_tables import records

M, K, N = 64, 128, 64
A, B, C = 2 * M * K, 2 * K * N, 2 * M * N
"""Bytes of the operands and the product of a GEMM in f16."""


@cache
def gemm(**topo: Any) -> kb.Run:
    """One PE loads two matrices, multiplies them and stores the product."""
    return kb.run("gemm-single-pe", "minimal", params={"m": M, "k": K, "n": N}, topo=topo, store="memory:")


@cache
def ran(bench: str, topology: str = "minimal") -> kb.Run:
    params = {"nbytes": 4096} if bench == "pe2pe" else None  # one of its ten sizes, on all paths
    return kb.run(bench, topology, store="memory:", params=params)


def by_kind(run: kb.Run, figures: dict[str, object] | None = None) -> dict[str, float]:
    return {row["kind"]: row["energy_pj"] for row in run.energy(figures=figures)["rows"]}


def only(*said: tuple[str, float]) -> dict[str, object]:
    """Figures of nothing but what is ``said``, by dotted key."""
    none: dict[str, object] = {}
    for kind, figures in with_defaults().items():
        for key, value in figures.items():
            types = value if isinstance(value, dict) else {}
            none |= {f"{kind}.{key}.{name}": 0.0 for name in types} or {f"{kind}.{key}": 0.0}
    return {**none, **dict(said)}


def test_a_gemm_by_hand() -> None:
    """The host writes two matrices through PCIe and UCIe; the PE loads, fetches, multiplies, stores."""
    found = by_kind(gemm())
    maps = 3 * 16  # the host maps each tensor with a message of 16 bytes, passed on to the M_CPU and the MMU
    assert found["pe_gemm"] == M * K * N * 0.72
    assert found["hbm_ctrl"] == pytest.approx((2 * A + 2 * B + C) * 31.36)  # written by the host, then read
    assert found["pe_tcm"] == (A + B + C + A + B + C) * 1.75  # DMA, then fetch and store
    assert found["pcie"] == 2 * (A + B + maps) * 40.0
    assert found["io_to_cube"] == (A + B + maps) * 4.0
    data = (2 * (A + B) + C) / 256  # flits through r0c0: written by the host, read and written by the PE
    assert found["router"] == (data + 3 * (3 + 3)) * 164.0  # each map passes three routers, there and on
    assert sum(found.values()) == pytest.approx(gemm().energy()["energy_pj"])


def test_energy_of_launches_is_without_the_hosts_transfers() -> None:
    found = gemm().energy("launch")
    rows = {row["launch"]: row["energy_pj"] for row in found["rows"]}
    router = (A + B + C) / 256 * 164.0
    launch = M * K * N * 0.72 + (A + B + C) * 31.36 + 2 * (A + B + C) * 1.75 + router
    assert rows[0] == pytest.approx(launch) == found["launches_pj"]
    assert found["edp_pj_ns"] == found["launches_pj"] * gemm().latency_ns
    assert gemm().time_ns == gemm().latency_ns
    assert found["energy_pj"] == pytest.approx(rows[0] + rows[-1])
    lines = {row["name"].rpartition(":")[2]: row["energy_pj"] for row in gemm().energy("line")["rows"]}
    assert lines["20"] == pytest.approx(A * (31.36 + 1.75) + A / 256 * 164.0)


def test_a_launch_keeps_a_limit_of_power_at_the_cube_root_of_what_is_left() -> None:
    static = {"pe_cpu.static_mw": 500.0}
    (free,) = (row for row in gemm().energy("launch", static)["rows"] if row["launch"] == 0)
    ns = gemm().kernels_ns
    watts = free["energy_pj"] / ns / 1e3
    assert "watts" not in free
    assert free["static_pj"] > 0
    for limit, share in ((watts * 1.01, 1.0), (0.4, 0.0)):
        rows = gemm().energy("launch", static, power_limit_w=limit)["rows"]
        found = {row["launch"]: (row["watts"], row["clock_share"]) for row in rows}
        assert found == {0: (pytest.approx(watts), share), -1: (None, None)}
    own = free["static_pj"] / ns / 1e3
    rows = gemm().energy("launch", static, power_limit_w=own + (watts - own) / 8)["rows"]
    assert [row["clock_share"] for row in rows if row["launch"] == 0] == [pytest.approx(0.5)]
    for by, limit, said in (
        ("line", 1.0, "a power limit is for rows of launches, by is 'line', expected 'launch'"),
        ("launch", 0.0, "the power limit is 0 W, expected more than 0"),
        ("launch", float("nan"), "the power limit is nan W, expected more than 0"),
    ):
        with pytest.raises(UsageError, match=said):
            kb.energy(gemm(), by=by, power_limit_w=limit)


# -- published tables: the total that each gives for the counts of the same run ------------------------------


def test_horowitz() -> None:
    """ISSCC 2014, 45 nm: f16 multiply 1.1 pJ, f32 add 0.9; SRAM of 1 MB 100 pJ, DRAM 1.3 nJ, each 64 bits."""
    figures = only(
        ("pe_gemm.pj_per_mac.f16", 1.1 + 0.9),
        *((f"pe_tcm.pj_per_byte_{way}", 100 / 8) for way in ("read", "write")),
        *((f"hbm_ctrl.pj_per_byte_{way}", 1300 / 8) for way in ("read", "write")),
    )
    words = (A + B + C) // 8
    assert by_kind(gemm(), figures) == {
        "pe_gemm": M * K * N * 2.0,
        "pe_tcm": 2 * words * 100.0,
        "hbm_ctrl": (words + (A + B) // 8) * 1300.0,
    }


def test_eyeriss() -> None:
    """Chen, ISCA 2016, table IV: for a MAC's 1, a word of 16 bits costs 200 in DRAM and 6 in the buffer."""
    figures = only(
        ("pe_gemm.pj_per_mac.f16", 1.0),
        *((f"pe_tcm.pj_per_byte_{way}", 6 / 2) for way in ("read", "write")),
        *((f"hbm_ctrl.pj_per_byte_{way}", 200 / 2) for way in ("read", "write")),
    )
    macs, words = M * K * N, M * K + K * N + M * N
    launch = next(row for row in gemm().energy("launch", figures)["rows"] if row["launch"] == 0)
    assert launch["energy_pj"] == macs + 6 * 2 * words + 200 * words


def test_hbm2_at_full_rate() -> None:
    """O'Connor, MICRO 2017: 3.92 pJ a bit; at 256 GB/s that is 8.03 W, pJ by ns being mW."""
    used = gemm().used
    busy_ns = float(used["busy_ns"][used["kind"] == "hbm_ctrl"].sum())
    assert by_kind(gemm())["hbm_ctrl"] / busy_ns == pytest.approx(3.92 * 8 * 256.0, rel=1e-6)


def test_the_shipped_figures_are_those_of_their_sources() -> None:
    """Jouppi, ISCA 2021, table 2, at 7 nm: multiply and add by type, 64 bits of an SRAM of 1 MB."""
    multiply = {"i8": 0.07, "i32": 1.48, "bf16": 0.21, "f16": 0.34, "f32": 1.31}
    add = {"i8": 0.007, "i32": 0.03, "bf16": 0.11, "f16": 0.16, "f32": 0.38}
    figures = with_defaults()
    summed = {name: multiply[name] + add["i32" if name.startswith("i") else "f32"] for name in multiply}
    for key, found in (("pj_per_mac", summed), ("pj_per_op", {n: multiply[n] + add[n] for n in multiply})):
        shipped = figures["pe_gemm" if key == "pj_per_mac" else "pe_math"][key]
        assert {name: shipped[name] for name in found} == pytest.approx(found)
        short = {shipped.pop("f8e4m3"), shipped.pop("f8e5m2")}  # assumptions
        assert found["i8"] < min(short) <= max(short) < found["bf16"]
        assert {*shipped} == {*found}
    assert figures["pe_tcm"]["pj_per_byte_read"] == 14 / 8
    assert all(set(own) <= set(keys_of(kind)) for kind, own in figures.items())


# -- nothing is lost -------------------------------------------------------------------------------------


def check_sums(energy: Energy) -> None:
    levels: dict[str, int] = defaultdict(int)
    for row in energy.rows():
        levels[row.level] += row.dynamic + row.static
    assert set(levels) == {"run", "part", "line", "launch"} or energy.total == 0
    assert set(levels.values()) == {energy.total}


BENCHES = ("flash-attention", "softmax", "matmul-composite", "ipcq-allreduce", "va-offset-verify")
ALL = tuple(row["name"] for row in benches())


@pytest.mark.parametrize(
    "bench", ["matmul-composite", *(pytest.param(b, marks=pytest.mark.slow) for b in ALL)]
)
def test_parts_lines_and_launches_add_up_to_the_same_and_to_what_the_oracle_finds(bench: str) -> None:
    run = ran(bench, "minimal" if bench in ("matmul-composite", "gemm-list", "llama-decoder") else "default")
    energy = energy_of(run, {"router.static_mw": 1.7, "pe_tcm.static_mw": 0.3, "router.pj_per_message": 0.05})
    check_sums(energy)
    energy = energy_of(run)
    check_sums(energy)
    expected = energy_oracle.spent(RunRecord(run.properties, run.tables), run.topology_record())
    assert energy.total == sum(expected.values())
    by_line = sum(row["energy_pj"] for row in run.energy("line")["rows"])
    assert by_line == pytest.approx(energy.total / 1000)


KEYS = [
    f"{kind}.{key}"
    for kind in ("router", "hbm_ctrl", "pe_tcm", "router_mesh", "pcie", "pe_cpu", "ucie_mesh")
    for key in keys_of(kind)
    if not key.startswith("area")
] + ["pe_gemm.pj_per_mac.f16", "pe_math.pj_per_op.f32", "pe_gemm.static_mw"]


@examples(40)
@given(st.sampled_from(BENCHES[:3]), st.dictionaries(st.sampled_from(KEYS), st.floats(0, 1e5)))
def test_sums_hold_for_any_figures(bench: str, figures: dict[str, object]) -> None:
    check_sums(energy_of(ran(bench), figures))


def test_energy_grows_as_its_figures() -> None:
    run = ran("matmul-composite")
    before, after = by_kind(run), by_kind(run, {"hbm_ctrl.pj_per_byte_read": 2 * 31.36})
    reads = sum(t["bytes"] for t in run.tables["Transaction"].to_pylist() if t["kind"] == "dma_read")
    assert after.pop("hbm_ctrl") - before.pop("hbm_ctrl") == pytest.approx(reads * 31.36)
    assert before == after


@pytest.mark.parametrize("kind", ["tcm", "sram", "hbm"])
def test_tcms_are_charged_for_the_bytes_on_the_wires_that_lead_there(kind: str) -> None:
    run = kb.run("ipcq-allreduce", "minimal", params={"buffer_kind": kind}, topo=PES, store="memory:")
    ends = defaultdict(int)
    for row in run.tables["Use"].to_pylist():
        for here in row["resource"].split("->") if row["kind"] == "pe_internal" else ():
            if here.endswith(".pe_tcm"):
                ends["pe_tcm"] += row["bytes"]
    both = (("pe_tcm.pj_per_byte_read", 1.0), ("pe_tcm.pj_per_byte_write", 1.0))
    assert by_kind(run, only(*both)) == dict(ends)


PES = {"cube.pes.count": 4, "cube.hbm.pseudo_channels": 32, "cube.pes.corners": ["NW", "NE", "SW", "SE"]}


# -- static energy and area ------------------------------------------------------------------------------


def test_static_energy_is_that_of_all_parts_while_the_run_lasts() -> None:
    run = gemm(**{"energy.router.static_mw": 2.0, "energy.hbm_ctrl.static_mw": 10.0})
    routers = sum(row["kind"] == "router" for row in run.topology_record().tables["Component"].to_pylist())
    found = run.energy("launch")
    assert found["static_pj"] == pytest.approx((2.0 * routers + 10.0) * run.sim_ns, abs=0.01)
    rows = {row["launch"]: row["static_pj"] for row in found["rows"]}
    assert rows[0] == pytest.approx((2.0 * routers + 10.0) * run.kernels_ns, abs=0.01)
    assert launches_pj(run) == [next(r["energy_pj"] for r in found["rows"] if r["launch"] == 0)]
    assert run.sim_ns == gemm().sim_ns
    assert run.info["topology_id"] != gemm().info["topology_id"]
    assert found["dynamic_pj"] == gemm().energy()["dynamic_pj"]


@given(st.integers(0, 10**18), st.lists(st.floats(0, 1e9), min_size=1, max_size=30))
def test_what_is_shared_out_is_all_of_it(total: int, weights: list[float]) -> None:
    shares = shared_out(total, weights)
    assert sum(shares) == total
    assert len(shares) == len(weights)
    assert min(shares) >= 0


def test_launches_at_the_same_time_share_it() -> None:
    launches = [{"t_start": 10.0, "t_done": 30.0}, {"t_start": 20.0, "t_done": 50.0}]
    assert shares_of_time(launches, 60.0) == [20.0, 15.0, 25.0]
    assert all(before <= after for before, after in pairwise(sorted(shares_of_time(launches, 60.0))))


def test_area_follows_the_sizes_of_parts() -> None:
    area = topology_area(kb.load_topology("minimal"))
    assert area["pe_tcm"] == pytest.approx(2 * 0.45)
    assert area["pe_gemm"] == pytest.approx(4096 * 0.0006)
    changes = {"pe.pe_tcm.size_bytes": "1536 KiB", "energy.router.area_mm2": 0.1}
    changed = topology_area(kb.load_topology("minimal", changes))
    assert changed["pe_tcm"] == pytest.approx(1.5 * 0.45)
    assert changed["router"] > 0.0
    assert "router" not in area


# -- what cannot be --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("hbm.pj_per_byte_read", 1.0, "energy.hbm: is not a kind of part with energy"),
        ("hbm_ctrl.pj_per_mac", {"f16": 1.0}, "is not a figure of hbm_ctrl"),
        ("pe_gemm.pj_per_mac", {"f17": 1.0}, "is not a type, did you mean 'f16'"),
        ("pe_internal.pj_per_byte", 1.0, "has no energy of its own"),
        ("router.pj_per_flit", -1.0, "router.pj_per_flit: is -1.0"),
    ],
)
def test_wrong_figures_of_a_topology_are_named(key: str, value: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        kb.load_topology("minimal", {f"energy.{key}": value})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("router.pj", 1.0),
        ("router.pj_per_flit", "x"),
        ("router.pj_per_flit", -1),
        ("pe_gemm.pj_per_mac", 1.0),
    ],
)
def test_wrong_figures_of_a_question_are_named(key: str, value: object) -> None:
    with pytest.raises(UsageError, match=key):
        gemm().energy(figures={key: value})


def test_energy_needs_a_trace_and_a_way_to_be_shown() -> None:
    with pytest.raises(UsageError, match="by is 'parts', expected one of kind, part"):
        gemm().energy("parts")
    untraced = kb.run("gemm-single-pe", "minimal", trace=False)
    with pytest.raises(UsageError, match="has no trace"):
        untraced.energy()


def test_more_energy_than_can_be_added_up_is_refused() -> None:
    with pytest.raises(UsageError, match="beyond 1,150 J"):
        gemm().energy(figures={"pe_gemm.pj_per_mac.f16": 1e12})


# -- screens --------------------------------------------------------------------------------------------


def screens(run: kb.Run) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Energy as the page gets it, and the rows of the terminal UI."""
    opened = Browser(run.store).run(run.id)
    (tab,) = (one for one in run_page(opened, ChosenWindow()).sections if one.name == "Energy")
    table = tab.load()
    page: dict[str, Any] = Answers(run.store).answer("energy", {"run": run.id})
    return page, [dict(table.record(at)) for at in range(len(table))]


def test_every_screen_shows_the_same_energy() -> None:
    """Page, terminal UI and questions against the rows of the API; each level adds up to the run."""
    run = gemm()
    page, rows = screens(run)
    for level in page["grids"]:
        by = level["key"]
        wanted = {row["name"]: row["energy_pj"] for row in run.energy(by)["rows"]}
        shown = records(level["table"])
        assert {row["name"]: row["energy_pj"] for row in shown} == wanted
        assert {row["name"]: row["energy_pj"] for row in rows if row["by"] == by} == wanted
        total = sum(wanted.values())
        bars = {name: pj / total for name, pj in list(wanted.items())[: len(level["pairs"])]}
        assert {name: share for name, share, _ in level["pairs"]} == pytest.approx(bars)
    for by, column in (("part", "part"), ("line", "line")):
        asked = {row[column]: row["energy_pj"] for row in run.query(f"energy/by-{by}", limit=10**6).dicts()}
        assert asked == pytest.approx({row["name"]: row["energy_pj"] for row in run.energy(by)["rows"]})


def test_a_machine_without_figures_says_so_on_every_screen() -> None:
    run = gemm(**{f"energy.{key}": value for key, value in only().items()})
    page, rows = screens(run)
    assert (page["said"], rows) == ([EMPTY], [])
    assert all((level["pairs"], level["table"]["rows"]) == ([], []) for level in page["grids"])
    assert EMPTY.replace("'", "&#x27;") in run.energy()._repr_html_()
