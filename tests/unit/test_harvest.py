"""What is lost for good is left out with all that needs it, what is left is numbered anew and used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import kernbench as kb
import kernbench.triton as triton
import kernbench.triton.language as tl
from kernbench.cli.app import app
from kernbench.errors import ConfigError
from kernbench.hardware.address.address_map import AddressMap
from kernbench.hardware.kinds import Traffic
from kernbench.hardware.routing import router_of
from kernbench.hardware.topology import compile_topology, parse
from kernbench.hardware.topology.harvest import consequences, lost
from kernbench.hardware.topology.neighbours import MachineShape
from kernbench.hardware.topology.places import places
from kernbench.hardware.topology.reach import lacking, unreached
from kernbench.support.pgraph import PropertyGraph

CHIP = """
name: chip
system: {flit_bytes: 64, ns_per_mm: 0.0}
memory: interleaved
wires:
  noc: {gbs: 128, delay_ns: 1}
  phy: {gbs: 256, delay_ns: 3}
blocks:
  die:
    level: chiplet
    port: r
    parts:
      r: router
      pe: {block: pe, count: 3}
      m_cpu: m_cpu
    connect:
      - {all: [r, pe], wire: noc}
      - {pair: [r, m_cpu], wire: noc}
  stack:
    port: base
    parts:
      base: router
      ch: {kind: hbm_ctrl, count: 2, n_channels: 4, channel_gbs: 64, slice_bytes: 1 GiB}
    connect:
      - {all: [base, ch], wire: phy}
parts:
  host.cpu: host_cpu
  io: router
  io_cpu: io_cpu
  die: {block: die, shape: {x: 3}, map: "D D D", legend: {D: die}}
  hbm: {block: stack, count: 2}
connect:
  - {pair: [host.cpu, io], wire: phy}
  - {pair: [io, io_cpu], wire: noc}
  - {mesh: die, wire: noc}
  - {pair: [io, "die[1]"], wire: noc}
  - {pair: ["die[0]", "hbm[0]"], wire: phy}
  - {pair: ["die[2]", "hbm[1]"], wire: phy}
"""


def chip(*faults: Mapping[str, object], text: str = CHIP) -> PropertyGraph:
    return compile_topology(parse(text, "c.yaml", {"faults": list(faults)}))


def test_a_die_takes_with_it_what_nothing_else_leads_to() -> None:
    graph = chip({"part": "die0"})
    assert MachineShape.of(graph).pes_of(0) == (3, 3)
    assert places(graph).pe(0, 0, 0) == "die1.pe0"
    assert not [node.id for node in graph.nodes() if node.id.startswith(("die0", "hbm0"))]
    assert lost(graph)["PEs"] == {"lost": 3, "of": 9}
    assert lost(graph)["HBM slice"] == {"lost": 2 << 30, "of": 4 << 30}
    shared = AddressMap(graph).shared_memory(0, 0)
    assert shared is not None
    assert [one.component for one in shared.members] == ["hbm1.ch0", "hbm1.ch1"]
    assert not [*unreached(graph), *lacking(graph), *consequences(graph)]


def test_a_pe_is_lost_as_a_whole_and_the_others_count_on() -> None:
    wires = ("die1.r->die1.pe1.pe_dma", "die1.pe1.pe_tcm->die1.pe1.pe_dma")
    for part in ("die1.pe1", "die1.pe1.pe_math", *wires):
        graph = chip({"link" if "->" in part else "part": part})
        assert MachineShape.of(graph).pes_of(0) == (3, 2, 3)
        assert places(graph).pe(0, 1, 1) == "die1.pe2"
        assert lost(graph)["PEs"] == {"lost": 1, "of": 9}


def test_what_is_lost_for_a_time_stays() -> None:
    graph = chip({"part": "die0", "from_ns": 5})
    assert not lost(graph)
    assert MachineShape.of(graph).pes_of(0) == (3, 3, 3)


def test_a_block_without_a_level_is_lost_by_its_name() -> None:
    graph = chip({"part": "hbm1"})
    assert lost(graph)["HBM slice"] == {"lost": 2 << 30, "of": 4 << 30}
    assert "PEs" not in lost(graph)


def test_what_cannot_go_on_is_said_at_the_check() -> None:
    assert list(consequences(chip({"part": "kind:pe_gemm"}))) == ["no PE is left, so no kernel can run"]
    with pytest.raises(ConfigError, match=r"'host\.cpu', expected it kept"):
        chip({"part": "host.cpu"})
    rows = [f"sip0.cube0.r{row}c{col}" for row, col in ((1, c) for c in range(6))]
    cut = kb.load_topology("default", {"faults": [{"part": row} for row in rows]})
    assert any("does not reach" in sentence for sentence in consequences(cut))
    alone = kb.load_topology("default", {"faults": [{"part": "sip0.cube0.pe0"}]})
    assert "no tensor is placed in 'sip0.cube0.hbm_ctrl.pe0'" in next(iter(consequences(alone)))


def test_pes_keep_their_own_slices() -> None:
    graph = kb.load_topology("default", {"faults": [{"part": "sip0.cube0.pe2"}]})
    known = places(graph)
    for pe in range(7):
        name = known.pe(0, 0, pe)
        assert known.part("hbm_ctrl", 0, 0, pe) == name.replace("cube0.pe", "cube0.hbm_ctrl.pe")
    assert known.part("hbm_ctrl", 0, 0, 7) == "sip0.cube0.hbm_ctrl.pe2"


@given(
    st.lists(
        st.sampled_from(
            ["die0", "die1.pe0", "die2.pe1.pe_mmu", "hbm0", "hbm1.ch1", "die1.m_cpu", "die2.r", "die0.pe2"]
        ),
        max_size=4,
        unique=True,
    )
)
@settings(max_examples=30, deadline=None)
def test_whatever_is_lost_what_is_left_is_numbered_without_gaps_and_reaches_memory(parts: list[str]) -> None:
    graph = chip(*[{"part": part} for part in parts])
    shape = MachineShape.of(graph)
    if not any(n.properties["kind"] == "pe" for n in graph.nodes()):
        assert "no PE is left, so no kernel can run" in list(consequences(graph))
        return
    known = places(graph)
    for at in shape.locations():
        shared = AddressMap(graph).shared_memory(*at[:2])
        assert shared is not None
        for one in shared.members:
            router_of(graph).route(known.part("pe_dma", *at), one.component, Traffic.PE_DMA)
    assert len(shape.locations()) == sum(1 for n in graph.nodes() if n.properties["kind"] == "pe")
    assert not lacking(graph)


@triton.jit
def double(x_ptr: Any, y_ptr: Any, BLOCK: tl.constexpr) -> None:
    at: Any = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at) * 2)


def rows(x_ptr: Any, y_ptr: Any, tl: Any) -> None:
    """Of a machine of unlike cubes: the own block of each PE."""
    tl.store(y_ptr, tl.load(x_ptr, x_ptr.shape) * 2)


BENCHES: Mapping[str, dict[str, Any]] = {
    "gemm-multi-pe": {"n": 64},
    "ccl-allreduce": {},
    "softmax": {"rows": 16},
    "gemm-list": {},
    "ipcq-allreduce": {},
    "flash-attention": {"tokens": 64},
    "va-offset-verify": {},
}


@pytest.mark.parametrize("bench", BENCHES)
def test_benches_use_what_is_left(bench: str) -> None:
    graph = chip({"part": "die0.pe1"}, {"part": "hbm1"})
    run = kb.run(bench, graph, params=BENCHES[bench], verify=True, store="memory:")
    assert run.verdict == "yes"


@pytest.mark.slow
@pytest.mark.parametrize("lost_part", ["sip0.cube0.pe0", "sip0.cube5", "sip1", "sip0.cube0.r0c0"])
@pytest.mark.parametrize("bench", [*BENCHES, "tp-mlp", "llama-decoder"])
def test_benches_use_what_is_left_of_the_default_machine(bench: str, lost_part: str) -> None:
    graph = kb.load_topology("default", {"faults": [{"part": lost_part}]})
    run = kb.run(bench, graph, params=BENCHES.get(bench, {}), verify=True, store="memory:", trace=False)
    assert run.verdict == "yes"


@pytest.mark.slow
def test_a_collective_over_packages_with_unlike_cubes() -> None:
    graph = kb.load_topology("default", {"faults": [{"part": "sip0.cube5"}]})
    run = kb.run("ccl-allreduce", graph, params={"elements": 16}, verify=True, store="memory:")
    assert run.verdict == "yes"
    assert {launch["pes"] for launch in run.launches} == {15}


def test_kernels_run_on_the_multiprocessors_and_pes_that_are_left() -> None:
    x = np.arange(131 * 16, dtype=np.float32)
    graph = kb.load_topology("h100", {"faults": [{"part": "gpu.pe3"}]})
    assert MachineShape.of(graph).pes_of(0) == (131,)
    everywhere = kb.DPPolicy("row_wise", "row_wise")
    done = kb.run_kernel(double[(131,)], x, out=np.zeros_like(x), BLOCK=16, dp=everywhere, topology=graph)
    assert (done.outputs[0] == 2 * x).all()
    assert done.run.launches[0]["pes"] == 131
    left = chip({"part": "die0.pe1"})
    y = np.arange(8 * 4, dtype=np.float32).reshape(8, 4)
    own = kb.run_kernel(
        rows, y, out=np.zeros_like(y), dp=kb.DPPolicy(pe="row_wise", num_cubes=1), topology=left
    )
    assert (own.outputs[0] == 2 * y).all()
    assert own.run.launches[0]["pes"] == 2


def test_the_check_says_what_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "chip.yaml"
    file.write_text(CHIP)

    def check(*words: str) -> str:
        done = CliRunner().invoke(app, ["topology", "check", str(file), *words])
        assert done.exit_code == 0, done.output
        return done.output

    said = check("--fault", "die0")
    assert "lost for good: 3 of 9 PEs" in said
    assert "2 GiB of 4 GiB of HBM slice" in said
    assert "warning" not in said
    assert "lost" not in check()
    assert json.loads(check("--fault", "die0", "--format", "json"))["lost"]["PEs"] == {"lost": 3, "of": 9}


HOLE = (
    CHIP.replace('shape: {x: 3}, map: "D D D"', 'shape: {x: 3, y: 2}, map: "D D D . D ."')
    .replace("die[1]", "die[1,0]")
    .replace("die[0]", "die[0,0]")
    .replace("die[2]", "die[2,0]")
)


def test_a_map_leaves_a_hole() -> None:
    graph = chip(text=HOLE)
    assert MachineShape.of(graph).pes_of(0) == (3, 3, 3, 3)
    between = {edge.id for edge in graph.edges("LINK") if edge.id.startswith("die1_1.r->die")}
    assert {one for one in between if ".pe" not in one and "m_cpu" not in one} == {"die1_1.r->die1_0.r"}
    with pytest.raises(ConfigError, match="the map leaves a hole there"):
        chip(text=HOLE.replace("die[0,0]", "die[0,1]"))
    with pytest.raises(ConfigError, match="has holes alone"):
        chip(text=HOLE.replace("D D D . D .", ". . . . . ."))
