"""A process that has read an archive ends in peace.

Parquet read by several threads leaves them waiting, and about one process in a hundred was aborted at its end
("terminate called without an active exception") when the machine was busy.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, sys
import numpy, scipy.sparse.csgraph
import kernbench as kb

def threads():
    names = [open(f"/proc/self/task/{n}/comm").read().strip() for n in os.listdir("/proc/self/task")]
    return sum("jemalloc" not in name for name in names)  # its allocator's own, which is never joined

before = threads()
with kb.open_store(sys.argv[1]) as store:
    for info in store.runs():
        rows = sum(table.num_rows for table in store.load(info["id"]).tables.values())
print(rows, threads() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="lists threads as Linux does")
def test_reading_an_archive_leaves_no_threads(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "kernbench", "run", "--bench", "qkv-gemm", "--topology", "minimal"]
    subprocess.run([*run, "--store", str(tmp_path)], check=True, capture_output=True)
    read = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(read, check=True, capture_output=True, text=True)
    rows, left = map(int, done.stdout.split())
    assert rows > 1000
    assert left == 0
