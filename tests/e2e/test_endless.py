"""Programs that do not end: they get their end a few times, and are then left where they stand."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

import kernbench as kb
from kernbench.errors import LimitError, UsageError
from kernbench.support.stand_ins import Alias
from tests.commands import commands
from tests.processes import Process

Cli = Callable[..., Any]
BENCHES = """\
import pathlib
import numpy as np
from kernbench.workloads.benches import bench
from kernbench.host import DPPolicy

def swallows(x, tl):
    if tl.program_id(0) == 3:
        raise ValueError("a bug on PE 3")
    while True:
        try:
            tl.recv("pe_W")
        except:
            continue

def waits(x, tl):
    tl.recv("pe_W")

def spins(x, tl):
    spin()

def spins_at_its_end(x, tl):
    if tl.program_id(0) == 3:
        raise ValueError("a bug on PE 3")
    try:
        tl.recv("pe_W")
    finally:
        spin()

def spin():
    while True:
        try:
            pathlib.Path("began").touch()
            while True:
                sum(range(100))
        except:
            pass

def launched(torch, kernel):
    x = torch.from_numpy(np.ones((8, 64), np.float32), dp=DPPolicy(pe="row_wise", num_cubes=1))
    torch.install_ipcq("intracube_pe_ring", among=[(0, 0, p) for p in range(8)])
    return torch.launch("endless", kernel, x)

for one in (swallows, spins, spins_at_its_end):
    bench(name=one.__name__.replace("_", "-"), description="A kernel.")(
        lambda torch, one=one: launched(torch, one).wait()
    )

@bench(name="bench-waits", description="A bench that swallows the deadlock that it waits for.")
def bench_waits(torch):
    handle = launched(torch, waits)
    while True:
        try:
            handle.wait()
        except:
            pass

@bench(name="bench-spins", description="A bench that never submits anything.")
def bench_spins(torch):
    spin()

def meets(rank, torch):
    if rank == 1:
        raise ValueError("a bug of rank 1")
    while True:
        try:
            torch.distributed.barrier()
        except:
            pass

@bench(name="rank-waits", description="A rank that swallows its end.")
def rank_waits(torch):
    torch.distributed.init_process_group(backend="ahbm")
    torch.multiprocessing.spawn(meets, args=(torch,), nprocs=2)

@bench(name="rank-spins", description="A rank that never submits anything.")
def rank_spins(torch):
    torch.multiprocessing.spawn(lambda rank: spin(), nprocs=2)
"""
SPINNING = ("spins", "spins-at-its-end", "bench-spins", "rank-spins")


ONE_CUBE = ("system.sips=1", "sip.cube_mesh.w=1", "sip.cube_mesh.h=1")
"""Of the default machine, which is soon made: its eight PEs are all that programs here ask for."""


def one_cube() -> Any:
    return kb.load_topology("default", {key: int(n) for key, n in (one.split("=") for one in ONE_CUBE)})


@pytest.fixture
def endless(workdir: Path) -> str:
    (workdir / "endless.py").write_text(BENCHES, encoding="utf-8")
    return str(workdir / "endless.py")


@pytest.mark.daily(but=("bench-waits-*max_ns*", "bench-waits-*max_events*"))
@pytest.mark.parametrize("limit", [{}, {"max_events": 1000}, {"max_ns": 500.0}], ids=str)
@pytest.mark.parametrize(
    ("bench", "says"),
    [
        ("swallows", "kernel 'endless' failed on sip0.cube0.pe3 at .*a bug on PE 3"),
        ("bench-waits", "deadlock at .*launch 0 of 'endless'|stopped at the limit"),
        ("rank-waits", "rank 1 of 2 raised ValueError: a bug of rank 1"),
    ],
)
def test_who_catches_its_end_gets_it_again_and_is_left(
    endless: str, bench: str, says: str, limit: dict[str, Any]
) -> None:
    with pytest.raises(kb.KernBenchError, match=says):
        kb.run(f"{endless}:{bench}", one_cube(), store="memory:", **limit)
    installed = find_spec("triton")  # ours by that name only as long as users' code runs
    assert installed is None or not isinstance(installed.loader, Alias)


@pytest.mark.parametrize(
    "bench", [SPINNING[0], *(pytest.param(b, marks=pytest.mark.slow) for b in SPINNING[1:])]
)
def test_a_limit_of_wall_time_ends_what_asks_for_nothing(endless: str, bench: str) -> None:
    machine = one_cube()
    kb.run("gemm-single-pe", machine, store="memory:")  # whose machine the next run has: its time is its own
    began = time.monotonic()
    with pytest.raises(LimitError, match=r"limit of 0\.5 s of wall time") as raised:
        kb.run(f"{endless}:{bench}", machine, store="memory:", timeout=0.5)
    assert time.monotonic() - began < 20
    assert ("a bug on PE 3" in str(raised.value)) == (bench == "spins-at-its-end")
    assert bench == "spins-at-its-end" or "endless.py:" in str(raised.value)
    kb.run("gemm-single-pe", "minimal", store="memory:", timeout=600)


@pytest.mark.parametrize(
    "bench", [SPINNING[0], *(pytest.param(b, marks=pytest.mark.slow) for b in SPINNING[1:])]
)
def test_ctrl_c_ends_it_too(endless: str, workdir: Path, bench: str) -> None:
    command = [sys.executable, "-m", "kernbench", "run", f"{endless}:{bench}", "--store", "kept", *ONE_CUBE]
    process = Process(command, stderr=subprocess.PIPE, text=True, cwd=workdir)
    while not (workdir / "began").exists():
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.startswith("kernbench: error: interrupted at ")
    assert err.rstrip().endswith("; nothing was saved")


def test_where_there_are_no_signals_it_is_interrupted(endless: str, workdir: Path) -> None:
    """As when the terminal UI shows a run: that is run in a thread of its own."""
    text = BENCHES.replace(
        "except:\n            pass\n\ndef launched", "finally:\n            pass\n\ndef launched"
    )
    Path(endless).write_text(text, encoding="utf-8")
    raised: list[BaseException] = []

    def run() -> None:
        try:
            kb.run(f"{endless}:spins", one_cube(), store="memory:", timeout=0.2)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    assert [type(error) for error in raised] == [LimitError]


def test_every_command_that_runs_benches_takes_the_limit(cli: Cli, endless: str, workdir: Path) -> None:
    program = (f"{endless}:bench-spins", "--topology", "minimal")  # soon read: the limit holds for that too
    ended = cli("run", *program, "--timeout", "0.5")
    assert (ended.status, "limit of 0.5 s of wall time" in ended.err) == (1, True)
    swept = cli("sweep", *program, "--timeout", "1", "--format", "json")
    assert swept.status == 1
    assert "limit of 1 s of wall time" in swept.err
    wrong = cli("run", "gemm-single-pe", "--timeout", "-1")
    assert wrong.status == 2
    assert wrong.err == "kernbench: error: timeout is -1.0, expected a finite number of at least 0\n"
    with pytest.raises(UsageError, match="timeout is nan"):
        kb.run("gemm-single-pe", store="memory:", timeout=float("nan"))
    tuned = BENCHES.replace(
        "def spins(", 'import kernbench as kb\n@kb.autotune([{"N": 1}, {"N": 2}])\ndef spins('
    )
    (workdir / "tuned.py").write_text(tuned.replace("spins(x, tl)", "spins(x, N, tl)"), encoding="utf-8")
    points = kb.tune(f"{workdir}/tuned.py:spins", one_cube(), store="memory:", timeout=0.5).points
    assert ["limit of 0.5 s of wall time" in point.error for point in points] == [True, True]


FILES = {
    "loops": "while True:\n    pass\n",
    "swallows": "while True:\n    try:\n        while True: pass\n    except BaseException: pass\n",
    "sleeps": "import time\ntime.sleep(1000)\n",
}


@pytest.mark.daily("sleeps")
@pytest.mark.parametrize("what", FILES)
def test_the_import_of_a_file_takes_the_limit(cli: Cli, workdir: Path, what: str) -> None:
    (workdir / "it.py").write_text(FILES[what])
    (workdir / "parts.yaml").write_text("builtin.router: it.py:Router\n")
    for run in (
        lambda: kb.run("it.py", store="memory:", timeout=0.2),
        lambda: kb.run("it:bench", store="memory:", timeout=0.2),
        lambda: kb.run("gemm-single-pe", "minimal", components="parts.yaml", store="memory:", timeout=0.2),
    ):
        with pytest.raises(LimitError, match=r"limit of 0\.2 s of wall time; in it\.py:\d"):
            run()
    ended = cli("topology", "check", "it.py", "--timeout", "0.2")
    assert (ended.status, "limit of 0.2 s of wall time; in it.py:" in ended.err) == (1, True)


USING = {
    "evaluate it.py": "from kernbench.api.evaluations import evaluation\n"
    "@evaluation(name='goes-on', description='Goes on.')\ndef run(work):\n    spin()\n",
    "topology check it.py": "def topology():\n    spin()\n",
    "probe --topology minimal --components parts.yaml": (
        "from kernbench.engine.components.transit import Transit\n"
        "class Router(Transit):\n    def service_ns(self, *_):\n        spin()\n"
    ),
}
USING["traffic pattern:transpose --topology minimal --components parts.yaml"] = USING[
    "probe --topology minimal --components parts.yaml"
]


@pytest.mark.daily("topology check it.py")
@pytest.mark.parametrize("words", USING)
def test_a_command_ends_in_users_code_that_never_does(cli: Cli, workdir: Path, words: str) -> None:
    (workdir / "it.py").write_text(f"def spin():\n{indent(FILES['swallows'], '    ')}{USING[words]}")
    (workdir / "parts.yaml").write_text("builtin.router: it.py:Router\n")
    cli("evaluate", "--list")  # imports what takes its time
    ended = cli(*words.split(), "--timeout", "1")
    assert (ended.status, "limit of 1 s of wall time; in it.py:" in ended.err) == (1, True)


def test_every_command_that_may_run_users_code_takes_a_limit() -> None:
    for context in commands():
        options = {name for param in context.command.params for name in param.opts}
        if options & {"--components", "--topology", "--code", "--short"}:
            assert "--timeout" in options, context.command_path


def test_a_kernel_of_arrays_takes_the_limit() -> None:
    import numpy as np

    def spins(x: Any, tl: Any) -> None:
        while True:
            pass

    with pytest.raises(LimitError, match="wall time"):
        kb.run_kernel(spins, np.ones((4, 4), np.float32), topology="minimal", timeout=0.2)


TRACED = """\
import sys
import threading
import kernbench as kb
from kernbench.errors import LimitError

def spins(torch):
    while True:
        pass

def run():
    kb.run("gemm-single-pe", "minimal", timeout=60, trace=False)
    try:
        kb.run(spins, "minimal", timeout=0.3, trace=False)
    except LimitError:
        pass
    sys.settrace(lambda *_: None)
    traced()
    sys.settrace(None)

def traced():
    print("goes on", end="; ")

threads = [threading.Thread(target=run), threading.Thread(target=run)]
for thread in threads:
    thread.start()
    thread.join()
run()
"""


@pytest.mark.slow
def test_code_behind_a_limited_run_can_be_traced(tmp_path: Path) -> None:
    """As by a debugger, or for coverage: nothing is left that CPython would look at for ever."""
    (tmp_path / "traced.py").write_text(TRACED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "traced.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "goes on; " * 3
