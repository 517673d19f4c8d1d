"""The compiled core: the event loop, servers, packets and rows of the trace in C.

:data:`core` is the extension module, or None where there was no compiler; then everything runs in plain
Python, with the same results to the last bit. :data:`state` says which and why. ``KERNBENCH_PURE=1`` in the
environment leaves it aside.

The Python classes of :mod:`kernbench.sim` are the reference. Those that the core has too are made anew upon
its types (:func:`built_on`), so that components, instruments and tests use the same names and attributes
either way.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from types import ModuleType

from kernbench.compiled.digest import digest

VARIABLE = "KERNBENCH_PURE"
"""Environment variable: ``1`` leaves the compiled core aside."""
_AGAIN = "; 'make core' compiles it in a checkout, 'pip install --force-reinstall' elsewhere"


def _load() -> tuple[ModuleType | None, str]:
    if os.environ.get(VARIABLE, "") not in ("", "0"):
        return None, f"not used, because {VARIABLE} is set"
    try:
        _core = import_module("kernbench.compiled._core")
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError):
            return None, f"not there: no C compiler was found when KernBench was installed{_AGAIN}"
        return None, f"not used, because it cannot be imported: {error}{_AGAIN}"
    now = digest(Path(__file__).parent)
    if now and now != _core.SOURCE:
        return None, f"not used, because its source has changed since it was compiled{_AGAIN}"
    return _core, "used"


core, state = _load()


def built_on(compiled: type, plain: type) -> type:
    """The class that takes the place of ``plain``: ``compiled``, under the name of ``plain``.

    It is a class of Python's, so that its methods can be replaced. :mod:`kernbench.sim.engine` notices.
    """
    slots = {"__slots__": ()} if "__slots__" in vars(plain) else {}
    return type(
        plain.__name__, (compiled,), {**slots, "__doc__": plain.__doc__, "__module__": plain.__module__}
    )
