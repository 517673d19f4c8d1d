"""Every bench in the ``la`` model, both channel mappings, against ``va``: the same bytes everywhere.

Times are the same in ``n_to_one``. In ``one_to_one`` they differ: each tile pays a burst more on its
channel's wire, and under load the order of service is another. ``tests/exact/test_one_to_one.py`` checks
single transfers there against the closed form, and ``tests/golden`` keeps all times of every bench.
"""

from __future__ import annotations

import pytest

from kernbench.engine.run_options import RunOptions
from kernbench.errors import VerificationError
from kernbench.host import BenchOutcome, run_bench
from kernbench.workloads.benches import list_all, resolve
from tests.compiled import compiled

SMALL = {"system.sips": 2, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 2, "cube.pes.count": 4}
LA = {"system.address_model": "la"}
GRAPHS = {
    "va": compiled(None, SMALL),
    "la": compiled(None, SMALL | LA),
    "one_to_one": compiled(None, SMALL | LA | {"cube.hbm.mapping": "one_to_one"}),
}


def run(name: str, model: str) -> BenchOutcome:
    bench = resolve(name)
    return run_bench(
        GRAPHS[model], bench, bench.resolve_params({}, {}), options=RunOptions(verify=True)
    ).raise_for_error()


def memory(outcome: BenchOutcome) -> dict[tuple[int, int], bytes | None]:
    """All that a run wrote, by physical place; None where its tensor has been freed since."""
    assert outcome.data is not None
    written: dict[tuple[int, int], bytes | None] = {}
    for op in outcome.data.log:
        if op.name in ("dma_write", "host_write") or op.name.startswith("composite"):
            for region in op.output.regions if op.output is not None else ():
                try:
                    held = outcome.data.memory.read(region.addr, (region.nbytes,), "u1").tobytes()
                except VerificationError:
                    held = None
                written[region.addr, region.nbytes] = held
    return written


@pytest.mark.daily("gemm-single-pe", "ipcq-allreduce", "softmax")
@pytest.mark.parametrize("name", [spec.name for spec in list_all()])
def test_results_are_equal_in_all_models_and_times_in_two(name: str) -> None:
    va, la, one = (run(name, model) for model in GRAPHS)
    assert va.verified == la.verified == one.verified == "yes"
    assert memory(va) == memory(la) == memory(one)
    assert memory(va)
    assert [(r.t_start, r.t_done) for r in va.launches] == [(r.t_start, r.t_done) for r in la.launches]
    assert va.sim_ns == la.sim_ns
