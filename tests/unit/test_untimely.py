"""A component that gives nan, infinity or a time that is past is named: the run never goes on in disorder."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from pathlib import Path

import pytest

import kernbench as kb
from kernbench.engine.core.clock import Clock
from kernbench.errors import ComponentError, ConfigError

ROUTER = "cube.router.impl"
HBM = "cube.hbm.impl"
GEMM = "pe.pe_gemm.impl"
HEAD = """\
from math import inf, nan
from kernbench.engine.components.hbm import HbmSlice
from kernbench.engine.components.pe_compute import PeGemm
from kernbench.engine.components.transit import Transit


class Odd({base}):
"""
TICKS = """\
    def wired(self):
        super().wired()
        self.clock.process(self.tick())

    def tick(self):
        yield self.clock.timeout(100.0)
        {step}
"""
WORKED_OUT = """\
    @property
    def {name}(self):
        return {value}

    @{name}.setter
    def {name}(self, value):
        pass
"""


def ran(folder: Path, key: str, base: str, body: str) -> None:
    """Run a bench on a machine whose part of ``key`` is of a class with that ``body``."""
    file = folder / "odd.py"
    file.write_text(HEAD.format(base=base) + body, encoding="utf-8")
    topology = folder / "t.yaml"
    topology.write_text(
        "schema_version: 1\nname: t\nsystem: {sips: 1}\nsip: {cube_mesh: {w: 1, h: 1}}\n"
        "cube: {pes: {count: 1}}\n",
        encoding="utf-8",
    )
    kb.run("gemm-single-pe", topology, topo={key: f"{file}:Odd"})


@pytest.mark.parametrize("step", [
    "yield self.clock.timeout(nan)",
    "yield self.clock.timeout(inf)",
    "self.clock.call_at(nan, print)",
    "self.clock.call_at(99.0, print)",
])  # fmt: skip
def test_what_a_process_asks_for(tmp_path: Path, step: str) -> None:
    with pytest.raises(
        ComponentError, match=r"\(Odd\) raised ValueError: something is to happen at .*odd\.py"
    ):
        ran(tmp_path, ROUTER, "Transit", TICKS.format(step=step))


@pytest.mark.parametrize("value", ["nan", "inf", "-5.0"])
@pytest.mark.parametrize(("key", "base", "name", "body"), [
    (ROUTER, "Transit", "service_ns", "    def service_ns(self, packet, flit):\n        return {value}\n"),
    (ROUTER, "Transit", "overhead_ns", WORKED_OUT.replace("{name}", "overhead_ns")),
    (ROUTER, "Transit", "overhead_ns", "    def wired(self):\n        self.overhead_ns = {value}\n"),
    (HBM, "HbmSlice", "entry_ns", WORKED_OUT.replace("{name}", "entry_ns")),
    (HBM, "HbmSlice", "commit", "    def commit(self, packet, *at):\n        return {value} + at[1], self\n"),
    (HBM, "HbmSlice", "fetch", "    def fetch(self, packet, *at):\n        return {value} + at[1], self\n"),
    (GEMM, "PeGemm", "duration_ns", "    def duration_ns(self, stage):\n        return {value}\n"),
])  # fmt: skip
def test_what_a_method_gives(tmp_path: Path, key: str, base: str, name: str, body: str, value: str) -> None:
    with pytest.raises(
        ComponentError, match=rf"\(Odd\): {name} is .* ns, expected a finite time of at least"
    ):
        ran(tmp_path, key, base, body.format(value=value))


def test_one_flit_of_a_memory_is_enough(tmp_path: Path) -> None:
    body = "    def fetch(self, p, flit, time):\n        return (nan if flit == 3 else time + 4.0), self\n"
    with pytest.raises(ComponentError, match="fetch is nan ns"):
        ran(tmp_path, HBM, "HbmSlice", body)


@pytest.mark.parametrize("time", [nan, inf, 4.0])
@pytest.mark.parametrize("put", [
    lambda queue, time: queue.flit_at(time, 1, 0, 0, None),
    lambda queue, time: queue.put_call(time, (print, ())),
    lambda queue, time: queue.put_event(time, 1, None),
    lambda queue, time: queue.put_step(time, 2, 0, 0, None),
    lambda queue, time: queue.put_at_start(time, 3, 0, 0, None),
    lambda queue, time: queue.put_at_end(time, 7, 0, None),
])  # fmt: skip
def test_the_queue_takes_finite_times_from_now_on(put: Callable[..., None], time: float) -> None:
    clock = Clock()
    clock.call_at(5.0, len, ())
    clock.run()
    with pytest.raises(ValueError, match="expected a finite time from then on"):
        put(clock.entries, time)
    put(clock.entries, 5.0)


def test_attributes_of_a_part_are_finite(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text("schema_version: 1\nname: t\ncube: {router: {attributes: {x: .nan}}}\n", encoding="utf-8")
    with pytest.raises(
        ConfigError, match=r"t\.yaml:3: cube\.router\.attributes\.x: is nan, expected a finite number"
    ):
        kb.load_topology(file)
