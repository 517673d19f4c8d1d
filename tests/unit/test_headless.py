"""The cost of an import: the core needs no user interface, no database server, no plotting library."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

OPTIONAL = ("textual", "neo4j", "matplotlib", "werkzeug", "waitress", "playwright", "scipy")
HEAVY = ("numpy", "pyarrow", "networkx", "pydantic", "ladybug", "simpy", "yaml")


def modules_after(code: str, *, whole: bool = False) -> set[str]:
    """Names of the top-level modules (all, if ``whole``) that a fresh process has after running ``code``."""
    name = "name" if whole else "name.partition('.')[0]"
    tell = f"import json, sys; print(json.dumps([{name} for name in sys.modules]))"
    program = f"{code}\n{tell}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.slow
def test_a_whole_run_needs_none_of_the_optional_libraries() -> None:
    loaded = modules_after(
        "import kernbench as kb\n"
        "run = kb.run('gemm-single-pe', 'minimal', verify=True, store='memory:')\n"
        "run.query('busiest-links'); run.graph\n"
        "run.query('centrality', measure='pagerank'); run.query('cone', transaction=3)\n"
        "run.query('single-points', src='sip0', dst='sip0.cube0')\n"
        "from kernbench.operations.of_one import erf; import numpy; erf(numpy.ones(2, 'f4'))\n"
        "from tests.commands import commands; [one.get_help() for one in commands()]\n"
        "import kernbench.pytest_plugin\n"
    )
    assert {"kernbench", "ladybug", "numpy"} <= loaded
    assert loaded.isdisjoint(OPTIONAL)


@pytest.mark.parametrize(
    "code",
    [
        "import kernbench",
        "import kernbench.pytest_plugin",
        "from kernbench.cli.main import main; main(['--help'])",
    ],
)
def test_importing_and_help_load_nothing_heavy(code: str) -> None:
    assert modules_after(code).isdisjoint(HEAVY)


@pytest.mark.slow
def test_a_run_of_a_users_bench_loads_no_shipped_bench(tmp_path: Path) -> None:
    """From edit to answer: half of such a run is imports, and these took a third of it."""
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "from kernbench.workloads.benches import bench\n"
        "def kernel(x, tl):\n"
        "    tl.store(x, tl.load(x) * 2.0)\n"
        "@bench(name='mine', description='Doubles.')\n"
        "def run(torch):\n"
        "    torch.launch('mine', kernel, torch.from_numpy(np.ones((8, 8), np.float32)))\n",
        encoding="utf-8",
    )
    run = f"main(['run', '--bench', {str(tmp_path / 'mine.py')!r}, '--topology', 'minimal', '--no-trace'])"
    loaded = modules_after(f"from kernbench.cli.main import main; {run}", whole=True)
    assert "kernbench.engine.machine.machine" in loaded
    heavy = {
        "networkx",
        "rich",
        "kernbench.host.tensor_parallel",
        "kernbench.host.collectives",
        "kernbench.workloads.benches.softmax",
    }
    assert loaded.isdisjoint(heavy)


def test_a_run_of_a_shipped_bench_loads_no_other_bench_and_no_engine(tmp_path: Path) -> None:
    run = f"['run', '--bench', 'qkv-gemm', '--topology', 'minimal', '--store', {str(tmp_path)!r}]"
    loaded = modules_after(f"from kernbench.cli.main import main; main({run})", whole=True)
    assert {"kernbench.workloads.benches.qkv_gemm", "pyarrow.parquet"} <= loaded
    unused = {"networkx", "ladybug", "rich", "kernbench.host.tensor_parallel", "kernbench.host.collectives"}
    assert loaded.isdisjoint(unused | {"kernbench.workloads.benches.softmax"})


@pytest.mark.slow
def test_listing_questions_loads_no_numbers_and_no_store() -> None:
    loaded = modules_after("from kernbench.cli.main import main; main(['query', '--list'])")
    assert loaded.isdisjoint({"numpy", "pyarrow", "networkx", "ladybug", "simpy"})


def test_help_is_quick() -> None:
    def cpu_seconds() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    took = []
    for _ in range(3):
        before = cpu_seconds()
        subprocess.run([sys.executable, "-m", "kernbench", "--help"], capture_output=True, check=True)
        took.append(cpu_seconds() - before)
    assert min(took) < 0.3


def test_the_package_hands_out_what_it_lists() -> None:
    import kernbench

    for name in dir(kernbench):
        getattr(kernbench, name)
    assert "run" in dir(kernbench)
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        _ = kernbench.runn
