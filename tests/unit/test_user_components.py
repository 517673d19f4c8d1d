"""Component classes of users: components files, ``module:Class``, ``file.py:Class``, and their errors."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernbench as kb
from kernbench.api.topologies import load_topology
from kernbench.cli.main import main
from kernbench.engine.machine.machine import Machine
from kernbench.errors import ConfigError

SLOW = '''\
from kernbench.engine.components.transit import Transit


class Slow(Transit):
    """A router that takes 7 ns for every flit."""

    def service_ns(self, packet, flit):
        return 7.0
'''
HEAD = "schema_version: 1\nname: t\nsystem: {sips: 1}\nsip: {cube_mesh: {w: 1, h: 1}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a class in a module; the working directory is another one."""
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    (there / f"slow_{tmp_path.name.replace('-', '_')}.py").write_text(SLOW, encoding="utf-8")
    monkeypatch.chdir(here)
    return there


def module(folder: Path) -> str:
    return next(folder.glob("slow_*.py")).stem


def router_of(file: Path, **how: object) -> str:
    machine = Machine(load_topology(file, **how))  # type: ignore[arg-type]
    return type(machine.components["sip0.cube0.r0c0"]).__name__


@pytest.mark.parametrize("form", ["{module}:Slow", "{file}:Slow"])
def test_a_topology_names_a_class_in_its_own_folder(folder: Path, form: str) -> None:
    impl = form.format(module=module(folder), file=next(folder.glob("*.py")))
    file = folder / "t.yaml"
    file.write_text(HEAD + f"cube: {{router: {{impl: '{impl}'}}}}\n", encoding="utf-8")
    assert router_of(file) == "Slow"


def test_a_class_is_found_in_the_working_directory_as_benches_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    file = folder.parent / "t.yaml"
    file.write_text(HEAD + f"cube: {{router: {{impl: '{module(folder)}:Slow'}}}}\n", encoding="utf-8")
    assert router_of(file) == "Slow"


def test_components_file_is_relative_to_the_topology_file(folder: Path) -> None:
    (folder / "mine.yaml").write_text(f"my.slow: {module(folder)}.py:Slow\n", encoding="utf-8")
    file = folder / "t.yaml"
    file.write_text(HEAD + "components_file: mine.yaml\ncube: {router: {impl: my.slow}}\n", encoding="utf-8")
    assert router_of(file) == "Slow"
    plain = folder / "plain.yaml"
    plain.write_text(HEAD + "cube: {router: {impl: my.slow}}\n", encoding="utf-8")
    assert router_of(plain, components="mine.yaml") == "Slow"
    ids = [load_topology(one, components="mine.yaml").properties["id"] for one in (file, plain)]
    assert ids[0] == ids[1]


def test_a_run_on_it_is_slower_and_can_be_re_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "mine.yaml").write_text(f"my.slow: {module(folder)}.py:Slow\n", encoding="utf-8")
    file = folder / "t.yaml"
    text = HEAD + "cube: {pes: {count: 1}, hbm: {pseudo_channels: 8}, router: {impl: my.slow}}\n"
    file.write_text(text, encoding="utf-8")
    store = str(folder / "store")
    run = ["run", "--bench", "gemm-single-pe", "--topology", str(file), "--store", store]
    assert main(run) == 1  # the class is not registered
    assert f"{file}:5: cube.router.impl: impl 'my.slow' is not registered" in capsys.readouterr().err
    assert main([*run, "--components", "mine.yaml"]) == 0
    kept = kb.open_run("last", store)
    usual = kb.run("gemm-single-pe", str(file), topo={"cube.router.impl": "builtin.router"}, store="memory:")
    assert kept.latency_ns > usual.latency_ns
    code = ["--code", f"{folder / module(folder)}.py"]
    assert main(["what-if", "--speed", "kind:router=2", *code, "--store", store]) == 0


def test_every_mistake_is_listed_with_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "t.yaml"
    file.write_text(
        HEAD + "cube:\n  router: {impl: builtin.ruter}\n  hbm:\n    slices: 4\npe:\n  pe_dma:\n"
        "    impl: no_such_module:Dma\n  pe_gemm: {impl: 'kernbench.engine.components.hbm:HbmSlices'}\n"
        "components_file: none.yaml\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigError) as caught:
        load_topology(file)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"{file}:6: cube.router.impl: impl 'builtin.ruter' is not registered; add it")
    assert (
        lines[1]
        == f"{file}:8: cube.hbm.slices: is 4, expected 8: one slice for each PE of a cube, at its router"
    )
    assert lines[2].startswith(f"{file}:11: pe.pe_dma.impl: impl 'no_such_module:Dma' does not import: ")
    assert lines[3].startswith(f"{file}:12: pe.pe_gemm.impl: ")
    assert "has no class 'HbmSlices'" in lines[3]
    assert lines[4].startswith(f"{file}:13: components_file: {folder}/none.yaml: cannot be read")
    assert len(lines) == 5
    assert main(["topology", "check", str(file)]) == 1
    assert capsys.readouterr().err.splitlines() == [f"kernbench: error: {line}" for line in lines]


def test_a_machine_of_shipped_parts_runs_no_code_of_users(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = load_topology("minimal")
    Machine(graph)
    monkeypatch.setattr("kernbench.support.user_modules.users_code", lambda: pytest.fail("users' code"))
    Machine(graph)
