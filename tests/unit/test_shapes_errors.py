"""What is wrong with a file of parts is said in one line: ``file:line: key: what, expected what``."""

# ruff: noqa: E501 - messages stand as users see them, in one line
from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest

import kernbench as kb
from kernbench.errors import ConfigError, KernBenchError, UsageError
from kernbench.hardware.topology import compile_topology, parse
from kernbench.hardware.topology.shapes import wiring
from kernbench.hardware.topology.shapes.expressions import number
from tests.unit.test_shapes import DEFAULT, FABRIC, GRID

GOOD = """\
name: t
wires:
  w: {gbs: 10, delay_ns: 1}
blocks:
  die:
    params: {n: 2}
    parts:
      E: router
      r: {kind: router, shape: {x: "{n}", y: 2}}
    connect:
      - {mesh: r, wire: w}
  pack: {level: package, port: r, parts: {r: router, mem: memory}, connect: [{pair: [r, mem], wire: w}]}
parts:
  die: {block: die, shape: {x: 2, y: 2}, n: 3}
  a: {kind: router, count: 8}
  p: {block: pack, count: 4}
connect:
  - {pair: [a, p], wire: w}
"""
BAD = {
    ("kind: router, count: 8", "kind: ruoter, count: 8"): "f.yaml:15: parts.a.kind: 'ruoter' is not a kind of part, did you mean 'router'?",
    ("E: router", "E: ruoter"): "f.yaml:8: blocks.die.parts.E: 'ruoter' is not a kind or block, did you mean 'router'?",
    ("block: die, shape", "block: dei, shape"): "f.yaml:14: parts.die.block: 'dei' is not a block, did you mean 'die'?",
    ("block: die, shape", "block: die, kind: router, shape"): "f.yaml:14: parts.die: has kind and block, expected one of kind and block",
    ("count: 8", "count: 8, shape: {x: 8}"): "f.yaml:15: parts.a.count: is set beside shape, expected one of the two",
    ("port: r,", "port: q,"): "f.yaml:12: blocks.pack.port: 'q' is not a part here, expected one of r, mem",
    ("count: 8", "count: 0"): "f.yaml:15: parts.a.count: is 0, expected an integer from 1 to 2000000",
    ("count: 8", "count: 8, over: 1"): "f.yaml:15: parts.a.over: unknown key, did you mean 'worker'?",
    ("count: 8", "count: 8, overhead_ns: -1"): "f.yaml:15: parts.a.overhead_ns: is -1, expected at least 0",
    ("count: 8", "count: 8, order: zigzag"): "f.yaml:15: parts.a.order: is 'zigzag', expected index or snake",
    ("count: 8", "count: 8, at: 3"): "f.yaml:15: parts.a.at: is 3, expected mm such as {x: 1.5, y: 2}",
    ("count: 8", "count: 8, name: same"): "f.yaml:15: parts.a: 'same' is there already, expected another name",
    ("count: 8", "count: 8, name: 'a b'"): "f.yaml:15: parts.a: 'a b' is not a name, expected letters, digits and . _ -",
    ("kind: router, count: 8", "kind: host_cpu, count: 8"): "f.yaml:13: parts: 'a0' and 'a1' are host CPUs, expected one of them",
    ("shape: {x: 2, y: 2}, n: 3", "shape: {x: 2, y: 2}, k: 3"): "f.yaml:14: parts.die.k: is not a parameter of block 'die', expected one of n",
    ("shape: {x: 2, y: 2}, n", "shape: [2], n"): "f.yaml:14: parts.die.shape: is [2], expected axes with their sizes, such as {x: 8, y: 8}",
    ('"{n}"', '"{m}"'): "f.yaml:9: blocks.die.parts.r.shape: 'm' in 'm' is not known here, expected one of n",
    ('"{n}"', '"{n +}"'): "f.yaml:9: blocks.die.parts.r.shape: 'n +' is not an expression, expected numbers, names and + - * / // % ( )",
    ('"{n}"', '"{n / 2}"'): "f.yaml:9: blocks.die.parts.r.shape.x: is 1.5, expected an integer from 1 to 2000000",
    ("E: router", "E: die"): "f.yaml:8: blocks.die.parts.E: block die > die holds itself, expected other blocks within",
    ("E: router", "E: pack, r0_0: router"): None,
    ("mesh: r", "mesh: q"): "f.yaml:11: blocks.die.connect.0: 'q' is not a part here, expected one of E, r",
    ("mesh: r", "mesh: E"): "f.yaml:11: blocks.die.connect.0: 'E' is one part, expected an array",
    ("mesh: r", "mesh: r, axes: [z]"): "f.yaml:11: blocks.die.connect.0: 'z' is not an axis of 'r', expected one of x, y",
    ("mesh: r", "mesh: r, axs: [x]"): "f.yaml:11: blocks.die.connect.0.axs: unknown key, did you mean 'axes'?",
    ("mesh: r", "mesh: r, ring: r"): "f.yaml:11: blocks.die.connect.0: has mesh and ring of the patterns, expected one of pair, all, mesh, torus, ring, all_to_all, dragonfly",
    ("mesh: r,", ""): "f.yaml:11: blocks.die.connect.0: has none of the patterns, expected one of pair, all, mesh, torus, ring, all_to_all, dragonfly",
    ("mesh: r, wire: w", "mesh: r, wire: v"): "f.yaml:11: blocks.die.connect.0.wire: 'v' is not a wire, expected one of w",
    ("mesh: r, wire: w", "mesh: r, wire: {gbs: 0}"): "f.yaml:11: blocks.die.connect.0.wire.gbs: is 0, expected a number above 0",
    ("mesh: r, wire: w", "mesh: r, wire: {gbs: 1, vcs: 2}"): "f.yaml:11: blocks.die.connect.0.wire.vcs: is set for a wire without a name, expected it of one of 'wires'",
    ("mesh: r, wire: w", "mesh: r, wire: {gbs: 1, kind: router_mash}"): "f.yaml:11: blocks.die.connect.0.wire.kind: 'router_mash' is not a kind of link, did you mean 'router_mesh'?",
    ("gbs: 10,", "gbs: -1,"): "f.yaml:3: wires.w.gbs: is -1, expected a number above 0",
    ("gbs: 10,", "gbs: 10, vcs: 2,"): "f.yaml:3: wires.w.vcs: is set without buffers, expected buffer_flits beside it",
    ("gbs: 10,", "gbps: 10,"): "f.yaml:3: wires.w.gbps: unknown key, did you mean 'gbs'?",
    ("pair: [a, p]", 'pair: ["a[0:3]", p]'): "f.yaml:18: connect.0: joins 3 of 'a[0:3]' and 4 of 'p', expected as many, or a multiple",
    ("pair: [a, p]", 'pair: ["a[8]", p]'): "f.yaml:18: connect.0: 'a[8]' has the index 8, expected 0..7",
    ("pair: [a, p]", 'pair: ["a[0,1]", p]'): "f.yaml:18: connect.0: 'a[0,1]' has 2 indices, expected 1: i",
    ("pair: [a, p]", 'pair: ["a[0", p]'): "f.yaml:18: connect.0: 'a[0' lacks a ']', expected one",
    ("pair: [a, p]", "pair: [a, p.q]"): "f.yaml:18: connect.0: 'q' is not a part here, expected one of r, mem",
    ("pair: [a, p]", "pair: [a.r, p]"): "f.yaml:18: connect.0: 'a' is a part without 'r' in it, expected a block",
    ("pair: [a, p]", "pair: [a, p, p]"): "f.yaml:18: connect.0: lists 3 references, expected 2",
    ("pair: [a, p]", "pair: [a, 3]"): "f.yaml:18: connect.0: is 3, expected a reference such as 'tile[0,*].r'",
    ("pair: [a, p]", "pair: [a, die]"): "f.yaml:18: connect.0: the block of 'die0_0.E' has no port, expected a part in it, or 'port' in the block",
    ("pair: [a, p]", "pair: ['a[0]', 'a[0]']"): "f.yaml:18: connect.0: joins 'a0' to 'a0', expected two parts",
    ("pair: [a, p]", "pair: ['a[0]', 'a[1]']"): None,
    ("pair: [a, p]", "all: [a, a]"): "f.yaml:18: connect.0: joins 'a0' to 'a0', expected two parts",
    ("pair: [a, p], wire: w}", "pair: [a, p], wire: w}\n  - {pair: [a, p], wire: w}"): "f.yaml:19: connect.1: joins 'a0' to 'p0.r' again, expected each link once; parallel links are lanes",
    ("pair: [a, p]", "each: {i: x}, pair: [a, p]"): "f.yaml:18: connect.0.each.i: is 'x', expected an integer from 1, at most 100000 in all",
    ("pair: [a, p]", "dragonfly: a"): "f.yaml:18: connect.0: 'a' is 1 groups, expected an array of groups with an array of routers each, and at most one group more than a group has ports",
    ("level: package, port", "level: packet, port"): "f.yaml:12: blocks.pack.level: is the text 'packet', expected '', 'package', 'chiplet' or 'pe'",
    ("parts: {r: router, mem: memory}", "parts: {r: pack2, mem: memory}"): "f.yaml:12: blocks.pack.parts.r: 'pack2' is not a kind or block, did you mean 'pack'?",
    ("name: t\n", "name: t\nsystem: {sips: 3}\n"): "f.yaml:2: system.sips: says something of a tray, expected it as the parts of this machine",
    ("name: t\n", "name: t\nrouting: {answer: own}\n"): "f.yaml:2: routing.answer: unknown key, did you mean 'answers'?",
    ("name: t\n", "name: t\ndefaults: {ruoter: {}}\n"): "f.yaml:2: defaults.ruoter: is not a kind of part, did you mean 'router'?",
    ("name: t\n", "name: t\ndefaults: {router: {over: 1}}\n"): "f.yaml:2: defaults.router.over: unknown key, did you mean 'worker'?",
    ("name: t\n", "name: t\nlinks: {ww: {vcs: 2, buffer_flits: 2}}\n"): None,
}  # fmt: skip


def compiled(text: str) -> None:
    compile_topology(parse(text, "f.yaml"))


@pytest.mark.parametrize(
    ("change", "message"), [(k, v) for k, v in BAD.items() if v], ids=[v for v in BAD.values() if v]
)
def test_a_mistake_is_said_with_file_and_line(change: tuple[str, str], message: str) -> None:
    compiled(GOOD)
    assert GOOD.count(change[0]) >= 1
    with pytest.raises(ConfigError) as error:
        compiled(GOOD.replace(*change, 1))
    assert str(error.value) == message


PICTURE = """\
name: t
parts:
  die:
    shape: {x: 2, y: 2}
    map: |
      C M
      M C
    legend: {C: chiplet, M: memory}
"""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("C M\n", "C M M\n"), "f.yaml:5: parts.die.map: has 5 letters, expected 4: one for each place of the shape"),
        (("C M\n", "C X\n"), "f.yaml:5: parts.die.map: has 'X', expected one of C, M of the legend, or '.' for a hole"),
        (("M: memory", "M: 3"), "f.yaml:8: parts.die.legend.M: is 3, expected a kind, a block, or a mapping"),
        (("M: memory", "M: memroy"), "f.yaml:8: parts.die.legend.M: 'memroy' is not a kind or block, did you mean 'memory'?"),
        (("M: memory", "M: {block: chiplet, pec: {}}"), "f.yaml:8: parts.die.legend.M.pec: is not a parameter of block 'chiplet', did you mean 'pe'?"),
        (("M: memory", "M: {block: chiplet, pe: {pe_dma: {outstanding: 0}}}"), "f.yaml:8: parts.die.legend.M.pe.pe_dma.outstanding: is 0, expected at least 1"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_picture(change: tuple[str, str], message: str) -> None:
    compiled(PICTURE)
    with pytest.raises(ConfigError) as error:
        compiled(PICTURE.replace(*change, 1))
    assert str(error.value) == message


def test_what_belongs_to_parts_needs_them() -> None:
    with pytest.raises(ConfigError, match=r"f.yaml:2: wires: is set without parts, expected parts beside it"):
        compiled("name: t\nwires: {w: {gbs: 1}}\n")


def test_blocks_are_nested_so_deep_and_no_deeper() -> None:
    chain = "".join(f"  b{i}: {{parts: {{b: b{i + 1}}}}}\n" for i in range(20))
    with pytest.raises(ConfigError, match="is more than 16 deep"):
        compiled(f"name: t\nblocks:\n{chain}  b20: {{}}\nparts: {{b: b0}}\n")


@pytest.mark.parametrize(
    "text",
    [
        "1 / 0",
        "9" * 99,
        "1e17 * 1e17",
        "(" * 50,
        "x.y",
        "'a'",
        "a[0]",
        "x" * 101,
        "",
        "2 ** 9",
        "1 if 1 else 2",
    ],
)
def test_an_expression_is_numbers(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        number(text, {"x": 1})


@pytest.mark.daily("80")
@pytest.mark.parametrize("times", [80, 400])
def test_damaged_files_are_refused_or_compiled(times: int) -> None:
    rnd = random.Random(41)
    found = [DEFAULT, GRID, FABRIC, GOOD, PICTURE]
    tokens = [
        "-1",
        "0",
        "1",
        "1e9",
        "x",
        "[]",
        "{}",
        '"{x}"',
        "r",
        "~",
        "true",
        "[0]",
        "*",
        "99999999",
        ".nan",
        "",
    ]
    for _ in range(times):
        lines = rnd.choice(found).split("\n")
        for _ in range(rnd.choice((1, 1, 2))):
            i, j = rnd.randrange(len(lines)), rnd.randrange(len(lines))
            words = re.findall(r"[\w.]+", lines[i])
            if rnd.random() < 0.2:
                del lines[i]
            elif rnd.random() < 0.2:
                lines[i], lines[j] = lines[j], lines[i]
            elif words:
                other = rnd.choice(tokens + re.findall(r"\w+", "\n".join(found)))
                lines[i] = lines[i].replace(rnd.choice(words), other, 1)
            if not lines:
                break
        text, started, said = "\n".join(lines), time.process_time(), "f.yaml:"
        try:
            compiled(text)
        except KernBenchError as error:
            said = str(error)
        except Exception as error:
            raise AssertionError(text) from error
        assert "f.yaml:" in said, text
        assert time.process_time() - started < 2, text


CROWD = """\
name: t
wires: {w: {gbs: 10}}
blocks:
  row: {parts: {r: {kind: router, count: 1000}}}
  few: {parts: {r: {kind: router, count: 200}}, connect: [{all_to_all: r, wire: w}]}
  sheet: {parts: {row: {block: row, count: 1000}}}
parts:
  PARTS
  s: source
connect:
  - {CONNECT, wire: w}
"""


@pytest.mark.parametrize(
    ("parts", "connect", "said"),
    [
        (
            "b: {block: sheet, count: 1000}",
            "pair: [s, b]",
            "8: parts.b: makes 1,000,000,000 parts, expected at most 2,000,000 in all",
        ),
        (
            "b: {block: few, count: 200}",
            "pair: [s, b]",
            "8: parts.b: makes 7,960,000 links, expected at most 4,000,000 in all",
        ),
        (
            "b: {kind: router, count: 3000}",
            "all_to_all: b",
            "11: connect.0: makes 8,997,000 links, expected at most 4,000,000 in all",
        ),
        (
            "b: {kind: router, shape: {x: 9, y: 3000}}",
            "all_to_all: b, axes: [y]",
            "11: connect.0: makes 80,973,000 links,",
        ),
        (
            "b: {kind: router, count: 3000}",
            "all: [b, b], one_way: true",
            "11: connect.0: makes 9,000,000 links,",
        ),
        (
            "b: {kind: router, shape: {x: 9, y: 999}}",
            "all: ['b[i,*]', 'b[j,*]'], each: {i: 9, j: 9}",
            "11: connect.0: makes 161,676,162 links,",
        ),
    ],
)
def test_a_machine_that_is_too_large_is_refused_before_it_is_made(
    parts: str, connect: str, said: str
) -> None:
    started = time.process_time()
    with pytest.raises(ConfigError) as error:
        compiled(CROWD.replace("PARTS", parts).replace("CONNECT", connect))
    assert f"f.yaml:{said}" in str(error.value)
    assert time.process_time() - started < 2


def test_links_are_counted_before_they_are_made() -> None:
    """By what is joined: through ports that are several parts, within groups along axes, and one way."""
    text = """\
name: t
wires: {w: {gbs: 10}}
blocks:
  b: {parts: {r: {kind: router, count: 3}}, port: ["r[0]", "r[2]"]}
parts:
  s: source
  b: {block: b, shape: {x: 3, y: 2}}
  a: {kind: router, count: 4}
connect:
  - {pair: [s, "a[0]"], wire: w}
  - {all: [b, a], one_way: true, wire: w}
  - {all_to_all: b, axes: [x], wire: w}
"""
    made = compile_topology(parse(text, "f.yaml"))
    assert sum(1 for _ in made.edges("LINK")) == 2 + 6 * 2 * 4 + 2 * 2 * (3 * 2 * 2)
    for most in (97, 98):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(wiring, "MAX_LINKS", most)
            if most == 98:
                compiled(text)
                continue
            with pytest.raises(
                ConfigError, match=r"12: connect\.2: makes 98 links, expected at most 97 in all"
            ):
                compiled(text)


MEMORY = """\
name: t
wires:
  w: {gbs: 10}
defaults:
  hbm_ctrl: {slice_bytes: 1 GiB, n_channels: 2, channel_gbs: 8}
memory: {interleave: package, cache: {capacity: 3 MiB, gbs: 100}}
parts: {a: source, r: router, m: {kind: hbm_ctrl, count: 3}}
connect:
  - {all: [r, m], wire: w}
  - {pair: [r, a], wire: w}
"""


@pytest.mark.parametrize(
    ("good", "bad", "said"),
    [
        ("1 GiB", "1 GB", r":5: defaults.hbm_ctrl.slice_bytes: is '1 GB', expected .* such as '2 GiB'$"),
        ("n_channels: 2", "n_channels: 2.5", r":5: defaults.hbm_ctrl.n_channels: is 2.5, expected an integer"),
        ("3 MiB", "4 GiB", r":6: memory.cache.capacity: is 4294967296, expected at most .* 3221225472$"),
        ("{gbs: 10}", "{gbs: 10, arbiter: fast}", r":3: wires.w.arbiter: arbiter 'fast' does not exist"),
        ("w: {gbs: 10}", "w: {gbs: 10}\n  ww: {gbs: 1}", r":4: wires.ww: no connection names this wire, did you mean 'w'"),
    ],
)  # fmt: skip
def test_a_mistake_is_said_where_it_was_made(tmp_path: Path, good: str, bad: str, said: str) -> None:
    (tmp_path / "f.yaml").write_text(MEMORY)
    kb.load_topology(tmp_path / "f.yaml")
    (tmp_path / "f.yaml").write_text(MEMORY.replace(good, bad))
    with pytest.raises(ConfigError, match=said):
        kb.load_topology(tmp_path / "f.yaml")


def test_a_wire_that_only_a_command_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text(MEMORY)
    with pytest.raises(ConfigError, match=r"override wires.v.gbs: wires.v: no connection names this wire"):
        kb.load_topology(tmp_path / "f.yaml", {"wires.v.gbs": 3})


def test_a_component_that_is_not_there_is_answered_with_names_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text(MEMORY)
    machine = kb.load_topology(tmp_path / "f.yaml")
    with pytest.raises(UsageError, match="did you mean 'm1'"):
        kb.route(machine, "a", "mm1")
    with pytest.raises(UsageError, match=r"names look like '(a|r|m.)' or 'host'"):
        kb.route(machine, "a", "sip0.cube0.pe0")
