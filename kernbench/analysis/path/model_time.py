"""What a compiled model's launches carry out, and the critical path by it: nodes and lines of the model."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from kernbench.analysis.path.path_steps import CriticalPath

Launches = Sequence[Mapping[str, Any]]
OF_MODEL = ("model_nodes", "model_line")
"""What a launch carries out of a compiled model, and the line of it there."""
NONE_OF_MODEL = "no launch says what it carries out of a model; here are the kernels"
_KEYS = (*OF_MODEL, "kernel")


def carried_out(launch: Mapping[str, Any]) -> str:
    """``gelu, linear at model.py:12``, as far as it is known; empty for launches of no compiled model."""
    return " at ".join(one for name in OF_MODEL if (one := launch.get(name)))


def launch_name(launch: Mapping[str, Any]) -> str:
    """What people call a launch: its kernel, with what it carries out of a model."""
    of = carried_out(launch)
    return f"{launch['kernel']} ({of})" if of else str(launch["kernel"])


class LaunchAt:
    """The launch that began last, of those under way at a time; -1 when there is none."""

    def __init__(self, launches: Launches) -> None:
        named = ((one["t_start"], one.get("number", n), one["t_done"]) for n, one in enumerate(launches))
        self._launches = sorted(named)
        self._starts = [start for start, *_ in self._launches]

    def __call__(self, time: float) -> int:
        """Its number."""
        for at in range(bisect_right(self._starts, time) - 1, -1, -1):
            _, number, done = self._launches[at]
            if time < done:
                return int(number)
        return -1


def by_model(path: CriticalPath, launches: Launches) -> list[dict[str, Any]]:
    """The path's time by nodes of a model, line of a model and kernel, the longest first.

    Args:
        path: Its times add up to those of the rows.
        launches: All of the run, in order.

    Returns:
        ``model_nodes model_line kernel launches ns share cause location``: how many launches have time there,
        and the cause and the place of the longest part. Names are empty outside of kernels.
    """
    at = LaunchAt(launches)
    parts: dict[tuple[str, ...], dict[tuple[str, str], float]] = {}
    of: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for step in path.steps:
        number = at(step.t_start)
        key = tuple(str(launches[number].get(name, "")) if number >= 0 else "" for name in _KEYS)
        ns, part = parts.setdefault(key, {}), (step.location, step.cause)
        ns[part] = ns.get(part, 0.0) + step.ns
        of[key] |= {number} - {-1}
    rows = []
    for key, ns in parts.items():
        location, cause = min(ns, key=lambda part: (-round(ns[part], 6), part))
        total = sum(ns.values())
        rows.append({
            **dict(zip(_KEYS, key, strict=True)), "launches": len(of[key]), "ns": total,
            "share": total / (path.ns or 1.0), "cause": cause, "location": location,
        })  # fmt: skip
    return sorted(rows, key=lambda row: (-round(row["ns"], 6), *(row[name] for name in _KEYS)))


def on_lines_of(file: str, path: CriticalPath, launches: Launches) -> dict[str, float]:
    """The path's ns by line of ``file``: its own, and for time with another line that of the model."""
    at, found = LaunchAt(launches), defaultdict[str, float](float)
    for step in path.steps:
        line, number = step.line, at(step.t_start)
        if number >= 0 and not line.startswith(f"{file}:"):
            line = launches[number].get("model_line", "")
        found[line] += step.ns
    return found


def nodes_of_lines(path: CriticalPath | None, launches: Launches) -> dict[str, str]:
    """By line what is carried out there: the model's own, where kernels begin, where the path passes."""
    at, found = LaunchAt(launches), defaultdict[str, dict[str, None]](dict)
    passed = ((s.line, launches[n]) for s in (path.steps if path else ()) if (n := at(s.t_start)) >= 0)
    of_model = ((one.get("model_line", ""), one) for one in launches)
    for line, launch in (*of_model, *((one.get("source", ""), one) for one in launches), *passed):
        if nodes := launch.get("model_nodes") or launch.get("model_line"):
            found[line][nodes] = None
    return {line: "; ".join(nodes) for line, nodes in found.items() if line}
