"""Every bench in the ``la`` model, both channel mappings, against ``va``: same bytes, times that compare."""

from __future__ import annotations

import pytest

from kernbench.benches import list_all, resolve
from kernbench.runtime import BenchOutcome, run_bench
from kernbench.topology import compile_topology, load

SMALL = {"system.sips": 2, "sip.cube_mesh.w": 2, "sip.cube_mesh.h": 2, "cube.pes.count": 4}
LA = {"system.address_model": "la"}
GRAPHS = {
    "va": compile_topology(load(None, SMALL)),
    "la": compile_topology(load(None, SMALL | LA)),
    "one_to_one": compile_topology(load(None, SMALL | LA | {"cube.hbm.mapping": "one_to_one"})),
}


def run(name: str, model: str) -> BenchOutcome:
    bench = resolve(name)
    return run_bench(GRAPHS[model], bench, bench.resolve_params({}, {}), verify=True).raise_for_error()


def memory(outcome: BenchOutcome) -> dict[tuple[int, int], bytes]:
    """All that a run wrote, by physical place."""
    assert outcome.data is not None
    written: dict[tuple[int, int], bytes] = {}
    for op in outcome.data.log:
        if op.name in ("dma_write", "host_write") or op.name.startswith("composite"):
            for region in op.output.regions if op.output is not None else ():
                held = outcome.data.memory.read(region.addr, (region.nbytes,), "u1")
                written[region.addr, region.nbytes] = held.tobytes()
    return written


LONG = ("gpt3-qkv",)


@pytest.mark.parametrize(
    "name",
    [pytest.param(spec.name, marks=[pytest.mark.slow] if spec.name in LONG else []) for spec in list_all()],
)
def test_results_are_equal_and_times_compare(name: str) -> None:
    va, la, one = (run(name, model) for model in GRAPHS)
    assert va.verified == la.verified == one.verified == "yes"
    assert memory(va) == memory(la) == memory(one)
    assert memory(va)
    assert [(r.t_start, r.t_done) for r in va.launches] == [(r.t_start, r.t_done) for r in la.launches]
    assert va.sim_ns == la.sim_ns
    for r, s in zip(la.launches, one.launches, strict=True):
        # Tile after tile pays a burst more on its channel's wire; under load the order of service differs.
        assert 0.95 < (s.t_done - s.t_start) / (r.t_done - r.t_start) < 1.4
