"""Neighbourhoods: who is where, in every direction, and in which direction it is heard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernbench.errors import UsageError
from kernbench.hardware.topology.neighbours import (
    PATTERNS,
    MachineShape,
    merge,
    neighbours,
    opposite,
    pairs,
    reverse,
    ring,
)
from tests.compiled import compiled
from tests.grids import grid

SHAPE = MachineShape(6, (3, 2), 4, "torus_2d", (3, 2))


def test_the_shape_of_a_compiled_topology() -> None:
    spec = {"system.sips": 6, "system.inter_sip": {"pattern": "torus_2d", "w": 3, "h": 2}}
    shape = MachineShape.of(compiled("minimal", {**spec, "sip.cube_mesh.w": 2}))
    assert shape == MachineShape(6, (2, 1), shape.pes, "torus_2d", (3, 2))


def test_the_mesh_of_cubes_does_not_wrap() -> None:
    found = neighbours("intercube_mesh", SHAPE)
    assert found[0, 0, 3] == {"S": (0, 3, 3), "E": (0, 1, 3)}
    assert found[0, 1, 0] == {"S": (0, 4, 0), "E": (0, 2, 0), "W": (0, 0, 0)}
    assert found[5, 5, 2] == {"N": (5, 2, 2), "W": (5, 4, 2)}


def test_the_ring_of_a_cube() -> None:
    found = neighbours("intracube_pe_ring", SHAPE)
    assert found[1, 2, 0] == {"pe_E": (1, 2, 1), "pe_W": (1, 2, 3)}
    assert found[1, 2, 3] == {"pe_E": (1, 2, 0), "pe_W": (1, 2, 2)}
    some = neighbours("intracube_pe_ring", SHAPE, [(0, 0, 0), (0, 0, 2), (0, 1, 1)])
    assert some == {(0, 0, 0): {"pe_E": (0, 0, 2), "pe_W": (0, 0, 2)},
                    (0, 0, 2): {"pe_E": (0, 0, 0), "pe_W": (0, 0, 0)}, (0, 1, 1): {}}  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "grid", "sip", "expected"),
    [
        ("ring_1d", (6, 1), 0, {"global_E": 1, "global_W": 5}),
        ("torus_2d", (3, 2), 0, {"global_N": 3, "global_S": 3, "global_E": 1, "global_W": 2}),
        ("torus_2d", (2, 3), 5, {"global_N": 3, "global_S": 1, "global_E": 4, "global_W": 4}),
        ("torus_2d", (6, 1), 0, {"global_E": 1, "global_W": 5}),
        ("torus_3d", (3, 1, 2), 4, {"global_E": 5, "global_W": 3, "global_U": 1, "global_D": 1}),
        ("mesh_2d_no_wrap", (3, 2), 0, {"global_S": 3, "global_E": 1}),
        ("mesh_2d_no_wrap", (3, 2), 4, {"global_N": 1, "global_E": 5, "global_W": 3}),
    ],
)
def test_neighbours_between_packages(
    pattern: str, grid: tuple[int, int], sip: int, expected: dict[str, int]
) -> None:
    found = neighbours("inter_sip", MachineShape(6, (1, 1), 1, pattern, grid))
    assert {d: s for d, (s, _, _) in found[sip, 0, 0].items()} == expected


def test_packages_that_are_numbered_as_a_snake() -> None:
    found = neighbours("inter_sip", MachineShape(6, (1, 1), 1, "torus_2d", (3, 2), "snake"))
    assert found[3, 0, 0] == {
        d: (s, 0, 0) for d, s in {"global_E": 5, "global_W": 4, "global_N": 2, "global_S": 2}.items()
    }


def test_a_ring_closes_over_those_who_take_part() -> None:
    shape = MachineShape(4, (1, 1), 1)
    found = neighbours("inter_sip", shape, [(0, 0, 0), (1, 0, 0), (3, 0, 0)])
    assert found[3, 0, 0] == {"global_E": (0, 0, 0), "global_W": (1, 0, 0)}
    assert neighbours("inter_sip", shape, [(2, 0, 0)]) == {(2, 0, 0): {}}


def test_a_ring_of_ones_own() -> None:
    order = [(0, 3, 0), (0, 0, 0), (0, 5, 0)]
    found = ring(order, "next", "last")
    assert [found[at]["next"] for at in order] == [*order[1:], order[0]]
    assert pairs(found)[(0, 0, 0), "next"] == ((0, 5, 0), "last")
    assert ring(order[:1]) == {(0, 3, 0): {}}


@pytest.mark.parametrize(
    ("direction", "expected"), [("N", "S"), ("global_W", "global_E"), ("pe_E", "pe_W"), ("parent", None)]
)
def test_opposites(direction: str, expected: str | None) -> None:
    assert opposite(direction) == expected


def test_two_in_a_ring_hear_each_other_in_the_opposite_direction() -> None:
    table = ring([(0, 0, 0), (1, 0, 0)])
    assert reverse(table, (0, 0, 0), "E") == "W"
    assert reverse(table, (0, 0, 0), "W") == "E"


def test_without_an_opposite_whichever_points_back() -> None:
    a, b, c = (0, 0, 0), (0, 0, 1), (0, 0, 2)
    tree = {a: {"left": b, "right": c}, b: {"parent": a}, c: {"parent": a}}
    assert pairs(tree) == {
        (a, "left"): (b, "parent"),
        (a, "right"): (c, "parent"),
        (b, "parent"): (a, "left"),
        (c, "parent"): (a, "right"),
    }


@given(
    st.sampled_from(["ring_1d", "torus_2d", "mesh_2d_no_wrap"]),
    st.tuples(st.integers(1, 4), st.integers(1, 3)),
    st.tuples(st.integers(1, 4), st.integers(1, 3)),
    st.integers(1, 5),
    st.data(),
)
def test_every_direction_is_heard_once_and_leads_back(
    pattern: str, grid: tuple[int, int], mesh: tuple[int, int], pes: int, data: st.DataObject
) -> None:
    shape = MachineShape(grid[0] * grid[1], mesh, pes, pattern, grid)
    everyone = shape.locations()
    among = data.draw(st.lists(st.sampled_from(everyone), unique=True, min_size=1, max_size=12))
    table = neighbours([one for one in PATTERNS if not one.startswith("mesh_")], shape, among)
    assert sorted(among) == list(table)
    heard = pairs(table)
    assert len(set(heard.values())) == len(heard) == sum(map(len, table.values()))
    for (location, direction), (peer, facing) in heard.items():
        assert table[location][direction] == peer != location
        assert heard[peer, facing] == (location, direction)
        assert facing == opposite(direction)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: neighbours("mesh", SHAPE), "not a pattern of neighbours; use one of intercube_mesh"),
        (lambda: neighbours(["inter_sip", "inter_sip"], SHAPE), "pattern 'inter_sip' is named twice"),
        (lambda: neighbours("inter_sip", SHAPE, [(6, 0, 0)]), r"no such PE as \(6, 0, 0\)"),
        (lambda: ring([(0, 0, 0), (0, 0, 0)]), "names a PE twice"),
        (
            lambda: merge(ring([(0, 0, 0), (0, 0, 1)]), ring([(0, 0, 0), (0, 0, 2)])),
            r"direction 'E' of PE \(0, 0, 0\) is given twice",
        ),
        (lambda: pairs({(0, 0, 0): {"E": (0, 0, 0)}}), "leads to that PE itself"),
        (lambda: pairs({(0, 0, 0): {"E": (0, 0, 1)}, (0, 0, 1): {}}), "has no direction back"),
        (
            lambda: pairs({(0, 0, 0): {"a": (0, 0, 1), "b": (0, 0, 1)}, (0, 0, 1): {"c": (0, 0, 0)}}),
            "are both heard in direction 'c'",
        ),
    ],
)
def test_errors_name_the_direction(act: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        act()  # type: ignore[operator]


def test_rows_and_columns_of_a_mesh_lead_to_all_others_of_them() -> None:
    shape = MachineShape.of(grid("mesh"))  # 4 x 3
    found = neighbours(["mesh_rows", "mesh_columns"], shape)
    assert found[0, 0, 5] == {
        "row0": (0, 0, 4), "row2": (0, 0, 6), "row3": (0, 0, 7), "column0": (0, 0, 1), "column2": (0, 0, 9),
    }  # fmt: skip
    heard = pairs(found)
    assert heard[(0, 0, 5), "row3"] == ((0, 0, 7), "row1")
    assert heard[(0, 0, 5), "column0"] == ((0, 0, 1), "column1")
    some = neighbours("mesh_rows", shape, [(0, 0, 4), (0, 0, 7), (0, 0, 8)])
    assert some == {(0, 0, 4): {"row1": (0, 0, 7)}, (0, 0, 7): {"row0": (0, 0, 4)}, (0, 0, 8): {}}


def test_they_need_a_mesh() -> None:
    with pytest.raises(UsageError, match="is at no router of a mesh"):
        neighbours("mesh_rows", SHAPE)
