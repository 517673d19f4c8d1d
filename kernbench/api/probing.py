"""Probing a machine: single transfers against the formula, and what must hold of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kernbench.api.running import failed
from kernbench.api.topologies import Components, Topology, described_machine
from kernbench.engine.run_options import ShareProgress
from kernbench.errors import InvariantError
from kernbench.support.bounds import check_number

if TYPE_CHECKING:
    from kernbench.api.probe_report import ProbeReport


def probe(
    topology: Topology = None,
    *,
    case: str | None = None,
    sizes: Sequence[int] | None = None,
    nbytes: int | None = None,
    components: Components = None,
    topo: Mapping[str, object] | None = None,
    check: bool | None = None,
    hops: bool = False,
    progress: ShareProgress | None = None,
) -> ProbeReport:
    """Measure single transfers on an idle machine and check them against a formula.

    ``topology``, ``topo``, ``components`` and ``check`` are as for :func:`kernbench.run`.

    Args:
        case: One case's name; None for all.
        sizes: Bytes of the sweep; by default 256 B to 1 MiB.
        nbytes: Bytes of the summary; by default 32 KiB.
        hops: Whether the report shows the hops of each case, as it does of a single one.
        progress: Called with simulated ns, events and the share done.

    Returns:
        The measurements. Its ``ok`` says whether every invariant holds; nothing is raised where one does not.
    """
    from kernbench.api.probe_report import STANDARD_BYTES, SWEEP_BYTES, ProbeReport, notes, size_text
    from kernbench.workloads.probes.cases import CaseCatalogue, LeftOut
    from kernbench.workloads.probes.measurements import ProbeBench, has_cache
    from kernbench.workloads.probes.probe_checks import check as findings

    for size in (*(sizes or ()), *(() if nbytes is None else (nbytes,))):
        check_number("a size", size, 1)
    graph, classes = described_machine(topology, topo, components)
    catalogue = CaseCatalogue(graph)
    chosen = catalogue.chosen(case)
    single = case not in (None, "all")
    left_out = [] if single else list(catalogue.left_out)
    nbytes = STANDARD_BYTES if nbytes is None else nbytes
    sweep = tuple(sorted(set(SWEEP_BYTES if sizes is None else sizes) or {nbytes}))
    limit = catalogue.limit_bytes
    if limit is not None and max(*sweep, nbytes) > limit:
        reason = "a larger transfer is a message for each pseudo-channel, and those meet on the links"
        left_out.append(LeftOut(f"sizes above {size_text(limit)}", reason))
        sweep, nbytes = tuple(size for size in sweep if size <= limit) or (limit,), min(nbytes, limit)
    try:
        rows = ProbeBench(graph, classes, check=check).measure(chosen, [*sweep, nbytes], progress)
        found = findings(rows)
    except InvariantError as error:
        raise failed(error, kept="") from error
    said = tuple(notes(rows, nbytes, has_cache(graph)))
    name = str(graph.properties["name"])
    return ProbeReport(name, nbytes, sweep, tuple(rows), tuple(left_out), tuple(found), said, hops or single)
