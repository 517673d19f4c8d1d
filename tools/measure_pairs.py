"""Measure two checkouts side by side: ``python tools/measure_pairs.py --against COMMIT``.

Another commit is checked out into a temporary git worktree and runs with this interpreter and its packages;
the working tree runs with the same. Runs of the two alternate, and the first of a pair changes from round to
round, so that whatever else the machine does slows down both. A figure is the least of its rounds, in seconds
of user CPU time: of the event loop alone, inside a process that has imported everything, or of a whole
process from the command line. The table is Markdown.

``--parts`` shows instead where the time of the working tree's runs goes, each part without those within it.
``--archives`` compares what is kept: the cases of ``tests/golden`` and generated machines with
generated programs, each column to its last bit. Both commits must keep archives in the same format.

``--against pure`` compares with the working tree's own Python engine instead of another commit. The core of
another commit that has one is compiled; that of the working tree must be (``make core``).
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import importlib
import io
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PURE = ROOT / "pure"
"""Stands for the working tree on its Python engine."""
sys.path.append(str(ROOT / "tests" / "golden"))  # its script is run in both checkouts, as this one is

LOOPS: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt3-qkv": ("gpt3-qkv", {}),
    "matmul-composite 384x512x384": ("matmul-composite", {"m": 384, "k": 512, "n": 384}),
    "va-offset-verify": ("va-offset-verify", {}),
    "qkv-gemm-multi-pe": ("qkv-gemm-multi-pe", {}),
    "flash-attention": ("flash-attention", {}),
    "flash-attention 512 tokens": ("flash-attention", {"tokens": 512}),
    "ccl-allreduce": ("ccl-allreduce", {}),
    "ccl-allreduce, again on the same machine": ("ccl-allreduce", {}),
    "llama-layer in tiles": ("llama-layer", {"block": 0}),
    "traffic uniform-random": ("pattern:uniform-random", {}),
    "traffic tornado": ("pattern:tornado", {}),
}
"""Name in the table: the bench or pattern and its parameters, on the default machine.

``again``: the second run on one compiled topology, as those of a sweep are.
"""

PROCESSES = (
    "--help",
    "query --list",
    "topology check minimal",
    "topology check default",
    "run --bench gemm-single-pe --topology minimal",
    "run --bench qkv-gemm",
    "run --bench gpt3-qkv",
    "run --bench gemm-single-pe --topology six-sip-torus",
)
"""Command lines; those that keep a run get a store of their own."""


PARTS = {
    "topology read and compiled": ("kernbench.api.topologies", "described_machine"),
    "machine wired": ("kernbench.machine.machine", "Machine.__init__"),
    "event loop": ("", "advance"),
    "tables of the trace": ("kernbench.api.recording", "Recording._tables"),
    "run kept": ("kernbench_graph.stores.embedded.store", "EmbeddedStore.keep"),
}
"""Parts of a run: the function in which each is spent; without a module, of the clock's class."""


def user_seconds() -> float:
    """User CPU time of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


# -- inside a process of either checkout ---------------------------------------------------------------


def clock_of_runs() -> Any:
    """The class of clock that runs have in this process."""
    from kernbench.sim.clock import Clock  # as older commits name it too

    try:
        from kernbench.sim import engine
    except ImportError:  # of a commit before there was a choice
        return Clock
    return getattr(engine, "CompiledClock", Clock)


def loop_seconds(name: str) -> float:
    """User CPU time that a run of ``LOOPS[name]`` spends in the event loop, its trace recorded."""
    import kernbench as kb

    spent = 0.0
    clock_class = clock_of_runs()
    advance = clock_class.advance

    def timed(clock: Any, goal: Any) -> bool:
        nonlocal spent
        begun = user_seconds()
        try:
            return bool(advance(clock, goal))
        finally:
            spent += user_seconds() - begun

    bench, params = LOOPS[name]
    clock_class.advance = timed
    machine = kb.load_topology() if ", again" in name else None
    for _ in range(1 if machine is None else 2):
        spent = 0.0
        with tempfile.TemporaryDirectory() as store:
            if bench.startswith("pattern:"):
                kb.traffic(bench, store=store, **params)
            else:
                kb.run(bench, params=params, topology=machine, store=store)
    return spent


class Parts:
    """User CPU time by part: what is spent in a part within another counts for the inner one alone."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._open: list[str] = ["the rest"]
        self._since = 0.0

    def _charge(self) -> None:
        now = user_seconds()
        self.spent[self._open[-1]] = self.spent.get(self._open[-1], 0.0) + now - self._since
        self._since = now

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function``, its time charged to ``part``."""

        def call(*args: Any, **named: Any) -> Any:
            self._charge()
            self._open.append(part)
            try:
                return function(*args, **named)
            finally:
                self._charge()
                self._open.pop()

        return call

    def of(self, command: str) -> dict[str, float]:
        """The parts of ``kernbench COMMAND``, which this process runs as its first."""
        builtins.__import__ = self.timed("imports", builtins.__import__)
        importlib.import_module = self.timed("imports", importlib.import_module)
        from kernbench.cli.main import main

        for part, (module, name) in PARTS.items():
            owner, _, attribute = name.rpartition(".")
            holder: Any = importlib.import_module(module) if module else clock_of_runs()
            holder = getattr(holder, owner) if owner else holder
            setattr(holder, attribute, self.timed(part, getattr(holder, attribute)))
        running: Any = importlib.import_module("kernbench.api.running")
        running.described_machine = importlib.import_module("kernbench.api.topologies").described_machine
        with contextlib.redirect_stdout(io.StringIO()):
            status = main(command.split())
        self._charge()
        if status:
            raise SystemExit(f"kernbench {command}: exit status {status}")
        return self.spent


def generated(seed: int) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """A bench or pattern, its parameters and changes of the default topology, by ``seed``."""
    chosen = random.Random(seed)
    topo = {
        "system.sips": chosen.choice([1, 2]),
        "sip.cube_mesh.w": chosen.choice([1, 2]),
        "sip.cube_mesh.h": chosen.choice([1, 2]),
        "cube.pes.count": chosen.choice([2, 4, 8]),
        "cube.hbm.mapping": chosen.choice(["n_to_one", "one_to_one"]),
        "cube.hbm.channel_gbs": chosen.choice([16, 32, 64]),
        "pe.pe_dma.read_engines": chosen.choice([1, 2]),
        "system.flit_bytes": chosen.choice([64, 128, 256]),
        "system.address_model": chosen.choice(["va", "pa", "la"]),
    }
    if topo["cube.hbm.mapping"] == "one_to_one":
        topo["system.address_model"] = "la"
    programs: list[tuple[str, dict[str, Any]]] = [
        ("gemm-single-pe", {"m": chosen.choice([16, 48]), "k": chosen.choice([32, 80]), "n": 32}),
        ("matmul-composite", {"m": chosen.choice([32, 64]), "k": 64, "n": chosen.choice([32, 96])}),
        ("qkv-gemm", {"tokens": chosen.choice([8, 32]), "hidden": chosen.choice([64, 128])}),
        ("softmax", {"rows": chosen.choice([8, 32]), "columns": 64}),
        ("ccl-allreduce", {"elements": chosen.choice([32, 64])}),
        ("va-offset-verify", {"rows": 2, "columns": chosen.choice([32, 64])}),
        *(
            (f"pattern:{name}", {"op": chosen.choice(["read", "write"]), "count": chosen.choice([1, 3])})
            for name in ("uniform-random", "hot-spot", "tornado", "gather")
        ),
    ]
    return (*chosen.choice(programs), topo)


def digest_of(case: str) -> dict[str, Any]:
    """Digests by table and column of a case of ``tests/golden`` or of ``generated N``."""
    from archives import cases, kept_digests

    kind, _, seed = case.partition(" ")
    if kind != "generated":
        return cases()[case]()
    import kernbench as kb

    program, params, topo = generated(int(seed))
    with tempfile.TemporaryDirectory() as store:
        try:
            if program.startswith("pattern:"):
                kb.traffic(program, topo=topo, store=store, check=False, **params)
            else:
                kb.run(program, params=params, topo=topo, store=store, check=False, device="all")
        except kb.KernBenchError as refused:
            return {"refused": {"message": str(refused)}}
        return kept_digests(Path(store, "runs"))


def answer(task: str, names: Sequence[str]) -> Any:
    """The value that a process of either checkout prints as JSON."""
    if task == "loop":
        import kernbench as kb

        kb.run("gemm-single-pe", "minimal", store="memory:")
        try:
            return loop_seconds(names[0])
        except kb.KernBenchError as refused:
            print(f"{names[0]}: {refused}", file=sys.stderr)
            return math.inf
    if task == "parts":
        return Parts().of(names[0])
    if task == "engine":
        from kernbench.compiled import state

        return state
    return {name: digest_of(name) for name in names}


# -- the process that compares -------------------------------------------------------------------------


@contextlib.contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A temporary worktree of ``commit``, its core compiled; :data:`PURE` for ``pure``."""
    if commit == "pure":
        yield PURE
        return
    with tempfile.TemporaryDirectory() as folder:
        there = str(Path(folder, "checkout"))
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", there, commit], check=True)
        try:
            if Path(there, "hatch_build.py").exists():
                subprocess.run([sys.executable, "hatch_build.py"], cwd=there, check=True, capture_output=True)
            yield Path(there)
        finally:
            subprocess.run([*git, "remove", "--force", there], check=True)


def environment(checkout: Path) -> dict[str, str]:
    """The environment in which this interpreter imports ``checkout``, and keeps its compiled modules."""
    root = ROOT if checkout is PURE else checkout
    path = os.pathsep.join([str(root), str(root / "graph")])
    left_out = ("PYTHONDONTWRITEBYTECODE", "KERNBENCH_PURE")
    inherited = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**inherited, "PYTHONPATH": path} | ({"KERNBENCH_PURE": "1"} if checkout is PURE else {})


def ask(checkout: Path, task: str, names: Sequence[str]) -> Any:
    """The answer to ``task`` of a process that imports ``checkout``."""
    command = [sys.executable, str(Path(__file__).resolve()), "--answer", task, *names]
    done = subprocess.run(command, env=environment(checkout), stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def process_seconds(checkout: Path, command: str) -> float:
    """User CPU time of ``kernbench COMMAND``, from process start to its end."""
    with tempfile.TemporaryDirectory() as store:
        argv = [sys.executable, "-m", "kernbench", *command.split()]
        process = subprocess.Popen(
            argv,
            env={**environment(checkout), "KERNBENCH_STORE": store},
            cwd=store,
            stdout=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"kernbench {command} in {checkout}: exit status {process.returncode}")
        return used.ru_utime


def figure(checkout: Path, case: str) -> float:
    """One measurement of ``case``, seconds; infinite where ``checkout`` cannot run it."""
    if case in LOOPS:
        return float(ask(checkout, "loop", [case]))
    return process_seconds(checkout, case)


def measure(before: Path, cases: Sequence[str], rounds: int) -> Iterator[tuple[str, float, float]]:
    """Each case with the least time of ``before`` and of the working tree."""
    for checkout in (before, ROOT):  # compiled modules of both are there before anything is timed
        process_seconds(checkout, "run --bench gemm-single-pe --topology minimal")
    for case in cases:
        least = {before: math.inf, ROOT: math.inf}
        for number in range(rounds):
            for checkout in (before, ROOT) if number % 2 else (ROOT, before):
                least[checkout] = min(least[checkout], figure(checkout, case))
        yield case, least[before], least[ROOT]


def rows(before: Path, cases: Sequence[str], rounds: int) -> Iterator[str]:
    """The lines of the table."""
    for case, was, now in measure(before, cases, rounds):
        shown = f"event loop of {case}" if case in LOOPS else f"`kernbench {case}`"
        figures = f"{was:.3f} | {now:.3f} | {was / now:.2f}" if was < math.inf else f"- | {now:.3f} | -"
        yield f"| {shown} | {figures} |"


def part_rows(commands: Sequence[str], rounds: int) -> Iterator[str]:
    """The lines of the table of parts, best of ``rounds`` each."""
    found: dict[str, list[dict[str, float]]] = {}
    for command in commands:
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as store:
                of_run = ask(ROOT, "parts", [f"{command} --store {store}"])
            found.setdefault(command, []).append(of_run)
    yield f"| user CPU seconds, best of {rounds} | {' | '.join(f'`{command}`' for command in commands)} |"
    yield f"|---|{'---|' * len(commands)}"
    for part in ("imports", *PARTS, "the rest"):
        least = [min(of_run.get(part, 0.0) for of_run in found[command]) for command in commands]
        yield f"| {part} | {' | '.join(f'{seconds:.3f}' for seconds in least)} |"


def differing(before: Path, cases: Sequence[str]) -> Iterator[str]:
    """A line for each case whose kept archive differs between ``before`` and the working tree."""
    from archives import differences

    was, now = (ask(checkout, "digest", cases) for checkout in (before, ROOT))
    for case in cases:
        if found := list(differences(was[case], now[case])):
            yield f"{case}: {'; '.join(found)}"


def compare_archives(before: Path, only: Sequence[str], seeds: int) -> int:
    """Print how many archives are the same; 1 where one is not."""
    from archives import SLOW, cases

    chosen = only or [
        *(case for case in cases() if case not in SLOW),
        *(f"generated {i}" for i in range(seeds)),
    ]
    found = list(differing(before, chosen))
    for line in found:
        print(line)
    print(f"{len(chosen) - len(found)} of {len(chosen)} archives are the same, each column to its last bit")
    return 1 if found else 0


def main() -> int:
    """Print the table, or the archives that differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--against", default="d44e311", metavar="COMMIT", help="default: %(default)s")
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="pairs a case (default: %(default)s)"
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="CASE", help="cases to measure or compare")
    parser.add_argument("--archives", action="store_true", help="compare what is kept instead of times")
    parser.add_argument("--parts", action="store_true", help="show where the time of runs goes")
    parser.add_argument("--seeds", type=int, default=200, help="generated archives (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="print the cases that are measured")
    parser.add_argument("--answer", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.answer:
        print(json.dumps(answer(given.answer[0], given.answer[1:])))
        return 0
    known = [*LOOPS, *PROCESSES]
    if given.list:
        print(*known, sep="\n")
        return 0
    if given.parts:
        runs = given.only or [case for case in PROCESSES if case.startswith("run ")]
        print(*part_rows(runs, given.rounds), sep="\n")
        return 0
    if (engine := ask(ROOT, "engine", [""])) != "used":
        print(f"the working tree runs in plain Python; its compiled core is {engine}", file=sys.stderr)
    with checked_out(given.against) as before:
        if given.archives:
            return compare_archives(before, given.only, given.seeds)
        print(f"| user CPU seconds, best of {given.rounds} | {given.against} | here | times as fast |")
        print("|---|---|---|---|", flush=True)
        for row in rows(before, given.only or known, given.rounds):
            print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
