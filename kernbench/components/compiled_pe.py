"""Parts of a PE whose commands and tiles the compiled core carries out, with their shipped methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kernbench.compiled import VARIABLE, parts
from kernbench.components.base import Component
from kernbench.components.pe_component import Token
from kernbench.components.pe_compute import ComputeEngine
from kernbench.components.pe_cpu import PeCpu
from kernbench.components.pe_fetch_store import PeFetchStore
from kernbench.components.pe_ipcq import PeIpcq
from kernbench.components.pe_scheduler import PeScheduler
from kernbench.components.pe_tcm import PeTcm
from kernbench.errors import UsageError
from kernbench.program import commands as c
from kernbench.program.operations import Op
from kernbench.program.tile_plans import gemm, math

_OF_PART = (
    "_between", "_data_across", "_record", "accept", "count_use", "finish", "forward", "leave", "pass_on",
    "sibling", "stage_op",
)  # fmt: skip
_METHODS = {
    PeTcm: ("_use", "_way", "access", "leave"),
    PeFetchStore: (*_OF_PART, "_move"),
    ComputeEngine: (*_OF_PART, "_over"),
    PeCpu: ("_dispatch", "forward"),
    PeIpcq: ("forward", "leave", "submit"),
    PeScheduler: ("_dispatch", "_start", "forward", "leave", "sibling", "submit"),
}
"""Methods that the core has too; a subclass that overrides one of them runs in Python."""
_AS_SHIPPED = {cls: {name: getattr(cls, name) for name in names} for cls, names in _METHODS.items()}
_TOKEN = dict(vars(Token))
_TRANSFERS = (c.Load, c.Store)
_COMPUTING = (c.Math, c.Gemm)
_OF_QUEUES = (c.Send, c.Receive)


def attach(components: Iterable[Component], ledger: Any) -> dict[Component, type[Component]]:
    """Let the core serve accesses to TCMs and carry out stages of tiles; ``ledger`` keeps transactions.

    Returns the parts that it carries out, each with the shipped class whose methods it has.
    """
    core = parts()
    if core is None or dict(vars(Token)) != _TOKEN:
        return {}
    served: dict[Any, Any] = _as_shipped(components)
    tcms: dict[Component, Any] = {}
    for one, known in served.items():
        if known is PeTcm:
            tcm = tcms[one] = core.Tcm(one, ledger)
            vars(one)["access"] = tcm.access
        elif known is ComputeEngine:
            vars(one)["accept"] = core.Engine(one, ledger, Op, one.slot).accept
    for one, known in served.items():
        if known is PeFetchStore and (tcm := tcms.get(one.sibling("pe_tcm"))) is not None:
            vars(one)["accept"] = core.FetchStore(one, ledger, Op, tcm).accept
        elif known is PeCpu and served.get(scheduler := one.sibling("pe_scheduler")) is PeScheduler:
            queues = one.sibling("pe_ipcq")
            queues = queues if served.get(queues) is PeIpcq else None
            vars(one)["_dispatch"] = core.Dispatcher(
                scheduler, ledger, Op, one, PeCpu._dispatch, PeScheduler._dispatch, Token,
                _TRANSFERS, _COMPUTING, math, gemm, queues, _OF_QUEUES,
            ).dispatch  # fmt: skip
    return served


def check_unchanged(attached: Mapping[Component, type[Component]]) -> None:
    """At the end of a run: see that none of ``attached`` has replaced a method by now."""
    now = _as_shipped(attached)
    for one in attached:
        if one not in now:
            raise UsageError(
                f"'{one.resource}' has a method of its own since the machine was made, which the compiled "
                f"core does not call; replace methods in __init__ or wired(), or set {VARIABLE}=1"
            )


def _as_shipped(components: Iterable[Component]) -> dict[Component, type[Component]]:
    """Those whose methods the core has, with the class that it has them of."""
    kinds: dict[type[Component], Any] = {}  # a machine has thousands of components of a dozen classes
    found = {}
    for one in components:
        cls = type(one)
        if cls not in kinds:
            kinds[cls] = _kind(cls)
        known = kinds[cls]
        if known is not None and all(_is_cores(vars(one)[n]) for n in _METHODS[known] if n in vars(one)):
            found[one] = known
    return found


def _is_cores(method: object) -> bool:
    """Whether it is a method that :func:`attach` has put there."""
    core = parts()
    return core is not None and isinstance(getattr(method, "__self__", None), core.Tcm | core.Part)


def _kind(cls: type[Component]) -> type[Component] | None:
    """The class whose methods the core has too, where those of ``cls`` are the same."""
    for known, methods in _AS_SHIPPED.items():
        if issubclass(cls, known):
            same = all(getattr(cls, name) is method for name, method in methods.items())
            return known if same else None
    return None
