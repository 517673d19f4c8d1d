"""kill -9 at random points of a run: the store holds whole runs only, and the next run works."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

import kernbench as kb
from tests.processes import Process

RUN = [sys.executable, "-X", "faulthandler", "-m", "kernbench", "run", "--bench", "qkv-gemm"]
COMMAND = [*RUN, "--topology", "minimal", "--store"]


def run_whole(store: Path) -> None:
    """A run that is not killed; a failure shows its whole output."""
    done = subprocess.run([*COMMAND, str(store)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}\n{done.stderr}"


def kill_at_random(store: Path, times: int, seed: int) -> int:
    """Start ``times`` runs and kill each at some moment of its life; how many had ended before."""
    dice = random.Random(seed)
    begun = time.monotonic()
    run_whole(store)
    whole = time.monotonic() - begun
    survived = 1
    for _ in range(times):
        process = Process([*COMMAND, str(store)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Most of the interest is at the end, where the record is written.
        time.sleep(whole * dice.choice([dice.uniform(0.05, 1.0), dice.uniform(0.7, 1.0)]))
        process.send_signal(signal.SIGKILL)
        survived += process.wait() == 0
    return survived


def check(store: Path, times: int, seed: int) -> None:
    survived = kill_at_random(store, times, seed)
    with closing(kb.open_store(str(store))) as opened:
        before = opened.runs()
        # A run that was killed after its record was renamed into place is there as well.
        assert survived <= len(before) <= survived + times
        for info in before:
            record = opened.load(info["id"])
            hops = record.tables["Hop"]
            assert hops.num_rows == info["hops"]
            assert info["status"] == "ok"
    run_whole(store)
    with closing(kb.open_store(str(store))) as opened:
        assert len(opened.runs()) == len(before) + 1
        rows = kb.open_run("last", opened).query("bottleneck/busiest-links").rows
        assert rows
        known = sorted(info["id"] for info in opened.runs())
    left = [p.name for p in (store / "runs").iterdir()]
    assert sorted(left) == known, "a leftover of a killed writer was not cleaned up"


def test_a_kill(tmp_path: Path) -> None:
    check(tmp_path / "store", 1, seed=1)


@pytest.mark.slow
def test_fifty_kills(tmp_path: Path) -> None:
    check(tmp_path / "store", 50, seed=2)
