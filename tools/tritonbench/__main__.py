"""``python -m tools.tritonbench FOLDER [NAME ...]``: which files of TritonBench-G run here, with what values.

FOLDER is ``data/TritonBench_G_v1`` of https://github.com/thunlp/TritonBench (Apache-2.0), which whoever has
it fetches: none of its text is here. Prints a row of CSV a file: what it came to here, and with
``--reference`` what it came to under an installed Triton's own interpreter and the largest relative
difference of the results. Each runs in a process of its own.

It needs PyTorch. PyPI's wheel for Linux wants CUDA's libraries when it is imported: any that have their names
and functions do, none is called.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import resource
import sys
import warnings
from multiprocessing.connection import Connection
from pathlib import Path

from tools.tritonbench.harness import Results, carry_out, here, reference, warm, worst

LENGTH = 240
"""Characters of an error that are kept."""
SAME = 1e-2
"""Relative difference that a value of f16 or bf16 may have."""


def main() -> None:
    """Run the files that are named, by default all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="with the files")
    parser.add_argument("names", nargs="*", help="files by name, without .py")
    parser.add_argument("--reference", action="store_true", help="also under Triton's own interpreter")
    parser.add_argument("--cpu", type=int, default=60, help="seconds of CPU that a file gets")
    given = parser.parse_intermixed_args()
    files = [given.folder / f"{name}.py" for name in given.names] or sorted(given.folder.glob("*.py"))
    rows = csv.writer(sys.stdout)
    rows.writerow(("file", "here", "reference", "worst_relative_difference"))
    for file in files:
        rows.writerow((file.stem, *outcome(file, given.reference, given.cpu)))
        sys.stdout.flush()


def outcome(file: Path, with_reference: bool = False, cpu: int = 60) -> tuple[str, str, str]:
    """What a file came to here and under the reference, and how far their results are apart."""
    ours, found = _apart(file, "here", cpu)
    if not with_reference:
        return ours, "", ""
    theirs, wanted = _apart(file, "reference", cpu)
    apart = worst(wanted, found) if ours == theirs == "ok" else None
    return ours, theirs, "" if apart is None else f"{apart:.1e}"


def _apart(file: Path, of: str, cpu: int) -> tuple[str, Results]:
    """In a process of its own, with a limit on its CPU and its memory."""
    told, tell = multiprocessing.Pipe(duplex=False)
    warm()
    child = multiprocessing.get_context("fork").Process(target=_carried_out, args=(file, of, cpu, tell))
    child.start()
    tell.close()
    try:
        said, found = told.recv()
    except EOFError:
        said, found = "", {}
    child.join()
    if not said:
        said = f"ended by signal {-(child.exitcode or 0)}, after up to {cpu} s of CPU"
    return " ".join(said.split())[:LENGTH], found


def _carried_out(file: Path, of: str, cpu: int, tell: Connection) -> None:
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
    sys.stdout = sys.stderr  # the files print
    tell.send(carry_out(file, {"here": here, "reference": reference}[of]))


if __name__ == "__main__":
    main()
