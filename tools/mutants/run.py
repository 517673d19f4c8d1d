"""Plant one fault at a time in a copy of a tree and run its tests: which faults do they find?

    python -m tools.mutants --check             are all texts where they are searched?
    python -m tools.mutants                     all faults in this checkout
    python -m tools.mutants --tree OTHER        in another checkout, with that checkout's tests
    python -m tools.mutants --only routing ...  rooms or names

The copy has an environment of its own in which its files come before any installed KernBench, in child
processes too. Tests that fail without any fault are found first and left out. Of each fault the declared
tests run, then the rest of ``make test``; the first failure ends it. Results go into a JSON file, one line a
fault, where a run goes on after an interruption; ``--table`` prints such files side by side.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import site
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCES = ("kernbench", "graph", "queries", "configs", "evaluations", "tools/reference")
COPIED = (
    *SOURCES[:-1],
    "tests",
    "tools",
    "docs",
    "pyproject.toml",
    "README.md",
    "Makefile",
    "docker-compose.yml",
)
FIRST_S, REST_S = 600, 3600
FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)
SHRINK_LITTLE = """\
# A pytest plugin: that an example fails is enough, however large it is.
import hypothesis.internal.conjecture.engine

hypothesis.internal.conjecture.engine.MAX_SHRINKING_SECONDS = 1
"""


@dataclass(frozen=True)
class Fault:
    """One entry of ``faults.yaml``."""

    name: str
    room: str
    file: str
    find: str
    replace: str
    tests: list[str]
    was: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Planted:
    """Where a fault goes in a tree: a file and its text with the fault."""

    path: Path
    text: str


def faults() -> list[Fault]:
    """All of ``faults.yaml``; names are unique."""
    found = [Fault(**entry) for entry in yaml.safe_load((HERE / "faults.yaml").read_text(encoding="utf-8"))]
    names = [fault.name for fault in found]
    doubled = [name for name in names if names.count(name) > 1]
    if doubled:
        raise SystemExit(f"faults.yaml: '{doubled[0]}' is there twice")
    return found


def sources(tree: Path) -> dict[Path, str]:
    """The files that faults are planted in, and their texts."""
    return {
        path: path.read_text(encoding="utf-8")
        for folder in SOURCES
        for path in sorted((tree / folder).rglob("*"))
        if path.suffix in (".py", ".yaml") and path.is_file()
    }


def locate(fault: Fault, tree: Path, seen: dict[Path, str]) -> Planted | str:
    """Where in the files ``seen`` of ``tree`` the fault goes, or why it cannot be planted."""
    for form in ({"find": fault.find, "replace": fault.replace}, *fault.was):
        having = [path for path, text in seen.items() if form["find"] in text]
        # The file itself before any other that happens to have the text.
        chosen = (
            [path for path in having if path == tree / fault.file]
            or [path for path in having if path.name == Path(fault.file).name]
            or having
        )
        if len(chosen) > 1:
            return f"in {len(chosen)} files: {', '.join(str(p.relative_to(tree)) for p in chosen)}"
        if chosen:
            text = seen[chosen[0]]
            if text.count(form["find"]) > 1:
                return f"{text.count(form['find'])} times in {chosen[0].relative_to(tree)}"
            return Planted(chosen[0], text.replace(form["find"], form["replace"]))
    return "its text is nowhere; look for what became of it and change faults.yaml"


class Copy:
    """A copy of a tree with an environment of its own."""

    def __init__(self, tree: Path, folder: Path) -> None:
        self.tree = folder / "tree"
        self.tree.mkdir()
        ignore = shutil.ignore_patterns("__pycache__", ".*cache", ".hypothesis", "*.egg-info")
        for name in COPIED:
            if (tree / name).is_dir():
                shutil.copytree(tree / name, self.tree / name, ignore=ignore)
            elif (tree / name).exists():
                shutil.copy(tree / name, self.tree / name)
        environment = folder / "environment"
        venv.create(environment, symlinks=True)
        self.python = environment / "bin" / "python"
        packages = next((environment / "lib").glob("python*/site-packages"))
        # This tree first, then what the running interpreter has installed.
        lines = [str(self.tree), str(self.tree / "graph")]
        lines += [f"import site; site.addsitedir({place!r})" for place in site.getsitepackages()]
        (packages / "copy.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (packages / "shrink_little.py").write_text(SHRINK_LITTLE, encoding="utf-8")
        command = environment / "bin" / "kernbench"
        command.write_text(
            f"#!{self.python}\nimport sys\nfrom kernbench.cli.main import main\nsys.exit(main())\n"
        )
        command.chmod(0o755)
        self.variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
        self.variables["KERNBENCH_PURE"] = "1"  # faults are planted in the Python engine
        self.variables.pop("KERNBENCH_CHECK", None)
        known = (self.tree / "pyproject.toml").read_text(encoding="utf-8")
        self.quick = " and ".join(f"not {marker}" for marker in ("slow", "neo4j") if f'"{marker}: ' in known)
        """The tests that ``make test`` leaves out."""
        self.left_out = ["--deselect=tests/unit/test_mutants.py"]
        """Options that leave out tests which fail without any fault, and those of the faults' own texts."""

    def control(self, tests: list[str]) -> None:
        """Run tests without any fault, and leave out from now on those that fail."""
        _, text = self._pytest([*tests, "-m", self.quick, "-k", "not neo4j"], REST_S)
        failing = FAILED.findall(text)
        self.left_out += [f"--deselect={test}" for test in failing]
        print(f"{len(failing)} tests fail without any fault and are left out", flush=True)

    def test(self, arguments: list[str], seconds: float, workers: int) -> tuple[str, str]:
        """("passed" | "failed" | "hangs", the first failing test)."""
        spread = ["-n", str(workers), "--dist", "worksteal"] if workers > 1 else []
        status, text = self._pytest(["-x", *spread, *arguments, *self.left_out], seconds)
        if status is None:
            return "hangs", ""
        if status in (0, 5):  # 5: none of these tests is there
            return "passed", ""
        failed = FAILED.search(text)
        if failed is None:
            raise SystemExit(f"the tests could not be run: {text.strip()[-2000:]}")
        return "failed", failed[1]

    def _pytest(self, arguments: list[str], seconds: float) -> tuple[int | None, str]:
        """Its status, None when it had to be stopped, and its output."""
        command = [str(self.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "shrink_little"]
        with tempfile.TemporaryFile("w+") as printed:
            running = subprocess.Popen(
                [*command, *arguments],
                cwd=self.tree, env=self.variables, stdout=printed, stderr=printed, start_new_session=True,
            )  # fmt: skip
            try:
                status: int | None = running.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, 9)
                running.wait()
                status = None
            printed.seek(0)
            return status, printed.read()


def try_fault(fault: Fault, copy: Copy, planted: Planted, stages: str, workers: int) -> dict[str, Any]:
    """Plant it, run tests until one fails, and put the file back."""
    begun, before = time.monotonic(), planted.path.read_text(encoding="utf-8")
    first = [f"tests/{name}" for name in fault.tests if (copy.tree / "tests" / name).exists()]
    wanted = [("first", [*first, "-m", copy.quick, "-k", "not neo4j"], FIRST_S, 1)] if first else []
    if stages == "all":
        rest = ["tests", "-m", copy.quick, *(f"--deselect={test}" for test in first)]
        wanted.append(("rest", rest, REST_S, workers))
    planted.path.write_text(planted.text, encoding="utf-8")
    try:
        for stage, arguments, seconds, jobs in wanted:
            outcome, by = copy.test(arguments, seconds, jobs)
            if outcome != "passed":
                return _row(fault, outcome, stage, by, begun)
    finally:
        planted.path.write_text(before, encoding="utf-8")
    return _row(fault, "passed", wanted[-1][0] if wanted else "", "", begun)


def _row(fault: Fault, outcome: str, stage: str, by: str, begun: float) -> dict[str, Any]:
    return {
        "name": fault.name, "room": fault.room, "outcome": "not found" if outcome == "passed" else "found",
        "how": {"passed": "", "failed": "fails", "hangs": "hangs"}[outcome], "stage": stage, "by": by,
        "seconds": round(time.monotonic() - begun, 1),
    }  # fmt: skip


def run(tree: Path, chosen: list[Fault], out: Path, stages: str, workers: int) -> None:
    """Try all that ``out`` has no answer for yet."""
    done = {row["name"]: row for row in read(out)}
    declared = {f"tests/{name}" for fault in chosen if fault.name not in done for name in fault.tests}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy(tree, Path(folder))
        copy.control(
            ["tests"] if stages == "all" else sorted(t for t in declared if (copy.tree / t).exists())
        )
        seen = sources(copy.tree)
        for fault in chosen:
            known = done.get(fault.name)
            if known and not (
                known["outcome"] == "not found" and known["stage"] == "first" and stages == "all"
            ):
                continue
            planted = locate(fault, copy.tree, seen)
            if isinstance(planted, str):
                row = {"name": fault.name, "room": fault.room, "outcome": "not planted", "by": planted}
                row |= {"how": "", "stage": "", "seconds": 0}
            else:
                row = try_fault(fault, copy, planted, stages, workers)
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{row['outcome']:11} {row['seconds']:7.1f} s  {fault.name}  {row['by']}", flush=True)


def read(out: Path) -> list[dict[str, Any]]:
    """The last answer about each fault."""
    if not out.exists():
        return []
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return list({row["name"]: row for row in rows}.values())


def table(files: list[Path]) -> Iterator[str]:
    """Markdown: a row a fault, a column a file."""
    columns = [{row["name"]: row for row in read(file)} for file in files]
    yield "| room | fault | " + " | ".join(file.stem for file in files) + " |"
    yield "|---|---|" + "---|" * len(files)
    for fault in faults():
        cells = []
        for column in columns:
            row = column.get(fault.name, {"outcome": "-", "by": ""})
            short = row["by"].removeprefix("tests/").split("[")[0] if row["outcome"] == "found" else ""
            cells.append(f"{row['outcome']} {short or row.get('how', '')}".strip())
        yield f"| {fault.room} | {fault.name} | " + " | ".join(cells) + " |"
    for file, column in zip(files, columns, strict=True):
        counts = [row["outcome"] for row in column.values()]
        totals = ", ".join(f"{counts.count(word)} {word}" for word in ("found", "not found", "not planted"))
        yield f"\n{file.stem}: {len(counts)} faults, {totals}."


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=ROOT, help="checkout to plant in (default: this one)")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="rooms or names of faults")
    parser.add_argument("--check", action="store_true", help="only see whether all faults can be planted")
    parser.add_argument("--first", action="store_true", help="run the declared tests alone")
    parser.add_argument("--jobs", type=int, default=2, help="workers for the rest of the suite")
    parser.add_argument(
        "--out", type=Path, default=Path("mutants.jsonl"), help="results (default: %(default)s)"
    )
    parser.add_argument(
        "--table", type=Path, nargs="+", metavar="FILE", help="print results, and nothing else"
    )
    given = parser.parse_args()
    if given.table:
        print("\n".join(table(given.table)))
        return
    chosen = [f for f in faults() if not given.only or f.name in given.only or f.room in given.only]
    if given.check:
        tree = given.tree.resolve()
        seen = sources(tree)
        problems = [(f.name, at) for f in chosen if isinstance(at := locate(f, tree, seen), str)]
        for name, problem in problems:
            print(f"{name}: {problem}")
        print(f"{len(chosen)} faults, {len(chosen) - len(problems)} can be planted")
        sys.exit(bool(problems))
    run(given.tree.resolve(), chosen, given.out, "first" if given.first else "all", given.jobs)
