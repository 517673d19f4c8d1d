"""A copy of the sources that is compiled without optimisation, for tests that build KernBench."""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*cache", "*.egg-info", "*.so", "sources.txt")


def quick_copy(into: Path, source: Path = ROOT) -> Path:
    """What is installed of the checkout ``source``, with nothing compiled: a copy in the folder ``into``.

    To optimise takes four times as long and changes no result; ``make test`` runs on what is optimised.
    """
    for name in ("kernbench", "graph", "queries", "configs", "evaluations"):
        shutil.copytree(source / name, into / name, ignore=_LEFT_OUT)
    for name in ("pyproject.toml", "README.md", "hatch_build.py"):
        shutil.copy(source / name, into / name)
    build = into / "hatch_build.py"
    as_it_is = build.read_text(encoding="utf-8")
    # Without optimisation zig traps what C leaves undefined, unless it is told not to.
    quick = as_it_is.replace('"-g0"', '"-g0", "-O0", "-fno-sanitize=undefined"')
    assert quick != as_it_is
    build.write_text(quick, encoding="utf-8")
    return into
