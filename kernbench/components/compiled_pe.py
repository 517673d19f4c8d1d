"""Parts of a PE whose commands and tiles the compiled core carries out, with their shipped methods."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernbench.compiled import core
from kernbench.components.base import Component
from kernbench.components.pe_component import PeComponent, Token
from kernbench.components.pe_compute import ComputeEngine
from kernbench.components.pe_cpu import PeCpu
from kernbench.components.pe_fetch_store import PeFetchStore
from kernbench.components.pe_ipcq import PeIpcq
from kernbench.components.pe_scheduler import PeScheduler
from kernbench.components.pe_tcm import PeTcm
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


def attach(components: Iterable[Component], ledger: Any) -> None:
    """Let the core serve accesses to TCMs and carry out stages of tiles; ``ledger`` keeps transactions."""
    if core is None or dict(vars(Token)) != _TOKEN:
        return
    parts = [one for one in components if isinstance(one, PeTcm | PeComponent)]
    tcms: dict[Component, Any] = {}
    for one in parts:
        if isinstance(one, PeTcm) and _shipped(one, PeTcm):
            tcms[one] = core.Tcm(one, ledger)
            vars(one)["access"] = tcms[one].access
    for one in parts:
        if isinstance(one, PeFetchStore):
            tcm = tcms.get(one.sibling("pe_tcm"))
            if tcm is not None and _shipped(one, PeFetchStore):
                vars(one)["accept"] = core.FetchStore(one, ledger, Op, tcm).accept
        elif isinstance(one, ComputeEngine) and _shipped(one, ComputeEngine):
            vars(one)["accept"] = core.Engine(one, ledger, Op, one.slot).accept
        elif isinstance(one, PeCpu) and _shipped(one, PeCpu):
            scheduler = one.sibling("pe_scheduler")
            if isinstance(scheduler, PeScheduler) and _shipped(scheduler, PeScheduler):
                ipcq = one.sibling("pe_ipcq")
                queues = ipcq if isinstance(ipcq, PeIpcq) and _shipped(ipcq, PeIpcq) else None
                vars(one)["_dispatch"] = core.Dispatcher(
                    scheduler, ledger, Op, one, PeCpu._dispatch, PeScheduler._dispatch, Token,
                    (c.Load, c.Store), (c.Math, c.Gemm), math, gemm,
                    queues, (c.Send, c.Receive),
                ).dispatch  # fmt: skip


def _shipped(component: Component, known: type[Component]) -> bool:
    """Whether its methods are those of the class ``known``."""
    methods = _AS_SHIPPED[known]
    return vars(component).keys().isdisjoint(methods) and all(
        getattr(type(component), name) is method for name, method in methods.items()
    )
