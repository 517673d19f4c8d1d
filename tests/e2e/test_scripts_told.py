"""What a script, a notebook, a pipe and another process get: short tracebacks, a clean stdout, whole runs."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kernbench as kb
from kernbench.errors import KernBenchError, LaunchError

Cli = Callable[..., Any]
SCRIPT = """\
import numpy as np
import kernbench as kb

def fails(x, tl):
    raise ValueError("\\n".join(f"line {n}" for n in range(LINES)))

def start():
    kb.run_kernel(fails, np.ones((4, 4), np.float32), topology="minimal")

start()
"""
PRINTS = """\
import numpy as np
from kernbench.workloads.benches import bench
print("at import")

def kernel(x, tl):
    print("in the kernel")
    tl.load(x)

@bench(name="prints", description="Prints.")
def run(torch):
    print("in the bench")
    torch.launch("kernel", kernel, torch.from_numpy(np.ones((4, 4), np.float32)))
"""


@pytest.mark.slow
def test_a_script_shows_its_own_lines_and_the_message(workdir: Path) -> None:
    (workdir / "script.py").write_text(SCRIPT.replace("LINES", "1"), encoding="utf-8")
    ended = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, cwd=workdir)
    lines = ended.stderr.splitlines()
    assert ended.returncode == 1
    assert lines[0] == "Traceback (most recent call last):"
    assert [line.split(", ")[1] for line in lines if line.startswith("  File")] == ["line 10", "line 8"]
    assert lines[-1].startswith("LaunchError: kernel 'fails' failed on sip0.cube0.pe0 at ")
    assert len(lines) < 8
    whole = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, cwd=workdir,
        env={"KERNBENCH_TRACEBACK": "1"},
    )  # fmt: skip
    assert len(whole.stderr.splitlines()) > 20
    assert whole.stderr.splitlines()[-1].endswith(lines[-1].removeprefix("LaunchError"))


def test_other_errors_are_shown_as_python_shows_them(workdir: Path) -> None:
    (workdir / "script.py").write_text("import kernbench as kb\nkb.Bounded\n1 / 0\n", encoding="utf-8")
    ended = subprocess.run([sys.executable, "script.py"], capture_output=True, text=True, cwd=workdir)
    assert ended.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"


def test_a_notebook_shows_the_same() -> None:
    with pytest.raises(KernBenchError) as raised:
        kb.run("no-such-bench", store="memory:")
    shown = raised.value._render_traceback_()
    assert shown[-1] == f"UsageError: {raised.value}"
    assert sum(line.startswith("  File") for line in shown) == 1
    assert "test_scripts_told.py" in shown[1]


@pytest.mark.parametrize("several", [True, False])
def test_an_error_of_many_lines_says_how_much_it_left_out(cli: Cli, workdir: Path, several: bool) -> None:
    text = "\n".join(f"line {n}" for n in range(100_000))
    assert str(KernBenchError(text)).splitlines()[40] == "... (99950 lines left out) ..."
    assert len(str(KernBenchError(text)).splitlines()) == 51
    bench = PRINTS.replace(
        "    tl.load(x)",
        f"    raise ValueError({'chr(10)' if several else 'chr(32)'}.join(map(str, range(100_000))))",
    )
    (workdir / "long.py").write_text(bench, encoding="utf-8")
    ended = cli("run", "long.py", "--topology", "minimal")
    assert ended.status == 1
    assert len(ended.err) < 4000
    assert "lines left out" in ended.err or "characters)" in ended.err
    with pytest.raises(LaunchError) as raised:
        kb.run("long.py", "minimal", store="memory:")
    assert len(str(raised.value)) < 10_000


@pytest.mark.daily(but=("sweep",))
@pytest.mark.parametrize(
    "command",
    [["run"], ["sweep"], ["tune"]],
    ids=lambda command: command[0],
)
def test_what_a_bench_prints_goes_to_stderr(cli: Cli, workdir: Path, command: list[str]) -> None:
    text = PRINTS
    if command == ["tune"]:
        text = "import kernbench as kb\n" + text.replace(
            "def kernel(x", '@kb.autotune([{"N": 1}, {"N": 2}])\ndef kernel(x, N'
        )
    (workdir / "prints.py").write_text(text, encoding="utf-8")
    ended = cli(*command, "prints.py", "--topology", "minimal", "--format", "json")
    assert ended.status == 0, ended.err
    assert isinstance(json.loads(ended.out), dict)
    assert all(f"{place}\n" in ended.err for place in ("at import", "in the bench", "in the kernel"))


@pytest.mark.parametrize("store", ["memory:", "kept"])
@pytest.mark.parametrize("trace", [True, False])
def test_a_run_can_be_pickled(workdir: Path, store: str, trace: bool) -> None:
    run = kb.run("gemm-single-pe", "minimal", True, store=store, trace=trace)
    copy = pickle.loads(pickle.dumps(run))
    assert copy.info == run.info
    assert copy.to_json() == run.to_json()
    # By text: waits are not known, NaN, without a trace.
    assert repr(copy.tables["Use"].to_pydict()) == repr(run.tables["Use"].to_pydict())
    if trace:
        assert copy.query("kernel/races").rows == run.query("kernel/races").rows == []
        assert copy.critical_path().ns == run.critical_path().ns


def test_the_error_of_a_wrong_run_can_be_pickled(workdir: Path) -> None:
    import numpy as np

    def bench(torch: Any) -> None:
        torch.check("x", torch.zeros(4, 4, dtype="f32"), np.ones((4, 4)))

    with pytest.raises(kb.RunVerificationError) as raised:
        kb.run(bench, "minimal", True, store="memory:")
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (str(copy), copy.run.id, copy.launch) == (str(raised.value), raised.value.run.id, -1)
