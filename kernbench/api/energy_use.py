"""Where the energy of a run went: by part, kind of part, line or launch, also with other figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kernbench.analysis.path.model_time import OF_MODEL
from kernbench.api.run_trace import RunTrace
from kernbench.api.shown import Found
from kernbench.errors import UsageError

if TYPE_CHECKING:
    from kernbench.analysis.energy.energy_tables import Energy, EnergyRow

HEADINGS = {"kind": "By kind of part", "part": "By part", "line": "By source line", "launch": "By launch",
            "model": "By node of the model"}  # fmt: skip
"""What rows may be, with a heading; the rows of each add up to the energy of the run."""
ENERGY_BY = tuple(HEADINGS)
Figures = Mapping[str, object]
"""Figures by dotted key, such as ``{"hbm_ctrl.pj_per_byte_read": 28.0}``."""


class EnergyUse(Found):
    """Where the energy of a run went; a notebook shows it as a table."""

    shown_by = "energy:of_use"


def energy_by(
    run: RunTrace, by: str = "kind", figures: Figures | None = None, power_limit_w: float | None = None
) -> EnergyUse:
    """The energy of a run by one level: see :func:`kernbench.energy`."""
    if by not in ENERGY_BY:
        raise UsageError(f"by is '{by}', expected one of {', '.join(ENERGY_BY)}")
    found = energy_levels(run, (by,), figures)[0]
    if power_limit_w is not None:
        if by != "launch":
            raise UsageError(f"a power limit is for rows of launches, by is '{by}', expected 'launch'")
        if not 0 < power_limit_w < float("inf"):
            raise UsageError(f"the power limit is {power_limit_w:g} W, expected more than 0")
        _add_watts(run, found["rows"], power_limit_w)
    return found


def _add_watts(run: RunTrace, rows: list[dict[str, Any]], limit_w: float) -> None:
    """Give each launch its average power, and the share of its clock at which it keeps the limit."""
    from kernbench.analysis.energy.energy_tables import clock_share

    took = {one["number"]: one["t_done"] - one["t_start"] for one in run.tables["Launch"].to_pylist()}
    for row in rows:
        if (ns := took.get(row["launch"], 0.0)) > 0:
            static, dynamic = row["static_pj"] / ns / 1e3, row["dynamic_pj"] / ns / 1e3
            row.update(watts=static + dynamic, clock_share=clock_share(limit_w, static, dynamic))
        else:
            row.update(watts=None, clock_share=None)


def energy_levels(
    kept: RunTrace, levels: Sequence[str] = (), figures: Figures | None = None
) -> list[EnergyUse]:
    """What :func:`energy` gives by each of these levels, by default all that the run has, worked out once."""
    levels = levels or [by for by in ENERGY_BY if by != "model" or kept.of_model]
    rows = list(energy_of(kept, figures).rows())
    return [_level(kept, rows, by) for by in levels]


def _level(kept: RunTrace, rows: list[EnergyRow], by: str) -> EnergyUse:
    whole = next(row for row in rows if row.level == "run")
    if by in ("launch", "model"):
        shown = _of_launches(kept, rows, by)
    else:
        shown = _by_kind(rows) if by == "kind" else [_row(row) for row in rows if row.level == by]
    total = whole.dynamic + whole.static
    launched = sum(row.dynamic + row.static for row in rows if row.level == "launch" and row.launch >= 0)
    for row in shown:
        row["share"] = row["energy_pj"] * 1000.0 / total if total else 0.0
    return EnergyUse(
        run_id=kept.id,
        bench=kept.bench,
        topology=kept.topology,
        latency_ns=kept.latency_ns,
        launch_ns=kept.launch_ns,
        sim_ns=kept.sim_ns,
        energy_pj=total / 1000.0,
        dynamic_pj=whole.dynamic / 1000.0,
        static_pj=whole.static / 1000.0,
        launches_pj=launched / 1000.0,
        edp_pj_ns=None if kept.latency_ns is None else launched / 1000.0 * kept.latency_ns,
        by=by,
        rows=sorted(shown, key=lambda row: (-row["energy_pj"], row["name"])),
    )


def energy_of(run: RunTrace, figures: Figures | None = None) -> Energy:
    """The energy of a run, charge by charge. ``UsageError`` for one without a trace, or for wrong figures."""
    from kernbench.analysis.energy.energy_tables import Energy
    from kernbench.support.pgraph import RunRecord, further_link_properties

    run.check_traced()
    record = RunRecord(run.properties, run.tables)
    topology = run.topology_record()
    wires = {str(p["wire"]) for p in further_link_properties(topology) if p.get("wire")}
    return Energy(record, topology, nest_figures(figures or {}, wires))


def launches_pj(run: RunTrace) -> list[float]:
    """The energy of each launch of a run, in order, pJ."""
    rows = (row for row in energy_of(run).rows() if row.level == "launch" and row.launch >= 0)
    return [(row.dynamic + row.static) / 1000.0 for row in sorted(rows, key=lambda row: row.launch)]


def nest_figures(figures: Figures, wires: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
    """Figures by kind or wire, and key; ``UsageError`` for one that neither has."""
    from kernbench.hardware.topology.energy import wrong

    found: dict[str, dict[str, Any]] = {}
    for dotted, value in figures.items():
        kind, _, key = dotted.partition(".")
        key, _, dtype = key.partition(".")
        try:
            number = float(str(value))
        except ValueError:
            number = -1.0
        if not 0 <= number <= 1e12:
            raise UsageError(f"figure '{dotted}' is {value!r}, expected a number from 0 to 1e12")
        if dtype:
            found.setdefault(kind, {}).setdefault(key, {})[dtype] = number
        else:
            found.setdefault(kind, {})[key] = number
    for path, message in wrong(found, wires):
        raise UsageError(f"figure '{'.'.join(path)}' {message}")
    return found


def _row(row: EnergyRow) -> dict[str, Any]:
    return {
        **({"launch": row.launch} if row.level == "launch" else {}),
        "name": row.name,
        "kind": row.kind,
        "energy_pj": (row.dynamic + row.static) / 1000.0,
        "share": 0.0,
        "dynamic_pj": row.dynamic / 1000.0,
        "static_pj": row.static / 1000.0,
    }


def _of_launches(kept: RunTrace, rows: list[EnergyRow], by: str) -> list[dict[str, Any]]:
    """A row for each launch with what it carries out of a model, or one for all that carry out the same."""
    found: dict[Any, dict[str, Any]] = {}
    for energy in rows:
        if energy.level == "launch":
            of = kept.launches[energy.launch] if energy.launch >= 0 else {}
            row = {**_row(energy), **{name: of.get(name, "") for name in OF_MODEL}}
            key = energy.launch if by == "launch" else (*map(row.get, OF_MODEL), energy.name)
            if by == "model":
                del row["launch"]
            if key in found:
                for name in ("energy_pj", "dynamic_pj", "static_pj"):
                    row[name] += found[key][name]
            found[key] = row
    return list(found.values())


def _by_kind(rows: list[EnergyRow]) -> list[dict[str, Any]]:
    from kernbench.analysis.energy.energy_tables import EnergyRow

    kinds: dict[str, tuple[int, int, int]] = {}
    for row in rows:
        if row.level == "part":
            parts, dynamic, static = kinds.get(row.kind, (0, 0, 0))
            kinds[row.kind] = parts + 1, dynamic + row.dynamic, static + row.static
    return [
        {"parts": parts, **_row(EnergyRow("part", kind, kind, dynamic=dynamic, static=static))}
        for kind, (parts, dynamic, static) in kinds.items()
    ]
