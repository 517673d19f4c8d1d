"""A machine on which something arrives in no time is refused, naming the keys that would give it time."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernbench.api.topologies import load_topology
from kernbench.cli.main import main
from kernbench.errors import ConfigError
from kernbench.hardware.topology import compile_topology, load
from kernbench.hardware.topology.zero_paths import zero_paths
from kernbench.support.data_files import shipped_topologies


@pytest.mark.parametrize("name", ["default", "minimal"])
def test_shipped_machines_have_no_such_path(name: str) -> None:
    assert name in shipped_topologies()
    assert zero_paths(compile_topology(load(name))) == []


def test_routers_without_overhead_are_refused_where_the_file_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "t.yaml"
    file.write_text("name: t\nsystem: {sips: 1}\ncube:\n  router:\n    overhead_ns: 0.0\n", encoding="utf-8")
    assert main(["topology", "check", str(file)]) == 1
    said = capsys.readouterr().err
    assert (
        f"{file}:5: cube.router.overhead_ns: the path from 'sip0.cube0.pe0.pe_dma' to "
        "'sip0.cube0.hbm_ctrl.pe0' takes 0 ns, expected more than 0 for cube.router.overhead_ns or "
        "cube.hbm.overhead_ns, or a distance between them"
    ) in said


def test_a_key_changed_on_the_command_line_is_named_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", "check", "minimal", "--topo", "cube.router.overhead_ns=0"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(
        "kernbench: error: override cube.router.overhead_ns: cube.router.overhead_ns: the path"
    )


@pytest.mark.parametrize("key", ["cube.hbm.overhead_ns", "cube.router.overhead_ns"])
def test_any_time_on_the_path_will_do(key: str) -> None:
    free = {"cube.router.overhead_ns": 0.0, "cube.hbm.overhead_ns": 0.0}
    assert zero_paths(compile_topology(load("minimal", free)))
    assert load_topology("minimal", {**free, key: 0.5}).properties["name"] == "minimal"


def test_a_machine_without_any_time_lists_every_pair_of_ends() -> None:
    free = {
        "system.ns_per_mm": 0.0,
        "system.switch.overhead_ns": 0.0,
        "cube.router.overhead_ns": 0.0,
        "cube.ucie.overhead_ns": 0.0,
        "cube.sram.overhead_ns": 0.0,
        "cube.m_cpu.overhead_ns": 0.0,
        "sip.io_chiplets.0": {
            "name": "io0",
            **{part: {"overhead_ns": 0.0} for part in ("pcie_ep", "io_cpu", "io_ucie")},
        },
    }
    with pytest.raises(ConfigError) as caught:
        load_topology("default", {**free, "sip.cube_mesh": {"w": 2, "h": 1}, "system.sips": 1})
    lines = str(caught.value).splitlines()
    pairs = {tuple(line.split("'")[1::2][:2]) for line in lines}
    assert ("host.cpu", "sip0.cube0.sram") in pairs
    assert ("sip0.io0.io_cpu", "sip0.cube0.m_cpu") in pairs
    assert len(lines) == len(pairs) >= 8
