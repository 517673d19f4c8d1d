"""What switching a mechanism off does to rows of silicon: ``tools/ablation.py``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernbench.api.topologies import load_topology
from kernbench.validation import tenstorrent
from tools import ablation

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "ablation.md"


@pytest.mark.parametrize("table", ["tenstorrent", "h100"])
def test_the_page_has_every_mechanism(table: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    section = text.partition(f"## {ablation.TITLES[table]}\n")[2].partition("\n## ")[0]
    shown = [line.split(" | ")[0].removeprefix("| ") for line in section.splitlines() if line[:2] == "| "]
    assert shown[1:] == list(ablation.SWITCHES[table])


OF_GRIDS = {"coalescing of reads", "clock that falls under load"}
"""Not seen in blocks that run alone."""


@pytest.mark.daily("launch of a kernel", "loads ahead*", "operands in registers*")
@pytest.mark.parametrize("name", [name for name in ablation.SWITCHES["h100"] if name != ablation.AS_SHIPPED])
def test_what_is_switched_off_changes_times_of_the_h100(name: str) -> None:
    """None is a key that does nothing."""
    blocks = {"m": 64, "n": 64, "k": 256, "bm": 64, "bn": 64, "bk": 32, "group": 8, "stages": 3, "warps": 4}
    rows = {"rows": 3, "cols": 1024, "warps": 4}
    small = [
        {"case": "matmul f16", "params": json.dumps(blocks)},
        {"case": "matmul f16", "params": json.dumps({**blocks, "stages": 1})},
        {"case": "softmax f16", "params": json.dumps(rows)},
    ]
    off = ablation.SWITCHES["h100"][name]
    if "stages" not in off:
        shipped_id, without_id = (load_topology("h100", keys).properties["id"] for keys in ({}, off))
        assert shipped_id != without_id
    shipped, without = (ablation.measure("h100", changes) for changes in ({}, off))
    assert ([without(case) for case in small] != [shipped(case) for case in small]) == (name not in OF_GRIDS)


@pytest.mark.slow
def test_what_is_switched_off_changes_times_of_the_n150() -> None:
    """Passes count where there are four of them, the unpacker where there are two."""
    case = {"chip": "n150", "m": 256, "k": 256, "n": 256, "in0": "L1", "dtype": "bfp8", "depth": 32,
            "down": 1, "across": 1, "cycles": 200, "protocol_ns": 700}  # fmt: skip
    both = [{**case, "fidelity": fidelity} for fidelity in ("hifi2", "hifi4")]
    found = {name: [ablation.measure("tenstorrent", off)(one) for one in both]
             for name, off in ablation.SWITCHES["tenstorrent"].items()}  # fmt: skip
    shipped = found.pop(ablation.AS_SHIPPED)
    assert shipped == [tenstorrent.us(one) for one in both]
    assert found["multicast: a message to each core instead"] > shipped
    assert found["sizes of types: bf16 for all"] > shipped
    assert shipped not in found.values()
