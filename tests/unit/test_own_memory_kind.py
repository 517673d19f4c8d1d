"""A kind of memory of one's own, a record and a name for its class: all that asks for a memory has it."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import kernbench as kb
from kernbench.api.topologies import topology_area
from kernbench.cli.app import app
from kernbench.errors import ConfigError
from kernbench.hardware.address.address_map import AddressMap
from kernbench.hardware.kinds import COMPONENT_KINDS, ComponentKind
from kernbench.hardware.topology import compile_topology, parse
from kernbench.hardware.topology.places import SLICE, places
from kernbench.workloads.probes.traffic_patterns import ranked_ends

NAND = ComponentKind(
    kind="nand",
    properties=("access_ns", "size_bytes", "planes"),
    times=("overhead_ns", "access_ns"),
    cause="memory",
    memory="NAND",
)
FLASH = """
name: flash
components_file: mine.yaml
system: {flit_bytes: 64, ns_per_mm: 0.0}
wires: {hop: {gbs: 64, delay_ns: 1}}
energy: {nand: {pj_per_byte_write: 2, area_mm2_per_unit: 3}}
blocks:
  tile:
    parts: {r: router, src: source, mem: {kind: nand, planes: 4, access_ns: 20, size_bytes: 2 MiB}}
    connect:
      - {pair: [src, r], wire: hop}
      - {pair: [r, mem], wire: hop}
parts: {tile: {block: tile, shape: {x: 2}}}
connect: [{mesh: tile.r, wire: hop}]
"""


@pytest.fixture
def flash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (kinds,) = gc.get_referents(COMPONENT_KINDS)  # a user adds it to the file of the kinds
    monkeypatch.setitem(kinds, "nand", NAND)
    (tmp_path / "mine.yaml").write_text("builtin.nand: kernbench.engine.components.sram:Sram\n")
    file = tmp_path / "flash.yaml"
    file.write_text(FLASH)
    monkeypatch.setenv("KERNBENCH_STORE", str(tmp_path / "store"))
    return str(file)


def test_it_is_a_memory_to_all_that_asks_for_one(flash: str) -> None:
    graph = kb.load_topology(flash)
    window = AddressMap(graph).window("tile1.mem")
    assert (window.kind, window.nbytes) == ("memory", 2 << 20)
    assert ranked_ends(graph) == [("tile0.src", "tile0.mem"), ("tile1.src", "tile1.mem")]
    kinds = {edge.properties["kind"] for edge in graph.edges("LINK") if edge.target.endswith("mem")}
    assert kinds == {"router_to_sram"}


@pytest.mark.slow
def test_runs_and_their_surfaces_have_it(flash: str, tmp_path: Path) -> None:
    def said(*words: str) -> str:
        done = CliRunner().invoke(app, [*words])
        assert done.exit_code == 0, (words, done.output, done.exception)
        return done.output

    assert "valid" in said("topology", "check", flash)
    assert "nand" in said("topology", "show", flash)
    said("traffic", "pattern:neighbour", "bytes=4096", "--topology", flash)
    path = said("query", "critical-path/by-kind", "last")
    assert "nand" in path
    assert "memory" in said("why", "last")
    energy = said("energy", "last", "--format", "json")
    assert '"energy_pj": 16384' in energy.replace(".0", "")
    for words in (
        ("query", "bottleneck/busiest-engines"),
        ("query", "contention/waits-by-resource"),
        ("query", "bottleneck/roofline"),
        ("timeline",),
        ("what-if", "last", "--speed", "kind:nand=2"),
        ("report", "last", "--out", str(tmp_path / "page.html")),
        ("export", "perfetto", "--out", str(tmp_path / "t.pftrace")),
        ("topology", "diagram", flash, "--out", str(tmp_path / "drawn")),
    ):
        said(*words)
    assert topology_area(kb.load_topology(flash)) == {"nand": 12.0}


def test_what_a_kind_has_no_default_for_a_part_says(flash: str) -> None:
    text = Path(flash).read_text().replace("planes: 4, ", "")
    with pytest.raises(ConfigError, match=r"flash\.yaml:.*planes is missing, expected a value"):
        compile_topology(parse(text, "flash.yaml"))


def test_a_kernel_s_bytes_are_below_the_roof_that_its_kind_says() -> None:
    assert {kind.kind: kind.roof for kind in COMPONENT_KINDS.values() if kind.memory} == {
        "hbm_ctrl": "hbm", "sram": "sram", "pe_tcm": "tcm", "memory": "sram"
    }  # fmt: skip


PLACED = """
name: placed
components_file: mine.yaml
system: {flit_bytes: 64}
wires: {wide: {gbs: 128, delay_ns: 0.5}, narrow: {gbs: 64}}
blocks:
  die:
    level: chiplet
    parts:
      noc: {kind: router, shape: {x: 2}, overhead_ns: 1}
      m_cpu: m_cpu
      pe: {block: pe, count: 2}
      mem: {kind: KIND, count: 2, n_channels: 4, slice_bytes: 1 GiB, channel_gbs: 16, access_ns: 20}
    connect:
      - {mesh: noc, wire: wide}
      - {pair: [pe, noc], wire: wide}
      - {pair: [noc, mem], wire: narrow}
      - {pair: ["noc[0]", m_cpu], wire: narrow}
  pack:
    level: package
    parts: {io: io_chiplet, die: die}
    connect: [{pair: [io, "die.noc[0]"], wire: narrow}]
parts: {host.cpu: host_cpu, pack: pack}
connect: [{pair: [host.cpu, pack.io], wire: narrow}]
"""


def test_a_kind_of_memory_in_slices_serves_kernels_as_hbm_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hbm = COMPONENT_KINDS["hbm_ctrl"]
    (kinds,) = gc.get_referents(COMPONENT_KINDS)
    monkeypatch.setitem(kinds, "lpddr_ctrl", replace(hbm, kind="lpddr_ctrl", memory="LPDDR slice"))
    (tmp_path / "mine.yaml").write_text("builtin.lpddr_ctrl: kernbench.engine.components.hbm:HbmSlice\n")
    file, found = tmp_path / "placed.yaml", {}
    for kind in ("hbm_ctrl", "lpddr_ctrl"):
        file.write_text(PLACED.replace("KIND", kind))
        graph = kb.load_topology(file)
        assert [places(graph).part(SLICE, 0, 0, n) for n in (0, 1)] == ["pack.die.mem0", "pack.die.mem1"]
        assert sum(1 for _ in graph.nodes("PseudoChannel")) == 8
        assert [link.properties["kind"] for link in graph.out_edges("pack.die.mem0", "LINK")] == [
            "router_to_hbm"
        ]
        run = kb.run("gemm-single-pe", file, store="memory:")
        flows = [{"src": "pack.die.pe0", "dst": "pack.die.mem1", "bytes": 4096}]
        by_kind = run.query("critical-path/by-kind").dicts()
        found[kind] = (
            run.latency_ns,
            [{**row, "kind": str(row["kind"]).replace(kind, "KIND")} for row in by_kind],
            kb.traffic(flows, graph).totals["makespan_ns"],
            kb.traffic("pattern:all-local", graph).totals["makespan_ns"],
            repr(kb.probe(file, sizes=[256]).rows).replace(kind, "KIND"),
        )
        kb.load_topology(file, {"faults": [{"part": "pack.die.mem1"}]})
    assert found["lpddr_ctrl"] == found["hbm_ctrl"]
