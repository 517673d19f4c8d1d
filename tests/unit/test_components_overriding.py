"""Methods that only compiled code calls cannot be replaced: refused, compiled or not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

import kernbench as kb
from kernbench.components.hbm import HbmSlice
from kernbench.components.overriding import INSTEAD
from kernbench.components.pe_compute import PeGemm
from kernbench.components.registry import component_class
from kernbench.components.transit import Transit
from kernbench.pgraph import Node

LISTED = {name for names in INSTEAD.values() for name in names}
FIND = """
import json
from kernbench.components.registry import component_class, shipped
found = {impl: [n for n in dir(component_class(impl)) if n[0] != "_"] for impl in shipped()}
print(json.dumps(found))
"""


class OwnBurst(HbmSlice):
    def burst(self, packet: Any, flit: int, time: float, writing: bool) -> float:
        return time + 50.0


class OwnOverhead(Transit):
    def overhead(self) -> float:
        return 50.0


class OwnHand(PeGemm):
    def hand(self, following: Any, token: Any) -> None:
        raise AssertionError("never called")


class OnItself(HbmSlice):
    def __init__(self, node: Node, system: Any) -> None:
        super().__init__(node, system)
        self.served = lambda *_: 50.0


@pytest.mark.parametrize(
    ("part", "cls", "instead"),
    [
        ("cube.hbm", OwnBurst, "commit and fetch"),
        ("cube.router", OwnOverhead, "overhead_ns"),
        ("pe.pe_gemm", OwnHand, "pass_on"),
        ("cube.hbm", OnItself, "commit and fetch"),
    ],
)
def test_it_is_refused_in_its_class_and_on_the_object(part: str, cls: type, instead: str) -> None:
    topo = {f"{part}.impl": f"{__name__}:{cls.__name__}"}
    with pytest.raises(kb.KernBenchError, match=f"replace {instead} instead"):
        kb.run("gemm-single-pe", "minimal", topo=topo, store="memory:")


class OwnName(Transit):
    def burst(self) -> float:
        return 1.0


def test_another_class_may_have_a_method_of_that_name() -> None:
    assert component_class(f"{__name__}:OwnName") is OwnName


def test_what_only_compiled_code_calls_is_listed() -> None:
    """Public methods that components have interpreted and lack compiled."""

    def methods(pure: str) -> dict[str, list[str]]:
        env = os.environ | {"KERNBENCH_PURE": pure}
        done = subprocess.run([sys.executable, "-c", FIND], env=env, stdout=subprocess.PIPE, check=True)
        found: dict[str, list[str]] = json.loads(done.stdout)
        return found

    compiled, interpreted = methods(""), methods("1")
    assert {name for impl in interpreted for name in set(interpreted[impl]) - set(compiled[impl])} <= LISTED
