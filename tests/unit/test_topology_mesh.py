"""The cube layout: the default's figures by hand, edge cases, and what holds for every cube."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench.hardware.topology.mesh import CORNERS, CubeLayout, deal, layout, min_height_mm, spread


def cube(
    width: float = 16.0,
    height: float = 14.0,
    pes: int = 8,
    corners: tuple[str, ...] = CORNERS,
    connections: int = 4,
) -> CubeLayout:
    return layout(width, height, pes, corners, connections, (1.5, 5.5), (1.5, 9.0))


def test_default_cube() -> None:
    mesh = cube()
    assert mesh.rows_mm == (1.5, 4.0, 5.5, 8.5, 10.0, 12.5)
    assert mesh.cols_mm == (1.5, 4.5, 6.833333, 9.166667, 11.5, 14.5)
    assert mesh.hbm_zone == ((2, 2), (2, 3), (3, 2), (3, 3))
    assert len(mesh.cells()) == 32
    assert mesh.pe_cells == ((0, 0), (0, 1), (1, 4), (1, 5), (4, 0), (4, 1), (5, 4), (5, 5))
    assert mesh.pe_positions == (
        (1.5, 1.5), (4.5, 1.5), (11.5, 1.5), (14.5, 1.5),
        (1.5, 12.5), (4.5, 12.5), (11.5, 12.5), (14.5, 12.5),
    )  # fmt: skip
    assert (mesh.m_cpu, mesh.sram) == ((2, 0), (3, 0))
    assert mesh.ports == {
        "N": ((0, 0), (0, 1), (0, 4), (0, 5)),
        "S": ((5, 0), (5, 1), (5, 4), (5, 5)),
        "E": ((0, 5), (1, 5), (4, 5), (5, 5)),
        "W": ((0, 0), (1, 0), (4, 0), (5, 0)),
    }


def test_neighbours_skip_the_hbm_zone_and_carry_the_distance() -> None:
    pairs = {(a, b): mm for a, b, mm in cube().neighbours()}
    assert len(pairs) == 60 - 12  # 2 * 6 * 5 grid links less those of the four missing routers
    assert pairs[(0, 0), (0, 1)] == 3.0
    assert pairs[(0, 1), (0, 2)] == 2.333333
    assert pairs[(2, 0), (3, 0)] == 3.0
    assert ((2, 1), (2, 2)) not in pairs


def test_one_pe_needs_two_rows_besides_the_hbm_rows() -> None:
    mesh = cube(pes=1, corners=("NW",), connections=1)
    assert mesh.rows_mm == (1.5, 5.5, 8.5, 12.5)
    assert mesh.cols_mm == (1.5, 4.1, 6.7, 9.3, 11.9, 14.5)
    assert mesh.pe_cells == ((0, 0),)
    assert mesh.ports == {"N": ((0, 0),), "S": ((3, 0),), "E": ((3, 5),), "W": ((3, 0),)}


@pytest.mark.parametrize(
    ("width", "columns", "zone_columns"),
    [(5.0, 2, set()), (8.0, 3, {1}), (11.0, 4, {1, 2}), (14.0, 5, {1, 2}), (17.0, 6, {2, 3})],
)
def test_hbm_zone_leaves_the_outer_columns(width: float, columns: int, zone_columns: set[int]) -> None:
    mesh = layout(width, 14.0, 1, ("NW",), 4, (1.5, 5.5), (1.5, 9.0))
    assert len(mesh.cols_mm) == columns
    assert {col for _, col in mesh.hbm_zone} == zone_columns


def test_a_lone_corner_takes_the_first_row_of_its_half() -> None:
    mesh = cube(pes=4, corners=("NE", "SE"))
    assert mesh.pe_cells == ((0, 4), (0, 5), (4, 4), (4, 5))


@pytest.mark.parametrize(
    ("pes", "corners", "dealt"),
    [
        (8, CORNERS, {"NW": 2, "NE": 2, "SW": 2, "SE": 2}),
        (6, CORNERS, {"NW": 2, "NE": 2, "SW": 1, "SE": 1}),
        (2, CORNERS, {"NW": 1, "NE": 1}),
        (3, ("SE", "NW"), {"NW": 2, "SE": 1}),
    ],
)
def test_pes_are_dealt_evenly(pes: int, corners: tuple[str, ...], dealt: dict[str, int]) -> None:
    assert deal(pes, corners) == dealt


def test_connections_are_spread_or_wrap() -> None:
    assert spread(1, [0, 1, 4, 5]) == [4]
    assert spread(2, [0, 1, 4, 5]) == [1, 5]
    assert spread(4, [0, 1, 4, 5]) == [0, 1, 4, 5]
    assert spread(6, [0, 1, 4, 5]) == [0, 1, 4, 5, 0, 1]


def test_a_cube_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="too small"):
        cube(height=9.0)
    with pytest.raises(ValueError, match="too small"):
        cube(width=3.0)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[CubeLayout, int, int]:
    pes = draw(st.integers(1, 16))
    corners = tuple(draw(st.lists(st.sampled_from(CORNERS), min_size=1, unique=True)))
    connections = draw(st.integers(1, 16))
    width = draw(st.floats(4.0, 60.0))
    least = min_height_mm(deal(pes, corners), connections)
    height = draw(st.floats(least + 0.5, least + 40.0))
    at = st.tuples(st.floats(0, width), st.floats(0, height))
    return layout(width, height, pes, corners, connections, draw(at), draw(at)), pes, connections


@given(layouts())
@settings(deadline=None, max_examples=200)
def test_every_layout_is_sound(case: tuple[CubeLayout, int, int]) -> None:
    mesh, pes, connections = case
    cells = set(mesh.cells())
    links = nx.Graph([(a, b) for a, b, _ in mesh.neighbours()])
    assert set(links) == cells
    assert nx.is_connected(links)
    assert all(mm >= 0 for _, _, mm in mesh.neighbours())
    assert list(mesh.cols_mm) == sorted(mesh.cols_mm)
    assert list(mesh.rows_mm) == sorted(mesh.rows_mm)
    assert max(b - a for a, b in zip(mesh.cols_mm, mesh.cols_mm[1:], strict=False)) <= 3.0 + 1e-5
    assert len(mesh.pe_cells) == len(set(mesh.pe_cells)) == pes  # a router of its own for every PE
    assert {*mesh.pe_cells, mesh.m_cpu, mesh.sram} <= cells
    last_row, last_col = len(mesh.rows_mm) - 1, len(mesh.cols_mm) - 1
    for side, on_side in mesh.ports.items():
        assert len(on_side) == connections
        assert set(on_side) <= cells
        edge = {"N": (0, 0), "S": (0, last_row), "W": (1, 0), "E": (1, last_col)}[side]
        assert all(cell[edge[0]] == edge[1] for cell in on_side)
    for (x, _), cell in zip(mesh.pe_positions, mesh.pe_cells, strict=True):
        assert mesh.position(cell)[0] == x
