"""Components from a user's own package, named in the topology, take the place of the built-in ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import kernbench as kb
from kernbench.engine.components.registry import component_class, shipped
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Region
from kernbench.errors import ConfigError
from kernbench.hardware.topology.component_file import read_components
from tests.compiled import compiled

PARTS = '''\
from kernbench.engine.components.hbm import HbmSlice
from kernbench.engine.components.memory import Memory
from kernbench.engine.components.transit import PcieEndpoint, Transit


class Unfinished(Memory):
    """Does not say when flits are committed."""


class PerFlitRouter(Transit):
    """Pays a nanosecond for every flit instead of its overhead for the first."""

    def service_ns(self, packet, flit):
        return 1.0


class SlowEndpoint(PcieEndpoint):
    """Takes 50 ns for a packet's first flit, whatever its overhead."""

    def service_ns(self, packet, flit):
        return 50.0


class SlowToAnswer(HbmSlice):
    """A SimPy process of its own holds back each acknowledgement for 100 ns."""

    def answer(self, packet):
        def later():
            yield self.clock.timeout(100.0)
            HbmSlice.answer(self, packet)

        self.clock.process(later())


class NoComponent:
    pass
'''


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "users_parts.py").write_text(PARTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def write_ns(nbytes: int = 4096, **overrides: object) -> float:
    graph = compiled("minimal", {k.replace("__", "."): v for k, v in overrides.items()})
    machine = Machine(graph, check=False)  # what SlowToAnswer holds back is in no trace
    request = machine.host_write(0, [Region(machine.addresses.hbm(0, 0, 0, 0), nbytes)])
    machine.wait(request)
    return request.t_done - request.t_submit


def test_a_simpy_process_in_a_users_component_delays_what_it_says(parts: Path) -> None:
    usual = write_ns()
    assert write_ns(cube__hbm__impl="users_parts:SlowToAnswer") == pytest.approx(usual + 100.0, abs=1e-9)


def test_a_users_router_is_asked_for_every_flit(parts: Path) -> None:
    # One flit each way: 1 ns in place of 2 at every router. Sixteen: the last one pays as well.
    assert write_ns(256, cube__router__impl="users_parts:PerFlitRouter") < write_ns(256)
    assert write_ns(cube__router__impl="users_parts:PerFlitRouter") > write_ns(cube__router__overhead_ns=0.0)


def test_a_users_endpoint_says_what_its_service_takes(parts: Path) -> None:
    own, mine = {"cut_through": True, "overhead_ns": 3.0}, {"impl": "users_parts:SlowEndpoint"}
    usual = write_ns(256, sip__io_chiplets=[{"name": "io", "pcie_ep": own}])
    slower = write_ns(256, sip__io_chiplets=[{"name": "io", "pcie_ep": own | mine}])
    assert slower == pytest.approx(usual + 2 * (50.0 - 3.0), abs=1e-9)  # there and back


def test_a_run_with_a_components_file(parts: Path) -> None:
    listed = parts / "mine.yaml"
    listed.write_text("my.hbm: users_parts:SlowToAnswer\n", encoding="utf-8")
    topology = parts / "t.yaml"
    topology.write_text(
        "schema_version: 1\nname: t\nsystem: {sips: 1}\nsip: {cube_mesh: {w: 1, h: 1}}\n"
        "cube:\n  pes: {count: 1, corners: [NW]}\n  hbm: {pseudo_channels: 8, impl: my.hbm}\n",
        encoding="utf-8",
    )
    slow = kb.run("gemm-single-pe", str(topology), True, components=str(listed), store="memory:", check=False)
    assert slow.verified is True
    assert slow.latency_ns > kb.run("gemm-single-pe", topology="minimal", store="memory:").latency_ns + 99.0


@pytest.mark.parametrize(
    ("impl", "message"),
    [
        ("my.router", "impl 'my.router' is not registered; add it to a components file"),
        ("no_such_package:Router", "does not import"),
        ("users_parts:Missing", "does not import"),
        ("users_parts:Unfinished", "'users_parts:Unfinished' lacks commit, fetch; define them"),
        ("users_parts:NoComponent", "is not a subclass of kernbench.engine.components.base.Component"),
    ],
)
def test_what_is_no_component_is_named_with_its_node(parts: Path, impl: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        component_class(impl)
    with pytest.raises(ConfigError, match=message) as error:
        Machine(compiled("minimal", {"cube.router.impl": impl}))
    assert "sip0.cube0.r0c0" in str(error.value)


def test_every_shipped_entry_is_a_component() -> None:
    for impl in shipped():
        component_class(impl)


def test_a_components_file_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    for text, message in (
        ("a: b: c\n", r"c\.yaml:1: bad YAML"),
        ("- a\n", "expected lines"),
        ("b: m:C\na: 3\n", r"c\.yaml:2: a: expected 'module:Class'"),
    ):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match=message):
            read_components(file)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_components(tmp_path / "none.yaml")
