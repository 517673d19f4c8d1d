"""Users' code that would end the whole program is an error that names it, wherever such code runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
ENDS = {
    "SystemExit(0)": "exits",
    "asyncio.CancelledError('gone')": "raises CancelledError: gone",
    "pytest.skip.Exception('not here')": "raises Skipped: not here",
    "Own('mine')": "raises Own: mine",
    "greenlet.GreenletExit('free')": "raises GreenletExit: free",
}
COMPONENT = """\
import asyncio, greenlet, pytest
from kernbench.engine.components.transit import Transit

class Own(BaseException):
    pass

class Mine(Transit):
    def __init__(self, node, system):
        IN_INIT
        super().__init__(node, system)

    def wired(self):
        super().wired()
        IN_WIRED
        self.clock.process(self.ticks())

    def ticks(self):
        yield self.clock.timeout(1)
        IN_PROCESS
"""
BENCH = """\
import asyncio, greenlet, pytest
import numpy as np
from kernbench.workloads.benches import bench

class Own(BaseException):
    pass

AT_IMPORT

def kernel(x, tl):
    IN_KERNEL
    tl.load(x)

@bench(name="ends", description="Ends early.")
def run(torch):
    IN_BENCH
    torch.multiprocessing.spawn(rank, args=(torch,), nprocs=2)
    torch.launch("kernel", kernel, torch.from_numpy(np.ones((4, 4), np.float32))).wait()

def rank(rank, torch):
    IN_RANK
"""
SAYS = {
    "AT_IMPORT": "bench file 'ends.py'",
    "IN_KERNEL": "kernel 'kernel' failed on sip0.cube0.pe0",
    "IN_BENCH": "bench 'ends'",
    "IN_RANK": "rank 0 of 2|ranks 0, 1 of 2",
    "IN_INIT": "component 'sip0.cube0.r",
    "IN_WIRED": "component 'sip0.cube0.r",
    "IN_PROCESS": "component 'sip0.cube0.r",
}


def filled(text: str, place: str, code: str) -> str:
    for one in SAYS:
        text = text.replace(one, f"raise {code}" if one == place else "pass")
    return text


@pytest.mark.daily("*-SystemExit(0)", "IN_RANK-*", "AT_IMPORT-*")
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("place", SAYS)
def test_it_is_an_error_that_names_the_place(cli: Cli, workdir: Path, place: str, ends: str) -> None:
    (workdir / "ends.py").write_text(filled(BENCH, place, ends), encoding="utf-8")
    parts = f"parts_{place}_{list(ENDS).index(ends)}".lower()  # a module is imported once
    (workdir / f"{parts}.py").write_text(filled(COMPONENT, place, ends), encoding="utf-8")
    (workdir / "parts.yaml").write_text(f"builtin.router: {parts}:Mine\n", encoding="utf-8")
    done = cli("run", "ends.py", "--topology", "minimal", "--components", "parts.yaml")
    assert done.status in (1, 2), done.out
    first = done.err.splitlines()[0]
    assert first.startswith("kernbench: error: ")
    assert any(name.partition("[")[0] in first for name in SAYS[place].split("|")), first
    assert ENDS[ends].split(":")[0] in first
    assert "unexpected" not in done.err
    assert "Traceback" not in done.err
