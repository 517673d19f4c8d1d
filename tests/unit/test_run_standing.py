"""A run says how much of its work is done: periods of a repeat, launches, blocks of a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

import kernbench as kb
import kernbench.tl as tl
import kernbench.triton as triton
import kernbench.triton.language as triton_tl
from kernbench.draw.progress import line
from kernbench.engine.run_options import Work, WorkProgress
from kernbench.host import standing


def copy(x: Any, out: Any) -> None:
    tl.store(out, tl.load(x))


@triton.jit
def doubled(x: Any, out: Any, WIDTH: triton_tl.constexpr) -> None:
    at = triton_tl.program_id(0) * WIDTH + triton_tl.arange(0, WIDTH)
    triton_tl.store(out + at, triton_tl.load(x + at) * 2)


def told(bench: Any, **how: Any) -> list[Work]:
    """What a run says of its work, each thing once."""
    said: list[Work] = []
    kb.run(bench, "minimal", trace=False, progress=WorkProgress(lambda _, __, work: said.append(work)), **how)
    return list(dict.fromkeys(said))


def test_periods_and_launches_are_said_with_the_share_that_is_done() -> None:
    def bench(torch: Any) -> None:
        x, out = (torch.from_numpy(np.ones((4, 64), np.float16)) for _ in range(2))
        for _ in torch.repeat(10, name="layer"):
            for _ in range(4):
                torch.launch("copy", copy, x, out).wait()

    said = told(bench)
    texts = [work.text for work in said]
    assert "layer 2 of 3 (10 in all), launch 6" in texts
    of_periods = [work for work in said if work.text.startswith("layer")]
    first = [work.share for work in of_periods if work.text.startswith("layer 1")]
    later = [work.share for work in of_periods if not work.text.startswith("layer 1")]
    assert set(first) == {None}  # nobody knows yet how long a period is
    assert later == sorted(later)
    assert later[0] == 1 / 3
    assert 0.9 < later[-1] < 1.0
    assert said[-1] == Work("launch 12", None)
    assert Work("layer 10 of 10, launch 40", 0.9) in told(bench, exact=True)


def test_blocks_of_a_grid_are_counted() -> None:
    said: list[Work] = []

    def bench(torch: Any) -> None:
        x, out = (torch.from_numpy(np.ones((64, 256), np.float16)) for _ in range(2))
        handle = doubled[(50,)](x, out, WIDTH=8)
        grid = handle.grid
        said.append(standing.of(torch))
        grid.taken = 7
        said.append(standing.of(torch))
        handle.wait()
        assert grid.taken == grid.blocks == 50
        said.append(standing.of(torch))

    kb.run(bench, "minimal", trace=False)
    assert [work.text for work in said] == ["launch 1, block 0 of 50", "launch 1, block 7 of 50", "launch 1"]


def test_the_time_that_is_left_follows_from_the_share() -> None:
    said = line(2.5e6, 3_000_000, 30.0, 0.25, "layer 2 of 3, launch 9")
    assert said.endswith(" events/s, 25 % done, layer 2 of 3, launch 9, about 2 min left")
    assert line(1.0, 1, 1.0, None, "launch 1").endswith(" events/s, launch 1")
