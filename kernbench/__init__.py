"""KernBench: a graph-database-backed modelling toolkit for multi-chiplet AI accelerators.

``import kernbench as kb`` gives what notebooks and scripts need: :func:`run`, :func:`run_kernel`,
:func:`autotune`, :func:`tune`, :func:`sweep`, :func:`probe`, :func:`traffic`, :func:`open_store`,
:func:`open_run`, :func:`runs`, :func:`ask`, :func:`load_topology`, :class:`Topology`, and the module ``tl``,
the language of kernels. The stub beside this file lists all names. Each is imported when it is first used, so
that importing the package costs nothing.
"""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any

from kernbench.support.former_names import FormerNames
from kernbench.support.lazy_names import LazyNames
from kernbench.version import __version__ as __version__

_TRITON = dict.fromkeys(
    ("jit", "Config", "heuristics", "cdiv", "next_power_of_2", "testing"),
    "kernels of Triton are for 'import kernbench.triton as triton'; others are plain functions",
)
_later = LazyNames(__name__, __file__)
__dir__ = _later.names
sys.meta_path.insert(0, FormerNames())  # first, for folders that a checkout's compiled modules leave behind

_shown_before = sys.excepthook


def _show(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """``sys.excepthook``: of our own errors the lines of the script and the message.

    All of the traceback where ``KERNBENCH_TRACEBACK`` is 1.
    """
    errors: Any = sys.modules.get("kernbench_graph.errors")
    if errors and isinstance(error, errors.KernBenchError) and os.environ.get("KERNBENCH_TRACEBACK") != "1":
        print("\n".join(errors.short_traceback(error)), file=sys.stderr)
    else:
        _shown_before(kind, error, where)


sys.excepthook = _show


def __getattr__(name: str) -> Any:
    try:
        return _later.value(name)
    except AttributeError:
        raise AttributeError(_unknown(name)) from None


def _unknown(name: str) -> str:
    """The message for a name that is not here; the ones of Triton that are something else say so."""
    if name in _TRITON:
        return f"kernbench has no '{name}': {_TRITON[name]}"
    if name.startswith("_"):
        return f"module '{__name__}' has no attribute '{name}'"
    from kernbench.support.hints import suggestion

    meant = suggestion(name, __dir__())
    return f"module '{__name__}' has no attribute '{name}'; {meant}help(kernbench) lists what it has"
