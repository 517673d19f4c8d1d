"""Memory of a traced run: ten million hops fit into 2 GB while they are gathered, made tables, and kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, re, sys
import kernbench as kb
from kernbench.api.recording import Recording

found = {}

def peak():
    # Not ru_maxrss: Linux counts there what the process that started this one had.
    status = open("/proc/self/status").read()
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1])

def stop_clock(self, before=Recording.stop_clock):
    before(self)
    found["gathered"] = peak()

Recording.stop_clock = stop_clock
settings = {"bytes": 64, "count": int(sys.argv[2]), "period_ns": 100.0}
run = kb.traffic("pattern:uniform-random", params=settings, store=sys.argv[1])
print(json.dumps(found | {"kept": peak(), "hops": run.info["hops"]}))
"""
"""Prints the most memory that the process has had, in bytes: with a run's hops gathered, and with it kept."""

TRANSFERS = (60, 120)
"""From each PE, in a run and in a larger one: what hops take is the difference."""
WITH_FACTS = 50
"""From each PE, in a run of nearly as many hops as have their facts worked out when it is kept."""
TEN_MILLION, LIMIT = 10_000_000, 2 << 30


def measured(store: Path, transfers: int) -> dict[str, int]:
    """Bytes and hops of a run in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(store), str(transfers)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_ten_million_hops_fit_into_two_gigabytes(tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux says there how much memory a process has had at most")
    small, large = (measured(tmp_path / "store", transfers) for transfers in TRANSFERS)
    hops = large["hops"] - small["hops"]
    assert hops > 1_500_000
    gathered, kept = ((large[key] - small[key]) / hops for key in ("gathered", "kept"))
    # 56 bytes for a hop, 64 for each of a third as many waits, and what the transactions take.
    assert 56 < gathered < 130
    assert large["kept"] + (TEN_MILLION - large["hops"]) * kept < LIMIT


@pytest.mark.slow
def test_facts_of_a_run_fit_into_two_gigabytes_where_they_are_made_as_it_is_kept(tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux says there how much memory a process has had at most")
    found = measured(tmp_path / "store", WITH_FACTS)
    assert 1_600_000 < found["hops"] < 2_000_000
    assert found["kept"] < LIMIT
    assert list((tmp_path / "store").glob("worked-out/*/Served.parquet"))


LOOP = """
import json, os
import numpy as np
import kernbench as kb

found = []

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def kernel(x, y, tl):
    h = tl.load(x)
    for number in range(180_000):
        if number in (60_000, 179_999):
            found.append(resident())
        tl.add(h, h)
    tl.store(y, h)

def bench(torch):
    x = torch.from_numpy(np.ones((32, 32), np.float16), name="x")
    torch.launch("k", kernel, x, torch.empty(32, 32, dtype="f16", name="y"))

kb.run(bench, "minimal", store="memory:")
print(json.dumps(found))
"""
"""Prints the memory of the process in the middle of a kernel and at its end."""


@pytest.mark.slow
def test_an_operation_on_handles_takes_at_most_200_bytes_while_a_run_goes_on() -> None:
    if not Path("/proc/self/statm").exists():
        pytest.skip("only Linux says there how much memory a process has")
    done = subprocess.run([sys.executable, "-c", LOOP], capture_output=True, text=True, check=True)
    middle, end = json.loads(done.stdout.splitlines()[-1])
    # A row of 176 bytes for its three stages and two accesses to the TCM, and 16 for when its engine worked.
    assert 150 < (end - middle) / 119_999 <= 200
