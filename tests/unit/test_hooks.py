"""What a user's component overrides counts, and a node may change the size of messages on their way."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from kernbench.engine.components.hbm import HbmSlice
from kernbench.engine.components.registry import component_class, shipped
from kernbench.engine.components.transit import PcieEndpoint, Transit
from kernbench.engine.core.node import COMMITS, OVERHEAD, SERVICE, TRANSFORM, hooks_of
from kernbench.engine.core.transaction import Packet
from kernbench.engine.machine.machine import Machine
from kernbench.engine.program.operations import Region
from tests.compiled import compiled

FIND = "from tests.unit.test_hooks import methods; print(*methods(), sep='\\n')"


class Halves(PcieEndpoint):
    def transform(self, packet: Packet) -> Packet:
        return packet.resized(packet.nbytes // 2, self.system.flit_bytes) if packet.nbytes else packet


class OwnOverhead(Transit):
    def overhead(self) -> float:
        return 7.0


class Worse(OwnOverhead):
    overhead_ns = 3.0

    def service_ns(self, packet: Any, flit: int) -> float:
        return 9.0


class OwnBurst(HbmSlice):
    def burst(self, packet: Packet, flit: int, time: float, writing: bool) -> float:
        return super().burst(packet, flit, time, writing) + 50.0

    def fetch(self, packet: Packet, flit: int, time: float) -> Any:
        return super().fetch(packet, flit, time)


def methods() -> list[str]:
    """Public names of each shipped component, behind its implementation's."""
    return [
        " ".join([impl, *sorted(n for n in dir(component_class(impl)) if n[0] != "_")]) for impl in shipped()
    ]


def written(topo: dict[str, Any], nbytes: int = 4096) -> tuple[Machine, float]:
    """A machine in which the host has written so much, and how long that took."""
    machine = Machine(compiled("minimal", topo), check=False)
    request = machine.host_write(0, [Region(machine.addresses.hbm(0, 0, 0, 0), nbytes)])
    machine.wait(request)
    return machine, request.t_done - request.t_submit


def test_hooks_are_those_of_a_users_classes() -> None:
    assert hooks_of(Transit) == hooks_of(HbmSlice) == hooks_of(OwnOverhead) == 0
    assert hooks_of(Halves) == TRANSFORM
    assert hooks_of(Worse) == SERVICE | OVERHEAD
    assert hooks_of(OwnBurst) == COMMITS


@pytest.mark.parametrize("cut_through", [False, True])
def test_a_node_that_resizes_gets_messages_whole_and_sends_on_fewer_bytes(cut_through: bool) -> None:
    endpoint = {"impl": f"{__name__}:Halves", "cut_through": cut_through}
    machine, halved = written({"sip.io_chiplets": [{"name": "io", "pcie_ep": endpoint}]})
    _, whole = written({"sip.io_chiplets": [{"name": "io", "pcie_ep": {}}]})
    into = next(link for (_, to), link in machine.links.items() if "pcie" in to and link.bytes)
    behind = [link for (source, _), link in machine.links.items() if "pcie" in source and link.bytes]
    assert (into.bytes, [link.bytes for link in behind]) == (4096, [2048])
    assert halved < whole


def test_methods_that_the_engine_calls_itself_may_be_overridden() -> None:
    _, plain = written({"cube.router.overhead_ns": 7.0})
    _, own = written({"cube.router.impl": f"{__name__}:OwnOverhead"})
    assert own == plain
    _, late = written({"cube.hbm.impl": f"{__name__}:OwnBurst", "cube.router.overhead_ns": 7.0})
    assert late == pytest.approx(plain + 50.0, abs=1e-9)


def test_a_component_has_the_same_methods_compiled_and_interpreted() -> None:
    """What is public can be overridden both ways; else a run would have other times interpreted."""

    env = os.environ | {"KERNBENCH_PURE": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", FIND], env=env, stdout=subprocess.PIPE, text=True, check=True
    )
    interpreted = done.stdout.splitlines()
    assert len(shipped()) == len(interpreted)
    missing = [set(one.split()) - set(now.split()) for one, now in zip(interpreted, methods(), strict=True)]
    assert not set().union(*missing)
    assert component_class(f"{__name__}:Halves") is Halves
