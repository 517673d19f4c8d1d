"""The same input gives the same record, byte for byte, in any process and under any hash seed.

What the records hold is compared with kept digests by ``tests/golden``, in processes of any hash seed. Here
it is their bytes, and what no record holds: routes, drawings, rows of traffic.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fresh_process import said

# Bench, settings: one PE, one cube, a whole SIP of 128 PEs, ranks that talk through queues.
CASES = [
    ("gemm-single-pe", ["--verify-data"]),
    ("qkv-gemm", []),
    ("qkv-gemm-multi-pe", ["--device", "sip:0"]),
    ("gpt3-qkv", ["--device", "sip:1"]),
    ("ccl-allreduce", ["elements=8"]),
]
LONG = ("qkv-gemm", "qkv-gemm-multi-pe", "gpt3-qkv", "ccl-allreduce")
DIGEST = """
import hashlib
import kernbench as kb
from kernbench.workloads.probes.traffic_runner import run_traffic
from kernbench.workloads.probes.traffic_patterns import find_pattern, pattern_flows, resolve_values
from kernbench.draw.svg import svg
from kernbench.draw.machine import VIEWS
from tests.property.test_routing_properties import some_routes

def show(name, value):
    print(name, hashlib.sha256(repr(value).encode()).hexdigest())

graph = kb.load_topology("default")
show("topology", graph.properties["id"])
show("routes", [route.nodes for route in some_routes()])
for name, view in VIEWS.items():
    show(name, svg(view(graph, None)))
pattern = find_pattern("hot-spot")
small = kb.load_topology("default", {"system.sips": 2, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 1})
flows = pattern_flows(small, pattern, resolve_values(pattern, {"seed": 3}))
show("traffic", run_traffic(small, flows, traced=False).rows())
"""


def run(store: Path, seed: str, bench: str, settings: list[str]) -> Path:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-m", "kernbench", "run", "--bench", bench, "--store", str(store), *settings]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (folder,) = (store / "runs").iterdir()
    return folder


@pytest.mark.parametrize(
    ("bench", "settings"),
    [pytest.param(*c, id=c[0], marks=[pytest.mark.slow] if c[0] in LONG else []) for c in CASES],
)
def test_two_processes_keep_identical_archives(tmp_path: Path, bench: str, settings: list[str]) -> None:
    first = run(tmp_path / "a", "1", bench, settings)
    second = run(tmp_path / "b", "4711", bench, settings)
    files = sorted(p.name for p in first.iterdir())
    assert files == sorted(p.name for p in second.iterdir())
    assert len([f for f in files if f.endswith(".parquet")]) >= 8
    for name in files:
        if name.endswith(".parquet"):
            assert (first / name).read_bytes() == (second / name).read_bytes(), f"{name} differs"
    manifests = [
        json.loads((folder / "manifest.json").read_text(encoding="utf-8")) for folder in (first, second)
    ]
    assert manifests[0]["run"] == manifests[1]["run"]
    assert manifests[0]["content"] == manifests[1]["content"]


@pytest.mark.slow
def test_two_processes_route_draw_and_simulate_alike() -> None:
    first = said(DIGEST, "1")
    assert len(first.splitlines()) >= 7
    assert said(DIGEST, "4711") == first
