"""A mistake in a topology file is reported in one line: ``file:line: key: what, expected what``."""

# ruff: noqa: E501 - messages stand as users see them, in one line
from __future__ import annotations

from pathlib import Path

import pytest

from kernbench.errors import ConfigError
from kernbench.hardware.topology import TopologySpec, compile_topology, load, parse
from kernbench.hardware.topology.cube_spec import Cube, Hbm

NAMED = "name: t\n"

BAD_FILES = {
    # the document itself
    "": "f.yaml:1: (file): is empty, expected a mapping",
    "- a\n": "f.yaml:1: (file): is a list, expected a mapping",
    "name: [1\n": "f.yaml:2: bad YAML: expected ',' or ']', but got '<stream end>'",
    NAMED + "\tsystem: 1\n": "f.yaml:2: bad YAML: found character '\\t' that cannot start any token",
    "name: t\n---\nname: u\n": (
        "f.yaml:2: bad YAML: expected a single document in the stream but found another document"
    ),
    NAMED + "\x01": "f.yaml:2: bad YAML: special characters are not allowed",
    NAMED + "system:\n  sips: 1\n  sips: 2\n": (
        "f.yaml:4: system.sips: key given twice (first in line 3), expected it once"
    ),
    NAMED + "? [a, b]\n: 1\n": "f.yaml:2: (file): has a list or mapping as a key, expected text",
    NAMED + "sip: &x [*x]\n": "f.yaml:2: sip.0: alias refers to itself",
    NAMED + "sip: " + "[" * 2500 + "\n": "f.yaml:2: bad YAML: nested too deeply",
    NAMED + "system: {sips: 1" + "0" * 5000 + "}\n": (
        "f.yaml:2: system.sips: is '100000000000000000000000000000000000000000000000000000000...': Exceeds the"
        " limit (4300 digits) for integer string conversion: value has 5001 digits"
    ),
    NAMED + "system: {sips: 010}\n": "f.yaml:2: system.sips: is the text '010', expected an integer",
    NAMED
    + "system: {ns_per_mm: 1:30}\n": "f.yaml:2: system.ns_per_mm: is the text '1:30', expected a number",
    "name: 2020-13-45\n": "f.yaml:1: name: is '2020-13-45': month must be in 1..12",
    # keys
    "system: {sips: 2}\n": "f.yaml:1: name: is missing, expected a value",
    NAMED + "systm: {}\n": "f.yaml:2: systm: unknown key, did you mean 'system'?",
    NAMED + "cube:\n  hbm:\n    penalty: 1\n    efficency: 1\n": (
        "f.yaml:4: cube.hbm.penalty: unknown key, expected one of overhead_ns, impl, attributes, access_ns,"
        " capacity_bytes, pseudo_channels, channel_gbs, slices, zone, mapping, switch_penalty_ns, efficiency,"
        " model, dram; a machine of another shape is made of parts\n"
        "f.yaml:5: cube.hbm.efficency: unknown key, did you mean 'efficiency'?"
    ),
    # types
    NAMED + "system: {sips: two}\n": "f.yaml:2: system.sips: is the text 'two', expected an integer",
    NAMED + "system: {sips: 2.5}\n": "f.yaml:2: system.sips: is 2.5, expected an integer",
    NAMED + "system: {sips: true}\n": "f.yaml:2: system.sips: is true, expected an integer",
    NAMED
    + "system: {ns_per_mm: fast}\n": "f.yaml:2: system.ns_per_mm: is the text 'fast', expected a number",
    NAMED + "cube: 3\n": "f.yaml:2: cube: is 3, expected a mapping",
    NAMED + "cube:\n": "f.yaml:2: cube: is empty, expected a mapping",
    NAMED + "sip: {io_chiplets: {name: io0}}\n": "f.yaml:2: sip.io_chiplets: is a mapping, expected a list",
    NAMED + "pe: {pe_gemm: {impl: 3}}\n": "f.yaml:2: pe.pe_gemm.impl: is 3, expected a text",
    NAMED + "sip: {io_chiplets: [{name: io0, pcie_ep: {cut_through: 1}}]}\n": (
        "f.yaml:2: sip.io_chiplets.0.pcie_ep.cut_through: is 1, expected true or false"
    ),
    # values of one field
    NAMED + "system:\n  sips: 1025\n": "f.yaml:3: system.sips: is 1025, expected at most 1024",
    NAMED + "cube: {pes: {count: 17}}\n": "f.yaml:2: cube.pes.count: is 17, expected at most 16",
    NAMED + "cube: {router: {link_gbs: 0}}\n": "f.yaml:2: cube.router.link_gbs: is 0, expected more than 0",
    NAMED
    + "cube: {router: {overhead_ns: -1}}\n": "f.yaml:2: cube.router.overhead_ns: is -1, expected at least 0",
    NAMED + "cube: {router: {overhead_ns: .inf}}\n": (
        "f.yaml:2: cube.router.overhead_ns: is inf, expected a finite number"
    ),
    NAMED + "system: {flit_bytes: 100}\n": "f.yaml:2: system.flit_bytes: is 100, expected a power of two",
    NAMED + "system: {address_model: ba}\n": (
        "f.yaml:2: system.address_model: is the text 'ba', expected 'va', 'pa' or 'la'"
    ),
    NAMED + "schema_version: 2\n": "f.yaml:2: schema_version: is 2, expected 1",
    "name: a b\n": "f.yaml:1: name: is the text 'a b', expected a name of letters, digits, . _ -",
    NAMED + "pe: {pe_tcm: {size_bytes: 2 MB}}\n": (
        "f.yaml:2: pe.pe_tcm.size_bytes: is '2 MB', expected bytes as an integer or with a unit such as '2 MiB'"
    ),
    NAMED + "cube: {pes: {corners: [NW, NX]}}\n": (
        "f.yaml:2: cube.pes.corners.1: is the text 'NX', expected 'NW', 'NE', 'SW' or 'SE'"
    ),
    NAMED + "cube: {pes: {corners: []}}\n": "f.yaml:2: cube.pes.corners: has 0 items, expected at least 1",
    # between fields
    NAMED + "system:\n  inter_sip: {pattern: ring}\n": (
        "f.yaml:3: system.inter_sip.pattern: is the text 'ring', expected 'ring_1d', 'torus_2d' or 'mesh_2d_no_wrap'"
    ),
    NAMED + "system:\n  sips: 6\n  inter_sip: {pattern: torus_2d}\n": (
        "f.yaml:4: system.inter_sip.pattern: torus_2d of 6 packages is not a square,"
        " expected w and h with w * h = 6"
    ),
    NAMED + "system:\n  sips: 6\n  inter_sip: {pattern: mesh_2d_no_wrap, w: 2, h: 2}\n": (
        "f.yaml:4: system.inter_sip.w: 2 x 2 is 4 packages, expected w * h = system.sips = 6"
    ),
    NAMED + "system:\n  inter_sip: {pattern: torus_2d, w: 2}\n": (
        "f.yaml:3: system.inter_sip.w: is set without h, expected both or neither"
    ),
    NAMED + "system:\n  inter_sip: {h: 2}\n": (
        "f.yaml:3: system.inter_sip.h: is set for a ring_1d, expected no w and h"
    ),
    NAMED + "sip:\n  cube_mesh: {w: 5, h: 4}\n": (
        "f.yaml:3: sip.cube_mesh.w: 5 x 4 is 20 cubes, expected at most 16 (4 bits of an address)"
    ),
    NAMED + "sip:\n  io_chiplets:\n  - name: io0\n    cubes: [0, 16]\n": (
        "f.yaml:5: sip.io_chiplets.0.cubes.1: cube 16 does not exist, expected 0..15"
    ),
    NAMED + "sip:\n  io_chiplets:\n  - name: io0\n    cubes:\n    - 0\n    - 5\n": (
        "f.yaml:7: sip.io_chiplets.0.cubes.1: cube 5 is not on side N, expected one of 0, 1, 2, 3"
    ),
    NAMED + "sip:\n  io_chiplets:\n  - {name: a, cubes: [1]}\n  - {name: b, cubes: [1]}\n": (
        "f.yaml:5: sip.io_chiplets.1.cubes.0: port N of cube 1 is taken by 'a', expected one IO chiplet a port"
    ),
    NAMED + "sip:\n  io_chiplets:\n  - {name: a}\n  - {name: a, side: S}\n": (
        "f.yaml:5: sip.io_chiplets.1.name: 'a' is taken, expected another name for each IO chiplet"
    ),
    NAMED + "sip: {io_chiplets: [{name: cube1}]}\n": (
        "f.yaml:2: sip.io_chiplets.0.name: 'cube1' looks like a cube, expected another name"
    ),
    NAMED + "sip: {io_chiplets: [{name: IO}]}\n": (
        "f.yaml:2: sip.io_chiplets.0.name: is the text 'IO', expected a name of lower-case letters, digits and _"
    ),
    NAMED + "cube: {pes: {corners: [NW, NW]}}\n": (
        "f.yaml:2: cube.pes.corners: names a corner twice, expected each corner once"
    ),
    NAMED + "cube:\n  size_mm: {w: 16, h: 9}\n": (
        "f.yaml:3: cube.size_mm.h: is 9 mm, expected more than 9 mm for the rows of this mesh"
    ),
    NAMED + "cube: {m_cpu: {position_mm: {x: 20, y: 1}}}\n": (
        "f.yaml:2: cube.m_cpu.position_mm.x: is 20 mm, outside the cube, expected at most 16 mm"
    ),
    NAMED + "cube: {hbm: {pseudo_channels: 60}}\n": (
        "f.yaml:2: cube.hbm.pseudo_channels: is 60, expected a multiple of the 8 slices"
    ),
    NAMED + "cube:\n  hbm:\n    pseudo_channels: 96\n": (
        "f.yaml:4: cube.hbm.pseudo_channels: is 96, 12 channels for each of 8 slices,"
        " expected a power of two per slice"
    ),
    NAMED + "cube: {hbm: {slices: 9}}\n": (
        "f.yaml:2: cube.hbm.slices: is 9, expected 8: one slice for each PE of a cube, at its router"
    ),
    NAMED + "cube: {hbm: {slices: 4}}\n": (
        "f.yaml:2: cube.hbm.slices: is 4, expected 8: one slice for each PE of a cube, at its router"
    ),
    NAMED + "cube: {hbm: {capacity_bytes: 1000}}\n": (
        "f.yaml:2: cube.hbm.capacity_bytes: is 1000 bytes, expected a multiple of 8 slices x 4096 bytes"
    ),
    NAMED + "pe:\n  pe_tcm:\n    scratch_bytes: 2 MiB\n": (
        "f.yaml:4: pe.pe_tcm.scratch_bytes: is 2097152 bytes, with scheduler_reserved_bytes 2359296 in all,"
        " expected at most size_bytes = 2097152"
    ),
    NAMED + "pe: {pe_gemm: {attributes: {tile_m: 3}}}\n": (
        "f.yaml:2: pe.pe_gemm.attributes.tile_m: is a property that the compiler sets, expected another name"
    ),
    NAMED + "pe: {pe_gemm: {attributes: {a: [1]}}}\n": (
        "f.yaml:2: pe.pe_gemm.attributes: has 'a' set to [1], expected a number, a text or a boolean"
    ),
    # a default is at fault with what the file says: the file's line is named
    NAMED + "cube:\n  pes:\n    count: 6\n": (
        "f.yaml:4: cube.hbm.pseudo_channels: is 64, expected a multiple of the 6 slices"
    ),
    # the HBM zone leaves the mesh connected, and every PE its router
    NAMED + "cube:\n  hbm:\n    zone: {row: 0}\n": (
        "f.yaml:4: cube.hbm.zone.row: puts the zone on rows 0 to 1 of 6, expected it within rows 1 to 4"
    ),
    NAMED + "cube: {hbm: {zone: {cols: 6}}}\n": (
        "f.yaml:2: cube.hbm.zone.cols: puts the zone on cols 0 to 5 of 6, expected it within cols 1 to 4"
    ),
    NAMED + "cube: {hbm: {zone: {row: 1, col: 3}}}\n": (
        "f.yaml:2: cube.hbm.zone: takes the router of PE 2 in row 1, column 4, expected it elsewhere"
    ),
    # IO chiplets
    NAMED
    + "sip:\n  io_chiplets:\n  - {name: a, cubes: [0]}\n  - {name: b, cubes: [1]}\n  - {name: c, cubes: [2]}\n": (
        "f.yaml:6: sip.io_chiplets.2.side: 'c' is the third IO chiplet on side N, expected at most two on a side"
    ),
    NAMED + "sip: {io_chiplets: [{name: a, cubes: [0], ports: [{cube: 1}]}]}\n": (
        "f.yaml:2: sip.io_chiplets.0.ports: is set beside cubes, expected one of the two"
    ),
    NAMED + "sip: {io_chiplets: [{name: a, ports: [{cube: 5, side: E}]}]}\n": (
        "f.yaml:2: sip.io_chiplets.0.ports.0: cube 5 is not on side E, expected one of 3, 7, 11, 15"
    ),
    NAMED + "pe:\n  pe_math:\n    passes: {softmx: 3}\n": (
        "f.yaml:4: pe.pe_math.passes: names the operation 'softmx', did you mean 'softmax'?"
    ),
    NAMED + "pe: {pe_math: {passes: {exp: 0}}}\n": (
        "f.yaml:2: pe.pe_math.passes: has 'exp' set to 0, expected an integer from 1 to 1000"
    ),
    # several
    "name: 3\nsystem: {sips: 0}\nroutng: 1\n": (
        "f.yaml:1: name: is 3, expected a text\n"
        "f.yaml:2: system.sips: is 0, expected at least 1\n"
        "f.yaml:3: routng: unknown key, did you mean 'routing'?"
    ),
}


@pytest.mark.daily(but=("text9-*",))
@pytest.mark.parametrize(("text", "message"), BAD_FILES.items())
def test_bad_file(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text, "f.yaml")
    assert str(caught.value) == message


BAD_OVERRIDES: list[tuple[dict[str, object], str]] = [
    ({"cube.hbm.switch_penalty_ns": -1}, "override cube.hbm.switch_penalty_ns: is -1, expected at least 0"),
    (
        {"cube.hbm.switch_penalt": 1},
        "override cube.hbm.switch_penalt: unknown key, did you mean 'switch_penalty_ns'?",
    ),
    ({"system.sips": "two"}, "override system.sips: is the text 'two', expected an integer"),
    (
        {"cube.hbm.pseudo_channels": "60"},
        "override cube.hbm.pseudo_channels: is 60, expected a multiple of the 8 slices",
    ),
    (
        {"cube.hbm.slices": 3},
        "override cube.hbm.slices: is 3, expected 8: one slice for each PE of a cube, at its router",
    ),
    (
        {"cubes.hbm.slices": 3},
        "override cubes.hbm.slices: cubes: unknown key, did you mean 'cube'?",
    ),
    ({"sip.io_chiplets.0.side": "Q"}, "override sip.io_chiplets.0.side: is the text 'Q', expected 'N', 'S', 'E' or 'W'"),
    (
        {"sip.io_chiplets.1.side": "S"},
        "override sip.io_chiplets.1.side: sip.io_chiplets: the file lists 1 item, expected a position from 0 below that",
    ),
    ({"system.sips.x": 1}, "override system.sips.x: system.sips: is 2, expected a key of a section"),
    ({"": 1}, "override '': is not a dotted key, expected one such as 'system.sips'"),
]  # fmt: skip


@pytest.mark.parametrize(("overrides", "message"), BAD_OVERRIDES)
def test_bad_override(overrides: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(None, overrides)
    assert str(caught.value) == message


def test_missing_file_lists_what_ships() -> None:
    with pytest.raises(ConfigError) as caught:
        load("defualt")
    assert str(caught.value) == (
        "defualt: no such topology file, expected a path or one of as-recorded, default, minimal, "
        "six-sip-torus, tray-16, tray-8, a100-4, a100,"
        " dragonfly-72, fat-tree-64, h100-8-nvswitch, h100, mesh-8x8, mi210, n150, p150, six-die-packages,"
        " six-package-torus, torus-8x8, tpu-v4-64, two-kinds, wormhole"
    )


def test_a_folder_does_not_hide_a_shipped_topology(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "minimal").mkdir()
    monkeypatch.chdir(tmp_path)
    assert load("minimal").name == "minimal"


def test_folder_and_binary_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is a folder, expected a topology file$"):
        load(tmp_path)
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(
        ConfigError, match=r"x\.yaml: cannot be read: it is not UTF-8 text; name a topology file$"
    ):
        load(tmp_path / "x.yaml")


def test_a_spec_made_in_code_is_checked_when_compiled() -> None:
    spec = TopologySpec(name="t", cube=Cube(hbm=Hbm(pseudo_channels=60)))
    with pytest.raises(ConfigError) as caught:
        compile_topology(spec)
    assert str(caught.value) == (
        "topology 't': cube.hbm.pseudo_channels: is 60, expected a multiple of the 8 slices"
    )
