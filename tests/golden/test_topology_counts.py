"""Counts of the shipped topologies, kept so that a change of the machine is a change that someone decided on.

To renew after such a decision: ``python tests/golden/test_topology_counts.py``.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kernbench.hardware.topology import compile_topology, load

GOLDEN = Path(__file__).with_name("topology_counts.json")
SMALL = ("as-recorded", "default", "minimal", "six-sip-torus")
LARGE = ("tray-8", "tray-16")


def counts(name: str) -> dict[str, Any]:
    graph = compile_topology(load(name))
    links = Counter(str(e.properties["kind"]) for e in graph.edges("LINK"))
    return {
        "id": graph.properties["id"],
        "nodes": len(graph),
        "links": links.total(),
        "nodes_by_kind": dict(sorted(Counter(str(n.properties["kind"]) for n in graph.nodes()).items())),
        "links_by_kind": dict(sorted(links.items())),
    }


@pytest.mark.daily(but=("tray-16", "tray-8", "six-sip-torus"))
@pytest.mark.parametrize("name", SMALL + LARGE)
def test_counts(name: str) -> None:
    assert counts(name) == json.loads(GOLDEN.read_text())[name]


def test_default_has_32_routers_a_cube() -> None:
    golden = json.loads(GOLDEN.read_text())["default"]["nodes_by_kind"]
    assert golden["router"] == 32 * golden["cube"]


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: counts(name) for name in SMALL + LARGE}, indent=1) + "\n")
