"""A probe's outcome as one value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from kernbench.api.shown import Shows, flat_rows
from kernbench.draw.content import Flat
from kernbench.workloads.probes.cases import Case, LeftOut
from kernbench.workloads.probes.measurements import CaseRow, Measurement
from kernbench.workloads.probes.probe_checks import Finding

STANDARD_BYTES = 32 * 1024
"""The size of the summary: neither overheads nor bandwidth hide the other."""
SWEEP_BYTES = tuple(256 * 4**k for k in range(7))
"""The sizes of the sweep: 256 B to 1 MiB."""
_COLD = (
    "memory is behind a cache, which each transfer finds empty: reads are misses, in simulation and formula"
)


@dataclass(frozen=True, slots=True)
class ProbeReport(Shows):
    """The results of a probe. Times in ns, bandwidths in GB/s, sizes in bytes."""

    shown_by: ClassVar[str] = "probe:content"

    topology: str
    nbytes: int
    """The size of the summary."""
    sizes: tuple[int, ...]
    """The sizes of the sweep."""
    rows: tuple[CaseRow, ...]
    left_out: tuple[LeftOut, ...]
    """Cases that this machine does not have."""
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    """Observations that a reader has to judge, as no rule can."""
    hops: bool = False
    """Whether the hops of each case are shown."""

    @property
    def ok(self) -> bool:
        """True when no invariant is violated."""
        return not self.violations

    @property
    def violations(self) -> list[Finding]:
        """The findings of violated invariants."""
        return [finding for finding in self.findings if finding.ok is False]

    @property
    def largest_difference_ns(self) -> float:
        """Between simulation and formula, over all cases and sizes."""
        return max(abs(m.difference_ns) for row in self.rows for m in row.by_size.values())

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, the same keys for every machine."""
        return {
            "topology": self.topology,
            "ok": self.ok,
            "bytes": self.nbytes,
            "largest_difference_ns": self.largest_difference_ns,
            "cases": [self._case(row) for row in self.rows],
            "left_out": [{"name": out.name, "reason": out.reason} for out in self.left_out],
            "invariants": [{"name": f.name, "ok": f.ok, "detail": f.detail} for f in self.findings],
            "notes": list(self.notes),
        }

    def _case(self, row: CaseRow) -> dict[str, Any]:
        m = row.by_size[self.nbytes]
        return {
            **_way(row.case),
            **figures(m),
            "breakdown": m.prediction.breakdown(),
            "bottleneck": m.prediction.hops[m.prediction.bottleneck].name,
            "sweep": [figures(row.by_size[size]) for size in self.sizes],
            "hops": list(hop_rows(m)),
        }

    def flat(self) -> Flat:
        """Every case at every size, one line each."""
        return flat_rows(
            [
                {**_way(row.case), **figures(m), **m.prediction.breakdown()}
                for row in self.rows
                for m in row.by_size.values()
            ]
        )


def notes(rows: Sequence[CaseRow], nbytes: int, cached: bool) -> Iterator[str]:
    """Comparisons without a verdict: reading against writing from the host, and what limits each distance.

    ``cached`` machines have a remark of their own.
    """
    times = {row.case.name: row.by_size[nbytes].actual_ns for row in rows if row.case.category != "pe-dma"}
    both = [hop for name in times if (hop := name.removeprefix("h2d-")) != name and f"d2h-{hop}" in times]
    if both:
        gaps = ", ".join(f"{hop} {times[f'd2h-{hop}'] - times[f'h2d-{hop}']:+.3g} ns" for hop in both)
        yield f"d2h against h2d at {size_text(nbytes)}: {gaps}"
    limits = {
        row.case.name: f"{row.by_size[nbytes].prediction.bottleneck_gbs:g}"
        for row in rows
        if row.case.category == "pe-dma" and not row.case.name.endswith("-worst")
    }
    if len(limits) > 1:
        yield "bottleneck in GB/s: " + ", ".join(f"{name} {gbs}" for name, gbs in limits.items())
    if cached:
        yield _COLD


def figures(m: Measurement) -> dict[str, Any]:
    """The figures of one size of one case."""
    return {
        "bytes": m.nbytes,
        "actual_ns": m.actual_ns,
        "formula_ns": m.prediction.ns,
        "difference_ns": m.difference_ns,
        "effective_gbs": m.effective_gbs,
        "bottleneck_gbs": m.prediction.bottleneck_gbs,
        "utilisation": m.utilisation,
    }


def hop_rows(m: Measurement) -> Iterator[dict[str, Any]]:
    """The places that a transfer passed, in order, measured and (where the way is the same) predicted."""
    due = m.prediction.hops
    for number, hop in enumerate(m.hops):
        planned = due[number] if number < len(due) and due[number].name == hop.name else None
        yield {
            "place": hop.name,
            "kind": hop.kind,
            "gbs": hop.gbs if planned is None else planned.gbs,
            "bytes": hop.nbytes,
            "t_in_ns": hop.t_in,
            "t_out_ns": hop.t_out,
            "formula_in_ns": None if planned is None else planned.t_in,
            "formula_out_ns": None if planned is None else planned.t_out,
            "bottleneck": planned is not None and number == m.prediction.bottleneck,
        }


def size_text(nbytes: int) -> str:
    """``4 KiB``: the largest binary unit that divides ``nbytes``."""
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if nbytes % size == 0:
            return f"{nbytes // size} {unit}"
    return f"{nbytes} B"


def _way(case: Case) -> dict[str, Any]:
    return {
        "name": case.name,
        "category": case.category,
        "op": case.op,
        "src": case.src,
        "dst": case.dst,
        "links": len(case.route.links),
    }
