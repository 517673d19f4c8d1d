"""A faster machine on every screen: candidates, or one change with what it saves, cause by cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernbench.draw.cells import joules, number
from kernbench.draw.content import Content, Grid, column, columns_of
from kernbench.hardware.topology.better import SLOWER

_MEASURED = "measured_saved_ns"
_CANDIDATE = ("where", "on_path_ns", "twice_ns", "twice_saved_ns", _MEASURED, "free_ns", "free_saved_ns")
_RUNS = ("before", "estimate", "measured")


def content(found: Mapping[str, Any]) -> Content:
    """What :func:`kernbench.what_if` or :func:`kernbench.what_if_candidates` has found."""
    return _candidates(found) if "candidates" in found else _change(found)


def _candidates(found: Mapping[str, Any]) -> Content:
    rows = found["candidates"]
    kinds = sum(one["where"].startswith("kind:") for one in rows)
    said = f"estimates of it for {kinds} kinds and the {len(rows) - kinds} slowest locations"
    slower = [
        f"{one['where']} is faster and the run {number(-one[_MEASURED])} ns slower: {SLOWER}"
        for one in rows
        if one["slower_although_better"]
    ]
    columns = [column(name, (None,) if name == _MEASURED else ()) for name in _CANDIDATE]
    lines = [f"{_of(found)}: {number(found['ns'])} ns; {said}"]
    return Content([Grid("candidates", "", columns, rows)], "", lines, note="\n".join(slower))


def _change(found: Mapping[str, Any]) -> Content:
    lines = [f"{_of(found)}: {', '.join(map(_name, found['changes']))}"]
    after = [_verdict(found)]
    if found["measured"] is not None:
        after.insert(0, _energy(found["before"]["energy_pj"], found["measured"]["energy_pj"]))
    if found["slower_although_better"]:
        after.append(f"slower on a better machine: {SLOWER}")
    grid = Grid("causes", "", columns_of(f"cause {' '.join(_RUNS)}"), [*_by_cause(found)], label="cause")
    return Content([grid], "", lines, note="\n".join(after))


def _of(found: Mapping[str, Any]) -> str:
    problem = f", not verified: {found['problem']}" if found["problem"] else ""
    return f"{found['bench']} on {found['topology']}, {found['window']}{problem}"


def _name(change: Mapping[str, Any]) -> str:
    if "key" in change:
        return f"{change['key']} {change['value']}"
    speed = change["speed"]
    how = speed if isinstance(speed, str) else f"{number(speed)} times as fast"
    of_links = f" ({change['of_links']})" if change["of_links"] else ""
    return f"{change['where']} {how}{of_links}"


def _by_cause(found: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    sums = {key: found[key] and found[key]["by_cause"] for key in _RUNS}
    causes = {cause: None for one in sums.values() if one for cause in one}
    for cause in causes:
        yield {"cause": cause} | {k: None if one is None else one.get(cause, 0.0) for k, one in sums.items()}
    yield {"cause": "total"} | {key: found[key] and found[key]["ns"] for key in _RUNS}


def _energy(before: float, after: float) -> str:
    change = f"{abs(after - before) / before:.1%} {'less' if after <= before else 'more'}" if before else "-"
    return f"energy of the whole run: {joules(after)} instead of {joules(before)}, {change}"


def _verdict(found: Mapping[str, Any]) -> str:
    before, measured = found["before"]["ns"], found["measured"]
    after = measured["ns"] if measured else found["estimate"]["ns"]
    saved = found["saved_ns"]
    how = "estimated" if measured is None else "measured"
    change = f"{number(abs(saved))} ns {'less' if saved >= 0 else 'more'} ({abs(saved) / before:.1%})"
    verdict = f"{how}: {number(after)} ns instead of {number(before)}, {change}"
    if measured is None:
        return f"{verdict}; nothing was run"
    if found["estimate"] is None:
        return f"{verdict}; run {measured['run_id']} after {found['run_id']}"
    off = found["difference_ns"]
    side = f"{number(abs(off))} ns {'more' if off < 0 else 'less'} than estimated"
    side = "as estimated" if abs(off) < 1e-6 else side
    return f"{verdict}, {side}; run {measured['run_id']} after {found['run_id']}"
