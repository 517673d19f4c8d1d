"""Launches say their rank and package, where there are ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import kernbench as kb
from kernbench.analysis.windows.chosen_window import ChosenWindow
from kernbench.api.contents import launches


def columns(run: kb.Run) -> list[str]:
    return [column.name for column in launches.of_run(run, ChosenWindow()).grids[0].columns]


def test_launches_say_rank_and_package() -> None:
    def ranks(torch: Any) -> None:
        def worker(rank: int) -> None:
            x = torch.zeros(4, 16)
            torch.launch(f"of {rank}", lambda x, tl: tl.store(x.local, tl.load(x.local)), x)

        torch.multiprocessing.spawn(worker, nprocs=2)

    small = {"system.sips": 2, "sip.cube_mesh.w": 1, "sip.cube_mesh.h": 1}
    found = kb.run(ranks, topo=small, store="memory:")
    assert [(one["kernel"], one["rank"], one["package"]) for one in found.launches] == [
        ("of 0", 0, "sip0"), ("of 1", 1, "sip1"),
    ]  # fmt: skip
    assert "rank" in columns(found)
    ones = np.ones((16, 16), np.float16)
    alone = kb.run_kernel(
        lambda x, out, tl: tl.store(out, tl.load(x)), ones, out=np.zeros_like(ones), topology="minimal"
    ).run
    assert (alone.launches[0]["rank"], alone.launches[0]["package"]) == (None, "sip0")
    assert "rank" not in columns(alone)


def test_a_package_within_a_block_is_called_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "rack.yaml").write_text("""
name: rack
blocks:
  shelf:
    port: "gpu[0]"
    parts: {gpu: {block: package, count: 2, sip: {cube_mesh: {w: 1, h: 1}}, cube: {pes: {count: 4}}}}
    connect: [{ring: gpu, wire: {gbs: 64}}]
parts: {host.cpu: host_cpu, shelf: {block: shelf, count: 2}}
connect: [{ring: shelf, wire: {gbs: 64}}, {all: [host.cpu, shelf], wire: {gbs: 64}}]
""")
    run = kb.run("softmax", tmp_path / "rack.yaml", device="all")
    assert run.launches[0]["package"] == "shelf0.gpu0, shelf0.gpu1, shelf1.gpu0, shelf1.gpu1"
