"""What is compiled: the rules of the model, in ``.py`` files that run as they are where nothing is compiled.

A module of :data:`~kernbench.support.compiled.digest.MODULES` has an extension module beside its source where
KernBench was compiled, and Python prefers that. Its types are declared in a ``.pxd`` file of its name. All
of them are used or none: types of one are built into another. :data:`state` says which, and why.
``KERNBENCH_PURE=1`` in the environment leaves aside what is compiled. Results are the same to the last bit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from kernbench.support.compiled.digest import MODULES, SHARED, STAMP, digest

VARIABLE = "KERNBENCH_PURE"
"""Environment variable: ``1`` leaves what is compiled aside."""
_ROOT = Path(__file__).parents[3]
_WHY = " ('pip install -v' says why; mostly there is no C compiler)"
_AGAIN = "; 'make core' compiles it in a checkout, 'pip install --force-reinstall' elsewhere"


def _state() -> str:
    if os.environ.get(VARIABLE, "") not in ("", "0"):
        return f"not used, because {VARIABLE} is set"
    now = digest(_ROOT)  # an installed wheel has no sources of containers, and cannot change
    stamp = _ROOT / STAMP
    if now and stamp.exists() and now != stamp.read_text().strip():
        return f"not used, because its source has changed since it was compiled{_AGAIN}"
    for module in (SHARED, *MODULES):
        beside = _ROOT.joinpath(*module.split("."))
        if not any(Path(f"{beside}{suffix}").exists() for suffix in EXTENSION_SUFFIXES):
            return f"not there: it could not be compiled when KernBench was installed{_WHY}{_AGAIN}"
    if now and not stamp.exists():
        return f"not used, because nothing says what it was compiled from{_AGAIN}"
    return "used"


class _Interpreted(MetaPathFinder):
    """Finds the sources of modules that would be found compiled."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See :class:`importlib.abc.MetaPathFinder`."""
        source = _ROOT.joinpath(*name.split(".")).with_suffix(".py")
        found = name.startswith("kernbench.") and source.exists()  # listed or not: it may have been
        return spec_from_file_location(name, source) if found else None


state = _state()
out_of_date = state.startswith("not used") and VARIABLE not in state
"""Whether what is compiled is left aside, though nobody chose so."""


def reminder() -> str:
    """Why long runs are slow, where what is compiled is out of date; empty when it has been said."""
    global out_of_date
    said, out_of_date = not out_of_date, False
    return "" if said else f"long runs take some ten times as long: the compiled engine is {state}"


if state != "used":
    sys.meta_path.insert(0, _Interpreted())
