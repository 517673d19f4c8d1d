"""A probe on every screen: times and bandwidths of its cases, their ways, and the invariants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kernbench.analysis.routes.zero_load import CAUSES
from kernbench.api.probe_report import ProbeReport, hop_rows, size_text
from kernbench.draw.cells import number
from kernbench.draw.content import SHARE, Column, Content, Grid, columns_of, lines
from kernbench.workloads.probes.cases import CATEGORIES
from kernbench.workloads.probes.measurements import CaseRow

_CASE = "case op links actual_ns formula_ns"
_HOP = columns_of("place gbs bytes first_in_ns last_out_ns formula_in formula_out")


def content(found: ProbeReport) -> Content:
    """Cases by category at the size of the summary, then the shares of the bottleneck by size."""
    size = size_text(found.nbytes)
    of = {name: [row for row in found.rows if row.case.category == name] for name in CATEGORIES}
    of = {name: rows for name, rows in of.items() if rows}
    grids = [
        *(_summary(name, rows, found.nbytes) for name, rows in of.items()),
        *(_sweep(name, rows, found.sizes) for name, rows in of.items()),
        lines("ways", "ways, <BN: the bottleneck>", _ways(found)),
        *(_hops(row, found.nbytes) for row in found.rows if found.hops),
        lines("left_out", "left out", [f"{out.name}: {out.reason}" for out in found.left_out]),
        lines(
            "invariants",
            f"invariants; simulation and formula differ by {number(found.largest_difference_ns)} ns at most",
            [*(finding.line for finding in found.findings), *(f"[i] {note}" for note in found.notes)],
        ),
    ]
    said = f"{found.topology}: {len(found.rows)} transfers of {size} and the sweep, each on an idle machine"
    return Content(grids, "no case", [said])


def _summary(category: str, rows: Sequence[CaseRow], nbytes: int) -> Grid:
    columns = columns_of(f"{_CASE} {' '.join(CAUSES)} gbs limit_gbs")
    cells = []
    for row in rows:
        m = row.by_size[nbytes]
        case = (row.case.name, row.case.op, len(row.case.route.links), m.actual_ns, m.prediction.ns)
        found = dict(zip(_CASE.split(), case, strict=True)) | m.prediction.breakdown()
        bandwidths = {"gbs": m.effective_gbs, "limit_gbs": m.prediction.bottleneck_gbs, "used": m.utilisation}
        cells.append(found | bandwidths)
    heading = f"{CATEGORIES[category]}, {size_text(nbytes)}: ns, formula by cause, GB/s"
    return Grid(category, heading, [*columns, Column("used", SHARE)], cells, label="case")


def _sweep(category: str, rows: Sequence[CaseRow], sizes: Sequence[int]) -> Grid:
    """How much of the bottleneck each size uses."""
    shares = [Column(size_text(size), SHARE) for size in sizes]
    cells = [
        {"case": row.case.name, "op": row.case.op}
        | {"limit_gbs": row.by_size[sizes[0]].prediction.bottleneck_gbs}
        | {size_text(size): row.by_size[size].utilisation for size in sizes}
        for row in rows
    ]
    heading = f"{CATEGORIES[category]}: share of the bottleneck's bandwidth by size"
    return Grid(
        f"{category}-sizes", heading, [*columns_of("case op limit_gbs"), *shares], cells, label="case"
    )


def _ways(found: ProbeReport) -> Iterator[str]:
    """From where to where each case goes, and its bottleneck."""
    for row in found.rows:
        planned = row.by_size[found.nbytes].prediction
        at = planned.hops[planned.bottleneck]
        yield (
            f"{row.case.title}: {row.case.src} to {row.case.dst}, {len(row.case.route.links)} links,"
            f" {at.name} <BN:{at.gbs:g}GB/s>"
        )


def _hops(row: CaseRow, nbytes: int) -> Grid:
    """The places that a case passes: when its first flit comes and its last one leaves."""
    cells = [
        {
            **{key: hop[key] for key in ("place", "gbs", "bytes")},
            **{"first_in_ns": hop["t_in_ns"], "last_out_ns": hop["t_out_ns"]},
            **{"formula_in": hop["formula_in_ns"], "formula_out": hop["formula_out_ns"]},
            "": f"<BN:{hop['gbs']:g}GB/s>" if hop["bottleneck"] else "",
        }
        for hop in hop_rows(row.by_size[nbytes])
    ]
    heading = f"{row.case.title}, {size_text(nbytes)}"
    return Grid(f"hops-{row.case.title}", heading, [*_HOP, Column("")], cells, label="place")
