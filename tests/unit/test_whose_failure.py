"""A failure names whose it is: the component's, or the bench's."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import BenchError, ComponentError, KernBenchError

ONES = np.ones((16, 16), np.float16)


def reads(torch: Any) -> None:
    def kernel(x: Any, tl: Any) -> None:
        tl.load(x.local)

    torch.launch("read", kernel, torch.from_numpy(ONES))


def test_a_failure_of_a_component_is_not_the_benches(workdir: Path) -> None:
    """It names component, class, time and line."""
    (workdir / "broken.py").write_text(
        "from kernbench.engine.components.hbm import HbmSlice\n\n\nclass Broken(HbmSlice):\n"
        "    def receive_flit(self, packet, flit, time):\n"
        "        raise ValueError('a register is not there')\n",
        encoding="utf-8",
    )
    with pytest.raises(KernBenchError) as caught:
        kb.run(
            reads, "minimal", components={"broken": f"{workdir / 'broken.py'}:Broken"},
            topo={"cube.hbm.impl": "broken"}, trace=False,
        )  # fmt: skip
    assert re.match(
        r"component 'sip0\.cube0\.hbm_ctrl\.pe0' \(Broken\) raised ValueError: a register is not there at "
        r"\d+\.\d+ ns \(broken\.py:6\)",
        str(caught.value),
    ), str(caught.value)


def test_a_failure_of_the_bench_is_the_benches() -> None:
    def bench(torch: Any) -> None:
        torch.from_numpy(ONES).numpy()
        raise ValueError("mine")

    with pytest.raises(
        BenchError, match=r"^bench 'bench' raised ValueError: mine \(test_whose_failure\.py:\d+\)"
    ):
        kb.run(bench, "minimal", trace=False)


PARTS = """\
import sys
from kernbench.engine.components.transit import Transit

class Exits(Transit):
    def service_ns(self, *_):
        sys.exit(0)

class Ends(Transit):
    def service_ns(self, *_):
        raise GeneratorExit

class Fails(Transit):
    def service_ns(self, *_):
        return {}["time"]

class Nan(Transit):
    def service_ns(self, *_):
        return float("nan")

class Text(Transit):
    def service_ns(self, *_):
        return "soon"

class Begins(Transit):
    def __init__(self, node, system):
        sys.exit(0)
"""
SAID = {
    "Exits": r"component '[\w.]+' \(Exits\) exits with 0 at \d+\.\d+ ns \(parts\.py:6\)",
    "Ends": r"component '[\w.]+' \(Ends\) raises GeneratorExit at .* ns \(parts\.py:10\)",
    "Fails": r"component '[\w.]+' \(Fails\) raised KeyError: 'time' at .* ns \(parts\.py:14\)",
    "Nan": r"component '[\w.]+' \(Nan\): service_ns is nan ns, .* \(parts\.py:17\)",
    "Text": r"a component of class Text \(parts\.py\) gave what is not a time: .*, at .* ns",
    "Begins": r"component '[\w.]+' \(Begins\) exits with 0 while the machine is built \(parts\.py:26\)",
}
FLOW = {"src": "sip0.cube0.pe0", "dst": "sip0.cube0.hbm_ctrl.pe0", "bytes": 64}
RUNS: dict[str, Callable[..., Any]] = {
    "run": lambda **how: kb.run(reads, trace=False, **how),
    "traffic": lambda **how: kb.traffic([FLOW], trace=False, **how),
    "probe": lambda **how: kb.probe(sizes=[256], nbytes=256, **how),
}


@pytest.mark.daily("*-run", "Fails-*")
@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("part", SAID)
def test_a_components_failure_names_it_whatever_runs(workdir: Path, part: str, runs: str) -> None:
    (workdir / "parts.py").write_text(PARTS)
    with pytest.raises(ComponentError, match=SAID[part]):
        RUNS[runs](topology="minimal", components={"builtin.router": f"parts.py:{part}"})


ENDS = ["raise ValueError('mine')", "raise SystemExit(0)", "import sys; sys.exit()"]


@pytest.mark.parametrize("end", ENDS)
def test_what_ends_an_evaluation_or_a_topology_is_an_error(cli: Any, workdir: Path, end: str) -> None:
    name = f"ends-{ENDS.index(end) + 1}"
    (workdir / "it.py").write_text(
        "from kernbench.api.evaluations import evaluation\n\n"
        f"@evaluation(name='{name}', description='Ends.')\ndef run(work):\n    {end}\n\n"
        f"def topology():\n    {end}\n"
    )
    for words, line in (("evaluate it.py", 5), ("topology check it.py", 8)):
        ended = cli(*words.split())
        assert ended.status in (1, 2)
        assert f"(it.py:{line})" in ended.err
        assert "unexpected" not in ended.err
