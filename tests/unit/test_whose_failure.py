"""A failure names whose it is: the component's, or the bench's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kernbench as kb
from kernbench.errors import BenchError, KernBenchError

ONES = np.ones((16, 16), np.float16)


def reads(torch: Any) -> None:
    def kernel(x: Any, tl: Any) -> None:
        tl.load(x.local)

    torch.launch("read", kernel, torch.from_numpy(ONES))


def test_a_failure_of_a_component_is_not_the_benches(workdir: Path) -> None:
    """It names component, class, time and line."""
    (workdir / "broken.py").write_text(
        "from kernbench.components.hbm import HbmSlice\n\n\nclass Broken(HbmSlice):\n"
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
