"""A process that has read an archive, or asked questions, ends in peace.

Parquet read by several threads leaves them waiting, and about one process in a hundred was aborted at its end
("terminate called without an active exception") when the machine was busy.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.generated_runs import LIBRARY

PROGRAM = """
import os, sys
import numpy
import kernbench as kb
from tests.conformance.generated_runs import LIBRARY
from tests.conformance.test_store_hostile import NEEDED

def threads():
    names = [open(f"/proc/self/task/{n}/comm").read().strip() for n in os.listdir("/proc/self/task")]
    return sum("jemalloc" not in name for name in names)  # its allocator's own, which is never joined

before = threads()
rows = asked = 0
with kb.open_store(sys.argv[1]) as store:
    run = store.runs()[0]["id"]
    rows += sum(table.num_rows for table in store.load(run).tables.values())
    for name, question in LIBRARY.items():
        given = question.params
        needed = [k for k, p in given.items() if p.default is None or p.refers == "run"]
        known = {"before": run, "after": run, "bench": "qkv-gemm", "key": "seed"}
        params = {key: known.get(key) or NEEDED[key] for key in needed}
        kb.ask(name, run, store, params)
        asked += 1
print(rows, asked, threads() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="lists threads as Linux does")
def test_reading_and_asking_leave_no_threads(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "kernbench", "run", "--bench", "qkv-gemm", "--topology", "minimal"]
    run += ["--topo", "cube.pes.count=2"]  # a machine that can be halved
    subprocess.run([*run, "--store", str(tmp_path)], check=True, capture_output=True)
    read = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(read, check=True, capture_output=True, text=True)
    rows, asked, left = map(int, done.stdout.split())
    assert rows > 1000
    assert asked == len(LIBRARY)
    assert left == 0
