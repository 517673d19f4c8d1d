"""Probing a machine: single transfers against the formula, and what must hold of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kernbench.api.running import failed
from kernbench.api.topologies import Components, Topology, described_machine
from kernbench.bounds import check_number
from kernbench.errors import InvariantError
from kernbench.run_options import ShareProgress

if TYPE_CHECKING:
    from kernbench.probes import ProbeReport


def probe(
    topology: Topology = None,
    *,
    case: str | None = None,
    sizes: Sequence[int] | None = None,
    nbytes: int | None = None,
    components: Components = None,
    topo: Mapping[str, object] | None = None,
    check: bool | None = None,
    progress: ShareProgress | None = None,
) -> ProbeReport:
    """Measure single transfers on an idle machine and check them against a formula.

    ``topology``, ``topo``, ``components`` and ``check`` are as for :func:`kernbench.run`.

    Args:
        case: One case's name; None for all.
        sizes: Bytes of the sweep; by default 256 B to 1 MiB.
        nbytes: Bytes of the summary; by default 32 KiB.
        progress: Called with simulated ns, events and the share done.

    Returns:
        The measurements. Its ``ok`` says whether every invariant holds; nothing is raised where one does not.
    """
    from kernbench.probes import STANDARD_BYTES, SWEEP_BYTES
    from kernbench.probes import probe as run_probe

    for size in (*(sizes or ()), *(() if nbytes is None else (nbytes,))):
        check_number("a size", size, 1)
    graph, classes = described_machine(topology, topo, components)
    try:
        return run_probe(
            graph,
            case=case,
            sizes=SWEEP_BYTES if sizes is None else tuple(sizes),
            nbytes=STANDARD_BYTES if nbytes is None else nbytes,
            components=classes,
            checked=check,
            progress=progress,
        )
    except InvariantError as error:
        raise failed(error, kept="") from error
