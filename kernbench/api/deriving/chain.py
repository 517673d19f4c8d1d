"""The critical path of a run or launch, step by step."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from kernbench.api.deriving.asked import Asked, Rows
from kernbench.api.result import Run

if TYPE_CHECKING:
    from kernbench.analysis.critical_path import CriticalPath
    from kernbench.pgraph import GraphStore

_KEPT = 8
_found: WeakKeyDictionary[GraphStore, OrderedDict[str, CriticalPath]] = WeakKeyDictionary()
"""Paths found lately, by store, and by all that is known of the run: walking a long trace takes a while."""


def rows(asked: Asked, params: Mapping[str, Any]) -> Rows:
    """``seq t_start t_end ns cause place what`` per step that is asked for, oldest first.

    A long run's chain has more steps than a store takes well, so they are picked here.
    """
    cause, least = params["cause"], params["min_ns"]
    path = critical_path(asked, params["launch"])
    wanted = (
        (seq, step)
        for seq, step in enumerate(path.steps, 1)
        if cause in ("", step.cause) and step.ns >= least
    )
    return [
        {
            "seq": seq,
            "t_start": step.t_start,
            "t_end": step.t_end,
            "ns": step.ns,
            "cause": step.cause,
            "place": step.place,
            "what": step.what,
        }
        for seq, step in islice(wanted, params["limit"])
    ]


def critical_path(asked: Asked, launch: int) -> CriticalPath:
    """The path of the launch of that number, of the whole run for -1.

    ``UsageError`` when there is no such launch or the run has no trace.
    """
    info = asked.record.info
    found = _found.setdefault(asked.store, OrderedDict())
    key = json.dumps([launch, dict(info)], sort_keys=True, default=str)
    if key not in found:
        found[key] = Run.kept(asked.store, info).critical_path(None if launch == -1 else launch)
        while len(found) > _KEPT:
            found.popitem(last=False)
    return found[key]
