"""Components that change themselves: their own methods, servers and figures count, compiled or not."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Generator
from functools import cache
from typing import Any

import pytest

import kernbench as kb
from kernbench.api.result import Run
from kernbench.engine.components.base import Component
from kernbench.engine.components.hbm import HbmSlice
from kernbench.engine.components.pe_compute import PeGemm
from kernbench.engine.components.pe_fetch_store import PeFetchStore
from kernbench.engine.components.pe_tcm import PeTcm
from kernbench.engine.components.sram import Sram
from kernbench.engine.components.transit import Transit
from kernbench.engine.core.server import Server
from kernbench.hardware.routing import Traffic
from kernbench.support.compiled import state
from kernbench.support.pgraph import Node

CALLS: list[str] = []
AT_NS = 300.0


def counting(of: Any, name: str) -> None:
    """Replace a method of the object ``of`` by one that counts its calls."""
    above = getattr(of, name)

    def counted(*args: Any, **named: Any) -> Any:
        CALLS.append(name)
        return above(*args, **named)

    setattr(of, name, counted)


class SlowServer(Server):
    def occupy(self, time: float, duration: float, owner: Any) -> float:
        return super().occupy(time, duration, owner) + 10.0


class OwnArrive(HbmSlice):
    def __init__(self, node: Node, system: Any) -> None:
        super().__init__(node, system)
        counting(self, "arrive")


class OwnChannel(HbmSlice):
    def wired(self) -> None:
        super().wired()
        counting(self.channels[0], "occupy")


class OwnLink(Transit):
    def wired(self) -> None:
        out = self.system.graph.out_edges(self.resource, "LINK")
        for edge in out:
            counting(self.system.link(edge.source, edge.target), "leave")


class OwnPort(PeTcm):
    def __init__(self, node: Node, system: Any) -> None:
        super().__init__(node, system)
        self._read_port = SlowServer(f"{node.id}#read")


class OwnTcmOverhead(PeTcm):
    """An overhead that is worked out."""

    @property
    def overhead_ns(self) -> float:
        return 10.0 + self.transactions % 2

    @overhead_ns.setter
    def overhead_ns(self, value: float) -> None:
        pass


class OwnOverhead(PeFetchStore):
    """The same."""

    @property
    def overhead_ns(self) -> float:
        return 10.0 + self.transactions % 2

    @overhead_ns.setter
    def overhead_ns(self, value: float) -> None:
        pass


class OwnSlot(PeGemm):
    def __init__(self, node: Node, system: Any) -> None:
        super().__init__(node, system)
        self.slot = SlowServer(f"{node.id}#slot")


class Ticking(HbmSlice):
    """Its figure ``figure`` becomes ``value`` while the machine runs."""

    figure, value = "entry_ns", 40.0

    def __init__(self, node: Node, system: Any) -> None:
        super().__init__(node, system)
        self.clock.process(self._change())

    def _change(self) -> Generator[Any, Any, None]:
        yield self.clock.timeout(AT_NS)
        setattr(self, self.figure, self.value)


class TickingBurst(Ticking):
    figure = "burst_ns"


class TickingPenalty(Ticking):
    figure = "penalty_ns"


class TickingSram(Sram):
    def __init__(self, node: Node, system: Any) -> None:
        super().__init__(node, system)
        self.clock.process(Ticking._change(self))  # type: ignore[arg-type]

    figure, value = "entry_ns", 40.0


def bench(torch: Any) -> None:
    def kernel(a: Any, b: Any, out: Any, tl: Any) -> None:
        tl.store(out, tl.dot(tl.load(a), tl.load(a)) + tl.load(b))

    a, b = torch.zeros((32, 32), name="a"), torch.zeros((32, 32), name="b", memory="sram")
    out = torch.empty((32, 32), name="out")
    for _ in range(3):
        torch.launch("k", kernel, a, b, out)


def run(part: str, cls: type[Component], **how: Any) -> Run:
    return kb.run(
        bench, "minimal", topo={f"{part}.impl": f"{__name__}:{cls.__name__}"}, store="memory:", **how
    )


def rows(run: Run) -> dict[str, Any]:
    return {name: table.to_pylist() for name, table in run.tables.items() if name != "Check"}


@pytest.mark.parametrize(
    ("part", "cls", "name"),
    [
        ("cube.hbm", OwnArrive, "arrive"),
        ("cube.hbm", OwnChannel, "occupy"),
        ("cube.router", OwnLink, "leave"),
    ],
)
def test_a_method_that_is_replaced_while_the_machine_is_built_is_called(
    part: str, cls: type[Component], name: str
) -> None:
    if state == "used" and cls in (OwnChannel, OwnLink):
        with pytest.raises((kb.KernBenchError, AttributeError), match=f"attribute '{name}' is read-only"):
            run(part, cls, check=False)
        return  # what is compiled has no attributes of its own: a user brings a subclass
    CALLS.clear()
    shipped = kb.run(bench, "minimal", store="memory:")
    own = run(part, cls, check=False)
    assert CALLS.count(name) == len(CALLS) >= 5
    assert rows(own) == rows(shipped)
    assert min(row["t_done"] for row in rows(own)["Transaction"]) > 0.0


OWN: list[tuple[str, type[Component]]] = [
    ("pe.pe_tcm", OwnPort),
    ("pe.pe_tcm", OwnTcmOverhead),
    ("pe.pe_gemm", OwnSlot),
    ("pe.pe_fetch_store", OwnOverhead),
    ("cube.hbm", Ticking),
    ("cube.hbm", TickingBurst),
    ("cube.hbm", TickingPenalty),
    ("cube.sram", TickingSram),
]


def digest(run: Run) -> str:
    return hashlib.sha256(json.dumps(rows(run), default=str).encode()).hexdigest()


@cache
def interpreted() -> dict[str, str]:
    """Digests of the runs of a process in which nothing is compiled."""
    script = (
        f"import json; from {__name__} import OWN, digest, run; "
        "print(json.dumps({cls.__name__: digest(run(part, cls, check=False)) for part, cls in OWN}))"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | {"KERNBENCH_PURE": "1", "PYTHONPATH": path},
        stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.daily(but=("pe.pe_tcm-OwnPort", "cube.hbm-TickingBurst"))
@pytest.mark.parametrize(("part", "cls"), OWN)
def test_own_servers_and_figures_take_the_same_time_with_compiled_parts_or_without(
    part: str, cls: type[Component]
) -> None:
    shipped = kb.run(bench, "minimal", store="memory:")
    one = run(part, cls, check=False)
    assert digest(one) == interpreted()[cls.__name__]
    assert one.sim_ns > shipped.sim_ns + 5.0


class Meddling(Transit):
    """While the machine runs it replaces the method ``of[1]`` of the component ``of[0]``."""

    of = ("sip0.cube0.hbm_ctrl.pe0", "commit")

    def __init__(self, node: Node, system: Any) -> None:
        super().__init__(node, system)
        if node.id == "sip0.cube0.r0c0":
            self.clock.process(self._meddle())

    def _meddle(self) -> Generator[Any, Any, None]:
        yield self.clock.timeout(AT_NS)
        part, name = self.of
        counting(self.system.component(part), name)


@pytest.mark.skipif(state != "used", reason="compiled classes alone refuse it")
@pytest.mark.parametrize(
    "of",
    [
        Meddling.of,
        ("sip0.cube0.pe0.pe_gemm", "accept"),
        ("sip0.cube0.pe0.pe_fetch_store", "pass_on"),
        ("sip0.cube0.pe0.pe_tcm", "access"),
        ("sip0.cube0.pe0.pe_cpu", "finish"),
    ],
)
def test_a_shipped_component_without_attributes_of_its_own_refuses_a_method(
    of: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Meddling, "of", of)
    with pytest.raises(kb.KernBenchError, match="read-only"):
        run("cube.router", Meddling, check=False)


class Early(Sram):
    """Begins a transaction when it is wired."""

    def wired(self) -> None:
        path = self.system.path(self.resource, "sip0.cube0.hbm_ctrl.pe0", Traffic.COMMAND)
        early = self.system.begin("early", path, 0, 0.0)
        self.clock.call_at(1.0, self.system.end, early)


def test_a_transaction_begun_while_the_machine_is_built_keeps_its_number() -> None:
    numbers = [row["number"] for row in rows(run("cube.sram", Early, check=False))["Transaction"]]
    assert len(set(numbers)) == len(numbers)
    assert 0 in numbers
